import { TOWERS, CREEPS } from "./kinds.js";
import { center } from "./map.js";

// The creep that is furthest on its way.
function pick(tower, range) {
  let best = null;
  for (const c of game.creeps) {
    const { x, y } = offset(tower, c);
    if (x * x + y * y > range * range) continue;
    if (best === null || c.leg > best.leg) best = c;
  }
  return best;
}

function offset(tower, creep) {
  return { x: creep.x - center(tower.col), y: creep.y - center(tower.row) };
}

export function update(self) {
  const kind = TOWERS[self.kind];
  const range = kind.range + self.level * 0.5;
  self.target ??= pick(self, range);
  const target = self.target;
  if (!target) return;
  const d = offset(self, target);
  if (Math.hypot(d.x, d.y) > range) {
    self.target = null;
    return;
  }
  self.aim = Math.atan2(d.y, d.x);
  if (self.wait > 0) {
    self.wait--;
    return;
  }
  self.wait = kind.wait;
  target.slow = Math.max(target.slow, kind.slow);
  target.hp -= kind.damage * (1 + self.level);
  if (target.hp <= 0) {
    if (self.owner) {
      self.owner.gold += CREEPS[target.kind].gold;
      self.owner.kills++;
    }
    target.remove();
  }
}
