// The table, in units of which a page draws as many pixels as it has.
export const WIDTH = 1000;
export const HEIGHT = 600;
export const PADDLE = 96; // length
export const INSET = 40; // from the end of the table to a paddle's face
export const BALL = 9; // radius

export function clamp(v, low, high) {
  return Math.min(Math.max(v, low), high);
}

// face is the line that a side's ball bounces on: side 0 is left, 1 is right.
export function face(side) {
  return side === 0 ? INSET : WIDTH - INSET;
}
