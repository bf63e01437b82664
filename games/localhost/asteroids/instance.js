// Waves: when the last rock is gone there is a lull, then the next level comes
// in over the edges.
import { WIDTH, HEIGHT } from "./space.js";
import { add } from "./rocks.js";

const LULL_TICKS = 60;
const MOST_ROCKS = 11;

export function update() {
  if (game.rocks.count > 0) return;
  if (game.lull > 0) {
    game.lull--;
    return;
  }
  game.lull = LULL_TICKS;
  game.level++;
  const rocks = Math.min(3 + game.level, MOST_ROCKS);
  for (let i = 0; i < rocks; i++) {
    // The left edge is the right one, too, and the top the bottom.
    if (i % 2 === 0) add(0, random() * HEIGHT, 3);
    else add(random() * WIDTH, 0, 3);
  }
}
