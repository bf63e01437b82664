package tree

// EachExpr calls visit for every expression of a body, outer ones first.
func EachExpr(body []Stmt, visit func(x Expr)) {
	w := walk{visit}
	w.stmts(body)
}

type walk struct{ visit func(x Expr) }

func (w walk) stmts(list []Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *Decl:
			w.exprs(s.X)
		case *Eval:
			w.exprs(s.X)
		case *Block:
			w.stmts(s.Body)
		case *If:
			w.exprs(s.Test)
			w.stmts(s.Then)
			w.stmts(s.Else)
		case *Loop:
			w.exprs(s.Test)
			w.stmts(s.Body)
			w.exprs(s.Step)
		case *ForOf:
			w.stmts(s.Body)
		case *Switch:
			w.exprs(s.X)
			for _, c := range s.Cases {
				w.exprs(c.Test)
				w.stmts(c.Body)
			}
		case *Return:
			w.exprs(s.X)
			w.exprs(s.More...)
		}
	}
}

// exprs goes into expressions; those that are nil are absent.
func (w walk) exprs(list ...Expr) {
	for _, x := range list {
		if x == nil {
			continue
		}
		w.visit(x)
		w.exprs(parts(x)...)
	}
}

// parts are the expressions that an expression is made of, in their order.
func parts(x Expr) []Expr {
	switch x := x.(type) {
	case *Field:
		return []Expr{x.Obj}
	case *CommandField:
		return []Expr{x.Obj}
	case *Property:
		return []Expr{x.Obj}
	case *Unary:
		return []Expr{x.X}
	case *Binary:
		return []Expr{x.X, x.Y}
	case *Logical:
		return []Expr{x.X, x.Y}
	case *Nullish:
		return []Expr{x.X, x.Y}
	case *Optional:
		return []Expr{x.Base, x.Rest}
	case *Cond:
		return []Expr{x.Test, x.Then, x.Else}
	case *Assign:
		return []Expr{x.Target, x.X}
	case *Comma:
		return x.List
	case *Call:
		return x.Args
	case *Math:
		return x.Args
	case *Spawn:
		return []Expr{x.Owner}
	case *Find:
		return []Expr{x.ID}
	case *Remove:
		return []Expr{x.Obj}
	case *Index:
		return x.Path
	case *Named:
		return []Expr{x.Obj, x.Name}
	case *StrLen:
		return []Expr{x.X}
	case *Log:
		list := make([]Expr, len(x.Parts))
		for i, p := range x.Parts {
			list[i] = p.X
		}
		return list
	case *NonNull:
		return []Expr{x.X}
	case *Intrinsic:
		return x.Args
	}
	return nil
}
