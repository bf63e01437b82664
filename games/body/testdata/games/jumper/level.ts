/** Tiles: # solid, = one-way platform, ^ spikes, o coin, s slime, C checkpoint. */
export const TILES: readonly string[] = [
  "########################",
  "#          o           #",
  "#        =====     C   #",
  "#   o             ###  #",
  "#  ===     s   o       #",
  "#        #####     ====#",
  "#C   ^^        ^^      #",
  "########################",
];

export const enum Tile { EMPTY, SOLID, PLATFORM, SPIKES }
export const W = TILES[0].length, H = TILES.length;
export const SPAWNS: ReadonlyArray<[x: number, y: number]> = [[1.5, 6.5], [19.5, 1.5]];

export function tile(x: number, y: number): number {
  const col = Math.floor(x), row = Math.floor(y);
  if (col < 0 || row < 0 || col >= W || row >= H) return Tile.SOLID;
  switch (TILES[row][col]) {
    case "#": return Tile.SOLID;
    case "=": return Tile.PLATFORM;
    case "^": return Tile.SPIKES;
  }
  return Tile.EMPTY;
}
