const ROW = 30;
const SPACING = 1.2;
const SWEEP = 18; // how far the pusher goes from the middle
const SPEED = 0.55;

export function start() {
  for (let i = 0; i <= ROW * ROW; i++) {
    const cube = game.cubes.spawn();
    if (!cube) return;
    cube.asleep = true;
    cube.x = (i % ROW - ROW / 2) * SPACING;
    cube.y = (Math.floor(i / ROW) - ROW / 2) * SPACING;
  }
}

// update moves the pusher on a path that comes by everywhere.
export function update() {
  const t = game.tick * game.dt * SPEED;
  game.px = Math.sin(t) * SWEEP;
  game.py = Math.cos(t * 0.618) * SWEEP;
}
