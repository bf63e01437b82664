export const TOWERS = [
  { name: "arrow", cost: 50, range: 3, wait: 10, damage: 6, slow: 0 },
  { name: "frost", cost: 80, range: 2.5, wait: 15, damage: 2, slow: 40 },
  { name: "cannon", cost: 140, range: 4, wait: 40, damage: 35, slow: 0 },
];

export const CREEPS = [
  { hp: 20, speed: 2, gold: 4 },
  { hp: 60, speed: 1.2, gold: 9 },
  { hp: 12, speed: 4, gold: 5 },
];

const WAVES = [
  [0, 0, 0, 0, 0],
  [0, 2, 0, 2, 0, 2],
  [1, 1, 1],
  [0, 2, 1, 0, 2, 1, 0, 2],
];

export function waveOf(n) {
  return WAVES[n % WAVES.length];
}

export function price(kind, level = 0) {
  const { cost } = TOWERS[kind];
  return Math.round(cost * (1 + level * 0.75));
}
