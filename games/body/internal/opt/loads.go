package opt

import (
	"slices"

	"gamehoster/games/body/internal/ir"
)

// loads reads a place in memory once where that is enough: a second load of the
// same place gets the value of the first, or of a store between them, as long as
// nothing in between may have changed it. Places of different fields never overlap,
// so that only a store to the same field, of whatever object, or a call counts.
//
// It walks the function twice in the order of evaluation, numbering loads and
// stores. The first walk finds for each load whose value it can have, the second
// writes that value into a local and reads it.
func loads(f *ir.Func, effects *effects) {
	w := &loadWalk{effects: effects, same: map[int]int{}, kept: map[int]*ir.Local{}, exits: map[*ir.Label][]known{}}
	w.body(f.Body)
	if len(w.same) > 0 {
		keepValues(f, w.same, w.kept)
	}
}

// spot is a place in memory.
type spot struct {
	addr *ir.Local
	off  ir.Offset
	mem  ir.Mem
}

// value is that a spot has the value of the load or store of a number.
type value struct {
	spot
	n int
}

// known is what is in which spots, in the order of the numbers.
type known struct {
	at   []value
	dead bool // nothing gets here
}

// mostKnown bounds what is known at a time, and so what a walk can cost.
const mostKnown = 128

func (k known) clone() known { return known{slices.Clone(k.at), k.dead} }

// find gives the number of the value in a spot.
func (k known) find(s spot) (n int, ok bool) {
	for i := range k.at {
		if k.at[i].spot == s {
			return k.at[i].n, true
		}
	}
	return 0, false
}

// note files the value in a spot, of which nothing is known.
func (k *known) note(s spot, n int) {
	if len(k.at) == mostKnown {
		k.at = slices.Delete(k.at, 0, 1)
	}
	k.at = append(k.at, value{s, n})
}

// meet is what is known where two ways come together.
func meet(a, b known) known {
	if a.dead {
		return b
	}
	if b.dead {
		return a
	}
	var both []value
	for _, v := range a.at {
		for len(b.at) > 0 && b.at[0].n < v.n {
			b.at = b.at[1:]
		}
		if len(b.at) > 0 && b.at[0].n == v.n {
			both = append(both, v)
		}
	}
	return known{at: both}
}

// loadWalk is the first walk.
type loadWalk struct {
	effects *effects
	now     known
	exits   map[*ir.Label][]known // of the blocks around, one for each jump
	n       int                   // number of the load or store that comes next
	same    map[int]int           // a load's number: whose value it has
	kept    map[int]*ir.Local     // that one's number: where its value is to be kept
}

// field reports whether two offsets may be of the same bytes. Counts, and what
// stands at fixed places in headers and rows, are taken for one field.
func field(a, b ir.Offset) bool {
	if a.Place != b.Place {
		fixed := func(p ir.Place) bool { return p != ir.RowField && p != ir.Instance }
		return fixed(a.Place) && fixed(b.Place)
	}
	if a.Place == ir.RowField || a.Place == ir.Instance {
		return a.Type == b.Type && a.Field == b.Field
	}
	return true
}

// forget drops what a write to off of any object may change.
func (w *loadWalk) forget(off ir.Offset) {
	w.now.at = slices.DeleteFunc(w.now.at, func(v value) bool { return field(v.off, off) })
}

func (w *loadWalk) forgetLocal(l *ir.Local) {
	w.now.at = slices.DeleteFunc(w.now.at, func(v value) bool { return v.addr == l })
}

func (w *loadWalk) forgetEffect(e effect) {
	if e.all {
		w.now.at = nil
		return
	}
	for off := range e.writes {
		w.forget(off)
	}
}

// forgetIn drops what a loop may change on its way back to its start.
func (w *loadWalk) forgetIn(body []ir.Stmt) {
	w.forgetEffect(w.effects.of(body))
	ir.Each(body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok {
			w.forgetLocal(s.Local)
		}
	}, nil)
}

func (w *loadWalk) body(list []ir.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *loadWalk) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Set:
		w.expr(s.X)
		w.forgetLocal(s.Local)
	case *ir.SetGlobal:
		w.expr(s.X)
	case *ir.Store:
		w.store(s)
	case *ir.Copy:
		w.expr(s.Dst)
		w.expr(s.Src)
		w.expr(s.N)
		w.now.at = nil
	case *ir.Fill:
		w.expr(s.Dst)
		w.expr(s.N)
		w.now.at = nil
	case *ir.Eval:
		w.expr(s.X)
	case *ir.If:
		w.expr(s.Test)
		start := w.now.clone()
		w.body(s.Then)
		then := w.now
		w.now = start
		w.body(s.Else)
		w.now = meet(then, w.now)
	case *ir.Block:
		w.body(s.Body)
		for _, k := range w.exits[s.Label] {
			w.now = meet(w.now, k)
		}
		delete(w.exits, s.Label)
	case *ir.Loop:
		w.forgetIn(s.Body)
		w.body(s.Body)
	case *ir.Br:
		if !w.now.dead {
			w.exits[s.Label] = append(w.exits[s.Label], w.now)
		}
		w.now = known{dead: true}
	case *ir.Return:
		if s.X != nil {
			w.expr(s.X)
		}
		w.now = known{dead: true}
	case *ir.Trap:
		w.now = known{dead: true}
	}
}

