import { fall, kick, slow } from "./_shared/rigid.js";

const REACH = 2.6;

export function update(cube) {
  const dx = cube.x - game.px;
  const dy = cube.y - game.py;
  if (dx * dx + dy * dy < REACH * REACH && cube.z < 0.5) {
    kick(cube, game.px, game.py, 3);
    cube.asleep = false;
  }
  if (cube.asleep) return;
  fall(cube);
  if (slow(cube)) {
    cube.asleep = true;
    cube.vx = 0;
    cube.vy = 0;
    cube.vz = 0;
  }
}
