export const clamp = (v: number, lo: number, hi: number): number => Math.min(Math.max(v, lo), hi);
export function approach(v: number, to: number, step = 1): number {
  return v < to ? Math.min(v + step, to) : Math.max(v - step, to);
}
