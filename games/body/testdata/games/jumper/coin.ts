export function update(self: rules.Coin) {
  if (self.back > 0) { self.back -= 1; return }
  for (const p of game.players)
    if ((p.x - self.x) ** 2 + (p.y - self.y) ** 2 < 0.5 ** 2) { p.coins++; self.back = 30 * 10 }
}
