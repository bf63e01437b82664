// What only the server knows: names, and where the treasure is.
import { FULL, SIZE, near } from "./field.js";
import { hide } from "./treasure.js";

const DIG = 45; // how near one must come

export function join(player) {
  if (player.name === "") player.nick = "Wanderer";
  else player.nick = player.name;
  // Around the middle, so that lanterns see each other.
  player.x = SIZE / 2 + 500 * (serverRandom() - 0.5);
  player.y = SIZE / 2 + 500 * (serverRandom() - 0.5);
  player.oil = FULL;
}

// Where the treasure is never leaves the server. How warm it is where one stands
// does, to that player alone: the field's audience is its owner.
export function update(player) {
  const far = Math.hypot(game.treasureX - player.x, game.treasureY - player.y);
  player.warmth = 100 * Math.max(0, 1 - far / SIZE);
  if (far > DIG) return;
  player.gold++;
  hide();
}
