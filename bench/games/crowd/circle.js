import { ORBIT } from "./camps.js";

export function circle(mover) {
  mover.angle += 0.1;
  mover.x = mover.camp + Math.cos(mover.angle) * ORBIT;
  mover.y = Math.sin(mover.angle) * ORBIT;
}
