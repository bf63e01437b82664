package body_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

const viewTypes = `
instance radius:f32=10 n:u32
player 3 x:f32 y:f32 team:u8:server
rock rocks 8 x:f32 y:f32 secret:u8:server next:ref.rock
tree trees 4 x:f32
`

// judge has view.js look at rows of a type; held ones are given as index*2+1.
func (w *world) judge(viewer uint32, typ string, list ...uint32) ([]uint32, error) {
	return w.judgeOf(viewer, typ, true, list...)
}

// judgeOf is judge for the first time in a send, if it is fresh, or a further one.
func (w *world) judgeOf(viewer uint32, typ string, fresh bool, list ...uint32) ([]uint32, error) {
	first := uint64(0)
	if fresh {
		first = 1
	}
	at := w.input + 2048
	for i, v := range list {
		w.mod.Memory().WriteUint32Le(at+uint32(4*i), v)
	}
	_, err := w.mod.ExportedFunction("view").Call(context.Background(), uint64(w.base), uint64(viewer), uint64(w.typeNamed(typ).Index), uint64(at), uint64(len(list)), first)
	var out []uint32
	for i := range list {
		v, _ := w.mod.Memory().ReadUint32Le(at + uint32(4*i))
		out = append(out, v)
	}
	if err != nil {
		return out, w.faultError(err)
	}
	return out, nil
}

func TestView(t *testing.T) {
	const text = `
-- geometry.js --
export const far = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
export function near(a, b, r) { for (let i = 0; i < 2; i++) if (far(a, b) < r) return true; return false; }
-- view.js --
import { near } from "./geometry.js";
export function player(viewer, p) { return p === viewer || p.team === viewer.team; }
export function rock(viewer, r, held) {
  if (r.secret === 9) return r.next.x > 0;
  if (r.secret === 8) while (true);
  const margin = held ? 1.5 : 1;
  return r.secret < 3 && near(viewer, r, game.radius * margin);
}
-- rock.server.js --
export function update(r) {
  if (game.tick === 2) { r.x = 4 * r.id; r.secret = 4 - r.y; }
}
-- instance.server.js --
export function start() { for (let i = 0; i < 5; i++) { const r = game.rocks.spawn(); if (r) r.y = i; } }
-- player.server.js --
export function join(p) { p.team = p.id % 4; }
`
	def := define(t, viewTypes)
	p := compile(t, def, text)
	if !p.HasView || p.WritesSharedOnly || len(p.Views) != 4 || !p.Views[schema.PlayerType] || !p.Views[2] || p.Views[3] || p.Views[0] {
		t.Errorf("%+v", p)
	}
	if n := len(p.Bodies); p.Bodies[n-2].Name != "view.player" || p.Bodies[n-1].Name != "view.rock" || p.Bodies[n-1].Side != schema.OnServer {
		t.Errorf("bodies %+v", p.Bodies)
	}
	w := newWorld(t, def, p, worldOptions{})
	w.must(joinAll(3))
	w.must(input{})
	before := append([]byte{}, w.block()...)
	check := func(viewer uint32, typ string, list []uint32, want ...uint32) {
		t.Helper()
		got, err := w.judge(viewer, typ, list...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("viewer %d: %v, want %v", viewer, got, want)
				break
			}
		}
	}
	// rocks are at 16, 32, 48, 64, 80 with secrets 4, 3, 2, 1, 0
	check(1, "player", []uint32{0, 2, 4}, 1, 2, 5)
	check(1, "rock", []uint32{0, 2, 4, 6, 8}, 0, 2, 4, 6, 8)
	w.setValue("player.x", 0, 60)
	before2 := append([]byte{}, w.block()...)
	check(1, "rock", []uint32{8, 4, 6, 5, 7}, 8, 4, 7, 5, 7)
	check(7, "rock", []uint32{6, 7}, 6, 6)
	check(1, "rock", nil)
	if string(before2) != string(w.block()) || len(before) == 0 {
		t.Error("a view changed the state")
	}
	// a fault tells the word, the body and the object, and what was before it is judged
	w.setValue("rock.secret", 3, 9)
	w.setValue("rock.secret", 4, 8)
	got, err := w.judge(1, "rock", 5, 6, 4)
	var f *faultErr
	if !errors.As(err, &f) || f.Error() != (&faultErr{fault: body.FaultNull, at: "view.js:4:30", body: "view.rock", actor: 16}).Error() || w.mod.ExportedGlobal("view_at").Get() != 1 || got[0] != 5 {
		t.Errorf("%v, %v", err, got)
	}
	if _, err = w.judge(1, "rock", 5, 6, 8); err == nil {
		t.Error("no fault")
	}
	if _, err = w.judge(1, "rock", 8); !errors.As(err, &f) || f.fault != body.FaultFuel {
		t.Errorf("endless: %v", err)
	}
	if strings.Contains(string(p.Client), "view") {
		t.Error("the client's module has a view")
	}
	plain := compile(t, def, "-- rock.js --\nexport function update(r) { r.x++; }\n")
	if plain.HasView || plain.Views != nil || newWorld(t, def, plain, worldOptions{}).mod.ExportedFunction("view") != nil {
		t.Error("a game without view.js has views")
	}
}

// TestViewCap checks that the judgements of a send have one budget together, whether they
// take fuel one by one or are just many, and the next send another.
func TestViewCap(t *testing.T) {
	def := define(t, viewTypes)
	for name, rule := range map[string]string{
		"loops": "for (let i = 0; i < 20; i++) if (r.x < 0) return false; return true;",
		"many":  "return viewer.x < r.x;",
	} {
		p, list := body.Compile(def, bodies("-- view.js --\nexport function rock(viewer, r) { "+rule+" }\n-- instance.server.js --\nexport function start() { while (game.rocks.spawn()); }\n"), body.Options{TickFuel: 100})
		if p == nil {
			t.Fatal(list)
		}
		w := newWorld(t, def, p, worldOptions{})
		w.must(joinAll(1))
		words := []uint32{0, 2, 4}
		calls := 0
		for fresh := true; ; fresh = false {
			_, err := w.judgeOf(1, "rock", fresh, words...)
			var f *faultErr
			if errors.As(err, &f) && f.fault == body.FaultTickCap && f.body == "view.rock" {
				break
			}
			if err != nil || calls > 1000 {
				t.Fatalf("%s: %d calls, %v", name, calls, err)
			}
			calls++
		}
		if calls == 0 {
			t.Errorf("%s: the first call is over the budget", name)
		}
		if _, err := w.judgeOf(1, "rock", true, words...); err != nil {
			t.Errorf("%s: the next send: %v", name, err)
		}
	}
}

// setValue writes a field of the i-th object of a type.
func (w *world) setValue(path string, i int, v float64) {
	w.t.Helper()
	name, field, _ := strings.Cut(path, ".")
	ty := w.typeNamed(name)
	f := ty.Field(field)
	writeField(w.rows(ty.Index)[i][w.layout.Types[ty.Index].Offsets[f.Index]:], f, v)
}
