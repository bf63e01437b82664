// A player walks, burns oil, and picks up the embers that lie on the way.
import { FULL, SIZE, clamp, near } from "./field.js";

const SPEED = 230; // units a second
const EVERY = 4; // ticks between two looks at the lantern and the ground
const REACH = 36;
const EMBER_OIL = 50;

export function update(player) {
  player.x = clamp(player.x + player.walkX * SPEED * game.dt, 0, SIZE);
  player.y = clamp(player.y + player.walkY * SPEED * game.dt, 0, SIZE);
  if ((game.tick + player.id) % EVERY !== 0) return;
  if (player.oil > 0) player.oil--;

  // A browser runs this for all players that it sees, with the embers that it
  // sees. Where it lacks one that somebody picks up, the server's next word on
  // that player's embers and oil puts it right.
  for (const ember of game.embers) {
    if (!near(player, ember, REACH)) continue;
    ember.remove();
    player.embers++;
    player.oil = Math.min(player.oil + EMBER_OIL, FULL);
  }
}
