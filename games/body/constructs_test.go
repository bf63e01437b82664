package body_test

import (
	"strings"
	"testing"
)

// constructs are programs that use one part of the language each. Every one
// runs as wasm and in Node; see compareTwin. Types without fields of their own
// get out, a f64 field of the instance, and slots r0..r9 to leave results in.
var constructs = []struct{ name, types, text string }{
	{"numbers", "", `
-- instance.js --
export function update() {
  const a = random() * 200 - 100, b = random() * 20 - 10;
  game.r0 = a + b * 3 - a / b;
  game.r1 = a % b;
  game.r2 = -a + +b;
  game.r3 = (a | 0) * 7 % 5;
  game.r4 = a ** 2 + a ** 1 + b ** 0;
  game.r5 = (a * 1e9) >> 3 ^ ~b & 0xff00ff | 1 << 31;
  game.r6 = (a * 1e12) >>> 1;
  game.r7 = a * 1e300 * 1e300 - b / 0;
  game.r8 = -0 * Math.abs(a);
  game.r9 = (1 / (a - a)) * (b > 0 ? 1 : -1);
}
`},
	{"comparisons", "", `
-- instance.js --
function n(v) { return v ? 1 : 0; }
export function update() {
  const a = Math.floor(random() * 4), b = Math.floor(random() * 4), nan = 0 / (a - a);
  game.r0 = n(a < b) + 2 * n(a <= b) + 4 * n(a > b) + 8 * n(a >= b) + 16 * n(a === b) + 32 * n(a !== b);
  game.r1 = n(nan < b) + 2 * n(nan === nan) + 4 * n(nan !== nan) + 8 * n(!(nan >= b));
  game.r2 = n(a && b) + 2 * n(a || b) + 4 * n(!a) + 8 * n(!!b);
  game.r3 = (a || 7) + (b && 5);
  game.r4 = n(nan) + 2 * n(-0) + 4 * n(1e-320);
  const t = a > 1, f = !t;
  game.r5 = n(t === f) + 2 * n(t !== (b > 1)) + 4 * n(t && f || b === 2);
}
`},
	{"conversions", "instance b:bool i8:i8 u8:u8 i16:i16 u16:u16 i32:i32 u32:u32 f32:f32 f64:f64", `
-- instance.js --
const BIG = [0, -0, 1, -1, 0.5, -0.5, 127, 128, 255, 256, -129, 32767, 32768, 65535, 65536, -32769, 2147483647, 2147483648, -2147483648, -2147483649, 4294967295, 4294967296, 1e10, -1e10, 1e15, 9007199254740993, 9223372036854775807, 9223372036854775808, -9223372036854775808, 1.8446744073709552e19, 1e20, -1e20, 1e21, 3e25, -7e30, 1e300, 1e308, 5e-324, 1e-45, 3.4e38, 3.5e38];
export function update() {
  const k = game.tick % (BIG.length + 3);
  let v = k < BIG.length ? BIG[k] : NaN;
  if (k === BIG.length + 1) v = Infinity;
  if (k === BIG.length + 2) v = -Infinity;
  game.i8 = v; game.u8 = v; game.i16 = v; game.u16 = v; game.i32 = v; game.u32 = v; game.f32 = v; game.f64 = v;
  game.b = v > 1;
  game.u32 *= v >>> 1;
  game.i32 *= game.u32 + game.i8;
  game.f64 = (v | 0) + (v >>> 0) / 3;
}
`},
	{"rounding", "", `
-- instance.js --
export function update() {
  const s = random() * 10 - 5, v = game.tick % 3 === 0 ? Math.floor(s) + 0.5 : game.tick % 7 === 1 ? s * 1e16 : game.tick % 11 === 2 ? -0.25 : s;
  game.r0 = Math.floor(v);
  game.r1 = Math.ceil(v);
  game.r2 = Math.trunc(v);
  game.r3 = Math.round(v);
  game.r4 = Math.sign(v) + Math.sign(0 * s);
  game.r5 = Math.fround(v);
  game.r6 = Math.min(v, 0, -0, s) + Math.max(v, -s);
  game.r7 = Math.sqrt(v) + Math.min(v) ;
  game.r8 = Math.imul(v * 1e6, s * 1e7);
  game.r9 = 1 / Math.round(-0.3 * random());
}
`},
	{"maths", "", `
-- instance.js --
export function update() {
  const a = (random() - 0.5) * 100, b = (random() - 0.5) * 1e7;
  game.r0 = Math.sin(a) + Math.sin(b);
  game.r1 = Math.cos(a) + Math.cos(b);
  game.r2 = Math.tan(a);
  game.r3 = Math.atan(a);
  game.r4 = Math.atan2(a, b) + Math.atan2(b, a);
  game.r5 = Math.hypot(a, b) + Math.hypot(a) + Math.hypot(a, b, 3);
  game.r6 = Math.PI * Math.E + Math.LN2 - Math.SQRT2 * Math.SQRT1_2 / Math.LN10 + Math.LOG2E + Math.LOG10E;
}
`},
	{"more maths", "", `
-- instance.js --
export function update() {
  const a = (random() - 0.5) * 20, u = random() * 2 - 1, p = random() * 50;
  game.r0 = Math.asin(u) + Math.acos(u) * Math.sin(1e9 * a);
  game.r1 = Math.exp(a) - Math.expm1(u);
  game.r2 = Math.log(p) + Math.log1p(u) * Math.log2(p) - Math.log10(p);
  game.r3 = Math.sinh(a) - Math.cosh(u) + Math.tanh(a);
  game.r4 = Math.asinh(a) - Math.acosh(p + 1) + Math.atanh(u);
  game.r5 = Math.pow(p, a) + Math.pow(a, 2) + a ** 2 + Math.pow(a, u);
  game.r6 = Math.cbrt(a) + Math.hypot(a, u, p, 1e3 * u, -3);
  game.r7 = Math.clz32(p * 1e6) + Math.imul(p * 1e9, a * 1e9);
  game.r8 = Math.max(a, u, p - 25, -0) - Math.min(u, -a, 0);
  let v = 1 + p; v **= 2; v %= 0.3;
  game.r9 = v + a * 1e17 % p;
  game.i = (Math.min(-Infinity, NaN) < 0 ? 1 : 2) + (Math.max(NaN, Infinity) > 0 ? 4 : 8);
}
`},
	{"control", "", `
-- instance.js --
function first(n) {
  for (let i = 0; i < 20; i++) {
    if (i * i > n) return i;
  }
  return -1;
}
function collatz(n) {
  let steps = 0;
  while (n !== 1) {
    if (n % 2 === 0) n /= 2;
    else n = 3 * n + 1;
    steps++;
  }
  return steps;
}
export function update() {
  const n = Math.floor(random() * 200) + 1;
  game.r0 = first(n);
  game.r1 = collatz(n);
  let sum = 0;
  for (let i = 0, j = 10; i < j; i++, j--) {
    if (i === 2) continue;
    if (sum > n) break;
    sum += i * j;
  }
  game.r2 = sum;
  let k = 0;
  do { k += 3; if (k === 6) continue; } while (k < n % 13);
  game.r3 = k;
  let out = 0;
  for (;;) {
    for (let i = 0; ; i++) {
      if (i > n % 5) break;
      out += i;
    }
    if (++out > 30) break;
  }
  game.r4 = out;
  const k2 = n > 100 ? n > 150 ? 3 : 2 : 1;
  game.r5 = k2;
}
`},
	{"switch", "", `
-- instance.js --
function kind(n) {
  switch (n) {
    case 0: return 10;
    case 1:
    case 2: { const twice = n * 2; return twice; }
    default: return -1;
    case 5: return 55;
  }
}
export function update() {
  let s = 0;
  for (let i = 0; i < 7; i++) {
    switch (i % 4) {
      case 0: s += 1; break;
      case 1: s += 10;
      case 2: s += 100; if (i > 4) continue; break;
      case 3: s += 1000;
    }
    s += 0.5;
  }
  game.r0 = s;
  game.r1 = kind(game.tick % 8);
  switch (game.tick % 2 === 0) {
    case true: game.r2 = 1; break;
    case false: game.r2 = 2;
  }
  let v = 0;
  switch (game.tick % 3) { default: v++; case 1: v += 2; break; case 2: v += 4; }
  game.r3 = v;
}
`},
	{"assignments", "", `
-- instance.js --
export function update() {
  let a = Math.floor(random() * 50), b = 3;
  game.r0 = a++ + ++a - a-- * --a;
  game.r1 = (a += 2) * (b -= 1);
  game.r2 = game.r3 = a;
  a *= b; a /= 3; a %= 7; a **= 2; a <<= 1; a >>= 1; a |= 8; a &= 31; a ^= 5; a >>>= 1;
  game.r4 = a;
  game.r5 += a; game.r5 -= 1; game.r5 *= 0.5;
  game.r6 = game.r5++ - --game.r5;
  game.r7 = (b = 4, b * a);
  game.i = 300; game.i += 2; game.r8 = game.i++; game.r9 = (game.i = 1000) + game.i;
}
`},
	{"tables", "", `
-- tables.js --
export const SPEED = [1, 2.5, -4, 1 / 3, Math.PI * 2, Math.sqrt(2)];
export const HALF = SPEED.length / 2, NAMED = true;
-- instance.js --
import { SPEED as S, HALF, NAMED } from "./tables.js";
export function update() {
  let sum = 0;
  for (let i = 0; i < S.length; i++) sum += S[i] * (i + 1);
  game.r0 = sum;
  game.r1 = HALF;
  game.r2 = NAMED ? S[game.tick % 6] : 0;
}
`},
	{"nested tables", `
instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 r7:f64 name:str12
player 1 kind:u8
`, `
-- levels.js --
const BASE = 10;
export const Kind = { ROCK: 0, SHIP: 1, SHOT: 2 };
export const SPEED = { slow: 1.5, fast: BASE / 4, "very fast": -3 % 2 };
export const LEVELS = [
  { name: "meadow", speed: SPEED.slow, big: false, rocks: [1, 2, 3], at: { x: 1, y: -1 } },
  { name: "cave", speed: BASE | 3, big: true, rocks: [4], at: { x: 0.5, y: 1e9 } },
  { name: "Ödnis", speed: -Kind.SHOT, big: false, rocks: [5, 6, 7, 8, 9], at: { x: Math.PI, y: 0 } },
];
export const GRID = [[1, 2, 3], [4, 5, 6]], WORDS = ["a", "bb", "", "dddd"], FLAGS = [true, false, true];
-- instance.js --
import { Kind, SPEED, LEVELS, GRID, WORDS, FLAGS } from "./levels.js";
const DEEP = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]];
function speed(n) { return LEVELS[n].speed; }
export function update() {
  const k = game.tick % 3, level = LEVELS[k];
  let word = WORDS[game.tick % 4];
  game.r0 = level.speed + speed(2) * 10 + (level.big ? 100 : 0) + LEVELS.length * 1000;
  game.r1 = level.rocks[k === 1 ? 0 : 2] + level.rocks.length * 10 + LEVELS[1].rocks[0] * 100;
  const { at, name } = level;
  const { x, y: height } = at;
  game.r2 = x + height + level.at.x * 3;
  game.name = name;
  game.r3 = GRID[k % 2][k] + GRID[1][k] * 10 + GRID[k % 2][1] * 100 + DEEP[k % 2][1][k & 1] * 1000;
  game.r4 = SPEED.slow + SPEED[word === "a" ? "very fast" : word === "bb" ? "fast" : "slow"];
  switch (k) { case Kind.ROCK: game.r5 = 1; break; case Kind.SHIP: game.r5 = 2; break; case Kind.SHOT: game.r5 = LEVELS[k].name.length; }
  let sum = 0;
  for (const s of GRID[k % 2]) sum += s;
  for (const l of LEVELS) { if (l.big) continue; sum += l.speed; for (let r of l.rocks) { r *= 2; sum += r; if (r > 12) break; } }
  for (const w of WORDS) { if (w === word) break; sum += w.length * 1e4; word = w; }
  game.r6 = sum;
  game.r7 = word.length + (FLAGS[k] ? 10 : 0);
}
`},
	{"computed names", `
instance r0:f64 r1:f64 u8:u8 f32:f32 i16:i16 label:str9 on:bool
player 2 x:f32 y:f64 n:u8 word:str5
rock rocks 4 x:f32 y:f32
command set name:str8 by:f32 to:u8
`, `
-- player.js --
const NAMES = ["x", "y", "n"], FIXED = "n";
function total(o, a, b) { return o[a] + o[b]; }
export function update(p) {
  const name = NAMES[(game.tick + p.id) % 3];
  p[name] += 1.25;
  const was = p[name]++;
  p[name] = p[name] * 1.5 + was;
  p[FIXED]--;
  p.y = total(p, name, "x") + p[NAMES[game.tick % 2]];
  game.r0 = (p[name] = 300.7) + p[name];
  const r = game.rocks.find(2) ?? game.rocks.spawn();
  if (r) r[NAMES[p.id % 2]] -= p[name];
  if (p.n > 200) p.n = 0;
}
-- instance.js --
const TARGETS = ["u8", "f32", "i16", "r1"];
export function update() {
  for (const t of TARGETS) game[t] = game[t] * 3 + game.tick + 0.5;
  game[TARGETS[game.tick & 3]] ^= 5;
}
-- commands.js --
export function set(player, command) {
  player[command.name] = command.by;
  player[command.name] += command[command.to > 3 ? "to" : "by"];
}
`},
	{"labels", "", `
-- instance.js --
function find(n) {
  while (true) {
    if (n * n > 50) return n;
    n++;
  }
}
export function update() {
  let sum = 0;
  outer: for (let i = 0; i < 9; i++) {
    inner: for (let j = 0; ; j++) {
      if (j > i) continue outer;
      if (j === 4) break inner;
      if (i * j === 42) break outer;
      sum += i * j;
      switch (j) { case 2: continue inner; case 3: break outer; }
      sum++;
    }
    sum += 1000;
  }
  game.r0 = sum;
  done: {
    if (random() < 0.5) break done;
    game.r1++;
    if (game.r1 > 3) { game.r1 = 0; break done; }
    game.r2++;
  }
  a: b: do { if (game.tick % 2) continue a; if (game.tick % 3) break b; game.r3++; } while (game.r3 % 5 !== 0);
  only: switch (game.tick % 3) { case 0: while (true) break only; case 1: game.r4++; }
  game.r5 = find(game.tick % 10);
  game.r6 = (game.r7++, game.r7 * 2);
  for (let i = 0, j = 5; i < j; i++, j--) game.r8 += i - j;
  game.r9 = (game.r5-- && game.r4) || -1;
}
`},
	{"helpers", "", `
-- a.js --
import { twice } from "./b.js";
export const quad = (x) => twice(twice(x));
export const nothing = () => {};
export function pick(flag, a, b) { if (flag) { return a; } else { return b; } }
const LOCAL = function (x) { return x + 0.25; };
export function local(x) { x += 1; return LOCAL(x); }
-- b.js --
import { pick } from "./a.js";
export function twice(x) { return pick(x > 1e6, x, x * 2); }
-- instance.js --
import { quad, pick, local, nothing } from "./a.js";
export function update() {
  nothing();
  game.r0 = quad(random() * 1e6);
  game.r1 = pick(random() > 0.5, 1, 2) + (pick(random() > 0.5, true, false) ? 10 : 20);
  game.r2 = local(3);
}
`},
	{"objects", `
player 2 x:f32
rock rocks 10 x:f32=5 n:i16 on:bool=1 target:ref.rock shooter:ref.player
`, `
-- instance.js --
function nearest(x) {
  let best = null, d = Infinity;
  for (const r of game.rocks) {
    const e = Math.abs(r.x - x);
    if (e < d) { best = r; d = e; }
  }
  return best;
}
export function update() {
  const made = game.rocks.spawn();
  if (made !== null) {
    made.x = random() * 100;
    made.n = made.id;
    const t = nearest(50);
    made.target = t;
    if (t && t !== made) t.on = !t.on;
  }
  const n = nearest(20);
  if (!n) return;
  game.r0 = n.id;
  game.r1 = n.target ? n.target.id : -1;
  game.r2 = n.target?.x ?? -7;
  game.r3 = n?.target?.target?.n ?? -8;
  game.r4 = game.rocks.count;
  const f = game.rocks.find(game.r0);
  game.r5 = f === n ? 1 : 0;
  game.r6 = game.rocks.find(1e9) === null ? 1 : 0;
  game.r7 = (game.rocks.find(2.5) ? 1 : 0) + (game.rocks.find(NaN) ? 2 : 0) + (game.rocks.find(-1) ? 4 : 0);
  const other = n.target ?? n;
  game.r8 = other.n;
  if (game.tick % 3 === 0) { n.remove(); n.x = 3; game.r9 = n.x; game.rocks.find(n.id)?.remove(); }
  let seen = 0;
  for (const r of game.rocks) {
    seen++;
    if (r.target === null) r.n = -1;
    if (seen === 1) game.rocks.spawn();
    if (seen === 3 && game.rocks.count > 7) r.remove();
  }
  game.i = seen;
}
-- rock.js --
export function update(self) {
  self.x += self.on ? 1 : -1;
  if (self.target && self.target.x > 90) self.target = null;
  if (self.x > 99 || self.n % 17 === 3) self.remove();
  for (let o of game.rocks) { if (o === self) continue; o = self; o.x += 0.125; break; }
}
`},
	{"removal", `
player 2 x:f32
rock rocks 12 x:f32
shot shots 6 owned life:u8 hits:ref.rock
`, `
-- instance.js --
export function update() {
  if (game.tick % 4 === 0) for (let i = 0; i < 5; i++) game.rocks.spawn();
  game.r0 = game.rocks.count;
  game.r1 = game.shots.count;
}
-- player.js --
export function update(p) {
  p.x += 1;
  const s = game.shots.spawn(p);
  if (s) { s.life = 3 + p.id; for (const r of game.rocks) s.hits = r; }
}
-- shot.js --
export function update(s) {
  if (s.life-- === 0) { s.remove(); return; }
  const r = s.hits;
  if (r && random() < 0.4) { r.remove(); r.remove(); s.hits = r; game.r2 = s.hits === null ? 1 : 0; }
  if (s.owner) s.owner.x += 0.5; else s.remove();
}
-- rock.js --
export function update(r) { r.x++; if (r.x > 9) r.remove(); }
-- rock.server.js --
export function update(r) { if (r.x === 4) game.rocks.spawn(); }
`},
	{"server", `
instance seen:u16:sent hidden:f64:server r0:f64 r1:f64
player 3 x:f32:sent secret:i32:server:owner name:str32:server nick:str8:sent=?? label:str40:shared
`, `
-- instance.server.js --
export function start() { game.hidden = 0.5 + serverRandom(); game.r0 = random(); }
export function update() {
  game.hidden += serverRandom() - serverRandom() * 0.5;
  game.r1 = random();
  game.seen++;
  if (game.tick > 50) game.open = game.tick % 3 === 0;
  if (!game.open && game.tick > 120) game.end();
}
-- player.server.js --
export function join(p) {
  p.secret = game.tick * 1000 + p.id;
  p.nick = p.name;
  p.label = p.nick === p.name ? "same" : "cut";
  if (p.name === "" || p.name !== "Ada") p.x = -1;
}
export function leave(p) { game.r0 += p.secret; }
export function update(p) { p.x++; if (p.x > 90 && p.id === 5) p.remove(); if (p.label === "same") p.label = "was the same once"; }
-- player.js --
export function update(p) { p.x += 0.5; }
`},
	{"strings", `
instance a:str4=ab b:str9 c:str9=x r0:f64
`, `
-- instance.js --
const WORD = "wörd€";
export function update() {
  switch (game.tick % 4) {
    case 0: game.b = WORD; break;
    case 1: game.b = "abc"; break;
    case 2: game.b = game.c; break;
    case 3: game.b = "";
  }
  game.a = game.b;
  game.r0 = (game.a === game.b ? 1 : 0) + (game.a ? 2 : 0) + (game.b !== "abc" ? 4 : 0) + (game.b === WORD ? 8 : 0);
  switch (game.a) { case "": game.c = "none"; break; case "abc": game.c = "letters"; }
  if (game.b) game.c = game.a;
}
`},
	{"kept strings", `
instance a:str12=ab b:str20 c:str40 d:str12 r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64
player 2 x:f32
rock rocks 9 name:str9=rock n:u8
`, `
-- words.js --
export const EMPTY = "", LONG = "a text of more than eight bytes";
export function longer(a, b) { return a.length > b.length ? a : b; }
export function second(a, b) { a = b; b = "gone"; return a; }
export function keep(r) { const old = r.name; r.name = "kept"; return old; }
export function same(s) { return s; }
-- instance.js --
import { EMPTY, LONG, longer, second, keep, same } from "./words.js";
const HARD = 2;
function pick() {
  switch (game.tick % 7) {
    case 0: return "abc";
    case 1: return "é€";
    case 2: return "😀􏿿";
    case 3: return "\uFFFD\uE000";
    case 4: return LONG;
    case 5: return game.a;
  }
  return EMPTY;
}
function rename(word) { const old = game.a; game.a = word; return old; }
function n(v) { return v ? 1 : 0; }
export function update() {
  let word = pick();
  const before = game.a;
  game.a = word;
  game.b = before;
  game.r0 = word.length + 100 * game.a.length + 10000 * before.length + 1000000 * "é😀".length;
  game.r1 = n(word === game.a) + 2 * n(before === game.b) + 4 * n(word < before) + 8 * n(word <= "abc") + 16 * n("é" > word) + 32 * n(word >= word) + 64 * n(word);
  const old = rename("new");
  game.c = longer(old, "four");
  game.r2 = n(game.a === rename("other")) + 2 * n(rename("x") === game.a) + 4 * n(longer(game.a, rename("yy")) === "x") + 8 * n(second(game.a, same(game.a)) === same("yy"));
  word = word || "nothing";
  let last = "none", first = EMPTY;
  for (const r of game.rocks) {
    const name = r.name;
    if (r.n % 2 === 1) last = name;
    if (!first) first = name;
    r.name = name === "rock" ? word : name < word ? "less" : same(name);
    r.n++;
  }
  game.d = last;
  let swap = first; first = last; last = swap;
  game.r3 = n(first === game.d) + 2 * n(last > first);
  const r = game.rocks.spawn();
  if (r) { r.n = game.tick; game.r4 = keep(r).length + r.name.length * 10; }
  const some = game.rocks.find(2) ?? game.rocks.find(6) ?? game.rocks.find(42);
  if (some) {
    const { name, n: age } = some;
    game.b = second(game.b, name);
    game.r5 = age;
  }
  game.r5 += (game.rocks.find(10)?.name ?? "absent").length + HARD;
  if (game.tick % 20 === 0) for (const x of game.rocks) x.remove();
}
`},
	{"commands of words", `
instance last:str10 longest:str30
player 3 nick:str6 n:u16
command say word:str30 loud:bool
command mode m:str5
`, `
-- commands.js --
export function say(player, { word, loud }) {
  player.nick = word;
  if (word.length > game.longest.length) game.longest = word;
  player.n = word === player.nick ? 1 : loud ? 2 : 3;
}
export function mode(player, command) {
  switch (command.m) {
    case "go": player.n = 100; break;
    case "stop": player.n = 200; break;
    default: game.last = command.m;
  }
}
`},
	{"commands", `
player 3 x:f64 n:i32 aim:ref.player
command push by:f32 times:u8 twice:bool at:ref.player
command name id:i16
`, `
-- commands.js --
function apply(p, cmd) { for (let i = 0; i < cmd.times; i++) p.x += cmd.by * (cmd.twice ? 2 : 1); }
export function push(player, command) { apply(player, command); player.aim = command.at; player.n += random() * 100; }
export function name(player, { id }) { player.n = id; }
-- commands.server.js --
export function push(player) { player.n++; }
`},
	{"patterns", `
player 2 x:f32 y:f32
rock rocks 3 x:f32 y:f32
`, `
-- player.js --
function length({ x, y: up }) { return x * x + up * up; }
export function update(p) {
  const { x, y } = p;
  let { x: z } = p;
  z += 1;
  p.x = y + 1; p.y = x + z;
  game.r0 = length(p);
}
`},
	{"types", `
player 2 x:f32 mate:ref.player
rock rocks 5 x:f32 n:u8
command push by:f32 times:u8 twice:bool at:ref.player
command name id:i16
`, `
-- geometry.ts --
export interface Point { x: number; }
type Dir = "left" | "right";
export const SPEED: Record<Dir, number> = { left: -1, right: 1 } as const;
export function move<T extends Point>(p: T, by: number): void { p.x += by; }
-- instance.ts --
import type { Point } from "./geometry";
import { move, SPEED } from "./geometry.js";
declare const game: any, random: () => number;
export function update(): void {
  const made: Point | null = game.rocks.spawn();
  if (made) made!.x = random() * 10;
  for (const r of game.rocks as Iterable<any>) {
    move(r, SPEED[r.x > 5 ? "left" : "right"]);
    r.n = (r.n + 1) as number;
    if (r.n > 4) r.remove();
  }
}
-- player.ts --
export function update(self: { x: number, mate: unknown }) {
  let steps: number = 0;
  do steps++; while (<number>steps < 3);
  self.x += steps satisfies number;
}
-- commands.ts --
export const push = (player: any, command: { by: number; at: any }): void => { player.x += command.by; player.mate = command.at; };
export function name(player: any, { id }: { id: number }) { player.x = id; }
`},
	{"things of what a loop visits", "", `
-- instance.js --
const ALL = [{ n: 1, w: "a" }, { n: 2, w: "bc" }], ONE = { n: 7 };
export function update() {
  for (const e of ALL) {
    const l = [e.n, e.w.length, ONE.n + e.n], o = { x: e.n, y: -1 };
    l[0] += game.tick;
    o.y += l[0];
    game.r0 += l[0] * l[1] + l[2] + o.x * o.y;
  }
}
`},
	{"scopes", "", `
-- instance.js --
const x = 1;
function y() { return x; }
export function update() {
  let s = x;
  { const x = 2; s += x * 10; { let x = 3; x++; s += x * 100; } }
  for (let x = 5; x < 6; x++) s += x * 1000;
  if (s) { let s = 7; s++; }
  const y2 = y();
  game.r0 = s + y2;
  const Math2 = Math.abs(-1);
  game.r1 = Math2;
}
`},
}

