import { price } from "./kinds.js";
import { free } from "./map.js";

export function build(player, { kind, col, row }) {
  const cost = price(kind);
  if (player.gold < cost || !free(col, row)) return;
  const t = game.towers.spawn(player);
  if (!t) return;
  Object.assign(t, { kind, col, row });
  player.gold -= cost;
}

export function upgrade(player, { tower }) {
  if (tower?.owner !== player || tower.level >= 3) return;
  const cost = price(tower.kind, tower.level + 1);
  if (player.gold < cost) return;
  player.gold -= cost;
  tower.level++;
}

export function sell(player, { tower }) {
  if (!tower || tower.owner !== player) return;
  player.gold += Math.floor(price(tower.kind, tower.level) / 2);
  tower.remove();
}

export function ready(player) {
  player.ready = true;
}
