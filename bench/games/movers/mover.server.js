import { walk } from "./_shared/walk.js";

export function update(mover) {
  walk(mover);
}
