// What only the server knows is the name that the page asked for.
export function join(player) {
  if (player.name === "") player.nick = "Pilot";
  else player.nick = player.name;
}