// store notes what is in the place from now on. A store to a sent field is left
// out on the client, so nothing is known of the place behind it.
func (w *loadWalk) store(s *ir.Store) {
	w.expr(s.Addr)
	w.expr(s.X)
	w.forget(s.Off)
	if g, ok := s.Addr.(*ir.Get); ok && !s.Sent && !w.now.dead {
		w.now.note(spot{g.Local, s.Off, s.Mem}, w.n)
	}
	w.n++
}

func (w *loadWalk) expr(x ir.Expr) {
	switch x := x.(type) {
	case *ir.Load:
		w.expr(x.Addr)
		w.load(x)
	case *ir.Apply:
		w.expr(x.X)
		if x.Y != nil {
			w.expr(x.Y)
		}
	case *ir.Cond:
		w.expr(x.Test)
		start := w.now.clone()
		w.expr(x.Then)
		then := w.now
		w.now = start
		w.expr(x.Else)
		w.now = meet(then, w.now)
	case *ir.Call:
		for _, a := range x.Args {
			w.expr(a)
		}
		w.forgetEffect(w.effects.call(x.Fn))
	case *ir.Seq:
		w.body(x.Body)
		w.expr(x.Value)
	}
}

func (w *loadWalk) load(x *ir.Load) {
	n := w.n
	w.n++
	g, ok := x.Addr.(*ir.Get)
	if !ok || w.now.dead {
		return
	}
	s := spot{g.Local, x.Off, x.Mem}
	from, ok := w.now.find(s)
	if !ok {
		w.now.note(s, n)
		return
	}
	w.same[n] = from
	if w.kept[from] == nil {
		l := &ir.Local{Name: "v", Type: x.Mem.Type()}
		if s, ok := memSpan(x.Mem); ok {
			l.Lo, l.Hi = s.lo, s.hi
		}
		w.kept[from] = l
	}
}

// keepValues is the second walk: the loads whose numbers are in same read the local
// that is kept for the number there.
func keepValues(f *ir.Func, same map[int]int, kept map[int]*ir.Local) {
	n := -1
	rounded := rounded(f)
	r := &ir.Rewriter{}
	r.Expr = func(x ir.Expr) ir.Expr {
		if _, ok := x.(*ir.Load); !ok {
			return x
		}
		n++
		if from, ok := same[n]; ok {
			return ir.Read(kept[from])
		}
		if l := kept[n]; l != nil {
			return &ir.Seq{Body: []ir.Stmt{&ir.Set{Local: l, X: x}}, Value: ir.Read(l)}
		}
		return x
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		st, ok := s.(*ir.Store)
		if !ok {
			return r.One(s)
		}
		n++
		l := kept[n]
		if l == nil {
			return r.One(s)
		}
		return []ir.Stmt{
			&ir.Set{Local: l, X: read(st.Mem, st.X, rounded)},
			&ir.Store{Addr: st.Addr, Off: st.Off, Mem: st.Mem, X: ir.Read(l)},
		}
	}
	f.Body = r.Body(f.Body)
}

// read is what a load gives back of a value that was stored. rounded are locals that
// only ever hold what an f32 can.
func read(m ir.Mem, x ir.Expr, rounded map[*ir.Local]bool) ir.Expr {
	switch m {
	case ir.MemF32:
		if g, ok := x.(*ir.Get); isRounded(x) || ok && rounded[g.Local] {
			return x
		}
		return ir.Do(ir.Fround, x)
	case ir.MemI32, ir.MemI64, ir.MemF64:
		return x
	}
	want, _ := memSpan(m)
	if have := spanOf(x); have.lo >= want.lo && have.hi <= want.hi {
		return x
	}
	switch m {
	case ir.MemU8:
		return ir.Do(ir.AndI32, x, ir.Int(0xff))
	case ir.MemU16:
		return ir.Do(ir.AndI32, x, ir.Int(0xffff))
	case ir.MemI8:
		return ir.Do(ir.ShrI32, ir.Do(ir.ShlI32, x, ir.Int(24)), ir.Int(24))
	}
	return ir.Do(ir.ShrI32, ir.Do(ir.ShlI32, x, ir.Int(16)), ir.Int(16))
}

// memSpan is where a value can be that lies in memory as m.
func memSpan(m ir.Mem) (span, bool) {
	switch m {
	case ir.MemI8:
		return span{-128, 127}, true
	case ir.MemU8:
		return span{0, 255}, true
	case ir.MemI16:
		return span{-32768, 32767}, true
	case ir.MemU16:
		return span{0, 65535}, true
	}
	return span{}, false
}

// rounded finds locals that only ever hold what an f32 can.
func rounded(f *ir.Func) map[*ir.Local]bool {
	all := map[*ir.Local]bool{}
	ir.Each(f.Body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok && s.Local.Type == ir.F64 {
			other, known := all[s.Local]
			all[s.Local] = isRounded(s.X) && (other || !known)
		}
	}, nil)
	for _, p := range f.Params {
		delete(all, p)
	}
	return all
}

// isRounded reports whether a value is certainly one that an f32 can have.
func isRounded(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Load:
		return x.Mem == ir.MemF32
	case *ir.Apply:
		return x.Op == ir.Fround
	}
	return false
}
