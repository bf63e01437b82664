package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// rankShift is where in a row's mark its place stands while rows are put in order. What
// is below are the bits that marks have at other times.
const rankShift = 2

// compact is the function (counts, first, stride) that drops a type's removed rows,
// closing the gaps, and puts the rows that were appended in this tick in their places.
// It leaves dense rows in ascending order of id. It goes over the rows a few times and
// moves each at most twice, however they lie: what bodies made of them is not charged to
// anyone but by their number.
//
// What was appended is two lists in one, as each of the counters of ids ascends, and
// behind a list that is in order:
//
//	sorted          made in this tick
//	+---+---+---+---+---+---+---+---+
//	| 2 | 4 |12 |16 | 6 |20 |24 |10 |      shared: 6 10     server: 20 24
//	+---+---+---+---+---+---+---+---+
//	          3   4   1   5   6   2        place, from the first row that has to move
//
// So the three are merged, not by moving rows, for which there is no room, but by
// writing into the mark of each the place that it has to go to. Then rows change places
// until all are where they belong.
func (r *Runtime) compact() *ir.Func {
	return r.once("compact", func(f *ir.Func) {
		counts, first, stride := local("counts", ir.I32), local("first", ir.I32), local("stride", ir.I32)
		f.Params, f.Keep = []*ir.Local{counts, first, stride}, true
		c := compaction{
			counts: counts, first: first, stride: stride, scratch: r.scratch,
			middle: local("middle", ir.I32), end: local("end", ir.I32), row: local("row", ir.I32), to: local("to", ir.I32), id: local("id", ir.I32),
		}
		done := &ir.Label{Name: "done"}
		f.Body = []ir.Stmt{
			set(c.middle, add(get(first), ir.Do(ir.MulI32, c.count(schema.CountSorted), get(stride)))),
			set(c.end, add(get(first), ir.Do(ir.MulI32, c.count(schema.CountRows), get(stride)))),
			when(ir.Do(ir.NeI32, c.count(schema.CountRows), c.count(schema.CountLive)), c.close()...),
			&ir.Block{Label: done, Body: append(c.check(done), append(c.rank(), c.move()...)...)},
			set(c.to, ir.Do(ir.DivU32, ir.Do(ir.SubI32, get(c.end), get(first)), get(stride))),
		}
		for _, which := range []int{schema.CountRows, schema.CountLive, schema.CountSorted} {
			f.Body = append(f.Body, store(get(counts), ir.At(which), get(c.to)))
		}
	})
}

// compaction is what compact is written with. Rows are addresses: those from first up to
// middle are in order, those from there up to end are new.
type compaction struct {
	counts, first, stride *ir.Local
	middle, end           *ir.Local
	row, to, id           *ir.Local // at hand
	scratch               *ir.Data
}

func (c *compaction) count(which int) ir.Expr { return load(get(c.counts), ir.At(which)) }

func idOf(row ir.Expr) ir.Expr { return load(row, ir.At(schema.RowID)) }

func markOf(row *ir.Local) ir.Expr { return load(get(row), ir.At(schema.RowMark)) }

func (c *compaction) next(row *ir.Local) ir.Stmt { return set(row, add(get(row), get(c.stride))) }

func (c *compaction) before(row *ir.Local) ir.Expr {
	return ir.Do(ir.SubI32, get(row), get(c.stride))
}

// close moves the rows that stay to the front.
func (c *compaction) close() []ir.Stmt {
	upTo := func(end *ir.Local) []ir.Stmt {
		return []ir.Stmt{
			while(ir.Do(ir.LtU32, get(c.row), get(end)),
				when(ir.Not(Removed(get(c.row))),
					when(ir.Do(ir.NeI32, get(c.row), get(c.to)), &ir.Copy{Dst: get(c.to), Src: get(c.row), N: get(c.stride)}),
					c.next(c.to)),
				c.next(c.row)),
			set(end, get(c.to)),
		}
	}
	list := append([]ir.Stmt{set(c.row, get(c.first)), set(c.to, get(c.first))}, upTo(c.middle)...)
	return append(list, upTo(c.end)...)
}

// check jumps to done where the new rows are in order behind the others, as they are
// unless both counters made some. id is the least of theirs behind it.
func (c *compaction) check(done *ir.Label) []ir.Stmt {
	ordered, last := local("ordered", ir.I32), local("last", ir.I32)
	return []ir.Stmt{
		set(ordered, ir.Int(1)),
		set(c.id, ir.Int(-1)),
		set(last, ir.Int(0)),
		when(ir.Do(ir.GtU32, get(c.middle), get(c.first)), set(last, idOf(c.before(c.middle)))),
		set(c.row, get(c.middle)),
		while(ir.Do(ir.LtU32, get(c.row), get(c.end)),
			when(ir.Do(ir.LtU32, idOf(get(c.row)), get(last)), set(ordered, ir.Int(0))),
			set(last, idOf(get(c.row))),
			when(ir.Do(ir.LtU32, get(last), get(c.id)), set(c.id, get(last))),
			c.next(c.row)),
		when(get(ordered), &ir.Br{Label: done}),
	}
}

