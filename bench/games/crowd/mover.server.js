import { circle } from "./circle.js";

export function update(mover) {
  circle(mover);
}
