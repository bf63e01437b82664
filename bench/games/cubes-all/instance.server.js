const ROW = 30;
const SPACING = 1.2;

export function start() {
  for (let i = 0; i <= ROW * ROW; i++) {
    const cube = game.cubes.spawn();
    if (!cube) return;
    cube.x = (i % ROW - ROW / 2) * SPACING;
    cube.y = (Math.floor(i / ROW) - ROW / 2) * SPACING;
  }
}
