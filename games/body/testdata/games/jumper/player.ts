import { tile, Tile, SPAWNS } from "./level";
import { clamp, approach } from "./math";

interface Body { x: number; y: number; vx: number; vy: number }
const GRAVITY = 30, RUN = 6, JUMP = -12, HALF = 0.4;
const State = { IDLE: 0, RUN: 1, AIR: 2 } as const;

function blocked(x: number, y: number): boolean {
  return tile(x - HALF, y) === Tile.SOLID || tile(x + HALF, y) === Tile.SOLID;
}

function move(b: Body, dt: number) {
  b.x += b.vx * dt;
  if (blocked(b.x, b.y)) {
    b.x -= b.vx * dt;
    b.vx = 0;
  }
  b.y += b.vy * dt;
}

export function update(player: rules.Player): void {
  if (player.dead > 0) {
    if (--player.dead === 0) respawn(player);
    return;
  }
  const want = (+player.right - +player.left) * RUN;
  player.vx = approach(player.vx, want, (player.ground ? 60 : 30) * game.dt);
  player.vy = clamp(player.vy + GRAVITY * game.dt, -20, 20);
  if (player.jump > 0) {
    player.jump--;
    if (player.ground) {
      player.vy = JUMP;
      player.jump = 0;
    }
  }
  move(player, game.dt);
  const under = tile(player.x, player.y + 0.5);
  player.ground = player.vy >= 0 && (under === Tile.SOLID || under === Tile.PLATFORM);
  if (player.ground) {
    player.y = Math.floor(player.y + 0.5) - 0.5;
    player.vy = 0;
  }
  if (tile(player.x, player.y) === Tile.SPIKES) player.dead = 30;
  player.state = !player.ground ? State.AIR : Math.abs(player.vx) > 0.1 ? State.RUN : State.IDLE;
  let i = 0;
  for (const [x, y] of SPAWNS) {
    if (Math.hypot(player.x - x, player.y - y) < 1) player.checkpoint = i;
    i++;
  }
}

function respawn(player: rules.Player) {
  const [x, y] = SPAWNS[player.checkpoint];
  Object.assign(player, { x, y, vx: 0, vy: 0 });
}
