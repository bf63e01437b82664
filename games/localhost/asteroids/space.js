// The world is a torus: what flies out on one side comes in on the other.
// Distances are in world units, times in seconds unless a name says ticks.
export const WIDTH = 1600;
export const HEIGHT = 900;

// Radius of a ship, and of a rock by its size (1 small, 2 medium, 3 big).
export const SHIP = 14;
export const ROCK = [0, 16, 32, 56];

// wrap brings a coordinate that has moved less than one world back into it.
export function wrap(v, size) {
  if (v < 0) return v + size;
  if (v >= size) return v - size;
  return v;
}

// across is the short way from one coordinate to another, d being their plain
// difference.
export function across(d, size) {
  if (d > size / 2) return d - size;
  if (d < -size / 2) return d + size;
  return d;
}

// near tells whether two points are closer than reach, seams included.
export function near(ax, ay, bx, by, reach) {
  const dx = across(ax - bx, WIDTH);
  const dy = across(ay - by, HEIGHT);
  return dx * dx + dy * dy < reach * reach;
}
