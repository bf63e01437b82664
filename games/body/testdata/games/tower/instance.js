import { CREEPS, waveOf } from "./kinds.js";
import { ROAD, center } from "./map.js";

function everyoneReady() {
  let ready = game.players.count > 0;
  for (const { ready: r } of game.players) ready &&= r;
  return ready;
}

function send(kind) {
  const c = game.creeps.spawn();
  if (!c) return false;
  const [[x, y]] = ROAD;
  c.kind = kind;
  c.x = center(x);
  c.y = center(y);
  c.leg = 1;
  c.hp = CREEPS[kind].hp * (1 + game.wave * 0.1);
  return true;
}

export function update() {
  if (game.over) return;
  if (game.lives <= 0) {
    game.over = true;
    log(`over in wave ${game.wave}`);
    return;
  }
  const wave = waveOf(game.wave);
  if (game.left > 0) {
    // one creep every half second
    if (game.tick % 10 === 0 && send(wave[wave.length - game.left])) game.left--;
    return;
  }
  if (game.creeps.count > 0) return;
  if (everyoneReady()) game.countdown = 0;
  if (game.countdown-- > 0) return;
  game.wave++;
  game.left = waveOf(game.wave).length;
  game.countdown = 200;
  for (const p of game.players) {
    p.gold += 20 + game.wave * 5;
    p.ready = false;
  }
}
