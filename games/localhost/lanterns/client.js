// Front-end code that is bundled into the library as gamehoster.game: the night's
// measures, so that the page draws the light that the rules go by.
import { FLARE_LIGHT, FLARE_TICKS, FULL, SIGHT, SIZE, light } from "./field.js";

export * as hud from "./_shared/hud.js";

export const field = { size: SIZE, full: FULL, sight: SIGHT };

export { light };

// glare is how far a flare shines, which ends in its last second.
export function glare(flare) {
  return FLARE_LIGHT * Math.min(1, flare.life / 30);
}

// fresh is how much of a flare is left, from 1 to 0.
export function fresh(flare) {
  return flare.life / FLARE_TICKS;
}

// colour is a player's: ids of players are odd, so that neighbours differ.
export function colour(id) {
  return ["#ffb454", "#7fd4ff", "#ff7fb0", "#9bff8a", "#c9a2ff", "#ff8f5a", "#8ab0ff", "#f4f0e2"][(id >> 1) % 8];
}
