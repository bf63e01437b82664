import { SIGHT } from "./camps.js";

export function mover(viewer, m) {
  const dx = m.x - viewer.x;
  const dy = m.y - viewer.y;
  return dx * dx + dy * dy < SIGHT * SIGHT;
}
