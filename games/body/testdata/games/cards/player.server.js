export function join(player) {
  let seat = 0;
  for (const p of game.players) {
    if (p !== player) seat = Math.max(seat, p.seat + 1);
  }
  player.seat = seat;
}

export function leave(player) {
  for (const c of game.cards) {
    if (c.owner === player) c.remove();
  }
  if (game.turn === player) game.turn = null;
}
