package body_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

const containmentTypes = `
instance n:u32 m:f64
player 4 x:f32 mate:ref.rock
rock rocks 4 x:f32 next:ref.rock
command act what:u8
`

func joinAll(n int) (in input) {
	for i := range uint32(n) {
		in.joins = append(in.joins, join{id: 1 + 2*i})
	}
	return in
}

// TestFaults checks that each way to fail ends in a trap that says where, in
// which body and for whom.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       faultErr
	}{
		{"endless while", "-- player.js --\nexport function update(p) {\n  if (p.id === 3)\n    while (true) { p.x++; }\n}\n",
			faultErr{fault: body.FaultFuel, at: "player.js:3:5", body: "player.update", actor: 3}},
		{"endless for", "-- instance.js --\nexport function update() {\n  for (;;) {\n    continue;\n  }\n}\n",
			faultErr{fault: body.FaultFuel, at: "instance.js:2:3", body: "instance.update", actor: 0}},
		{"endless do", "-- instance.js --\nexport function update() {\n  do {} while (game.n < 1);\n}\n",
			faultErr{fault: body.FaultFuel, at: "instance.js:2:3", body: "instance.update", actor: 0}},
		{"endless in a helper", "-- instance.js --\nexport function update() {\n  game.m = spin(1);\n}\nfunction spin(k) {\n  let i = k;\n  while (i > 0) i += 1;\n  return i;\n}\n",
			faultErr{fault: body.FaultFuel, at: "instance.js:6:3", body: "instance.update", actor: 0}},
		{"nested loops", "-- instance.js --\nexport function update() {\n  for (let i = 0; i < 3000; i++)\n    for (let j = 0; j < 3000; j++) game.n++;\n}\n",
			faultErr{fault: body.FaultFuel, at: "instance.js:3:5", body: "instance.update", actor: 0}},
		{"tower of calls", "-- instance.js --\n" + tower(40) + "export function update() {\n  f0();\n}\n",
			faultErr{fault: body.FaultFuel, at: "", body: "instance.update", actor: 0}},
		{"full pool", "-- rock.js --\nexport function update(r) {}\n-- commands.js --\nexport function act(player, c) {\n  for (let i = 0; i < c.what; i++) {\n    const r = game.rocks.spawn();\n    r.x = i;\n  }\n}\n",
			faultErr{fault: body.FaultNull, at: "commands.js:4:5", body: "commands.act", actor: 1}},
		{"null reference", "-- player.js --\nexport function update(p) {\n  p.x =\n    p.mate.x;\n}\n",
			faultErr{fault: body.FaultNull, at: "player.js:3:5", body: "player.update", actor: 1}},
		{"null from find", "-- commands.server.js --\nexport function act(player) {\n  game.rocks.find(99).remove();\n}\n",
			faultErr{fault: body.FaultNull, at: "commands.server.js:2:3", body: "commands.server.act", actor: 1}},
		{"null owner's reference", "-- instance.js --\nexport function update() {\n  for (const p of game.players) {\n    const r = p.mate;\n    r.next.x = 1;\n  }\n}\n",
			faultErr{fault: body.FaultNull, at: "instance.js:4:5", body: "instance.update", actor: 0}},
		{"null that is called none", "-- player.ts --\nexport function update(p: any) {\n  const x = 1, r =\n    p.mate!;\n  p.x = x;\n  r.x = x;\n}\n",
			faultErr{fault: body.FaultNull, at: "player.ts:3:5", body: "player.update", actor: 1}},
		{"table behind the end", "-- player.js --\nconst T = [1, 2, 3, 4, 5];\nexport function update(p) {\n  p.x = T[p.id];\n}\n",
			faultErr{fault: body.FaultIndex, at: "player.js:3:9", body: "player.update", actor: 5}},
		{"table between elements", "-- player.js --\nconst T = [1, 2, 3];\nexport function update(p) {\n  p.x += T[p.x + 0.5];\n}\n",
			faultErr{fault: body.FaultIndex, at: "player.js:3:10", body: "player.update", actor: 1}},
		{"name of no field", "-- commands.js --\nexport function act(player, c) {\n  game[c.what > 5 ? \"m\" : \"n\"] = 3;\n  game[c.what > 5 ? \"mm\" : \"n\"] = 3;\n}\n",
			faultErr{fault: body.FaultName, at: "commands.js:3:3", body: "commands.act", actor: 1}},
		{"name of no value", "-- player.js --\nconst SPEED = { slow: 1, fast: 2 };\nexport function update(p) {\n  let name = \"slow\";\n  if (p.id === 3) name = \"fats\";\n  p.x +=\n    SPEED[name];\n}\n",
			faultErr{fault: body.FaultName, at: "player.js:6:5", body: "player.update", actor: 3}},
		{"row of a nested table", "-- player.js --\nconst T = [[1, 2, 3], [4], [5, 6]];\nexport function update(p) {\n  const row = T[p.id - 1];\n  p.x = row[p.id - 1];\n}\n",
			faultErr{fault: body.FaultIndex, at: "player.js:4:9", body: "player.update", actor: 3}},
		{"table before the start", "-- player.js --\nconst T = [1, 2, 3];\nexport function update(p) {\n  p.x += T[p.x - 1];\n}\n",
			faultErr{fault: body.FaultIndex, at: "player.js:3:10", body: "player.update", actor: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := c.text
			if !strings.Contains(text, "function act") {
				text += "-- commands.js --\nexport function act() {}\n"
			}
			def := define(t, containmentTypes)
			p := compile(t, def, text)
			w := newWorld(t, def, p, worldOptions{})
			in := joinAll(4)
			err := w.tick(in)
			if err == nil {
				err = w.tick(input{commands: []command{{player: 1, seq: 1, values: []float64{9}}}})
			}
			var got *faultErr
			if !errors.As(err, &got) {
				t.Fatalf("no fault but %v", err)
			}
			if c.want.at == "" {
				got.at = ""
			}
			got.number = 0
			if *got != c.want {
				t.Errorf("got %v, want %v", got, &c.want)
			}
		})
	}
}

