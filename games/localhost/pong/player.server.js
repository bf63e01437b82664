// A new player takes the free end of the table, and a new match begins.
export function join(player) {
  if (player.name === "") player.nick = "Player";
  else player.nick = player.name;
  for (const other of game.players) {
    other.score = 0;
    if (other !== player) player.side = 1 - other.side;
  }
  game.winner = -1;
  game.serving = player.side;
}
