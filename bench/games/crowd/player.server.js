import { SPACING } from "./camps.js";

// Ids of players are 1, 3, 5 ...: the first stands in camp 2.
export function join(player) {
  player.x = ((player.id - 1) / 2 + 2) * SPACING;
}
