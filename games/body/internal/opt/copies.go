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
	sets := map[*ir.Local]int{}
	value := map[*ir.Local]ir.Expr{}
	ir.Each(f.Body, func(s ir.Stmt) {
		if s, ok := s.(*ir.Set); ok {
			sets[s.Local]++
			value[s.Local] = s.X
		}
	}, nil)
	param := map[*ir.Local]bool{}
	for _, p := range f.Params {
		param[p] = true
	}
	fixed := func(l *ir.Local) bool {
		if param[l] {
			return sets[l] == 0
		}
		return sets[l] == 1
	}
	// stands gives what a local stands for; itself if it is no copy.
	stands := func(l *ir.Local) ir.Expr {
		for !param[l] && sets[l] == 1 {
			switch x := value[l].(type) {
			case *ir.Const, *ir.DataAddr:
				return x
			case *ir.Get:
				if fixed(x.Local) {
					l = x.Local
					continue
				}
			}
			break
		}
		return ir.Read(l)
	}
	reads := map[*ir.Local]int{}
	r := &ir.Rewriter{}
	r.Expr = func(x ir.Expr) ir.Expr {
		g, ok := x.(*ir.Get)
		if !ok {
			return x
		}
		x = stands(g.Local)
		if g, ok := x.(*ir.Get); ok {
			reads[g.Local]++
		}
		return x
	}
	f.Body = r.Body(f.Body)
	drop := &ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if s, ok := s.(*ir.Set); ok && reads[s.Local] == 0 {
			if pure(s.X) {
				return nil
			}
			return []ir.Stmt{&ir.Eval{X: s.X}}
		}
		return []ir.Stmt{s}
	}}
	f.Body = drop.Body(f.Body)
}
