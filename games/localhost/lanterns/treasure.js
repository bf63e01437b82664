// The secret. serverRandom() is for what no browser may work out: random() is the
// same in all of them.
import { SIZE } from "./field.js";

export function hide() {
  game.treasureX = (0.05 + 0.9 * serverRandom()) * SIZE;
  game.treasureY = (0.05 + 0.9 * serverRandom()) * SIZE;
}
