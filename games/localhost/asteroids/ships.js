// The start and the end of a ship's flight.
import { WIDTH, HEIGHT, SHIP, ROCK, near } from "./space.js";

const SHIELD_TICKS = 90;
const WRECK_TICKS = 60;
const GAME_OVER_TICKS = 180;
const LIVES = 3;

// launch puts a ship somewhere with room around it, under a shield. A pilot
// without lives starts a new game.
export function launch(player) {
  if (player.lives === 0) {
    player.lives = LIVES;
    player.score = 0;
  }
  for (let attempt = 0; attempt < 6; attempt++) {
    player.x = (0.15 + 0.7 * random()) * WIDTH;
    player.y = (0.15 + 0.7 * random()) * HEIGHT;
    if (clear(player.x, player.y)) break;
  }
  player.vx = 0;
  player.vy = 0;
  player.heading = -Math.PI / 2;
  player.shield = SHIELD_TICKS;
  player.cooldown = 0;
}

function clear(x, y) {
  for (const rock of game.rocks) {
    if (near(x, y, rock.x, rock.y, ROCK[rock.size] + 120)) return false;
  }
  return true;
}

// wreck ends a flight; the ship is back when its wait is over.
export function wreck(player) {
  if (player.lives > 0) player.lives--;
  player.wait = player.lives === 0 ? GAME_OVER_TICKS : WRECK_TICKS;
  player.shield = 0;
  player.best = Math.max(player.best, player.score);
}

// exposed tells whether a ship can be hit at a place by something of a radius.
export function exposed(player, x, y, radius) {
  return player.wait === 0 && player.shield === 0 && near(player.x, player.y, x, y, radius + SHIP);
}