// tower is n functions each of which calls the next one twice.
func tower(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "function f%d() { f%d(); f%d(); }\n", i, i+1, i+1)
	}
	return b.String() + fmt.Sprintf("function f%d() { game.n++; }\n", n)
}

// TestSkip checks that a tick run again without a body for an actor is the tick
// that would have been without that body.
func TestSkip(t *testing.T) {
	const text = `
-- player.js --
export function update(p) {
  p.x += random();
  const r = game.rocks.spawn();
  if (r) r.x = p.id;
  if (p.id === GUILTY) while (true) game.m++;
}
-- player.server.js --
export function update(p) { p.x += 100; }
-- rock.js --
export function update(r) { r.x += random(); if (random() < 0.3) r.remove(); }
-- instance.js --
export function update() { game.n += game.rocks.count; }
-- commands.js --
export function act(p) { p.x -= 50; }
`
	def := define(t, containmentTypes)
	guilty := compile(t, def, strings.ReplaceAll(text, "GUILTY", "5"))
	calm := compile(t, def, strings.Replace(strings.ReplaceAll(text, "GUILTY", "-1"), "function update(p) {\n  p.x", "function update(p) {\n  if (p.id === 5) return;\n  p.x", 1))
	o := worldOptions{seed: 77}
	a, b := newWorld(t, def, guilty, o), newWorld(t, def, calm, o)
	number := uint32(0)
	for i, b := range guilty.Bodies {
		if b.Name == "player.update" {
			number = uint32(i)
		}
	}
	a.must(joinAll(4))
	b.must(joinAll(4))
	for i := range 50 {
		in := input{}
		if i%3 == 0 {
			in.commands = []command{{player: 5, seq: uint32(i), values: []float64{1}}}
		}
		before := append([]byte{}, a.block()...)
		err := a.tick(in)
		var f *faultErr
		if !errors.As(err, &f) || f.actor != 5 || f.body != "player.update" {
			t.Fatalf("tick %d: %v", i, err)
		}
		copy(a.block(), before)
		in.skips = []skip{{number + 90, 5}, {number, 5}}
		a.must(in)
		in.skips = nil
		b.must(in)
		if !bytes.Equal(a.state(), b.state()) {
			t.Fatalf("tick %d: the states differ\n%s\n%s", i, a.line(true), b.line(true))
		}
	}
	// all actors of a body
	x := []float64{a.value("player.x", 0), a.value("player.x", 2)}
	a.must(input{skips: []skip{{number, schema.AllActors}}})
	if a.value("player.x", 0) != x[0]+100 || a.value("player.x", 2) != x[1]+100 {
		t.Error("a body ran that was to be skipped for all")
	}
}

// TestTickCap checks that bodies which are modest one by one are stopped when
// all together are not, and that the next tick has its own budget.
func TestTickCap(t *testing.T) {
	def := define(t, containmentTypes)
	files := bodies("-- player.js --\nexport function update(p) {\n  for (let i = 0; i < 800; i++) p.x++;\n}\n-- commands.js --\nexport function act() {}\n")
	p, list := body.Compile(def, files, body.Options{BodyFuel: 1000, TickFuel: 2500})
	if p == nil {
		t.Fatal(list)
	}
	w := newWorld(t, def, p, worldOptions{})
	w.must(joinAll(3))
	for range 3 {
		w.must(input{})
	}
	w.must(input{joins: []join{{id: 9}}})
	err := w.tick(input{})
	var f *faultErr
	if !errors.As(err, &f) || f.fault != body.FaultTickCap || f.at != "player.js:1:17" {
		t.Fatalf("got %v", err)
	}
}

