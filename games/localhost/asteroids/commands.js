// The one thing a pilot does: set the stick. The page sends it when it changes,
// not every tick; the ship keeps doing what it was last told.
export function steer(player, command) {
  player.turn = command.turn;
  player.thrust = command.thrust;
  player.fire = command.fire;
}
