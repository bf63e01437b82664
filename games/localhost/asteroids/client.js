// Front-end code that is bundled into the library as gamehoster.game: what the
// page draws, in the same units as the rules.
import { WIDTH, HEIGHT, SHIP, ROCK } from "./space.js";

export * as hud from "./_shared/hud.js";

export const world = { width: WIDTH, height: HEIGHT };
export const shipRadius = SHIP;
export const rockRadius = ROCK;

// hull is a ship's outline, its nose towards +x; flame is what its engine adds.
export const hull = [[16, 0], [-11, 10], [-6, 0], [-11, -10]];
export const flame = [[-8, 5], [-22, 0], [-8, -5]];

// outline is a rock's: the same for the same id and size on every screen.
export function outline(id, size) {
  const corners = 8 + size * 2;
  const radius = ROCK[size];
  const points = [];
  let seed = Math.imul(id, 2654435761);
  for (let i = 0; i < corners; i++) {
    seed = Math.imul(seed ^ (seed >>> 15), 2246822519) + 374761393 | 0;
    const r = radius * (0.68 + 0.44 * ((seed >>> 8) & 0xff) / 255);
    const a = (i / corners) * 2 * Math.PI;
    points.push([Math.cos(a) * r, Math.sin(a) * r]);
  }
  return points;
}

// colour is a player's: ids of players are odd, so that neighbours differ.
export function colour(id) {
  return ["#5ef1ff", "#ff5fa2", "#ffd23f", "#7dff6b", "#b48cff", "#ff8f4a", "#6b9bff", "#f4f7ff"][(id >> 1) % 8];
}
