// Keys push the paddle, a finger or a mouse names the place where it should be.
export function move(player, command) {
  player.dir = command.dir;
  player.goal = player.y;
}

export function aim(player, command) {
  player.dir = 0;
  player.goal = command.y;
}
