import { CAMPS, MOVERS, SPACING } from "./camps.js";
import { circle } from "./circle.js";

export function start() {
  for (let camp = 0; camp < CAMPS; camp++) {
    for (let i = 0; i < MOVERS; i++) {
      const mover = game.movers.spawn();
      if (!mover) return;
      mover.camp = camp * SPACING;
      mover.angle = random() * 2 * Math.PI;
      circle(mover);
    }
  }
}
