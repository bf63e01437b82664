package opt

import "gamehoster/games/body/internal/ir"

// effect is what code may write to memory.
type effect struct {
	all    bool // anything
	writes map[ir.Offset]bool
}

// effects are those of functions, found when they are asked for.
type effects struct {
	funcs map[*ir.Func]effect
}

// call is what a call of a function may write.
func (e *effects) call(f *ir.Func) effect {
	if found, ok := e.funcs[f]; ok {
		return found
	}
	e.funcs[f] = effect{all: true} // there is no recursion
	found := e.of(f.Body)
	if f.Fresh {
		// A new row has bytes that nothing knows yet.
		found = effect{writes: map[ir.Offset]bool{{}: true}}
	}
	e.funcs[f] = found
	return found
}

// of is what a list of statements may write.
func (e *effects) of(body []ir.Stmt) effect {
	sum := effect{writes: map[ir.Offset]bool{}}
	ir.Each(body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Store:
			sum.writes[s.Off] = true
		case *ir.Copy, *ir.Fill:
			sum.all = true
		}
	}, func(x ir.Expr) {
		if c, ok := x.(*ir.Call); ok {
			of := e.call(c.Fn)
			sum.all = sum.all || of.all
			for off := range of.writes {
				sum.writes[off] = true
			}
		}
	})
	return sum
}
