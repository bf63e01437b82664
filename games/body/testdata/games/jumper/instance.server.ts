import { TILES, W, H } from "./level";
export function start(): void {
  for (let row = 0; row < H; row++) for (let col = 0; col < W; col++) {
    const t = TILES[row][col], at = { x: col + 0.5, y: row + 0.5 };
    if (t === "o") { const c = game.coins.spawn(); if (c) Object.assign(c, at); }
    if (t === "s") { const s = game.slimes.spawn(); if (s) Object.assign(s, { ...at, dir: 1 }); }
  }
}
