import { CREEPS } from "./kinds.js";
import { ROAD, center } from "./map.js";

export function update(self) {
  const { speed } = CREEPS[self.kind];
  let step = speed * game.dt;
  if (self.slow > 0) {
    self.slow--;
    step /= 2;
  }
  while (step > 0) {
    if (self.leg >= ROAD.length) {
      game.lives--;
      self.remove();
      return;
    }
    const [col, row] = ROAD[self.leg];
    const dx = center(col) - self.x;
    const dy = center(row) - self.y;
    const d = Math.hypot(dx, dy);
    if (d > step) {
      self.x += dx / d * step;
      self.y += dy / d * step;
      return;
    }
    self.x = center(col);
    self.y = center(row);
    self.leg++;
    step -= d;
  }
}