// rank finds the first row that has to move, row, and writes into the mark of each from
// there on which place it has to go to.
func (c *compaction) rank() []ir.Stmt {
	old, shared, server := local("old", ir.I32), local("shared", ir.I32), local("server", ir.I32)
	oldID, sharedID, serverID := local("old_id", ir.I32), local("shared_id", ir.I32), local("server_id", ir.I32)
	rank, n := local("rank", ir.I32), local("n", ir.I32)
	// Each list's next row and its id, which is past all others at the end.
	head := func(at, end, id *ir.Local) ir.Stmt {
		return set(id, &ir.Cond{Test: ir.Do(ir.LtU32, get(at), get(end)), Then: idOf(get(at)), Else: ir.Int(-1)})
	}
	byServer := func(row *ir.Local) ir.Expr {
		return ir.Do(ir.EqI32, ir.Do(ir.AndI32, idOf(get(row)), ir.Int(schema.FirstShared)), ir.Int(0))
	}
	take := func(at *ir.Local) []ir.Stmt { return []ir.Stmt{set(c.to, get(at)), c.next(at)} }
	return []ir.Stmt{
		set(c.row, get(c.middle)),
		within(ir.Do(ir.GtU32, get(c.row), get(c.first)), ir.Do(ir.GtU32, idOf(c.before(c.row)), get(c.id)),
			set(c.row, c.before(c.row))),
		set(old, get(c.row)),
		set(shared, get(c.middle)),
		set(server, get(c.middle)),
		set(rank, ir.Int(0)),
		set(n, ir.Do(ir.DivU32, ir.Do(ir.SubI32, get(c.end), get(c.row)), get(c.stride))),
		while(ir.Do(ir.LtU32, get(rank), get(n)),
			within(ir.Do(ir.LtU32, get(shared), get(c.end)), byServer(shared), c.next(shared)),
			within(ir.Do(ir.LtU32, get(server), get(c.end)), ir.Not(byServer(server)), c.next(server)),
			head(old, c.middle, oldID),
			head(shared, c.end, sharedID),
			head(server, c.end, serverID),
			&ir.If{
				Test: ir.Both(ir.Do(ir.LtU32, get(oldID), get(sharedID)), ir.Do(ir.LtU32, get(oldID), get(serverID))),
				Then: take(old),
				Else: []ir.Stmt{&ir.If{Test: ir.Do(ir.LtU32, get(sharedID), get(serverID)), Then: take(shared), Else: take(server)}},
			},
			store(get(c.to), ir.At(schema.RowMark), ir.Do(ir.OrI32, markOf(c.to), ir.Do(ir.ShlI32, get(rank), ir.Int(rankShift)))),
			set(rank, add(get(rank), ir.Int(1)))),
	}
}

// within steps from row to row as long as one is inside and something holds of it. What
// holds is asked behind a jump, as memory may end with the rows: an ir.Both may read on.
func within(inside, holds ir.Expr, step ir.Stmt) ir.Stmt {
	out := &ir.Label{Name: "out"}
	return &ir.Block{Label: out, Body: []ir.Stmt{while(inside, when(ir.Not(holds), &ir.Br{Label: out}), step)}}
}

// move takes the rows from row on to the places that are in their marks. Each exchange
// brings one to where it stays.
func (c *compaction) move() []ir.Stmt {
	from := local("from", ir.I32)
	scratch := func() ir.Expr { return &ir.DataAddr{Data: c.scratch} }
	place := add(get(from), ir.Do(ir.MulI32, ir.Do(ir.ShrU32, markOf(c.row), ir.Int(rankShift)), get(c.stride)))
	return []ir.Stmt{
		set(from, get(c.row)),
		while(ir.Do(ir.LtU32, get(c.row), get(c.end)),
			set(c.to, place),
			&ir.If{
				Test: ir.Do(ir.EqI32, get(c.to), get(c.row)),
				Then: []ir.Stmt{
					store(get(c.row), ir.At(schema.RowMark), ir.Do(ir.AndI32, markOf(c.row), ir.Int(1<<rankShift-1))),
					c.next(c.row),
				},
				Else: []ir.Stmt{
					&ir.Copy{Dst: scratch(), Src: get(c.to), N: get(c.stride)},
					&ir.Copy{Dst: get(c.to), Src: get(c.row), N: get(c.stride)},
					&ir.Copy{Dst: get(c.row), Src: scratch(), N: get(c.stride)},
				},
			}),
	}
}
