// A flare flies where it was thrown, comes to rest, and burns down.
import { SIZE, clamp } from "./field.js";

const DRAG = 0.93;

export function update(flare) {
  if (flare.life === 0) {
    flare.remove();
    return;
  }
  flare.life--;
  flare.vx *= DRAG;
  flare.vy *= DRAG;
  flare.x = clamp(flare.x + flare.vx * game.dt, 0, SIZE);
  flare.y = clamp(flare.y + flare.vy * game.dt, 0, SIZE);
}
