package opt

import (
	"math"

	"gamehoster/games/body/internal/ir"
)

// chain gives the one value that a list of statements sets a local to before it
// leaves a block, where it does nothing else: the body of a small function that was
// inlined, such as
//
//	if c { r = a; br out }; r = b; br out
//
// is r = (c ? a : b). It is nil if the list is anything else.
func chain(list []ir.Stmt, out *ir.Label) *ir.Set {
	switch len(list) {
	case 0:
		return nil
	case 2:
		set, ok1 := list[0].(*ir.Set)
		br, ok2 := list[1].(*ir.Br)
		if ok1 && ok2 && br.Label == out {
			return set
		}
	}
	c, ok := list[0].(*ir.If)
	if !ok {
		return nil
	}
	rest := list[1:]
	if len(c.Else) > 0 {
		if len(rest) > 0 {
			return nil
		}
		rest = c.Else
	}
	a, b := chain(c.Then, out), chain(rest, out)
	if a == nil || b == nil || a.Local != b.Local {
		return nil
	}
	return &ir.Set{Local: a.Local, X: &ir.Cond{Test: c.Test, Then: a.X, Else: b.X}}
}

// shifts computes without a jump what brings a number back into a range by moving
// it a fixed way, as games on a torus do all the time:
//
//	(x > h ? x - k : (x < l ? x + k : x))   is   x - ((x > h) - (x < l)) * k
//
// Which way it goes is mostly chance, and a machine that guesses wrong loses more
// than this takes. The result is the same to the bit: x - 0 is x for every x, as -0
// stays -0, x - -k is x + k, and a NaN is neither above nor below anything.
func shifts(body []ir.Stmt) []ir.Stmt {
	// The whole of a choice is looked at before its parts, which are choices, too.
	found := map[ir.Expr]ir.Expr{}
	part := map[ir.Expr]bool{}
	ir.Each(body, nil, func(x ir.Expr) {
		c, ok := x.(*ir.Cond)
		if !ok || part[c] {
			return
		}
		if y := shift(c); y != nil {
			found[c] = y
			part[c.Else] = true
		}
	})
	if len(found) == 0 {
		return body
	}
	r := &ir.Rewriter{Expr: func(x ir.Expr) ir.Expr {
		if y := found[x]; y != nil {
			return y
		}
		return x
	}}
	return r.Body(body)
}

// shift is shifts for one expression; nil if it is none.
func shift(c *ir.Cond) ir.Expr {
	first, ok := sideOf(c.Test)
	if !ok {
		return nil
	}
	k, away, ok := moved(c.Then, first.x)
	if !ok {
		return nil
	}
	way := c.Test
	if !away {
		way = ir.Do(ir.SubI32, ir.Int(0), way)
	}
	rest := c.Else
	if inner, ok := rest.(*ir.Cond); ok {
		second, ok := sideOf(inner.Test)
		if !ok || second.x != first.x || !apart(first, second) {
			return nil
		}
		k2, away2, ok := moved(inner.Then, first.x)
		if !ok || k2 != k || away2 == away {
			return nil
		}
		if way = ir.Do(ir.SubI32, c.Test, inner.Test); !away {
			way = ir.Do(ir.SubI32, inner.Test, c.Test)
		}
		rest = inner.Else
	}
	if g, ok := rest.(*ir.Get); !ok || g.Local != first.x {
		return nil
	}
	return ir.Do(ir.SubF64, rest, ir.Do(ir.MulF64, ir.Do(ir.FromI32, way), ir.Num(k)))
}

// side is that a local is above a number, or below.
type side struct {
	x      *ir.Local
	above  bool
	strict bool // the number itself is not meant
	bound  float64
}

func sideOf(test ir.Expr) (s side, ok bool) {
	a, ok := test.(*ir.Apply)
	if !ok {
		return s, false
	}
	switch a.Op {
	case ir.GtF64:
		s = side{above: true, strict: true}
	case ir.GeF64:
		s = side{above: true}
	case ir.LtF64:
		s = side{strict: true}
	case ir.LeF64:
	default:
		return s, false
	}
	g, ok := a.X.(*ir.Get)
	if !ok {
		return s, false
	}
	s.x = g.Local
	s.bound, ok = number(a.Y)
	return s, ok
}

// apart reports whether no number is on both sides.
func apart(s, t side) bool {
	if t.above {
		s, t = t, s
	}
	return s.above && !t.above && (s.bound > t.bound || s.bound == t.bound && (s.strict || t.strict))
}

// moved tells by how much an expression is less than a local, or more.
func moved(x ir.Expr, l *ir.Local) (k float64, less, ok bool) {
	a, ok := x.(*ir.Apply)
	if !ok || a.Op != ir.AddF64 && a.Op != ir.SubF64 {
		return 0, false, false
	}
	g, ok := a.X.(*ir.Get)
	if !ok || g.Local != l {
		return 0, false, false
	}
	k, ok = number(a.Y)
	return k, a.Op == ir.SubF64, ok && !math.Signbit(k) && !math.IsInf(k, 0) && !math.IsNaN(k)
}
