package link

import "gamehoster/games/body/internal/ir"

// touched gives a function's body, which it leaves as it is, for a machine that
// checks every access to memory by instructions, as wazero does on the server and no
// browser. It knows an address that it has checked up to some offset and checks no
// smaller one again. So before the first field of an object is used its last byte is
// read, with no use for what is read: one check instead of one for each field. And
// where ways come together wazero takes a local that is read twice for two values,
// unless it is written there with what it has; so it is.
//
// The type of the object that a local has the address of is known by the fields
// that are accessed through it, or through locals that are set to it. A local with
// objects of several types is left alone, and so is one with two places or less.
func touched(body []ir.Stmt) []ir.Stmt {
	t := &toucher{types: map[*ir.Local]int{}, places: map[*ir.Local]map[ir.Offset]bool{}, sets: map[*ir.Local][]ir.Expr{}}
	ir.Each(body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Store:
			t.note(s.Addr, s.Off)
		case *ir.Set:
			t.sets[s.Local] = append(t.sets[s.Local], s.X)
		}
	}, func(x ir.Expr) {
		if x, ok := x.(*ir.Load); ok {
			t.note(x.Addr, x.Off)
		}
	})
	for l, sets := range t.sets {
		if m := t.origin(l); m != l && len(sets) == 1 {
			for off := range t.places[l] {
				t.note(ir.Read(m), off)
			}
		}
	}
	for l, p := range t.places {
		if n, ok := t.types[l]; !ok || n < 0 || len(p) < 3 {
			delete(t.types, l)
		}
	}
	if len(t.types) == 0 {
		return body
	}
	return t.list(body, locals{})
}

type locals map[*ir.Local]bool

func (s locals) clone() locals {
	c := make(locals, len(s))
	for l := range s {
		c[l] = true
	}
	return c
}

// less drops what a list sets.
func (s locals) less(body []ir.Stmt) {
	ir.Each(body, func(x ir.Stmt) {
		if x, ok := x.(*ir.Set); ok {
			delete(s, x.Local)
		}
	}, nil)
}

type toucher struct {
	types  map[*ir.Local]int // of the object; -1 for several
	places map[*ir.Local]map[ir.Offset]bool
	sets   map[*ir.Local][]ir.Expr
}

// origin follows locals that are set once, to another; of a circle it gives any.
func (t *toucher) origin(l *ir.Local) *ir.Local {
	for range len(t.sets) {
		if len(t.sets[l]) != 1 {
			break
		}
		g, ok := t.sets[l][0].(*ir.Get)
		if !ok {
			break
		}
		l = g.Local
	}
	return l
}

// note files an access to memory.
func (t *toucher) note(addr ir.Expr, off ir.Offset) {
	g, ok := addr.(*ir.Get)
	if !ok {
		return
	}
	l := g.Local
	if t.places[l] == nil {
		t.places[l] = map[ir.Offset]bool{}
	}
	t.places[l][off] = true
	switch off.Place {
	case ir.RowField:
		if n, ok := t.types[l]; ok && n != off.Type {
			t.types[l] = -1
		} else {
			t.types[l] = off.Type
		}
	case ir.Plain:
	default:
		t.types[l] = -1
	}
}

// list gives a list with the reads added; done has the locals whose objects were
// read, and is brought to what it is behind the list.
func (t *toucher) list(body []ir.Stmt, done locals) []ir.Stmt {
	out := make([]ir.Stmt, 0, len(body)+4)
	for i, s := range body {
		for _, x := range evaluated(s) {
			out = t.before(out, x, done)
		}
		joins := false
		switch s := s.(type) {
		case *ir.Set:
			g, ok := s.X.(*ir.Get)
			if delete(done, s.Local); ok && done[g.Local] {
				done[s.Local] = true
			}
			out = append(out, s)
		case *ir.If:
			out = append(out, &ir.If{Test: s.Test, Then: t.list(s.Then, done.clone()), Else: t.list(s.Else, done.clone())})
			done.less(s.Then)
			done.less(s.Else)
			joins = true
		case *ir.Block:
			out = append(out, &ir.Block{Label: s.Label, Body: t.list(s.Body, done.clone())})
			done.less(s.Body)
			joins = true
		case *ir.Loop:
			done.less(s.Body)
			// At the start of a round wazero has yet to see who comes back to it.
			out = append(out, &ir.Loop{Label: s.Label, Body: t.list(s.Body, locals{})})
		default:
			out = append(out, s)
			// Ways come together where a NaN was looked for.
			if s, ok := s.(*ir.Store); ok && s.Mem.Type() == ir.F64 {
				joins = !ordered(s.X)
			}
		}
		if joins {
			out = again(out, body[i+1:], done.clone())
		}
	}
	return out
}

// evaluated are the expressions that a statement evaluates first, in their order;
// the place that it stores to is one.
func evaluated(s ir.Stmt) []ir.Expr {
	switch s := s.(type) {
	case *ir.Set:
		return []ir.Expr{s.X}
	case *ir.SetGlobal:
		return []ir.Expr{s.X}
	case *ir.Store:
		return []ir.Expr{&ir.Load{Addr: s.Addr, Off: s.Off, Mem: s.Mem}, s.X}
	case *ir.Eval:
		return []ir.Expr{s.X}
	case *ir.If:
		return []ir.Expr{s.Test}
	case *ir.Return:
		if s.X != nil {
			return []ir.Expr{s.X}
		}
	}
	return nil
}

// again writes the locals that the rest of a list uses with what they have.
func again(out, rest []ir.Stmt, done locals) []ir.Stmt {
	if len(done) == 0 {
		return out
	}
	ir.Each(rest, nil, func(x ir.Expr) {
		if g, ok := x.(*ir.Get); ok && done[g.Local] {
			delete(done, g.Local)
			out = append(out, &ir.Set{Local: g.Local, X: g})
		}
	})
	return out
}

// before adds reads of the objects that an expression uses for certain.
func (t *toucher) before(out []ir.Stmt, x ir.Expr, done locals) []ir.Stmt {
	switch x := x.(type) {
	case *ir.Load:
		g, ok := x.Addr.(*ir.Get)
		if !ok {
			return t.before(out, x.Addr, done)
		}
		if n, ok := t.types[g.Local]; ok && !done[g.Local] {
			done[g.Local] = true
			last := &ir.Load{Addr: g, Off: ir.Offset{Place: ir.Stride, Type: n, Add: -1}, Mem: ir.MemU8}
			out = append(out, &ir.Eval{X: last})
		}
	case *ir.Apply:
		out = t.before(out, x.X, done)
		if x.Y != nil {
			out = t.before(out, x.Y, done)
		}
	case *ir.Cond:
		out = t.before(out, x.Test, done)
	case *ir.Call:
		for _, a := range x.Args {
			out = t.before(out, a, done)
		}
	case *ir.Seq:
		// What is set in it cannot be read before it, and is done behind it by chance.
		inner := done.clone()
		ir.Each(x.Body, func(s ir.Stmt) {
			if s, ok := s.(*ir.Set); ok {
				inner[s.Local] = true
			}
		}, nil)
		for _, s := range x.Body {
			for _, y := range evaluated(s) {
				out = t.before(out, y, inner)
			}
			switch s.(type) {
			case *ir.If, *ir.Block, *ir.Loop, *ir.Br:
				return out
			}
		}
		out = t.before(out, x.Value, inner)
	}
	return out
}
