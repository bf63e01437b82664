import { fall, kick, slow } from "./_shared/rigid.js";

// What comes to rest is thrown up at once: all cubes move, all the time.
export function update(cube) {
  fall(cube);
  if (slow(cube)) kick(cube, 0, 0, 6);
}
