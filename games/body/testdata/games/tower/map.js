// The map is drawn as text: # wall, . free, - road.
export const MAP = [
  "################",
  "#..............#",
  "--------.......#",
  "#......-.......#",
  "#......-.......#",
  "#..-----.......#",
  "#..-...........#",
  "#..-------------",
  "#..............#",
  "################",
];

export const ROAD = [[0, 2], [7, 2], [7, 5], [3, 5], [3, 7], [15, 7]];

export function free(col, row) {
  if (row < 0 || row >= MAP.length || col < 0 || col >= MAP[0].length) return false;
  if (MAP[row][col] !== ".") return false;
  for (const t of game.towers) {
    if (t.col === col && t.row === row) return false;
  }
  return true;
}

export const center = (cell) => cell + 0.5;
