package body_test

import (
	"errors"
	"testing"

	"gamehoster/games/body"
)

// narrowed are programs that use a null where a test, a loop or a pattern makes believe that
// there is an object: what was known of a variable does not hold behind what assigns it.
var narrowed = []struct{ name, text string }{
	{"assign in a loop", `
-- instance.js --
export function update() {
  const r = game.rocks.spawn();
  if (!r) return;
  const o = { near: r };
  for (let i = 0; i < 3; i++) { o.near.x = 77 + i; Object.assign(o, { near: null }); }
}
`},
	{"optional with assignment", `
-- instance.js --
const N = ["x", "y"];
export function update() {
  let a = game.rocks.spawn();
  if (a) a.x = 5;
  if (a?.[(a = null, N[0 * game.tick])]) a.x = 1;
}
`},
	{"optional compare", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (a?.x === (a = null, 0)) a.x = 5;
}
`},
	{"optional less", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (a?.x < (a = null, 4)) a.x = 5;
}
`},
	{"unequal assigned null", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (a !== (a = null)) a.x = 5;
}
`},
	{"for-of default", `
-- instance.js --
const T = [{ v: 1 }, { v: 2 }];
export function update() {
  let a = game.rocks.spawn();
  if (!a) return;
  for (const { v, z = (a.x = 2, 1), w = (a = null, 2) } of T) game.r0 += z + w;
}
`},
	{"for-of default after", `
-- instance.js --
const T = [{ v: 1 }, { v: 2 }];
export function update() {
  let a = game.rocks.spawn();
  if (!a) return;
  for (const { v, w = (a = null, 2) } of T) game.r0 += w;
  a.x = 5;
}
`},
	{"exchange in loop", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn(), b = null;
  if (!a) return;
  for (let i = 0; i < 3; i++) { a.x = 3; [a, b] = [b, a]; }
}
`},
	{"switch tests", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (!a) return;
  switch (3) { case 2: a.x = 1; break; case (a = null, 4): break; case 3: a.x = 5; }
}
`},
	{"and chain", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (a && (a = null, true)) a.x = 5;
}
`},
	{"ternary", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if ((a ? (a = null, true) : false)) a.x = 5;
}
`},
	{"label continue", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (!a) return;
  o: for (let i = 0; i < 3; i++) { for (;;) { if (i) break; a = null; continue o; } a.x = 5; }
}
`},
	{"log arg", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  if (!a) return;
  for (let i = 0; i < 3; i++) { a.x = 5; log(` + "`${(a = null, 1)}`" + `); }
}
`},
	{"call arg in cond", `
-- instance.js --
function f(x, y) { return x === null ? 0 : 1; }
export function update() {
  let a = game.rocks.spawn();
  while (f(a, (a = null, 1))) { a.x = 5; }
}
`},
	{"lazy", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  a ??= (a = null, game.rocks.spawn());
  a &&= (a = null);
  a.x = 3;
}
`},
	{"lazy2", `
-- instance.js --
export function update() {
  let a = null, b = game.rocks.spawn();
  if (b === null) return;
  b &&= a;
  b.x = 3;
}
`},
	{"lazy3", `
-- instance.js --
export function update() {
  let a = null, b = null;
  b = game.rocks.spawn();
  if (b !== null && (b ||= a) && (b &&= a) === null) b.x = 3;
}
`},
	{"given", `
-- instance.js --
function f(o) { if (!o.near) return; o.near.x = 1; }
export function update() {
  let a = game.rocks.spawn();
  const o = { near: a };
  f(o);
  if (!o.near) return;
  do { o.near.x = 4; o.near = null; } while (game.r0 < 1);
}
`},
	{"an alias that the loop makes", `
-- instance.js --
export function update() {
  const r = game.rocks.spawn();
  if (!r) return;
  const o = { near: r };
  for (let i = 0; i < 3; i++) { game.r0 += o.near.x; const p = o; p.near = null; }
}
`},
	{"assigned with others", `
-- instance.js --
export function update() {
  const r = game.rocks.spawn();
  if (!r) return;
  const o = { near: r, n: 1 };
  for (let i = 0; i < 3; i++) { game.r0 += o.near.x; Object.assign(o, { near: null }); }
}
`},
	{"an element", `
-- instance.js --
export function update() {
  let a = game.rocks.spawn();
  const l = [a, 0];
  if (!l[0]) return;
  for (let i = 0; i < 3; i++) { l[0].x = 4; l[0] = null; }
}
`},
}

// TestNarrowed checks that each of them ends the body there, as JavaScript throws, and
// writes to no memory.
func TestNarrowed(t *testing.T) {
	def := define(t, "instance r0:f64 r1:f64\nplayer 1 u:u8\nrock rocks 5 x:f64 y:f64 near:ref.rock\n")
	for _, c := range narrowed {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, def, compile(t, def, c.text), worldOptions{seed: 5})
			var f *faultErr
			if err := w.tick(input{}); !errors.As(err, &f) || f.fault != body.FaultNull {
				t.Errorf("got %v", err)
			}
		})
	}
}
