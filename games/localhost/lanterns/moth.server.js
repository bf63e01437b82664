// Moths come to the light and drink oil. The light that draws one may be out of
// view of who sees the moth, so where it flies is decided here. Its goal is a shared
// field: browsers fly by it, and are told when the server has written another one.
import { FLARE_LIGHT, SIZE, light, near } from "./field.js";

const EVERY = 10; // ticks between two looks
const SCENT = 500; // how far beyond its light a lantern draws moths
const ABOUT = 64; // units that a light must move to be told of again
const DRINK = 40; // how near
const SIP = 6; // how much oil

export function update(moth) {
  if ((game.tick + moth.id) % EVERY !== 0) return;
  // A flare draws more than any lantern: throw one to be rid of them.
  for (const flare of game.flares) {
    if (near(flare, moth, FLARE_LIGHT + SCENT)) {
      fly(moth, flare.x, flare.y);
      return;
    }
  }
  for (const player of game.players) {
    if (player.oil === 0 || !near(player, moth, light(player) + SCENT)) continue;
    fly(moth, player.x, player.y);
    if (near(player, moth, DRINK)) player.oil = Math.max(0, player.oil - SIP);
    return;
  }
  // Nothing burns: now and then it makes for another place.
  if (serverRandom() < 0.1) fly(moth, serverRandom() * SIZE, serverRandom() * SIZE);
}

// fly writes only what differs, since a write is sent whatever it writes.
function fly(moth, x, y) {
  const goalX = Math.round(x / ABOUT) * ABOUT;
  const goalY = Math.round(y / ABOUT) * ABOUT;
  if (moth.goalX === goalX && moth.goalY === goalY) return;
  moth.goalX = goalX;
  moth.goalY = goalY;
}
