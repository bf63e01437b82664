// A player is a paddle that moves up and down at one speed.
import { HEIGHT, PADDLE, clamp } from "./table.js";

const SPEED = 640; // units a second

export function update(player) {
  const most = SPEED * game.dt;
  const way = player.dir === 0 ? clamp(player.goal - player.y, -most, most) : player.dir * most;
  player.y = clamp(player.y + way, PADDLE / 2, HEIGHT - PADDLE / 2);
}
