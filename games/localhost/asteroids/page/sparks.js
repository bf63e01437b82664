// Everything that glows and fades and is nobody's business but this screen's.
const MOST = 900;
const parts = [];

function add(part) {
  if (parts.length >= MOST) parts.shift();
  parts.push({ age: 0, spin: 0, turn: 0, drag: 1.2, size: 0, ...part });
}

const between = (low, high) => low + Math.random() * (high - low);

// burst throws sparks from a point in all directions.
export function burst(x, y, count, speed, seconds, colour) {
  for (let i = 0; i < count; i++) {
    const a = between(0, 2 * Math.PI);
    const v = speed * Math.sqrt(Math.random());
    add({ x, y, vx: Math.cos(a) * v, vy: Math.sin(a) * v, life: seconds * between(0.4, 1), colour });
  }
}

// shards lets an outline's edges fly apart.
export function shards(x, y, vx, vy, points, angle, colour) {
  for (let i = 0; i < points.length; i++) {
    const [ax, ay] = points[i];
    const [bx, by] = points[(i + 1) % points.length];
    const mx = (ax + bx) / 2;
    const my = (ay + by) / 2;
    const c = Math.cos(angle);
    const s = Math.sin(angle);
    const ox = mx * c - my * s;
    const oy = mx * s + my * c;
    const push = between(0.8, 2.4);
    add({
      x: x + ox, y: y + oy, vx: vx + ox * push, vy: vy + oy * push,
      size: Math.hypot(bx - ax, by - ay) / 2, turn: Math.atan2(by - ay, bx - ax) + angle, spin: between(-4, 4),
      life: between(0.6, 1.3), drag: 0.6, colour,
    });
  }
}

// ring is a circle that grows and fades.
export function ring(x, y, radius, seconds, colour) {
  add({ x, y, vx: 0, vy: 0, life: seconds, ring: radius, colour });
}

// exhaust is what an engine leaves behind.
export function exhaust(x, y, heading, vx, vy, colour) {
  const a = heading + Math.PI + between(-0.35, 0.35);
  const v = between(110, 230);
  add({
    x: x + Math.cos(heading) * -12, y: y + Math.sin(heading) * -12,
    vx: vx + Math.cos(a) * v, vy: vy + Math.sin(a) * v, life: between(0.15, 0.45), colour, drag: 3,
  });
}

// word is a short text that rises, as points do.
export function word(x, y, text, colour) {
  add({ x, y, vx: 0, vy: -40, life: 1.1, text, colour, drag: 0.5 });
}

// draw moves all of it on by dt seconds and paints it.
export function draw(ctx, dt) {
  ctx.lineCap = "round";
  for (let i = parts.length - 1; i >= 0; i--) {
    const p = parts[i];
    p.age += dt;
    if (p.age >= p.life) {
      parts[i] = parts[parts.length - 1];
      parts.pop();
      continue;
    }
    const keep = Math.exp(-p.drag * dt);
    p.vx *= keep;
    p.vy *= keep;
    p.x += p.vx * dt;
    p.y += p.vy * dt;
    p.turn += p.spin * dt;
    paint(ctx, p, 1 - p.age / p.life);
  }
  ctx.globalAlpha = 1;
}

function paint(ctx, p, left) {
  ctx.globalAlpha = left;
  ctx.strokeStyle = p.colour;
  if (p.text) {
    ctx.fillStyle = p.colour;
    ctx.fillText(p.text, p.x, p.y);
    return;
  }
  ctx.lineWidth = 1.6;
  ctx.beginPath();
  if (p.ring) {
    ctx.lineWidth = 1 + 3 * left;
    ctx.arc(p.x, p.y, p.ring * (1 - left * left), 0, 2 * Math.PI);
  } else if (p.size) {
    const dx = Math.cos(p.turn) * p.size;
    const dy = Math.sin(p.turn) * p.size;
    ctx.moveTo(p.x - dx, p.y - dy);
    ctx.lineTo(p.x + dx, p.y + dy);
  } else {
    ctx.lineWidth = 2.2;
    ctx.moveTo(p.x, p.y);
    ctx.lineTo(p.x - p.vx * 0.03, p.y - p.vy * 0.03 + 0.1);
  }
  ctx.stroke();
}
