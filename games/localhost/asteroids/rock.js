// Rocks drift. What they meet is looked at by ships and bullets, of which there
// are fewer.
import { WIDTH, HEIGHT, wrap } from "./space.js";

export function update(rock) {
  rock.x = wrap(rock.x + rock.vx * game.dt, WIDTH);
  rock.y = wrap(rock.y + rock.vy * game.dt, HEIGHT);
}
