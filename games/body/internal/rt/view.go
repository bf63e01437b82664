package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// View is the server's function (base, viewer, type, list, count, fresh) that has a view
// body judge which objects of its type a player may see; nil where there is none.
// The list has a word for each object in question: the index of its row, and below
// that a bit that says whether the player holds it now, in whose place goes whether
// it may be seen. view_at is the index of the word that is being judged. What views take
// comes out of a budget that is as large as a tick's and full again when fresh is not zero.
func (d *Driver) View() *ir.Func {
	f := &ir.Func{Name: "view", Keep: true}
	viewer, of, list, count := local("viewer", ir.I32), local("type", ir.I32), local("list", ir.I32), local("count", ir.I32)
	fresh := local("fresh", ir.I32)
	row := local("viewer_row", ir.I32)
	f.Params = []*ir.Local{d.base, viewer, of, list, count, fresh}
	f.Body = []ir.Stmt{
		when(get(fresh), &ir.SetGlobal{Global: d.rt.TickFuel, X: ir.Long(uint64(d.budget.Tick))}),
		&ir.SetGlobal{Global: d.rt.Seq, X: ir.Int(0)},
		set(row, &ir.Call{Fn: d.rt.Find(d.rt.def.Player()), Args: []ir.Expr{get(d.base), get(viewer)}}),
	}
	found := false
	for _, t := range d.rt.def.Types[1:] {
		d.each(View, t, func(n int, b Body) {
			found = true
			f.Body = append(f.Body, when(ir.Do(ir.EqI32, get(of), ir.Int(t.Index)), d.judge(n, b, row, list, count)...))
		})
	}
	if !found {
		return nil
	}
	return f
}

// judge goes over the list for one type.
func (d *Driver) judge(number int, b Body, viewer, list, count *ir.Local) []ir.Stmt {
	g := &d.rt.Globals
	i, word, row, seen := local("i", ir.I32), local("word", ir.I32), local("row", ir.I32), local("seen", ir.I32)
	args := []ir.Expr{get(d.base), get(viewer), get(row), ir.Do(ir.AndI32, get(word), ir.Int(1))}
	ask := []ir.Stmt{&ir.SetGlobal{Global: g.FaultActor, X: load(get(row), ir.At(schema.RowID))}}
	judged := set(seen, ir.Do(ir.NeI32, &ir.Call{Fn: b.Fn, Args: args[:len(b.Fn.Params)]}, ir.Int(0)))
	if d.uses(b.Fn).fuel {
		ask = append(ask, d.refuel(), judged, d.spent(b))
	} else {
		ask = append(ask, judged)
	}
	at := add(get(list), ir.Do(ir.ShlI32, get(i), ir.Int(2)))
	body := []ir.Stmt{
		&ir.SetGlobal{Global: g.ViewAt, X: get(i)},
		set(word, load(at, ir.At(0))),
		set(row, add(FirstRow(get(d.base), b.Of), ir.Do(ir.MulI32, ir.Do(ir.ShrU32, get(word), ir.Int(1)), Stride(b.Of)))),
		set(seen, ir.Int(0)),
		when(get(viewer), ask...),
		store(at, ir.At(0), ir.Do(ir.OrI32, ir.Do(ir.AndI32, get(word), ir.Int(-2)), get(seen))),
		set(i, add(get(i), ir.Int(1))),
	}
	return []ir.Stmt{
		&ir.SetGlobal{Global: g.FaultBody, X: ir.Int(number)},
		&ir.SetGlobal{Global: g.FaultActor, X: ir.Int(0)},
		&ir.SetGlobal{Global: g.ViewAt, X: ir.Int(0)},
		d.spendFor(get(count), ir.Int(visitWeight+d.rt.weights[b.Fn]), b.At),
		set(i, ir.Int(0)),
		while(ir.Do(ir.LtU32, get(i), get(count)), body...),
	}
}
