// The night begins with moths and embers, and embers glow up again where nobody
// can foresee it. What is made here appears in a browser when it comes into view.
import { SIZE } from "./field.js";
import { hide } from "./treasure.js";

const EMBERS = 64;
const MOTHS = 16;
const EMBER_TICKS = 45;

export function start() {
  hide();
  for (let i = 0; i < EMBERS; i++) kindle();
  for (let i = 0; i < MOTHS; i++) {
    const moth = game.moths.spawn();
    if (!moth) return;
    moth.x = serverRandom() * SIZE;
    moth.y = serverRandom() * SIZE;
    moth.goalX = moth.x;
    moth.goalY = moth.y;
  }
}

export function update() {
  if (game.tick % EMBER_TICKS === 0) kindle();
}

function kindle() {
  const ember = game.embers.spawn();
  if (!ember) return; // all that there may be are burning
  ember.x = serverRandom() * SIZE;
  ember.y = serverRandom() * SIZE;
}
