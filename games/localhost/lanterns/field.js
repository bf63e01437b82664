// The field at night, and who gives how much light in it. Rules, view and page
// measure with the same functions, in units of which a screen shows some 1,400.
export const SIZE = 4000; // of the field, both ways
export const FULL = 1000; // oil in a lantern that was just filled
export const SIGHT = 110; // how far eyes see without any light
export const GLOW = 450; // how far an ember is seen
export const FLARE_LIGHT = 300;
export const FLARE_TICKS = 240;

const DIM = 150; // how far a lantern shines that is about to go out, and a full one
const BRIGHT = 340;

export function clamp(v, low, high) {
  return Math.min(Math.max(v, low), high);
}

// near tells whether two things that have a place are closer than reach.
export function near(a, b, reach) {
  const dx = a.x - b.x;
  const dy = a.y - b.y;
  return dx * dx + dy * dy < reach * reach;
}

// light is how far a player's lantern shines.
export function light(player) {
  if (player.oil === 0) return 0;
  return DIM + (BRIGHT - DIM) * player.oil / FULL;
}