// TestRerunCap checks that a tick which is run again and again ends when all its runs have
// taken too much together, but not for one body that fails for all.
func TestRerunCap(t *testing.T) {
	def := define(t, "instance n:f64\nplayer 12 x:f32\n")
	const endless = "export function update(p) { for (;;) game.n++; }\n"
	for name, c := range map[string]struct {
		text   string
		faults int
		cap    bool
	}{
		"one body":           {"-- player.js --\n" + endless, 9, false},
		"two bodies":         {"-- player.js --\n" + endless + "-- player.server.js --\n" + endless, 15, true},
		"two that fail soon": {strings.ReplaceAll("-- player.js --\n"+endless+"-- player.server.js --\n"+endless, "for (;;) game.n++", "game.players.find(99).x = 1"), 18, false},
	} {
		p, list := body.Compile(def, bodies(c.text), body.Options{BodyFuel: 1000, TickFuel: 4000})
		if p == nil {
			t.Fatal(list)
		}
		w := newWorld(t, def, p, worldOptions{})
		w.must(joinAll(12))
		for range 2 { // each tick has its own
			skips, err := w.step(input{})
			var f *faultErr
			if capped := errors.As(err, &f) && f.fault == body.FaultTickCap; capped != c.cap || err != nil && !capped || len(skips) < c.faults-1 || len(skips) > c.faults {
				t.Errorf("%s: %d faults, %v; want about %d", name, len(skips), err, c.faults)
			}
			if err != nil {
				break
			}
		}
	}
}

// TestLongWays checks that what takes long without a loop of its own takes fuel: to look for
// an object among many that the tick made, long divisions, calls of helpers that are not
// small, what is done for many objects, and many objects that come or go.
func TestLongWays(t *testing.T) {
	rocks := func(lines int) string {
		return "-- rock.js --\nexport function update(r) {\n" + strings.Repeat("  r.x = r.x * 1.5 + r.y;\n", lines) + "}\n"
	}
	const fill = "-- instance.js --\nexport function update() { while (game.rocks.spawn()); }\n"
	helper := "function leaf() {\n" + strings.Repeat("  game.n = game.n * 1.5 + game.m;\n", 150) + "}\n"
	for _, c := range []struct {
		name, text string
		max        int
		want       faultErr
	}{
		{"find", "-- instance.js --\nexport function update() {\n  while (game.rocks.spawn()) game.n++;\n  for (let i = 0; i < 1000; i++) if (game.rocks.find(1)) game.n++;\n}\n", 60000,
			faultErr{fault: body.FaultFuel, at: "instance.js:3:3", body: "instance.update"}},
		{"a reference", "-- instance.js --\nexport function update() {\n  let r = null;\n  while (game.rocks.spawn()) game.n++;\n  r = game.rocks.find(2 + 4 * 59999);\n  if (r) for (r.next = r; game.n < 1e5; game.n++) if (!r.next) return;\n}\n", 60000,
			faultErr{fault: body.FaultFuel, at: "instance.js:5:10", body: "instance.update"}},
		{"a large body", fill + rocks(2000), 5000,
			faultErr{fault: body.FaultTickCap, at: "rock.js:1:17", body: "rock.update"}},
		{"a body for many", fill + rocks(150), 60000,
			faultErr{fault: body.FaultTickCap, at: "rock.js:1:17", body: "rock.update"}},
		{"nothing much for many", fill + rocks(1), 60000, faultErr{}},
		{"many that come", fill + "-- rock.js --\nexport function update(r) { r.remove(); }\n-- instance.server.js --\nexport function update() { for (let i = 0; i < 900000; i++); }\n", 60000,
			faultErr{fault: body.FaultTickCap, at: "instance.server.js:1:17", body: "instance.server.update"}},
		{"a helper", "-- instance.js --\n" + helper + "export function update() {\n  for (let i = 0; i < 90000; i++) leaf();\n}\n", 1,
			faultErr{fault: body.FaultFuel, at: "instance.js:154:3", body: "instance.update"}},
		{"calls of calls", "-- instance.js --\n" + helper + "function many() {\n" + strings.Repeat("  leaf();\n", 300) + "}\nexport function update() {\n" + strings.Repeat("  many();\n", 400) + "}\n", 1,
			faultErr{fault: body.FaultFuel, at: "instance.js:153:10", body: "instance.update"}},
		{"a remainder", "-- instance.js --\nexport function update() {\n  for (let i = 0; i < 50000; i++) game.n += 1e300 % (i + 0.1);\n}\n", 1,
			faultErr{fault: body.FaultFuel, at: "instance.js:2:3", body: "instance.update"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			def := define(t, fmt.Sprintf("instance n:f64 m:f64\nplayer 1 x:f32\nrock rocks %d x:f64 y:f64 next:ref.rock\n", c.max))
			p, list := body.Compile(def, bodies(c.text), body.Options{TickFuel: 1 << 20})
			if p == nil {
				t.Fatal(list)
			}
			w := newWorld(t, def, p, worldOptions{})
			err := w.tick(input{})
			if err == nil {
				err = w.tick(input{})
			}
			got := &faultErr{}
			if err != nil && !errors.As(err, &got) {
				t.Fatalf("no fault but %v", err)
			}
			if got.number, got.actor = 0, 0; *got != c.want {
				t.Errorf("got %v, want %v", got, &c.want)
			}
		})
	}
}
