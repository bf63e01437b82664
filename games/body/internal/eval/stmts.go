package eval

import "gamehoster/games/body/internal/tree"

// Jumps out of a list of statements: a target to break or to continue at, or the end of
// the function.
type jump struct {
	to   *tree.Target
	next bool // continue
}

// returned is the jump of a return.
var returned = &jump{}

// stmts runs statements, and gives the jump that they were left by.
func (f *frame) stmts(list []tree.Stmt) *jump {
	for _, s := range list {
		if j := f.stmt(s); j != nil {
			return j
		}
	}
	return nil
}

func (f *frame) stmt(s tree.Stmt) *jump {
	f.step()
	switch s := s.(type) {
	case *tree.Decl:
		f.vars[s.Var] = f.expr(s.X)
	case *tree.Eval:
		f.expr(s.X)
	case *tree.Block:
		return past(f.stmts(s.Body), s.Target)
	case *tree.If:
		if f.expr(s.Test).true() {
			return f.stmts(s.Then)
		}
		return f.stmts(s.Else)
	case *tree.Loop:
		return f.loop(s)
	case *tree.Switch:
		return f.choose(s)
	case *tree.Break:
		return &jump{to: s.Target}
	case *tree.Continue:
		return &jump{to: s.Target, next: true}
	case *tree.Return:
		if s.X != nil {
			f.out = f.expr(s.X)
			f.more[f.fn] = f.all(s.More)
		}
		return returned
	default:
		panic(unknown{})
	}
	return nil
}

// past is a jump that may end behind a statement.
func past(j *jump, target *tree.Target) *jump {
	if j != nil && j != returned && j.to == target && !j.next {
		return nil
	}
	return j
}

func (f *frame) loop(s *tree.Loop) *jump {
	for first := true; ; first = false {
		f.step()
		if s.Test != nil && !(first && s.Late) && !f.expr(s.Test).true() {
			return nil
		}
		j := f.stmts(s.Body)
		if j != nil && !(j.next && j.to == s.Target) {
			return past(j, s.Target)
		}
		if s.Step != nil {
			f.expr(s.Step)
		}
	}
}

func (f *frame) choose(s *tree.Switch) *jump {
	x := f.expr(s.X)
	from := s.Default
	for i, c := range s.Cases {
		if c.Test != nil && apply(tree.Eq, x, f.expr(c.Test), f).true() {
			from = i
			break
		}
	}
	if from < 0 {
		return nil
	}
	for _, c := range s.Cases[from:] {
		if j := f.stmts(c.Body); j != nil {
			return past(j, s.Target)
		}
	}
	return nil
}
