// The picture: space, rocks, ships and bullets, drawn as a vector screen did.
import * as sparks from "./sparks.js";

const { world, hull, flame, outline, colour, rockRadius, shipRadius } = gamehoster.game;
const ROCK_COLOURS = ["", "#9fc3ff", "#8fb2f0", "#7f9fdd"];
const FONT = "600 15px ui-monospace, Menlo, Consolas, monospace";

const stars = Array.from({ length: 320 }, () => ({
  x: Math.random() * world.width,
  y: Math.random() * world.height,
  size: Math.random() ** 4 * 2.2 + 0.9,
  phase: Math.random() * 6,
}));

const hullPath = path(hull, true);
const flamePath = path(flame, false);
const rockPaths = new Map();

function path(points, closed) {
  const p = new Path2D();
  for (const [x, y] of points) p.lineTo(x, y);
  if (closed) p.closePath();
  return p;
}

function rockPath(rock) {
  const key = rock.id * 4 + rock.size;
  let p = rockPaths.get(key);
  if (!p) {
    if (rockPaths.size > 500) rockPaths.clear();
    p = path(outline(rock.id, rock.size), true);
    rockPaths.set(key, p);
  }
  return p;
}

// scene draws on a canvas that it keeps as big and as sharp as the window.
export function scene(canvas) {
  const ctx = canvas.getContext("2d", { alpha: false });
  let shake = 0;
  let scale = 1;
  let left = 0;
  let top = 0;

  function fit() {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    canvas.width = Math.round(innerWidth * ratio);
    canvas.height = Math.round(innerHeight * ratio);
    scale = Math.min(canvas.width / world.width, canvas.height / world.height);
    left = (canvas.width - world.width * scale) / 2;
    top = (canvas.height - world.height * scale) / 2;
  }
  addEventListener("resize", fit);
  fit();

  // glow strokes a path three times, wide and faint to thin and bright.
  function glow(p, tint, width) {
    ctx.strokeStyle = tint;
    for (const [wide, alpha] of [[6, 0.09], [3, 0.22], [1, 1]]) {
      ctx.lineWidth = width * wide;
      ctx.globalAlpha = alpha;
      ctx.stroke(p);
    }
    ctx.globalAlpha = 1;
  }

  // around calls paint with the origin at a place and, near a seam, at the
  // places where the rest of the thing shows.
  function around(x, y, reach, turn, paint) {
    for (const ox of offsets(x, reach, world.width)) {
      for (const oy of offsets(y, reach, world.height)) {
        ctx.save();
        ctx.translate(x + ox, y + oy);
        ctx.rotate(turn);
        paint();
        ctx.restore();
      }
    }
  }

  function space(now) {
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = "#010207";
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    const dx = (Math.random() - 0.5) * shake;
    const dy = (Math.random() - 0.5) * shake;
    ctx.setTransform(scale, 0, 0, scale, left + dx * scale, top + dy * scale);
    const sky = ctx.createRadialGradient(world.width / 2, world.height / 2, 100, world.width / 2, world.height / 2, world.width * 0.6);
    sky.addColorStop(0, "#0a1330");
    sky.addColorStop(1, "#04060f");
    ctx.fillStyle = sky;
    ctx.fillRect(0, 0, world.width, world.height);
    ctx.fillStyle = "#dfe9ff";
    for (const star of stars) {
      ctx.globalAlpha = 0.5 + 0.35 * Math.sin(now / 900 + star.phase);
      ctx.fillRect(star.x, star.y, star.size, star.size);
    }
    ctx.globalAlpha = 1;
    ctx.strokeStyle = "#16233f";
    ctx.lineWidth = 2;
    ctx.strokeRect(1, 1, world.width - 2, world.height - 2);
  }

  function ship(player, mine, now) {
    const tint = colour(player.id);
    around(player.x, player.y, 40, player.heading, () => {
      if (player.thrust && now % 90 < 55) glow(flamePath, "#ffb347", 1.8);
      if (mine) {
        ctx.fillStyle = tint;
        ctx.globalAlpha = 0.18;
        ctx.fill(hullPath);
      }
      glow(hullPath, tint, 1.9);
      if (player.shield > 0) {
        const bubble = new Path2D();
        bubble.arc(0, 0, shipRadius + 12, 0, 2 * Math.PI);
        ctx.setLineDash([7, 6]);
        ctx.lineDashOffset = -now / 25;
        // The cover blinks when it is about to go.
        if (player.shield > 30 || now % 200 < 120) glow(bubble, tint, 1.2);
        ctx.setLineDash([]);
      }
    });
    if (mine) return;
    ctx.fillStyle = tint;
    ctx.globalAlpha = 0.75;
    ctx.fillText(player.nick, player.x, player.y + 38);
    ctx.globalAlpha = 1;
  }

  function bullet(shot) {
    ctx.fillStyle = "#fff";
    ctx.strokeStyle = shot.owner ? colour(shot.owner.id) : "#fff";
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = 4;
    ctx.beginPath();
    ctx.moveTo(shot.x, shot.y);
    ctx.lineTo(shot.x - shot.vx * 0.022, shot.y - shot.vy * 0.022);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.arc(shot.x, shot.y, 2.6, 0, 2 * Math.PI);
    ctx.fill();
  }

  function headline(lines) {
    ctx.textBaseline = "middle";
    let y = world.height * 0.4;
    for (const { text, size, alpha = 1, tint = "#eaffff" } of lines) {
      ctx.font = `300 ${size}px ui-monospace, Menlo, Consolas, monospace`;
      ctx.fillStyle = tint;
      ctx.globalAlpha = alpha;
      ctx.fillText(text, world.width / 2, y);
      y += size * 1.3;
    }
    ctx.globalAlpha = 1;
  }

  return {
    // jolt shakes the screen by so many units.
    jolt(units) {
      shake = Math.max(shake, units);
    },
    // draw paints one frame: what there is, then the lines of text over it.
    draw(game, now, dt, lines) {
      shake *= Math.exp(-7 * dt);
      space(now);
      ctx.save();
      ctx.beginPath();
      ctx.rect(0, 0, world.width, world.height);
      ctx.clip();
      ctx.globalCompositeOperation = "lighter";
      ctx.lineJoin = "round";
      ctx.textAlign = "center";
      ctx.textBaseline = "alphabetic";
      ctx.font = FONT;
      for (const rock of game.entities.rock) {
        const turn = now / 1000 * (((rock.id * 37) % 17) / 10 - 0.8);
        around(rock.x, rock.y, rockRadius[rock.size] * 1.2, turn, () => glow(rockPath(rock), ROCK_COLOURS[rock.size], 1.8));
      }
      for (const shot of game.entities.bullet) bullet(shot);
      for (const player of game.players) {
        if (player.wait === 0) ship(player, player.id === game.me?.id, now);
      }
      sparks.draw(ctx, dt);
      headline(lines);
      ctx.restore();
    },
  };
}

function offsets(v, reach, size) {
  if (v < reach) return [0, size];
  if (v > size - reach) return [0, -size];
  return [0];
}
