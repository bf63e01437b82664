export function join(player) {
  player.gold = 150;
}
export function leave(player) {
  for (const t of game.towers) if (t.owner === player) t.remove();
}
