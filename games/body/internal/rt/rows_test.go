package rt_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

// What rows do is compared with a map of ids: objects are made by both counters and
// removed at random, and every tick brings the rows into order.
func TestRows(t *testing.T) {
	def, r := define(t)
	rock := def.Types[2]
	shared, server := r.Spawn(rock, false), r.Spawn(rock, true)
	find, remove := r.Find(rock), r.Remove(rock)
	tick := rt.NewDriver(r, nil, rt.Budget{Body: 1, Tick: 1}, 5).Tick()
	for _, side := range []schema.Side{schema.OnServer, schema.OnClient} {
		m := load(t, def, r, side, shared, server, find, remove, tick)
		base := m.block(1, 2)
		tl := m.layout.Types[rock.Index]
		m.put(base+uint32(tl.Rows-tl.Stride), math.MaxUint32) // is no row, whatever stands there
		live := map[uint32]bool{}
		next := [2]uint32{schema.FirstShared, schema.FirstServer}
		random := rand.New(rand.NewPCG(6, uint64(side)))
		rows := 0
		for step := range 2000 {
			switch random.IntN(6) {
			case 0, 1:
				of, fn := 0, shared
				if random.IntN(2) == 0 {
					of, fn = 1, server
				}
				row := uint32(m.call(fn, uint64(base)))
				if rows == rock.Max {
					if row != 0 {
						t.Fatalf("step %d: a row past the last", step)
					}
					break
				}
				if id := m.get(row + schema.RowID); id != next[of] {
					t.Fatalf("step %d: the id is %d, want %d", step, id, next[of])
				}
				if got := math.Float32frombits(m.get(row + uint32(tl.Offsets[0]))); got != 1.5 {
					t.Fatalf("step %d: the default is %v", step, got)
				}
				if mark := m.get(row + schema.RowMark); (mark == schema.MarkWritten) != (of == 1) {
					t.Fatalf("step %d: the mark is %d", step, mark)
				}
				if at := tl.Offsets[1]; at >= 0 && string(m.read(row+uint32(at), 5)) != "\x02ab\x00\x00" {
					t.Fatalf("step %d: the str is %q", step, m.read(row+uint32(at), 5))
				}
				live[next[of]] = true
				next[of] += schema.IDStep
				rows++
			case 2:
				for _, id := range slices.Sorted(maps.Keys(live)) {
					if random.IntN(3) == 0 {
						row := m.call(find, uint64(base), uint64(id))
						m.call(remove, uint64(base), row)
						m.call(remove, uint64(base), row) // a second time changes nothing
						delete(live, id)
					}
				}
			case 3:
				m.call(tick, uint64(base), 0)
				rows = len(live)
				want := slices.Sorted(maps.Keys(live))
				var got []uint32
				for i := range m.get(base + uint32(tl.Counts)) {
					got = append(got, m.get(base+uint32(tl.Rows)+i*uint32(tl.Stride)+schema.RowID))
				}
				if !slices.Equal(got, want) || m.get(base+uint32(tl.Counts)+schema.CountSorted) != uint32(len(want)) {
					t.Fatalf("step %d: the rows are %v, want %v", step, got, want)
				}
			}
			if got := m.get(base + uint32(tl.Counts) + schema.CountLive); got != uint32(len(live)) {
				t.Fatalf("step %d: %d live, want %d", step, got, len(live))
			}
			if got := m.get(base + uint32(tl.Counts) + schema.CountRows); got != uint32(rows) {
				t.Fatalf("step %d: %d rows, want %d", step, got, rows)
			}
			last := max(next[0], next[1])
			for id := last - min(last, 30); id <= last; id++ {
				row := uint32(m.call(find, uint64(base), uint64(id)))
				if (row != 0) != live[id] || row != 0 && m.get(row+schema.RowID) != id {
					t.Fatalf("step %d: %d is found at %d, which is wrong", step, id, row)
				}
			}
		}
	}
}

// An owned row has its owner.
func TestOwner(t *testing.T) {
	def, r := define(t)
	shot := def.Types[3]
	spawn := r.Spawn(shot, false)
	m := load(t, def, r, schema.OnClient, spawn)
	row := uint32(m.call(spawn, uint64(m.block(1, 0)), 5))
	if got := m.get(row + schema.RowOwner); got != 5 {
		t.Errorf("the owner is %d", got)
	}
}

// trace makes a body that notes its number and the actor, and uses what fuel it is told.
func trace(notes *ir.Global, number, fuel int, params ...string) *ir.Func {
	f := &ir.Func{Name: fmt.Sprintf("body%d", number), Keep: true}
	for _, name := range append([]string{"base"}, params...) {
		f.Params = append(f.Params, &ir.Local{Name: name, Type: ir.I32})
	}
	id := ir.Int(0)
	if len(params) > 0 {
		id = &ir.Load{Addr: ir.Read(f.Params[1]), Off: ir.At(schema.RowID), Mem: ir.MemI32}
	}
	at := &ir.GetGlobal{Global: notes}
	f.Body = []ir.Stmt{
		&ir.Store{Addr: at, Off: ir.At(0), Mem: ir.MemI32, X: ir.Int(number)},
		&ir.Store{Addr: at, Off: ir.At(4), Mem: ir.MemI32, X: id},
		&ir.SetGlobal{Global: notes, X: ir.Do(ir.AddI32, at, ir.Int(8))},
	}
	if fuel > 0 {
		f.Body = append(f.Body, &ir.Fuel{Cost: fuel, At: 77})
	}
	return f
}
