package opt

import (
	"maps"

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
	w := &loadWalk{effects: effects, same: map[int]int{}, kept: map[int]*ir.Local{}}
	w.body(f.Body)
	if len(w.same) == 0 {
		return
	}
	w.writing, w.n = true, 0
	f.Body = w.body(f.Body)
}

// spot is a place in memory.
type spot struct {
	addr *ir.Local
	off  ir.Offset
	mem  ir.Mem
}

// known is what is in which spots: the number of the load or store that has it.
type known struct {
	at   map[spot]int
	dead bool // nothing gets here
}

func (k known) clone() known { return known{maps.Clone(k.at), k.dead} }

// meet is what is known where two ways come together.
func meet(a, b known) known {
	if a.dead {
		return b
	}
	if b.dead {
		return a
	}
	both := map[spot]int{}
	for s, n := range a.at {
		if m, ok := b.at[s]; ok && m == n {
			both[s] = n
		}
	}
	return known{at: both}
}

type loadWalk struct {
	effects *effects
	now     known
	exits   map[*ir.Label][]known // of the blocks around, one for each jump
	n       int                   // number of the load or store that comes next
	same    map[int]int           // a load's number: whose value it has
	kept    map[int]*ir.Local     // that one's number: where its value is kept
	writing bool
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
	for s := range w.now.at {
		if field(s.off, off) {
			delete(w.now.at, s)
		}
	}
}

