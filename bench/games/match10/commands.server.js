// What a player says goes back to it and to all others.
export function say(player, command) {
  player.said = command.what;
  player.times++;
}
