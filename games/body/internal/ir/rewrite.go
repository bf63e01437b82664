package ir

// Rewriter copies a body, changing it on the way. Its functions see nodes that
// were copied already, children first, and may give them back as they are; either
// may be nil. Locals and labels are looked up in the maps and kept where they are
// not found, so that a copy can have its own.
type Rewriter struct {
	Expr   func(Expr) Expr
	Stmt   func(Stmt) []Stmt
	Locals map[*Local]*Local
	Labels map[*Label]*Label
}

// Body gives the changed copy of a list of statements.
func (r *Rewriter) Body(list []Stmt) []Stmt {
	var out []Stmt
	for _, s := range list {
		s = r.copyStmt(s)
		if r.Stmt == nil {
			out = append(out, s)
		} else {
			out = append(out, r.Stmt(s)...)
		}
	}
	return out
}

// Value gives the changed copy of an expression; nil stays nil.
func (r *Rewriter) Value(x Expr) Expr {
	if x == nil {
		return nil
	}
	x = r.copyExpr(x)
	if r.Expr != nil {
		x = r.Expr(x)
	}
	return x
}

func (r *Rewriter) local(l *Local) *Local {
	if to := r.Locals[l]; to != nil {
		return to
	}
	return l
}

func (r *Rewriter) label(l *Label) *Label {
	if to := r.Labels[l]; to != nil {
		return to
	}
	return l
}

func (r *Rewriter) copyStmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Set:
		return &Set{r.local(s.Local), r.Value(s.X)}
	case *SetGlobal:
		return &SetGlobal{s.Global, r.Value(s.X)}
	case *Store:
		return &Store{r.Value(s.Addr), s.Off, s.Mem, r.Value(s.X), s.Sent}
	case *Copy:
		return &Copy{r.Value(s.Dst), r.Value(s.Src), r.Value(s.N), s.Sent}
	case *Fill:
		return &Fill{r.Value(s.Dst), r.Value(s.N)}
	case *Eval:
		return &Eval{r.Value(s.X)}
	case *If:
		return &If{r.Value(s.Test), r.Body(s.Then), r.Body(s.Else)}
	case *Block:
		return &Block{r.label(s.Label), r.Body(s.Body)}
	case *Loop:
		return &Loop{r.label(s.Label), r.Body(s.Body)}
	case *Br:
		return &Br{r.label(s.Label)}
	case *Return:
		return &Return{r.Value(s.X)}
	}
	return s // Fuel and Trap have nothing to change
}

func (r *Rewriter) copyExpr(x Expr) Expr {
	switch x := x.(type) {
	case *Get:
		return &Get{r.local(x.Local)}
	case *Load:
		return &Load{r.Value(x.Addr), x.Off, x.Mem}
	case *Apply:
		return &Apply{x.Op, r.Value(x.X), r.Value(x.Y)}
	case *Cond:
		return &Cond{r.Value(x.Test), r.Value(x.Then), r.Value(x.Else)}
	case *Call:
		args := make([]Expr, len(x.Args))
		for i, a := range x.Args {
			args[i] = r.Value(a)
		}
		return &Call{x.Fn, args}
	case *Seq:
		return &Seq{r.Body(x.Body), r.Value(x.Value)}
	}
	return x // the others have no parts
}
