// A player is a ship: it steers, fires, and breaks on rocks.
import { WIDTH, HEIGHT, ROCK, SHIP, wrap } from "./space.js";
import { shatter } from "./rocks.js";
import { launch, wreck, exposed } from "./ships.js";

const TURN = 4.2; // radians a second
const THRUST = 420; // units a second, every second
const DRAG = 0.988; // of the speed stays, every tick
const MUZZLE = 640; // a bullet's speed, on top of the ship's
const COOLDOWN_TICKS = 6;
const BULLET_TICKS = 32;

export function update(player) {
  if (player.wait > 0) {
    player.wait--;
    if (player.wait === 0) launch(player);
    return;
  }
  fly(player);
  shoot(player);
  if (player.shield > 0) {
    player.shield--;
    return;
  }
  for (const rock of game.rocks) {
    if (exposed(player, rock.x, rock.y, ROCK[rock.size])) {
      player.score += shatter(rock);
      wreck(player);
      return;
    }
  }
}

function fly(player) {
  player.heading = turned(player.heading + player.turn * TURN * game.dt);
  if (player.thrust) {
    player.vx += Math.cos(player.heading) * THRUST * game.dt;
    player.vy += Math.sin(player.heading) * THRUST * game.dt;
  }
  player.vx *= DRAG;
  player.vy *= DRAG;
  player.x = wrap(player.x + player.vx * game.dt, WIDTH);
  player.y = wrap(player.y + player.vy * game.dt, HEIGHT);
}

// turned keeps an angle within half a turn of zero, where an f32 is finest.
function turned(angle) {
  if (angle > Math.PI) return angle - 2 * Math.PI;
  if (angle < -Math.PI) return angle + 2 * Math.PI;
  return angle;
}

function shoot(player) {
  if (player.cooldown > 0) {
    player.cooldown--;
    return;
  }
  if (!player.fire) return;
  const bullet = game.bullets.spawn(player);
  if (!bullet) return;
  const dx = Math.cos(player.heading);
  const dy = Math.sin(player.heading);
  bullet.x = wrap(player.x + dx * SHIP, WIDTH);
  bullet.y = wrap(player.y + dy * SHIP, HEIGHT);
  bullet.vx = player.vx + dx * MUZZLE;
  bullet.vy = player.vy + dy * MUZZLE;
  bullet.life = BULLET_TICKS;
  player.cooldown = COOLDOWN_TICKS;
  player.shield = 0; // who attacks gives up the cover
}
