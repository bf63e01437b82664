// What a player can do: walk a way until told another, and throw a flare.
import { FLARE_TICKS } from "./field.js";

const FLARE_OIL = 100;
const THROW = 620; // units a second, at first

// The page sends a stick of any length up to 1 in each direction. That makes a
// diagonal 1.4 long, so it is cut here: a page may be someone else's than yours.
export function walk(player, command) {
  const length = Math.max(1, Math.hypot(command.x, command.y));
  player.walkX = command.x / length;
  player.walkY = command.y / length;
}

// The browser of who throws runs this at once. The flare it makes flies before
// the server knows of it, and goes on as the server's when that one arrives.
export function flare(player, command) {
  if (player.oil <= FLARE_OIL) return;
  const flare = game.flares.spawn(player);
  if (!flare) return; // the night is full of flares
  player.oil -= FLARE_OIL;
  const length = Math.max(1, Math.hypot(command.x, command.y));
  flare.x = player.x;
  flare.y = player.y;
  flare.vx = command.x / length * THROW;
  flare.vy = command.y / length * THROW;
  flare.life = FLARE_TICKS;
}
