package opt

import (
	"math"

	"gamehoster/games/body/internal/ir"
)

// narrow keeps the f64 locals of a function that only ever hold whole numbers of
// an i32 as such. A counter that grows by
// constants is one of them: every round of a loop that bodies write takes fuel,
// so no statement runs more often than the body's fuel allows, plus once.
func narrow(o Options, f *ir.Func) {
	n := &narrower{fuel: int64(o.BodyFuel) + 1, sets: map[*ir.Local][]ir.Expr{}, spans: map[*ir.Local]span{}}
	params := map[*ir.Local]bool{}
	for _, p := range f.Params {
		params[p] = true
	}
	ir.Each(f.Body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok && s.Local.Type == ir.F64 && !params[s.Local] {
			if n.sets[s.Local] == nil {
				n.order = append(n.order, s.Local)
			}
			n.sets[s.Local] = append(n.sets[s.Local], s.X)
		}
	}, nil)
	n.solve()
	locals := map[*ir.Local]*ir.Local{}
	for _, l := range n.order {
		if s, ok := n.spans[l]; ok {
			locals[l] = &ir.Local{Name: l.Name, Type: ir.I32, Lo: s.lo, Hi: s.hi}
		}
	}
	if len(locals) == 0 {
		return
	}
	r := &ir.Rewriter{}
	r.Expr = func(x ir.Expr) ir.Expr {
		if g, ok := x.(*ir.Get); ok && locals[g.Local] != nil {
			return ir.Do(ir.FromI32, ir.Read(locals[g.Local]))
		}
		return x
	}
	r.Stmt = func(s ir.Stmt) []ir.Stmt {
		if s, ok := s.(*ir.Set); ok && locals[s.Local] != nil {
			return r.One(&ir.Set{Local: locals[s.Local], X: ir.Do(ir.ToInt32, s.X)})
		}
		return r.One(s)
	}
	f.Body = r.Body(f.Body)
}

type narrower struct {
	fuel  int64
	order []*ir.Local
	sets  map[*ir.Local][]ir.Expr
	spans map[*ir.Local]span // of the locals that are candidates
}

// rounds is how often spans may grow before a local is given up.
const rounds = 4

// solve finds the locals and their spans. It starts by believing that every
// local is whole, and gives up those for which that does not hold, until all do.
func (n *narrower) solve() {
	candidates := map[*ir.Local]bool{}
	for _, l := range n.order {
		candidates[l] = true
	}
	for {
		n.spans = map[*ir.Local]span{}
		for range rounds {
			for _, l := range n.order {
				if candidates[l] {
					n.grow(l)
				}
			}
		}
		var lost []*ir.Local
		for _, l := range n.order {
			if !candidates[l] {
				continue
			}
			before, ok := n.spans[l]
			if !ok || !n.grow(l) || n.spans[l] != before || !before.inI32() {
				lost = append(lost, l)
			}
		}
		if len(lost) == 0 {
			return
		}
		for _, l := range lost {
			delete(candidates, l)
		}
	}
}

// grow joins the spans of all that is written to a local. It is false if some of
// it is not whole, as far as is known.
func (n *narrower) grow(l *ir.Local) bool {
	s, known, all := span{}, false, true
	var steps int64
	for _, x := range n.sets[l] {
		if c, ok := step(x, l); ok {
			steps += c * n.fuel
			continue
		}
		t, ok := n.span(x)
		if !ok {
			all = false
			continue
		}
		if known {
			t = t.join(s)
		}
		s, known = t, true
	}
	if !known {
		return all
	}
	if steps > 0 {
		s.lo -= steps
		s.hi += steps
	}
	if old, ok := n.spans[l]; ok {
		s = s.join(old)
	}
	n.spans[l] = s
	return all
}

// maxStep bounds what a counter may grow by, so that nothing overflows here.
const maxStep = 1 << 20

// step tells whether x is l plus or minus a constant, and its size.
func step(x ir.Expr, l *ir.Local) (int64, bool) {
	a, ok := x.(*ir.Apply)
	if !ok || a.Op != ir.AddF64 && a.Op != ir.SubF64 {
		return 0, false
	}
	g, ok := a.X.(*ir.Get)
	if !ok || g.Local != l {
		return 0, false
	}
	v, ok := number(a.Y)
	if !ok || v != math.Trunc(v) || math.Abs(v) > maxStep {
		return 0, false
	}
	return int64(math.Abs(v)), true
}

// span is where an f64 expression can be, if that is whole and not -0 given
// what is believed of the locals.
func (n *narrower) span(x ir.Expr) (span, bool) {
	if _, s, ok := whole(x); ok {
		return s, true
	}
	switch x := x.(type) {
	case *ir.Get:
		s, ok := n.spans[x.Local]
		return s, ok
	case *ir.Cond:
		s, ok1 := n.span(x.Then)
		t, ok2 := n.span(x.Else)
		return s.join(t), ok1 && ok2
	case *ir.Seq:
		return n.span(x.Value)
	case *ir.Apply:
		switch x.Op {
		case ir.AddF64, ir.SubF64, ir.MulF64:
			s, ok1 := n.span(x.X)
			t, ok2 := n.span(x.Y)
			if !ok1 || !ok2 || !s.inI32() || !t.inI32() {
				return span{}, false
			}
			return result(x.Op, s, t)
		case ir.FloorF64, ir.CeilF64, ir.TruncF64:
			return n.span(x.X)
		}
	}
	return span{}, false
}