func (w *loadWalk) forgetLocal(l *ir.Local) {
	for s := range w.now.at {
		if s.addr == l {
			delete(w.now.at, s)
		}
	}
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

func (w *loadWalk) note(s spot, n int) {
	if w.now.at == nil {
		w.now.at = map[spot]int{}
	}
	w.now.at[s] = n
}

// keep is the local for the value of number n.
func (w *loadWalk) keep(n int, mem ir.Mem) *ir.Local {
	l := w.kept[n]
	if l == nil {
		l = &ir.Local{Name: "v", Type: mem.Type()}
		if s, ok := memSpan(mem); ok {
			l.Lo, l.Hi = s.lo, s.hi
		}
		w.kept[n] = l
	}
	return l
}

func (w *loadWalk) body(list []ir.Stmt) []ir.Stmt {
	var out []ir.Stmt
	for _, s := range list {
		out = append(out, w.stmt(s)...)
	}
	return out
}

func (w *loadWalk) stmt(s ir.Stmt) []ir.Stmt {
	switch s := s.(type) {
	case *ir.Set:
		x := w.expr(s.X)
		w.forgetLocal(s.Local)
		return []ir.Stmt{&ir.Set{Local: s.Local, X: x}}
	case *ir.SetGlobal:
		return []ir.Stmt{&ir.SetGlobal{Global: s.Global, X: w.expr(s.X)}}
	case *ir.Store:
		return w.store(s)
	case *ir.Copy:
		c := &ir.Copy{Dst: w.expr(s.Dst), Src: w.expr(s.Src), N: w.expr(s.N), Sent: s.Sent}
		w.now.at = nil
		return []ir.Stmt{c}
	case *ir.Fill:
		c := &ir.Fill{Dst: w.expr(s.Dst), N: w.expr(s.N)}
		w.now.at = nil
		return []ir.Stmt{c}
	case *ir.Eval:
		return []ir.Stmt{&ir.Eval{X: w.expr(s.X)}}
	case *ir.If:
		c := &ir.If{Test: w.expr(s.Test)}
		start := w.now.clone()
		c.Then = w.body(s.Then)
		then := w.now
		w.now = start
		c.Else = w.body(s.Else)
		w.now = meet(then, w.now)
		return []ir.Stmt{c}
	case *ir.Block:
		if w.exits == nil {
			w.exits = map[*ir.Label][]known{}
		}
		c := &ir.Block{Label: s.Label, Body: w.body(s.Body)}
		for _, k := range w.exits[s.Label] {
			w.now = meet(w.now, k)
		}
		delete(w.exits, s.Label)
		return []ir.Stmt{c}
	case *ir.Loop:
		w.forgetIn(s.Body)
		return []ir.Stmt{&ir.Loop{Label: s.Label, Body: w.body(s.Body)}}
	case *ir.Br:
		if w.exits != nil && !w.now.dead {
			w.exits[s.Label] = append(w.exits[s.Label], w.now.clone())
		}
		w.now = known{dead: true}
	case *ir.Return:
		r := &ir.Return{}
		if s.X != nil {
			r.X = w.expr(s.X)
		}
		w.now = known{dead: true}
		return []ir.Stmt{r}
	case *ir.Trap:
		w.now = known{dead: true}
	}
	return []ir.Stmt{s}
}

// store notes what is in the place from now on. A store to a sent field is left
// out on the client, so nothing is known of the place behind it.
func (w *loadWalk) store(s *ir.Store) []ir.Stmt {
	addr, x := w.expr(s.Addr), w.expr(s.X)
	w.forget(s.Off)
	n := w.n
	w.n++
	g, ok := addr.(*ir.Get)
	if !ok || s.Sent {
		return []ir.Stmt{&ir.Store{Addr: addr, Off: s.Off, Mem: s.Mem, X: x, Sent: s.Sent}}
	}
	w.note(spot{g.Local, s.Off, s.Mem}, n)
	l := w.kept[n]
	if !w.writing || l == nil {
		return []ir.Stmt{&ir.Store{Addr: addr, Off: s.Off, Mem: s.Mem, X: x}}
	}
	return []ir.Stmt{
		&ir.Set{Local: l, X: read(s.Mem, x)},
		&ir.Store{Addr: addr, Off: s.Off, Mem: s.Mem, X: ir.Read(l)},
	}
}

// read is what a load gives back of a value that was stored.
func read(m ir.Mem, x ir.Expr) ir.Expr {
	switch m {
	case ir.MemF32:
		if l, ok := x.(*ir.Load); ok && l.Mem == ir.MemF32 {
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

func (w *loadWalk) expr(x ir.Expr) ir.Expr {
	switch x := x.(type) {
	case *ir.Load:
		return w.load(x)
	case *ir.Apply:
		a := &ir.Apply{Op: x.Op, X: w.expr(x.X)}
		if x.Y != nil {
			a.Y = w.expr(x.Y)
		}
		return a
	case *ir.Cond:
		c := &ir.Cond{Test: w.expr(x.Test)}
		start := w.now.clone()
		c.Then = w.expr(x.Then)
		then := w.now
		w.now = start
		c.Else = w.expr(x.Else)
		w.now = meet(then, w.now)
		return c
	case *ir.Call:
		c := &ir.Call{Fn: x.Fn}
		for _, a := range x.Args {
			c.Args = append(c.Args, w.expr(a))
		}
		w.forgetEffect(w.effects.call(x.Fn))
		return c
	case *ir.Seq:
		q := &ir.Seq{Body: w.body(x.Body)}
		q.Value = w.expr(x.Value)
		return q
	}
	return x
}

func (w *loadWalk) load(x *ir.Load) ir.Expr {
	addr := w.expr(x.Addr)
	n := w.n
	w.n++
	y := &ir.Load{Addr: addr, Off: x.Off, Mem: x.Mem}
	g, ok := addr.(*ir.Get)
	if !ok {
		return y
	}
	s := spot{g.Local, x.Off, x.Mem}
	if w.writing {
		if from, ok := w.same[n]; ok {
			return ir.Read(w.kept[from])
		}
		if l := w.kept[n]; l != nil {
			return &ir.Seq{Body: []ir.Stmt{&ir.Set{Local: l, X: y}}, Value: ir.Read(l)}
		}
		return y
	}
	if from, ok := w.now.at[s]; ok && !w.now.dead {
		w.same[n] = from
		w.keep(from, x.Mem)
		return y
	}
	w.note(s, n)
	return y
}
