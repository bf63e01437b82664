package ir

// Rewriter changes a body without touching the original: what stays as it is is
// shared with it, what changes is copied on the way up. Its functions see nodes
// whose parts were rewritten already, and give them back as they are or something
// else; either may be nil. Locals and labels are looked up in the maps and kept
// where they are not found, so that a copy can have its own.
//
// As nodes and lists are shared, whoever changes one in place may do so only in
// ways that are right for every owner, and must not append to a list.
type Rewriter struct {
	Expr   func(Expr) Expr
	Stmt   func(Stmt) []Stmt
	Locals map[*Local]*Local
	Labels map[*Label]*Label

	one [1]Stmt
}

// One is the list of one statement, for Stmt to give back. It is good until the next
// call, as the list is read at once.
func (r *Rewriter) One(s Stmt) []Stmt {
	r.one[0] = s
	return r.one[:]
}

// Body gives the changed list of statements.
func (r *Rewriter) Body(list []Stmt) []Stmt {
	var out []Stmt
	changed := false
	for i, s := range list {
		t := r.stmt(s)
		if r.Stmt == nil {
			if t != s && !changed {
				changed = true
				out = append(make([]Stmt, 0, len(list)), list[:i]...)
			}
			if changed {
				out = append(out, t)
			}
			continue
		}
		ts := r.Stmt(t)
		if !changed && (len(ts) != 1 || ts[0] != s) {
			changed = true
			out = append(make([]Stmt, 0, len(list)+len(ts)), list[:i]...)
		}
		if changed {
			out = append(out, ts...)
		}
	}
	if !changed {
		return list
	}
	return out
}

// Value gives the changed expression; nil stays nil.
func (r *Rewriter) Value(x Expr) Expr {
	if x == nil {
		return nil
	}
	x = r.expr(x)
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

// Same reports whether two lists are the same list, so that nothing was changed.
func Same(a, b []Stmt) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (r *Rewriter) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Set:
		if l, x := r.local(s.Local), r.Value(s.X); l != s.Local || x != s.X {
			return &Set{l, x}
		}
	case *SetGlobal:
		if x := r.Value(s.X); x != s.X {
			return &SetGlobal{s.Global, x}
		}
	case *Store:
		if addr, x := r.Value(s.Addr), r.Value(s.X); addr != s.Addr || x != s.X {
			return &Store{addr, s.Off, s.Mem, x, s.Sent}
		}
	case *Copy:
		if dst, src, n := r.Value(s.Dst), r.Value(s.Src), r.Value(s.N); dst != s.Dst || src != s.Src || n != s.N {
			return &Copy{dst, src, n, s.Sent}
		}
	case *Fill:
		if dst, n := r.Value(s.Dst), r.Value(s.N); dst != s.Dst || n != s.N {
			return &Fill{dst, n}
		}
	case *Eval:
		if x := r.Value(s.X); x != s.X {
			return &Eval{x}
		}
	case *If:
		if test, then, other := r.Value(s.Test), r.Body(s.Then), r.Body(s.Else); test != s.Test || !Same(then, s.Then) || !Same(other, s.Else) {
			return &If{test, then, other}
		}
	case *Block:
		if l, body := r.label(s.Label), r.Body(s.Body); l != s.Label || !Same(body, s.Body) {
			return &Block{l, body}
		}
	case *Loop:
		if l, body := r.label(s.Label), r.Body(s.Body); l != s.Label || !Same(body, s.Body) {
			return &Loop{l, body}
		}
	case *Br:
		if l := r.label(s.Label); l != s.Label {
			return &Br{l}
		}
	case *Return:
		if x := r.Value(s.X); x != s.X {
			return &Return{x}
		}
	}
	return s // Fuel and Trap have nothing to change
}

func (r *Rewriter) expr(x Expr) Expr {
	switch x := x.(type) {
	case *Get:
		if l := r.local(x.Local); l != x.Local {
			return &Get{l}
		}
	case *Load:
		if addr := r.Value(x.Addr); addr != x.Addr {
			return &Load{addr, x.Off, x.Mem}
		}
	case *Apply:
		if a, b := r.Value(x.X), r.Value(x.Y); a != x.X || b != x.Y {
			return &Apply{x.Op, a, b}
		}
	case *Cond:
		if test, then, other := r.Value(x.Test), r.Value(x.Then), r.Value(x.Else); test != x.Test || then != x.Then || other != x.Else {
			return &Cond{test, then, other}
		}
	case *Call:
		var args []Expr
		for i, a := range x.Args {
			b := r.Value(a)
			if b != a && args == nil {
				args = append(make([]Expr, 0, len(x.Args)), x.Args[:i]...)
			}
			if args != nil {
				args = append(args, b)
			}
		}
		if args != nil {
			return &Call{x.Fn, args}
		}
	case *Seq:
		if body, v := r.Body(x.Body), r.Value(x.Value); !Same(body, x.Body) || v != x.Value {
			return &Seq{body, v}
		}
	}
	return x // the others have no parts
}
