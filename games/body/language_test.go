package body_test

import (
	"strings"
	"testing"
)

// spoken are programs that write what an author would, each around one part of the
// language. Every one does in Node what it does compiled; see compareTwin and, for the
// fields that there are without any given, constructs.
var spoken = []struct{ name, types, text string }{
	{"assignment where it is asked for", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 on:bool label:str8 a:i8
player 1 unused:u8
rock rocks 6 x:f32 n:u8 on:bool near:ref.rock name:str6
`, `
-- instance.js --
const NAMES = ["r0", "r1", "r2"];
function count() { game.r6++; return game.r6 * 3; }
export function update() {
  game.r0 ||= count();
  game.r0 &&= game.tick % 3;
  game.a ||= 300.5;
  game.r1 += (game.a &&= count() * 100) + (game.a ||= 7) * 2;
  game.on ||= game.tick % 2 === 0;
  game.on &&= game.tick % 3 !== 0;
  game.label ||= "first";
  game.label &&= game.tick % 4 === 0 ? "" : "next";
  game[NAMES[game.tick % 3]] ||= count();
  let word = game.label, n = NaN;
  word ||= "none";
  n ||= 5;
  n &&= n - 1;
  game.r2 = word.length + n;
  let best = null;
  for (const r of game.rocks) { best ??= r; r.near ??= best; r.near &&= r.near.near; r.x ||= r.id; r.on ||= best === r; }
  best ??= game.rocks.spawn();
  best ||= game.rocks.find(1e6);
  if (best) { best.x += 0.5; game.r3 = best.id; best.near ||= best; }
  for (const r of game.rocks) { r.name ||= r.on ? "lit" : word; game.r4 += r.name.length + (r.near ? 1 : 0); }
  if (game.tick % 5 === 0) game.rocks.spawn();
  game.r5 = (best &&= game.rocks.find(best.id)) ? 1 : 0;
  if (game.tick % 19 === 0) for (const r of game.rocks) r.remove();
}
`},
	{"an effect behind a test", `
instance r0:f64 r1:f64
player 1 unused:u8
rock rocks 8 x:f32 n:u8
`, `
-- instance.js --
const kill = (r) => r.remove();
const mark = (r) => r.n = 200;
export function update() {
  game.tick % 3 && game.rocks.spawn();
  game.tick % 2 ? game.r0++ : game.r1--;
  for (const r of game.rocks) {
    r.x > 4 && kill(r);
    r.x > 2 || r.n > 100 || mark(r);
    r.x > 3 ? (r.x += 0.5, r.n--) : r.x++;
    random() < 0.1 && (r.x > 1 ? kill(r) : mark(r));
  }
  if (game.r0 > 20) return reset();
  game.r0 += 0.25;
}
function reset() { game.r0 = 0; game.r1 = 0; }
`},
	{"variables without a value", "", `
-- instance.js --
function pick(n) {
  let v;
  switch (n) { case 0: v = 5; break; case 1: v = 6; default: v = 7; }
  let w;
  do { w = random(); if (w > 0.9) continue; } while (w < 0.5);
  let u;
  for (;;) { if (n > 3) { u = 1; break; } u = 2; if (w > 0.6) break; n++; }
  let t, s;
  if (v > 5) { t = 1; s = t; } else t = s = 2;
  out: { if (n) { v = 1; break out; } v = 3; }
  return v + w + u * 10 + t + s;
}
export function update() {
  game.r0 = pick(game.tick % 6);
  for (let i = 0; i < 3; i++) { let last; if (i % 2) last = i; else last = -i; game.r1 += last; }
  let big;
  big = game.r1 > 2;
  game.r2 = big ? 1 : 0;
}
`},
	{"default values of parameters", `
instance r0:f64 r1:f64 r2:f64 r3:f64
player 2 x:f32 y:f32
rock rocks 4 x:f32 y:f32 n:u8
`, `
-- instance.js --
const ORIGIN = { x: 1, y: -2 };
function add(a, b = 2, c = a * b) { return a + b * 10 + c * 100; }
function late(a = game.r3++, b = a + game.r3) { return a * 100 + b; }
function far(o, { x, y } = ORIGIN, scale = 1) { return Math.abs(o.x - x) * scale + Math.abs(o.y - y); }
const near = (o, limit = 3) => far(o) < limit;
export function update() {
  game.r0 = add(1) + add(2, 3) * 1e3 + add(4, 5, 6) * 1e6;
  game.r1 = late() + late(5) + late(1, 2);
  const r = game.rocks.spawn() ?? game.rocks.find(2);
  for (const o of game.rocks) {
    o.x += 0.5; o.n += near(o) ? 1 : near(o, 9) ? 2 : 3;
    game.r2 += far(o, r) + far(o, { x: game.tick, y: 0 }, 2) + far(o, ORIGIN, 3);
  }
}
`},
	{"tables and collections given to helpers", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 word:str9
player 3 x:f32 y:f32
rock rocks 9 x:f32 y:f32 kind:u8
shot shots 9 owned x:f32 y:f32
`, `
-- rules.js --
export const KINDS = [{ name: "pebble", size: 1, hits: [1, 2] }, { name: "boulder", size: 4.5, hits: [3] }];
export const SPEED = { slow: 1, fast: 2.5 };
export const GRID = [[1, 2, 3], [4, 5, 6]];
export function sum(list) { let s = 0; for (const v of list) s += v; return s; }
export function at(table, i) { return table[i % table.length]; }
export function size({ size, hits }) { return size * 10 + hits.length + hits[0]; }
export function named(kind) { return kind.name; }
export function nearest(list, x) {
  let best = null, d = Infinity;
  for (const o of list) if (Math.abs(o.x - x) < d) { d = Math.abs(o.x - x); best = o; }
  return best;
}
export function refill(list, n) { while (list.count < n) { const o = list.spawn(); if (!o) return list.count; o.x = random() * 20; } return list.count; }
-- instance.js --
import { KINDS, SPEED, GRID, sum, at, size, named, nearest, refill } from "./rules.js";
const ROWS = { top: GRID[0], bottom: GRID[1] };
const level = () => KINDS[game.tick % 2];
const row = (name, i) => GRID[(name === "top" ? 0 : 1) + i - i];
function cell(t, i, j) { return t[i][j]; }
export function update() {
  const { rocks, players } = game;
  game.r0 = sum(GRID[game.tick % 2]) + sum(ROWS.bottom) * 100 + at(GRID[0], game.tick) * 1e4;
  game.r1 = size(KINDS[game.tick % 2]) + size(level()) * 1e3 + level().hits.length * 1e6 + row("top", 1)[2] + row("x", 2)[1];
  game.word = named(game.tick % 3 ? KINDS[0] : KINDS[1]);
  const table = game.tick % 4 < 2 ? GRID[0] : [7, 8];
  game.r2 = at(table, game.tick) + table.length * 10 + cell(GRID, game.tick % 2, 1) * 100 + cell([[9, 8], [7, 6]], 1, 0) * 1e4;
  game.r3 = refill(rocks, 5) + (nearest(rocks, 10)?.x ?? -1) + (nearest(game.players, 3)?.id ?? -2) + players.count;
  for (const p of players) { p.x = nearest(rocks, p.x)?.x ?? 0; const s = game.shots.spawn(p); if (s) s.x = p.x; p.y = nearest(game.shots, 4)?.x ?? 0; }
  for (const s of game.shots) if (random() < 0.3) s.remove();
  const chosen = level(), { name, hits } = chosen;
  game.r4 = name.length + hits[0] + chosen.size;
  if (game.tick % 9 === 0) nearest(rocks, 0)?.remove();
}
`},
	{"lists and patterns", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 i8:i8
player 2 x:f32 y:f32
rock rocks 5 x:f32 y:f32 near:ref.rock
`, `
-- instance.js --
const DIRS = [[0, 1], [1, 0], [0, -1], [-1, 0]];
const LEVELS = [{ at: { x: 1, y: 2 }, gates: [5, 6] }, { at: { x: 3, y: 4 }, gates: [7, 8, 9] }];
function minmax(a, b) { return a < b ? a : b; }
function pair([a, b], k) { return a * k + b; }
export function update() {
  let a = game.tick % 7, b = 3;
  [a, b] = [b, a];
  game.r0 = a * 10 + b;
  for (const [dx, dy] of DIRS) game.r1 += dx * game.tick - dy;
  const [first, , third = 5] = LEVELS[0].gates;
  game.r2 = first * 100 + third;
  for (const { at: { x, y: height }, gates: [g] } of LEVELS) game.r2 += x * height + g;
  const { at: { x }, gates } = LEVELS[game.tick % 2];
  game.r3 = x + gates.length + pair(DIRS[game.tick % 4], 3) + pair([x, 2], 10);
  for (const step of [1, -1, 0.5]) for (const w of ["ab", "c"]) game.r3 += step * w.length;
  const T = [3, 1, 2], [p, q] = [game.tick, game.r0];
  game.r4 = T[game.tick % 3] + p * 2 + q;
  for (const { x, y, id } of game.rocks) game.r4 += x - y + id;
  const r = game.rocks.spawn();
  if (r) { [r.x, r.y] = [game.tick, r.id]; [game.i8, r.x] = [r.x * 50, game.i8]; }
  const { x: left = 4, z = 9 } = { x: 1, y: 2 };
  game.r4 += left + z;
}
`},
	{"objects of a body", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 word:str12
player 2 x:f32 y:f32
rock rocks 5 x:f32 y:f32 near:ref.rock name:str8
`, `
-- vec.js --
export const vec = (x, y = 0) => ({ x, y });
export function add(a, b) { return { x: a.x + b.x, y: a.y + b.y }; }
export function scale({ x, y }, k) { return { x: x * k, y: y * k }; }
export function length(v) { return Math.sqrt(v.x * v.x + v.y * v.y); }
export function box(a, b) { return { low: { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y) }, high: { x: Math.max(a.x, b.x), y: Math.max(a.y, b.y) }, flat: a.y === b.y }; }
export function inside(b, { x, y }) { return x >= b.low.x && x <= b.high.x && y >= b.low.y && y <= b.high.y; }
export function split(n) { return [Math.floor(n / 7), n % 7]; }
export function either(flag, a) { if (flag) return { x: a, y: 1 }; return { x: 2, y: a }; }
-- instance.js --
import { vec, add, scale, length, box, inside, split, either } from "./vec.js";
function found(x) { for (const r of game.rocks) if (r.x > x) return { rock: r, d: r.x - x }; return { rock: null, d: -1 }; }
export function update() {
  const v = { x: game.tick, y: -1 };
  v.x *= 2; v.y += v.x++; 
  const w = v; w.y = v.y - 0.5;
  game.r0 = v.x + v.y * 100 + length(add(v, scale(w, 3)));
  let { x, y } = add(vec(1), vec(2, game.tick));
  x += y;
  game.r1 = x * y;
  const b = box(v, { x: 3, y: 40 });
  game.r2 = b.low.x + b.high.y * 10 + (b.flat ? 1 : 0) + (inside(b, vec(5, 5)) ? 1000 : 0);
  b.low.x = -5; b.flat = !b.flat;
  game.r2 += b.low.x + (inside(b, { ...v, x: 0 }) ? 1e4 : 0) + (b.flat ? 1e5 : 0);
  const [q, rest] = split(game.tick), list = split(q + 9), p = [q, rest + 1];
  p[1] += 2;
  game.r3 = q + rest * 10 + list[0] * 100 + list[1] * 1e3 + p[1] * 1e4 + p.length;
  const e = either(game.tick % 2 === 0, q), moved = { ...e, y: e.y + 1, z: 3 };
  game.r4 = e.x + e.y * 10 + moved.y * 100 + moved.z;
  const r = game.rocks.spawn();
  if (r) { r.x = random() * 9; r.name = "rock"; }
}
-- player.js --
import { vec } from "./vec.js";
function label(r, word) { return { text: r.name, rock: r, at: vec(r.x, r.y), word }; }
function found(x) { for (const r of game.rocks) if (r.x > x) return { rock: r, d: r.x - x }; return { rock: null, d: -1 }; }
function rename(r) { const old = { text: r.name, other: r.name }; r.name = r.name === "a" ? "bb" : "a"; return old; }
export function update(p) {
  const best = { rock: null, d: Infinity };
  for (const r of game.rocks) { const d = Math.abs(r.x - 4); if (d < best.d) { best.rock = r; best.d = d; } }
  if (best.rock) {
    const { text, other } = rename(best.rock), l = label(best.rock, text);
    game.word = l.text; game.r5 += l.at.x + l.word.length + other.length; l.rock.y = text < l.text ? 1 : 2;
  }
  const f = found(5);
  p.x = f.d;
  if (f.rock) { f.rock.x -= 0.25; p.y = f.rock.id; } else p.y = -1;
}
`},
	{"characters, Object and records that change", `
instance r0:f64 r1:f64 r2:f64 r3:f64 word:str12 n:i8
player 2 x:f32 y:f32 mate:ref.player
rock rocks 5 x:f32 y:f32 near:ref.rock name:str8
`, `
-- instance.js --
const MAP = ["#..#", "..#", "ö#", ""], LINE = "a€b#", Kind = Object.freeze({ ROCK: 1, SHIP: 2 });
const LEVELS = [{ rows: ["ab", "cd"] }, { rows: ["xy", "zw"] }];
function solid(rows, x, y) { return rows[y][x] === "#"; }
function reach(o) { return o.rock ? o.rock.x : o.d; }
export function update() {
  const y = game.tick % 3, x = game.tick % MAP[y].length;
  game.r0 = (MAP[y][x] === "#" ? 1 : 0) + (LINE[game.tick % 4] < "b" ? 2 : 0) + MAP[0][1].length * 4 + (solid(MAP, 0, 0) ? 8 : 0) + (solid(MAP, x, y) ? 16 : 0);
  game.word = LEVELS[game.tick % 2].rows[y % 2][x % 2];
  let walls = 0;
  for (let r = 0; r < MAP.length; r++) for (let c = 0; c < MAP[r].length; c++) { if (MAP[r][c] === "#") walls++; }
  for (const c of ["x", "y"]) if (c === game.word) walls += 100;
  game.r1 = walls + Kind.SHIP;
  const r = game.rocks.spawn();
  if (r) Object.assign(r, { x: game.tick, y: r.id, name: LINE[y], near: game.rocks.find(2) });
  const best = { rock: null, d: -1 };
  game.r2 = reach(best);
  for (const o of game.rocks) { if (o.y > best.d) { best.rock = o; best.d = o.y; } Object.assign(o, { x: o.y, y: o.x }); }
  game.r2 += reach(best) * 10;
  const a = { v: 1, w: { z: 2 } }, b = a.w, c = { ...a, v: 5 };
  Object.assign(game, { n: game.tick * 3, word: game.word === "" ? "e" : "f" });
  Object.assign(a, { v: a.v + 1 }); b.z += 3; c.w.z *= 2;
  game.r3 = a.v + a.w.z * 10 + b.z * 100 + c.v * 1e3 + c.w.z * 1e4;
  Object.assign(game.rocks.find(2) ?? game.rocks.find(6) ?? best.rock, Object.freeze({ x: -1 }));
  if (game.tick % 8 === 0) for (const o of game.rocks) if (o.near?.y > 3 || o.near?.near === o) o.remove();
}
-- player.ts --
enum Mode { Idle, Run = 4, Fly, Name = "fly" }
const enum Side { Left = -1, Right = 1 }
export enum Mixed { A = Mode.Run * 2, B = A + 1 }
export function update(p: { x: number; y: number; mate: unknown }): void {
  switch (Math.floor(p.x) % 6) { case Mode.Idle: p.x += 1.5; break; case Mode.Run: p.y += Mixed.B; p.x++; break; case Mode.Fly: p.x += Side.Right; break; default: p.x++; }
  p.mate ??= p;
  game.n += Side.Left + Mode.Name.length + Mixed.A;
}
`},
	{"constants that are computed", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 word:str20
player 1 unused:u8
`, `
-- maths.js --
const { sin, cos, PI: HALF_TURN } = Math;
export const atan2 = Math.atan2;
export const deg = (d) => d * HALF_TURN / 180;
export function primes(n) {
  let k = 1, found = 0;
  search: while (found < n) {
    k++;
    for (let i = 2; i * i <= k; i++) if (k % i === 0) continue search;
    found++;
  }
  return k;
}
export function name(n) { switch (n) { case 0: return "none"; case 1: return "one"; default: return "many"; } }
export const ring = (r, a) => ({ x: r * cos(a), y: r * sin(a), far: { is: r > 1 } });
export function gcd(a, b) { for (;;) { if (b === 0) return a; const c = a % b; a = b; b = c; } }
-- instance.js --
import * as maths from "./maths.js";
import { deg, primes, atan2 as arc } from "./maths.js";
const BASE = [2 ** 10, Math.max(1, 2, -0), Math.min(-0, 0), Math.round(2.5), Math.round(-2.5), Math.round(-0.2), Math.round(0.49999999999999994),
  1 > 2 ? 3 : 4, ~5, -5 >>> 1, -1 >> 1, 1 << 33, "abc€😀".length, Math.sin(1), Math.pow(2, 0.5), Math.hypot(3, 4), Math.hypot(1, 2, 3e200),
  Infinity, NaN, Math.sign(-3), Math.clz32(77), Math.imul(0xffffffff, 5), Math.cbrt(3), Math.exp(1), Math.log(10), Math.tan(1e9), Math.atan2(-1, -0),
  -7 % 4, -4 % 2, 5.5 % -2, 1e300 * 1e10, 0.1 + 0.2, Math.fround(0.1), 7 & 1e12, 3 ^ -1, Number.EPSILON, Math.asinh(2), Math.expm1(1e-9),
  maths.deg(30), deg(-45), primes(20), arc(1, 3), maths.gcd(1071, 462), NaN === NaN ? 1 : 2, "a" < "B" ? 1 : 2, Number(true) + +false];
const MORE = [...BASE, 4, ...[5, 6]], FLAGS = [!true, true && false, 3 > 2, isNaN(NaN), Number.isInteger(4)], WORDS = [maths.name(0), maths.name(1), maths.name(7)];
const BALL = { size: 1, mass: 2 }, BOMB = { ...BALL, mass: deg(9), name: maths.name(2) }, AT = maths.ring(2, deg(60)), [FIRST, , THIRD] = MORE, { x: LEFT, far: { is } } = AT;
const RING = [maths.ring(1, 0), maths.ring(1.5, deg(120)), AT];
export function update() {
  const k = game.tick % MORE.length;
  game.r0 = MORE[k];
  game.r1 = BASE.length + MORE.length * 100 + (FLAGS[k % 5] ? 1 : 0);
  game.word = WORDS[k % 3];
  game.r2 = BOMB.size + BOMB.mass * 10 + BALL.mass * 100 + BOMB.name.length;
  game.r3 = AT.x + AT.y * 10 + FIRST + THIRD * 2 + LEFT + (is ? 7 : 8);
  game.r4 = RING[k % 3].x - RING[k % 3].y + (RING[k % 3].far.is ? 100 : 0);
  game.r5 = maths.gcd(k * 6, 12) + maths.primes(k % 9) + arc(k, 2) + maths.atan2(1, k);
  game.r6 = k < BASE.length ? BASE[k] : 1 / BASE[2];
}
`},
	{"tests of numbers", "", `
-- instance.js --
const n = (v) => Number(v);
export function update() {
  const all = [0, -0, 1.5, NaN, Infinity, -Infinity, 9007199254740991, 9007199254740992, 1e300, 5e-324, -3];
  const v = all[game.tick % all.length];
  game.r0 = n(isNaN(v)) + 2 * n(Number.isNaN(v)) + 4 * n(isFinite(v)) + 8 * n(Number.isFinite(v)) + 16 * n(Number.isInteger(v)) + 32 * n(Number.isSafeInteger(v));
  game.r1 = +(v > 1) + Number(v) + (Boolean(v) ? 10 : 20);
  game.r2 = Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER * Number.EPSILON + (v < Number.MAX_VALUE ? 1 : 0) + (v > Number.MIN_VALUE ? 2 : 0);
  game.r3 = v === Number.POSITIVE_INFINITY ? 1 : v === Number.NEGATIVE_INFINITY ? 2 : Number.NaN;
  const { sqrt, PI } = { sqrt: 2, PI: 3 };
  game.r4 = sqrt * PI;
  const { PI: pi, E } = Math;
  game.r5 = pi - E;
}
`},
	{"comparing what may be absent", `
instance r0:f64 r1:f64 r2:f64
player 1 unused:u8
rock rocks 5 x:f32 near:ref.rock n:u8
`, `
-- instance.js --
export function update() {
  const r = game.rocks.spawn();
  if (r && random() < 0.5) r.near = game.rocks.find(2);
  for (const a of game.rocks) {
    a.x += random() - 0.5;
    if (a.near?.x > 0) game.r0++;
    if (a.near?.x <= 0) game.r0 += 100;
    if (a.near?.n === 0) game.r1++;
    if (a.near?.n !== 0) game.r1 += 100;
    if (a.near?.near === a) game.r2++;
    if (a.near?.near !== a) game.r2 += 100;
    if (!(a.near?.near?.x >= a.x)) a.n++;
  }
  if (game.tick % 17 === 0) game.rocks.find(2)?.remove();
}
`},
	{"choosing by a function's result that is no number", "", `
-- instance.js --
export function update() {
  game.r0 = Math.pow(1, Infinity) > 0 ? 1 : 2;
  game.r1 = Math.atan2(1, game.r8 / game.r9) > 0 ? 1 : 2;
  game.r2 = Math.hypot(1, NaN) < 5 ? 1 : 2;
  game.r3 = Math.pow(1, NaN) >= 0 ? 1 : 2;
}
`},
	{"names that look alike", "", `
-- instance.js --
const T = { "a.b": [1, 2], a: { b: [3, 4] }, "c[0]": [5, 6], c: [[7, 8]] };
const N = ["a.b", "c[0]"];
const A = { x: 1 }, B = { x: 2 };
function first(T, i) { const list = [T.x, 10]; return list[i]; }
function all(T) { let s = 0; for (const v of [T.x, T.x * 3]) s += v; return s; }
function parts(o) { return o.c * 100; }
export function update() {
  const i = game.tick % 2;
  game.r0 = T[N[0]][i] * 10 + T.a.b[i];
  game.r1 = T[N[1]][i] * 10 + T.c[0][i];
  game.r2 = first(A, i) * 100 + first(B, i);
  game.r3 = all(A) * 100 + all(B);
  game.r4 = parts({ "a:number,b": 1, c: game.tick }) + parts({ a: 2, "b:number,c": 3, c: 4 });
}
`},
	{"one object under several names", "", `
-- instance.js --
function sum(o) { return o.in.x + o.x; }
export function update() {
  const a = { x: 1, y: 2 }, b = a, o = { in: a, x: 3 };
  for (let i = 0; i < 2; i++) { const p = b; p.x += i; Object.assign(p, { x: p.y, y: p.x }); }
  o.in.x += 5;
  game.r0 = a.x * 10 + a.y;
  game.r1 = sum(o) + sum({ ...o, x: 8 }) * 100;
  const c = { ...o, z: 0 };
  c.in.y = 9; c.x = 1;
  game.r2 = a.y + o.x * 10;
  const { in: q, w = (game.r9 += 1) } = c;
  q.x = w;
  game.r3 = b.x;
}
`},
}

func TestTwinSpoken(t *testing.T) {
	for _, c := range spoken {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			types := c.types
			if !strings.Contains(types, "instance ") {
				types = "instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 r7:f64 r8:f64 r9:f64\nplayer 1 unused:u8\n" + types
			}
			def := define(t, types)
			compareTwin(t, def, bodies(c.text), 150, func(tick int) (in input) {
				if tick == 2 {
					for i := range uint32(def.Player().Max) {
						in.joins = append(in.joins, join{id: 1 + 2*i, name: "Ada"})
					}
				}
				return in
			})
		})
	}
}
