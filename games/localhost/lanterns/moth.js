// A moth flutters towards its goal. This needs nothing but the moth itself and
// random(), which gives the same numbers everywhere: a browser flies a moth that it
// sees without being told more about it, and one that comes back into view goes on
// from where the server has flown it meanwhile.
import { SIZE, clamp } from "./field.js";

const PULL = 300; // units a second, every second
const FLUTTER = 90; // units a second that a tick's whim may add
const DRAG = 0.94;

export function update(moth) {
  const dx = moth.goalX - moth.x;
  const dy = moth.goalY - moth.y;
  const pull = PULL * game.dt / Math.max(60, Math.sqrt(dx * dx + dy * dy));
  moth.vx = (moth.vx + dx * pull + (random() - 0.5) * FLUTTER) * DRAG;
  moth.vy = (moth.vy + dy * pull + (random() - 0.5) * FLUTTER) * DRAG;
  moth.x = clamp(moth.x + moth.vx * game.dt, 0, SIZE);
  moth.y = clamp(moth.y + moth.vy * game.dt, 0, SIZE);
}