func TestTwinConstructs(t *testing.T) {
	for _, c := range constructs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			types := c.types
			if !strings.Contains(types, "instance ") {
				types = "instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 r7:f64 r8:f64 r9:f64 i:u8\n" + types
			}
			if !strings.Contains(types, "player ") {
				types += "\nplayer 1 unused:u8"
			}
			def := define(t, types)
			compareTwin(t, def, bodies(c.text), 200, func(tick int) (in input) {
				if tick == 2 || tick == 90 {
					names := []string{"Ada", "Grace Hopper", "名前がながい", ""}
					for i := range uint32(def.Player().Max) {
						in.joins = append(in.joins, join{id: 1 + 2*i + uint32(tick), name: names[int(i)+tick/90]})
						if tick == 90 {
							in.leaves = append(in.leaves, 3+2*i)
						}
					}
				}
				if len(def.Commands) > 0 && def.Commands[0].Name == "set" && tick > 3 {
					in.commands = []command{{player: 3, seq: uint32(tick), number: 0,
						values: []float64{0, float64(tick) / 3, float64(tick % 7)}, texts: []string{[]string{"x", "y", "n"}[tick%3], "", ""}}}
				} else if len(def.Commands) > 0 && def.Commands[0].Name == "say" && tick > 3 {
					said := []string{"", "hello", "Grüße an alle", "🚀🚀", "go"}
					in.commands = []command{
						{player: 3, seq: uint32(tick), number: 0, values: []float64{0, float64(tick % 2)}, texts: []string{said[tick%5], ""}},
						{player: 5, seq: uint32(tick), number: 1, values: []float64{0}, texts: []string{[]string{"go", "stop", "", "ünd"}[tick%4]}},
					}
				} else if len(def.Commands) > 0 && tick > 3 && tick%5 == 0 {
					in.commands = []command{
						{player: 3, seq: uint32(tick), number: 0, values: []float64{float64(tick) / 7, float64(tick % 9), float64(tick % 2), float64(tick % 8)}},
						{player: 5, seq: uint32(tick), number: 1, values: []float64{float64(tick)*3 - 400}},
					}
				}
				return in
			})
		})
	}
}
