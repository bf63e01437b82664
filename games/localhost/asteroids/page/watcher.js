// Looks at the world once a frame, finds what came and what went since the last
// one, and makes a show of it. Nothing tells the page of a rock that broke: each
// browser runs the rules itself, so a rock is there in one frame and not in the
// next.
import * as sparks from "./sparks.js";
import * as sound from "./sound.js";

const { world, hull, outline, colour } = gamehoster.game;
const pan = (x) => (x / world.width) * 1.4 - 0.7;

export function watcher(game, screen) {
  let rocks = new Map();
  let bullets = new Map();
  let ships = new Map();
  let score = 0;
  let level = 0;
  let levelSince = -Infinity;
  let fresh = true;

  function rockGone(rock) {
    sparks.shards(rock.x, rock.y, rock.vx, rock.vy, outline(rock.id, rock.size), 0, "#9fc3ff");
    sparks.burst(rock.x, rock.y, 8 + rock.size * 8, 160 + rock.size * 40, 0.8, "#dbe8ff");
    sound.rock(rock.size, pan(rock.x));
    screen.jolt(rock.size * 1.5);
  }

  function shipGone(ship, mine) {
    const tint = colour(ship.id);
    sparks.shards(ship.x, ship.y, ship.vx, ship.vy, hull, ship.heading, tint);
    sparks.burst(ship.x, ship.y, 60, 380, 1.2, tint);
    sparks.burst(ship.x, ship.y, 24, 180, 0.9, "#ffffff");
    sparks.ring(ship.x, ship.y, 130, 0.7, tint);
    sound.ship(mine, pan(ship.x));
    screen.jolt(mine ? 26 : 9);
  }

  function look(now, dt) {
    const rocksNow = new Map();
    for (const rock of game.entities.rock) {
      const { id, x, y, vx, vy, size } = rock;
      rocksNow.set(id, { id, x, y, vx, vy, size });
    }
    const bulletsNow = new Map();
    for (const { id, x, y, owner } of game.entities.bullet) bulletsNow.set(id, { x, y, owner: owner?.id });
    const shipsNow = new Map();
    for (const player of game.players) {
      const { id, x, y, vx, vy, heading, wait, thrust } = player;
      shipsNow.set(id, { id, x, y, vx, vy, heading, wait });
      if (thrust && wait === 0 && Math.random() < dt * 70) sparks.exhaust(x, y, heading, vx, vy, "#ffb347");
    }
    if (!fresh) compare(rocksNow, bulletsNow, shipsNow);
    if (game.instance.level !== level) {
      level = game.instance.level;
      levelSince = now;
      if (!fresh) sound.level();
    }
    rocks = rocksNow;
    bullets = bulletsNow;
    ships = shipsNow;
    score = game.me?.score ?? 0;
    fresh = false;
  }

  function compare(rocksNow, bulletsNow, shipsNow) {
    const me = game.me?.id;
    for (const [id, rock] of rocks) if (!rocksNow.has(id)) rockGone(rock);
    for (const [id, shot] of bulletsNow) {
      if (!bullets.has(id)) sound.shot(shot.owner === me, pan(shot.x));
    }
    for (const [id, shot] of bullets) {
      if (!bulletsNow.has(id)) sparks.burst(shot.x, shot.y, 4, 90, 0.3, "#ffffff");
    }
    for (const [id, ship] of ships) {
      const now = shipsNow.get(id);
      if (ship.wait === 0 && (!now || now.wait > 0)) shipGone(ship, id === me);
    }
    for (const [id, ship] of shipsNow) {
      const before = ships.get(id);
      if (ship.wait > 0 || (before && before.wait === 0)) continue;
      sparks.ring(ship.x, ship.y, 90, 0.6, colour(id));
      sound.launch(pan(ship.x));
    }
    const won = (game.me?.score ?? 0) - score;
    const mine = shipsNow.get(me);
    if (won > 0 && mine) sparks.word(mine.x, mine.y - 30, `+${won}`, colour(me));
  }

  return {
    look,
    // reset forgets the last frame: after a reconnect all is new and nothing blew up.
    reset() {
      fresh = true;
    },
    // level is the headline of a level that has just begun.
    level(now) {
      const age = (now - levelSince) / 1000;
      if (level === 0 || age > 2.2) return null;
      return { text: `LEVEL ${level}`, size: 54, alpha: Math.min(1, (2.2 - age) / 0.8) };
    },
  };
}
