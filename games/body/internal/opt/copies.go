package opt

import "gamehoster/games/body/internal/ir"

// copies replaces locals that are only another name for a constant or for a
// local that does not change by what they stand for, and drops locals that
// nothing reads.
//
// A local that is written at one place has, wherever it is read, the value of the
// last time that place was passed: its scope is inside that of whatever was in
// scope there, so what it was copied from cannot have been written since.
func copies(f *ir.Func) {
	c := &copier{sets: map[*ir.Local]int{}, value: map[*ir.Local]ir.Expr{}, reads: map[*ir.Local]int{}}
	for _, p := range f.Params {
		c.sets[p]++ // by the caller, with what nobody knows
	}
	ir.Each(f.Body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok {
			c.sets[s.Local]++
			c.value[s.Local] = s.X
		}
	}, nil)
	replace := &ir.Rewriter{Expr: c.replaced}
	f.Body = replace.Body(f.Body)
	drop := &ir.Rewriter{}
	drop.Stmt = func(s ir.Stmt) []ir.Stmt {
		if set, ok := s.(*ir.Set); ok && c.reads[set.Local] == 0 {
			if pure(set.X) {
				return nil
			}
			s = &ir.Eval{X: set.X}
		}
		return drop.One(s)
	}
	f.Body = drop.Body(f.Body)
}

type copier struct {
	sets  map[*ir.Local]int     // how often
	value map[*ir.Local]ir.Expr // what was set last
	reads map[*ir.Local]int     // that are left
}

// replaced gives what a read of a local stands for.
func (c *copier) replaced(x ir.Expr) ir.Expr {
	g, ok := x.(*ir.Get)
	if !ok {
		return x
	}
	for range len(c.value) { // which ends, even if locals are set to one another only
		if c.sets[g.Local] != 1 {
			break
		}
		switch y := c.value[g.Local].(type) {
		case *ir.Const, *ir.DataAddr:
			return y
		case *ir.Get:
			if c.sets[y.Local] == 1 {
				g = y
				continue
			}
		}
		break
	}
	c.reads[g.Local]++
	return g
}
