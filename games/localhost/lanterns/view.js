// What a player may see of the night. The server asks these functions at each
// update, for each player and each thing within the view's radius of the
// definition. A browser is sent what they say yes to and nothing else: what is in
// the dark is not in the page, so no cheat in a page can show it.
//
// held tells whether the player sees the thing already. It may then be a little
// further out, so that what stands at the rim of a light does not flicker.
import { FLARE_LIGHT, GLOW, SIGHT, light, near } from "./field.js";

const RIM = 30;

// A lantern is seen from afar. Who has run out of oil is met only in a light.
export function player(viewer, other, held) {
  return other.oil > 0 || lit(viewer, other, held ? RIM : 0);
}

export function ember(viewer, ember, held) {
  const rim = held ? RIM : 0;
  return near(viewer, ember, GLOW + rim) || lit(viewer, ember, rim);
}

export function moth(viewer, moth, held) {
  return lit(viewer, moth, held ? RIM : 0);
}

// A flare is seen as far as the radius goes. Without this function, every player
// would see every flare.
export function flare(viewer, flare) {
  return true;
}

// lit tells whether a thing is before somebody's feet or in anybody's light: that
// of a friend far away shows what stands around the friend.
function lit(viewer, thing, rim) {
  if (near(viewer, thing, SIGHT + rim)) return true;
  for (const other of game.players) {
    if (other.oil > 0 && near(other, thing, light(other) + rim)) return true;
  }
  for (const flare of game.flares) {
    if (near(flare, thing, FLARE_LIGHT + rim)) return true;
  }
  return false;
}
