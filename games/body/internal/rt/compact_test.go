package rt_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

// counted makes the compaction that a function leads to count what it does: a step
// for each jump, of which every round of a loop has one, and for each row that is moved.
func counted(r *rt.Runtime, root *ir.Func) {
	steps := r.Tail // a global that is free here
	steps.Type, steps.Export = ir.I32, true
	count := func() ir.Stmt {
		return &ir.SetGlobal{Global: steps, X: ir.Do(ir.AddI32, &ir.GetGlobal{Global: steps}, ir.Int(1))}
	}
	for _, f := range ir.Reach(root) {
		if f.Name != "compact" {
			continue
		}
		w := &ir.Rewriter{}
		w.Stmt = func(s ir.Stmt) []ir.Stmt {
			switch s.(type) {
			case *ir.Br, *ir.Copy:
				return []ir.Stmt{count(), s}
			}
			return w.One(s)
		}
		f.Body = w.Body(f.Body)
	}
}

// To bring rows into order takes steps in proportion to their number, however they lie.
func TestCompactSteps(t *testing.T) {
	const most = 1 << 16
	def, r := defineAs(t, strings.Replace(definition, `"max": 6`, `"max": 65536`, 1))
	rock := def.Types[2]
	tick := rt.NewDriver(r, nil, rt.Budget{Body: 1, Tick: 1}, 5).Tick()
	counted(r, tick)
	m := load(t, def, r, schema.OnServer, tick)
	base, tl := m.block(1, 2), m.layout.Types[rock.Index]
	random := rand.New(rand.NewPCG(1, 2))
	ids := func(first, n int) (list []uint32) {
		for i := range n {
			list = append(list, uint32(first+schema.IDStep*i))
		}
		return list
	}
	shuffled := func(a, b []uint32) (list []uint32) {
		for len(a)+len(b) > 0 {
			from := &a
			if len(a) == 0 || len(b) > 0 && random.IntN(2) == 0 {
				from = &b
			}
			list, *from = append(list, (*from)[0]), (*from)[1:]
		}
		return list
	}
	for _, c := range []struct {
		name      string
		old, made []uint32
		gone      int // of so many one row is removed; 0 for none
		most      int // steps for a row
	}{
		{"nothing", nil, nil, 0, 0},
		{"all in order", ids(2, most/2), ids(2+2*most, most/2), 0, 2},
		{"one out of order", ids(4, most-1), ids(2+4*(most-9), 1), 0, 2},
		{"one before all", ids(4, most-1), ids(2, 1), 0, 20},
		{"shared ones behind the server's", ids(4, most/2), ids(2, most/2), 0, 20},
		{"two before all others", ids(1000, most-2), []uint32{2, 4}, 0, 20},
		{"all new, by turns", nil, shuffled(ids(2, most/2), ids(4, most/2)), 0, 20},
		{"server's before shared", nil, append(ids(4, most/2), ids(2, most/2)...), 0, 20},
		{"everywhere", ids(4, most/4), shuffled(ids(2, most/2), ids(4+most, most/4)), 0, 20},
		{"gaps", ids(4, most/2), ids(2, most/2), 3, 20},
		{"all gone", ids(4, most/2), ids(2, most/2), 1, 5},
	} {
		rows := append(slices.Clone(c.old), c.made...)
		table := make([]byte, len(rows)*tl.Stride)
		var want []uint32
		for i, id := range rows {
			row := table[i*tl.Stride:][:tl.Stride]
			binary.LittleEndian.PutUint32(row[schema.RowID:], id)
			mark := id >> 3 & 1 * schema.MarkWritten
			if c.gone > 0 && i%c.gone == 0 {
				mark |= schema.MarkRemoved
			} else {
				want = append(want, id)
			}
			binary.LittleEndian.PutUint32(row[schema.RowMark:], mark)
			binary.LittleEndian.PutUint32(row[tl.Stride-4:], ^id) // goes with the row
		}
		m.write(base+uint32(tl.Rows), table)
		m.put(base+uint32(tl.Counts), uint32(len(rows)), uint32(len(want)), uint32(len(c.old)))
		set(m, 0)
		m.call(tick, uint64(base), 0)
		slices.Sort(want)
		n := uint32(len(want))
		for _, which := range []uint32{schema.CountRows, schema.CountLive, schema.CountSorted} {
			if got := m.get(base + uint32(tl.Counts) + which); got != n {
				t.Fatalf("%s: count %d is %d, want %d", c.name, which, got, n)
			}
		}
		table = m.read(base+uint32(tl.Rows), len(want)*tl.Stride)
		for i, id := range want {
			row := table[i*tl.Stride:][:tl.Stride]
			got := [3]uint32{binary.LittleEndian.Uint32(row[schema.RowID:]), binary.LittleEndian.Uint32(row[schema.RowMark:]), binary.LittleEndian.Uint32(row[tl.Stride-4:])}
			if got != [3]uint32{id, id >> 3 & 1 * schema.MarkWritten, ^id} {
				t.Fatalf("%s: row %d is %x, want that of %x", c.name, i, got, id)
			}
		}
		steps := int(m.global("tail"))
		t.Logf("%s: %d steps for %d rows", c.name, steps, len(rows))
		if steps > c.most*len(rows)+100 {
			t.Errorf("%s: %d steps for %d rows, want at most %d for each", c.name, steps, len(rows), c.most)
		}
	}
}
