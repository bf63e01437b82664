// A bullet flies straight until it hits a rock or another ship, or is spent.
import { WIDTH, HEIGHT, ROCK, near, wrap } from "./space.js";
import { shatter } from "./rocks.js";
import { exposed, wreck } from "./ships.js";

const RADIUS = 3;
const SHIP_POINTS = 250;

export function update(bullet) {
  if (bullet.life === 0) {
    bullet.remove();
    return;
  }
  bullet.life--;
  bullet.x = wrap(bullet.x + bullet.vx * game.dt, WIDTH);
  bullet.y = wrap(bullet.y + bullet.vy * game.dt, HEIGHT);

  const pilot = bullet.owner; // null once the pilot has left
  for (const rock of game.rocks) {
    if (near(bullet.x, bullet.y, rock.x, rock.y, ROCK[rock.size] + RADIUS)) {
      const points = shatter(rock);
      if (pilot) pilot.score += points;
      bullet.remove();
      return;
    }
  }
  for (const other of game.players) {
    if (other === pilot) continue;
    if (exposed(other, bullet.x, bullet.y, RADIUS)) {
      wreck(other);
      if (pilot) pilot.score += SHIP_POINTS;
      bullet.remove();
      return;
    }
  }
}
