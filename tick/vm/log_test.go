package vm

import (
	"errors"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// compileRules makes a machine of real bodies.
func compileRules(t *testing.T, text string) (*body.Program, *Machine) {
	t.Helper()
	def := &schema.Definition{TickRate: 30, SendRate: 15, PlayersPerInstance: 1, Types: []*schema.Type{
		{Name: "instance", Max: 1, Fields: []*schema.Field{{Name: "n", Kind: schema.F64, Sync: schema.Shared}}},
		{Index: 1, Name: "player", Plural: "players", Max: 1},
	}}
	p, list := body.Compile(def, []body.Source{{Path: "instance.js", Text: []byte(text)}}, body.Options{})
	if p == nil {
		t.Fatal(list)
	}
	c, err := Compile(p.Server)
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return p, m
}

func TestLogHasTheLastTicksRecords(t *testing.T) {
	p, m := compileRules(t, "export function update() {\n  game.n += 1.5;\n  if (game.n > 4) for (let i = 0; i < 500; i++) log(i);\n  else if (game.n > 2) log(\"n is\", game.n);\n}\n")
	base, err := m.Reserve(p.ServerLayout.Size)
	if err != nil {
		t.Fatal(err)
	}
	l := m.Log()
	if l == nil {
		t.Fatal("no log")
	}
	for i, want := range []struct {
		lines, lost int
		last        string
	}{{0, 0, ""}, {1, 0, "n is 3"}, {170, 330, "169"}} {
		if _, ok := m.Tick(base, 0); !ok {
			t.Fatal("a fault")
		}
		area, lost := l.Records()
		lines, err := p.ReadLog(area)
		if err != nil || len(lines) != want.lines || lost != want.lost {
			t.Fatalf("tick %d: %d lines, %d lost, %v", i+1, len(lines), lost, err)
		}
		if n := len(lines); n > 0 && lines[n-1].Text != want.last {
			t.Errorf("tick %d: %q", i+1, lines[n-1].Text)
		}
	}
}

func TestNoLogWhereNothingLogs(t *testing.T) {
	_, m := compileRules(t, "export function update() { game.n++; }\n")
	if m.Log() != nil {
		t.Error("a log of bodies that do not log")
	}
}

func TestAllocLogRecords(t *testing.T) {
	p, m := compileRules(t, "export function update() { log(game.n); }\n")
	base, err := m.Reserve(p.ServerLayout.Size)
	if err != nil {
		t.Fatal(err)
	}
	l := m.Log()
	m.Tick(base, 0)
	n := testing.AllocsPerRun(100, func() {
		if area, _ := l.Records(); len(area) == 0 {
			t.Error("nothing was logged")
		}
	})
	t.Logf("%v allocations, budget 0", n)
	if n > 0 {
		t.Error("reading the log allocates")
	}
}
