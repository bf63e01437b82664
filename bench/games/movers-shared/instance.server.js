import { place } from "./_shared/walk.js";

const MOVERS = 60;

export function start() {
  for (let i = 0; i < MOVERS; i++) {
    const mover = game.movers.spawn();
    if (mover) place(mover);
  }
}
