package ir

// Each calls visit for every statement and expression of a body, outer ones
// first. Either function may be nil.
func Each(body []Stmt, stmt func(Stmt), expr func(Expr)) {
	w := walk{stmt, expr}
	w.stmts(body)
}

// EachIn is Each for one expression.
func EachIn(x Expr, stmt func(Stmt), expr func(Expr)) {
	w := walk{stmt, expr}
	w.expr(x)
}

type walk struct {
	onStmt func(Stmt)
	onExpr func(Expr)
}

func (w walk) stmts(list []Stmt) {
	for _, s := range list {
		if w.onStmt != nil {
			w.onStmt(s)
		}
		switch s := s.(type) {
		case *Set:
			w.expr(s.X)
		case *SetGlobal:
			w.expr(s.X)
		case *Store:
			w.expr(s.Addr)
			w.expr(s.X)
		case *Copy:
			w.expr(s.Dst)
			w.expr(s.Src)
			w.expr(s.N)
		case *Fill:
			w.expr(s.Dst)
			w.expr(s.N)
		case *Eval:
			w.expr(s.X)
		case *If:
			w.expr(s.Test)
			w.stmts(s.Then)
			w.stmts(s.Else)
		case *Block:
			w.stmts(s.Body)
		case *Loop:
			w.stmts(s.Body)
		case *Return:
			if s.X != nil {
				w.expr(s.X)
			}
		}
	}
}

func (w walk) expr(x Expr) {
	if w.onExpr != nil {
		w.onExpr(x)
	}
	switch x := x.(type) {
	case *Load:
		w.expr(x.Addr)
	case *Apply:
		w.expr(x.X)
		if x.Y != nil {
			w.expr(x.Y)
		}
	case *Cond:
		w.expr(x.Test)
		w.expr(x.Then)
		w.expr(x.Else)
	case *Call:
		for _, a := range x.Args {
			w.expr(a)
		}
	case *Seq:
		w.stmts(x.Body)
		w.expr(x.Value)
	}
}

// Size is the number of a body's nodes.
func Size(body []Stmt) (n int) {
	Each(body, func(Stmt) { n++ }, func(Expr) { n++ })
	return n
}

// Callees are the functions that a body calls, in order, each once.
func Callees(body []Stmt) (list []*Func) {
	seen := map[*Func]bool{}
	Each(body, nil, func(x Expr) {
		if c, ok := x.(*Call); ok && !seen[c.Fn] {
			seen[c.Fn] = true
			list = append(list, c.Fn)
		}
	})
	return list
}

// Reach is the functions that the roots lead to, the roots first.
func Reach(roots ...*Func) []*Func {
	return ReachBy(func(f *Func) []*Func { return Callees(f.Body) }, roots...)
}

// ReachBy is Reach by other callees than those of the whole bodies.
func ReachBy(callees func(f *Func) []*Func, roots ...*Func) []*Func {
	seen := map[*Func]bool{}
	var list []*Func
	for _, f := range roots {
		if !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	for i := 0; i < len(list); i++ {
		for _, c := range callees(list[i]) {
			if !seen[c] {
				seen[c] = true
				list = append(list, c)
			}
		}
	}
	return list
}

// CalleesFirst is the functions that the roots lead to, each behind those that it calls.
func CalleesFirst(roots ...*Func) (order []*Func) {
	seen := map[*Func]bool{}
	var visit func(f *Func)
	visit = func(f *Func) {
		if seen[f] {
			return
		}
		seen[f] = true
		for _, c := range Callees(f.Body) {
			visit(c)
		}
		order = append(order, f)
	}
	for _, f := range roots {
		visit(f)
	}
	return order
}
