import { SPAWNS } from "./level";
export function join(player: rules.Player) {
  const [[x, y]] = SPAWNS;
  player.x = x; player.y = y;
}
