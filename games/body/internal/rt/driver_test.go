package rt_test

import (
	"slices"
	"testing"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

// run is a body that ran, and for whom.
type run struct{ body, actor int }

// traced is a game whose bodies only note that they ran, with a fuel of 1 each.
type traced struct {
	*machine
	tick, start *ir.Func
	base        uint32
	notes       uint32 // where they note
	input       uint32
}

const (
	start = iota
	leave
	join
	turn
	turnServer
	stopServer
	player
	rock
	rockServer
	shotServer
	instance
)

func newTraced(t *testing.T, side schema.Side, budget rt.Budget) *traced {
	t.Helper()
	def, r := define(t)
	p, i := def.Player(), def.Instance()
	notes := r.Tail // a global that is free here
	notes.Type, notes.Export = ir.I32, true
	bodies := []rt.Body{
		start:      {Fn: trace(notes, start, 1), Moment: rt.Start, Server: true, Of: i},
		leave:      {Fn: trace(notes, leave, 1, "player"), Moment: rt.Leave, Server: true, Of: p},
		join:       {Fn: trace(notes, join, 1, "player"), Moment: rt.Join, Server: true, Of: p},
		turn:       {Fn: trace(notes, turn, 1, "player", "command"), Moment: rt.OnCommand, Of: p, Cmd: def.Commands[0]},
		turnServer: {Fn: trace(notes, turnServer, 1, "player", "command"), Moment: rt.OnCommand, Server: true, Of: p, Cmd: def.Commands[0]},
		stopServer: {Fn: trace(notes, stopServer, 1, "player"), Moment: rt.OnCommand, Server: true, Of: p, Cmd: def.Commands[1]},
		player:     {Fn: trace(notes, player, 1, "player"), Moment: rt.Update, Of: p},
		rock:       {Fn: trace(notes, rock, 1, "rock"), Moment: rt.Update, Of: def.Types[2]},
		rockServer: {Fn: trace(notes, rockServer, 1, "rock"), Moment: rt.Update, Server: true, Of: def.Types[2]},
		shotServer: {Fn: trace(notes, shotServer, 1, "shot"), Moment: rt.Update, Server: true, Of: def.Types[3]},
		instance:   {Fn: trace(notes, instance, 1), Moment: rt.Update, Of: i},
	}
	for n := range bodies {
		bodies[n].At = 100 + n
	}
	d := rt.NewDriver(r, bodies, budget, 5)
	g := &traced{tick: d.Tick(), start: d.Start()}
	roots := []*ir.Func{g.tick}
	if side == schema.OnServer {
		roots = append(roots, g.start)
	}
	g.machine = load(t, def, r, side, roots...)
	g.base = g.block(1, 2)
	g.input = g.base + uint32(g.layout.Size)
	g.notes = g.input + 4096
	return g
}

// ran calls a function and gives the bodies that ran in it.
func (g *traced) ran(f *ir.Func, args ...uint64) (list []run, err error) {
	set(g.machine, g.notes)
	_, err = g.try(f, append([]uint64{uint64(g.base)}, args...)...)
	for at := g.notes; at < g.global("tail"); at += 8 {
		list = append(list, run{int(g.get(at)), int(g.get(at + 4))})
	}
	return list, err
}

// set sets the variable at which bodies note.
func set(m *machine, at uint32) {
	type settable interface{ Set(v uint64) }
	m.mod.ExportedGlobal("tail").(settable).Set(uint64(at))
}

// file writes a tick's input: skips, leaves, joins and commands (player, number).
func (g *traced) file(skips []run, leaves, joins []uint32, commands []run) uint64 {
	at := g.input
	put := func(size int, words ...uint32) {
		g.write(at, make([]byte, size))
		g.put(at, words...)
		at += uint32(size)
	}
	put(schema.InputHeader, uint32(len(skips)), uint32(len(leaves)), uint32(len(joins)), uint32(len(commands)))
	for _, s := range skips {
		put(schema.SkipSize, uint32(s.body), uint32(s.actor))
	}
	for _, id := range leaves {
		put(schema.LeaveSize, id)
	}
	for _, id := range joins {
		put(schema.JoinSize, id, 0x62614103) // "Aab"
	}
	for i, c := range commands {
		put(g.layout.CommandStride, uint32(c.actor), uint32(i), uint32(c.body))
	}
	return uint64(g.input)
}

func (g *traced) expect(what string, got []run, err error, want ...run) {
	g.t.Helper()
	if err != nil || !slices.Equal(got, want) {
		g.t.Errorf("%s: %v ran, want %v (%v)", what, got, want, err)
	}
}

var plenty = rt.Budget{Body: 1000, Tick: 100000}

// The order of a tick's bodies is that of its definition.
func TestDriverOrder(t *testing.T) {
	g := newTraced(t, schema.OnServer, plenty)
	list, err := g.ran(g.start)
	g.expect("start", list, err, run{start, 0})
	if level := g.get(g.base + uint32(g.layout.Types[0].Rows+g.layout.Types[0].Offsets[0])); level&0xffff != 3 {
		t.Errorf("the instance's default is %d", level)
	}
	list, err = g.ran(g.tick, 0)
	g.expect("an empty tick", list, err, run{instance, 0})
	list, err = g.ran(g.tick, g.file(nil, nil, []uint32{1, 3}, nil))
	g.expect("joins", list, err, run{join, 1}, run{join, 3}, run{instance, 0})
	list, err = g.ran(g.tick, g.file(nil, []uint32{1, 9}, []uint32{5}, []run{{0, 1}, {0, 3}, {1, 3}, {0, 5}, {7, 5}}))
	g.expect("all at once", list, err,
		run{leave, 1}, run{join, 5}, run{turn, 3}, run{turnServer, 3}, run{stopServer, 3}, run{turn, 5}, run{turnServer, 5},
		run{player, 3}, run{instance, 0})
	list, err = g.ran(g.tick, 0)
	g.expect("the next", list, err, run{player, 3}, run{player, 5}, run{instance, 0})
	if tick := g.get(g.base + schema.HeaderTick); tick != 4 {
		t.Errorf("it is tick %d", tick)
	}
	list, err = g.ran(g.tick, g.file(nil, nil, []uint32{7, 9}, nil))
	g.expect("more than there are seats", list, err, run{join, 7}, run{player, 3}, run{player, 5}, run{instance, 0})
	list, err = g.ran(g.tick, g.file(nil, []uint32{3}, []uint32{11}, nil))
	g.expect("a seat that was just left", list, err, run{leave, 3}, run{join, 11}, run{player, 5}, run{player, 7}, run{instance, 0})
}

// Entities have their updates in the order of types and ids, shared before server.
func TestDriverEntities(t *testing.T) {
	for side, want := range map[schema.Side][]run{
		schema.OnServer: {{rock, 2}, {rockServer, 2}, {rock, 6}, {rockServer, 6}, {shotServer, 10}, {instance, 0}},
		schema.OnClient: {{rock, 2}, {rock, 6}, {instance, 0}},
	} {
		g := newTraced(t, side, plenty)
		for id, of := range map[uint32]int{2: 2, 6: 2, 10: 3} {
			tl := g.layout.Types[of]
			row := g.base + uint32(tl.Rows)
			if id == 6 {
				row += uint32(tl.Stride)
			}
			g.put(row+schema.RowID, id)
			n := uint32(4 - of)
			g.put(g.base+uint32(tl.Counts), n, n, n)
		}
		list, err := g.ran(g.tick, 0)
		g.expect("entities", list, err, want...)
	}
}

// The host can have bodies left out, of one actor or of all.
func TestDriverSkips(t *testing.T) {
	g := newTraced(t, schema.OnServer, plenty)
	if _, err := g.ran(g.tick, g.file(nil, nil, []uint32{1, 3}, nil)); err != nil {
		t.Fatal(err)
	}
	list, err := g.ran(g.tick, g.file([]run{{player, 1}, {turnServer, 3}}, nil, nil, []run{{0, 3}}))
	g.expect("one actor's", list, err, run{turn, 3}, run{player, 3}, run{instance, 0})
	list, err = g.ran(g.tick, g.file([]run{{player, -1}, {instance, 0}}, nil, nil, nil))
	g.expect("all of a body", list, err)
	list, err = g.ran(g.tick, 0)
	g.expect("the next tick", list, err, run{player, 1}, run{player, 3}, run{instance, 0})
}

// What bodies use comes out of the tick's budget, on the server only.
func TestDriverBudget(t *testing.T) {
	for side, most := range map[schema.Side]int{schema.OnServer: 2, schema.OnClient: 3} {
		g := newTraced(t, side, rt.Budget{Body: 1000, Tick: most}) // going by two rows takes a unit, too
		tl := g.layout.Types[1]
		for i, id := range []uint32{1, 3} {
			g.put(g.base+uint32(tl.Rows+i*tl.Stride)+schema.RowID, id)
		}
		g.put(g.base+uint32(tl.Counts), 2, 2, 2)
		list, err := g.ran(g.tick, 0)
		if len(list) != most {
			t.Errorf("%d bodies ran, want %d", len(list), most)
		}
		if side == schema.OnClient {
			if err != nil {
				t.Errorf("the client has a cap: %v", err)
			}
			continue
		}
		if err == nil || g.global("fault") != 5 || g.global("fault_at") != 100+player || g.global("fault_body") != player || g.global("fault_actor") != 3 {
			t.Errorf("fault %d at %d in body %d of %d, %v", g.global("fault"), g.global("fault_at"), g.global("fault_body"), g.global("fault_actor"), err)
		}
	}
}

// A body that takes more than its own budget traps where it does.
func TestDriverFuel(t *testing.T) {
	g := newTraced(t, schema.OnServer, rt.Budget{Body: 0, Tick: 1000})
	_, err := g.ran(g.tick, 0)
	if err == nil || g.global("fault") != 1 || g.global("fault_at") != 77 || g.global("fault_body") != instance {
		t.Errorf("fault %d at %d in body %d, %v", g.global("fault"), g.global("fault_at"), g.global("fault_body"), err)
	}
}
