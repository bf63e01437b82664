import { tile, Tile } from "./level";
export function update(self: rules.Slime) {
  if (self.squash && --self.squash === 0) return self.remove();
  const ahead = self.x + self.dir * 0.6;
  if (tile(ahead, self.y) === Tile.SOLID || tile(ahead, self.y + 1) === Tile.EMPTY) self.dir = -self.dir;
  self.x += self.dir * 2 * game.dt;
  for (const p of game.players) {
    const dx = p.x - self.x, dy = p.y - self.y;
    if (Math.abs(dx) > 0.7 || Math.abs(dy) > 0.7) continue;
    if (p.vy > 2 && dy < 0) { self.squash ||= 10; p.vy = -8; } else p.dead ||= 30;
  }
}
