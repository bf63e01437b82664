export function start() {
  game.lives = 20;
  game.countdown = 100;
}

export function update() {
  if (game.over && game.players.count === 0) game.end();
  game.open = !game.over && game.wave < 3;
}
