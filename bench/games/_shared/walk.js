// walk moves something on a bending path over a square field, from wall to wall. The
// program in bench/peers moves its own by the same rule.
export const SIDE = 400;
const SPEED = 40; // units a second

export function place(mover) {
  mover.x = random() * SIDE;
  mover.y = random() * SIDE;
  mover.heading = random() * 2 * Math.PI;
}

export function walk(mover) {
  mover.heading += 0.1;
  mover.x = inside(mover.x + Math.cos(mover.heading) * SPEED * game.dt);
  mover.y = inside(mover.y + Math.sin(mover.heading) * SPEED * game.dt);
}

function inside(v) {
  return Math.min(SIDE, Math.max(0, v));
}
