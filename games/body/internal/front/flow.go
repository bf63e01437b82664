package front

import (
	"maps"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"

	"gamehoster/games/body/internal/tree"
)

// flow is what is known where the walk stands: which variables are not null
// though their type allows it, which have no value yet, and whether the place can be
// reached at all.
type flow struct {
	nonNull map[*tree.Var]bool
	unset   map[*tree.Var]bool
	dead    bool
}

func (f flow) clone() flow { return flow{maps.Clone(f.nonNull), maps.Clone(f.unset), f.dead} }

// set notes that v received a value of type t.
func (f *flow) set(v *tree.Var, t tree.Type) {
	delete(f.unset, v)
	if t.Kind == tree.Object && !t.Null {
		f.assume([]*tree.Var{v})
		return
	}
	delete(f.nonNull, v)
}

// clear notes that v was declared without a value.
func (f *flow) clear(v *tree.Var) {
	if f.unset == nil {
		f.unset = map[*tree.Var]bool{}
	}
	f.unset[v] = true
	delete(f.nonNull, v)
}

// assume notes that the variables are not null.
func (f *flow) assume(vars []*tree.Var) {
	for _, v := range vars {
		if f.nonNull == nil {
			f.nonNull = map[*tree.Var]bool{}
		}
		f.nonNull[v] = true
	}
}

// merge is what is known where two paths meet.
func merge(a, b flow) flow {
	if a.dead {
		return b
	}
	if b.dead {
		return a
	}
	both := flow{nonNull: map[*tree.Var]bool{}, unset: maps.Clone(a.unset)}
	for v := range a.nonNull {
		if b.nonNull[v] {
			both.nonNull[v] = true
		}
	}
	for v := range b.unset {
		if both.unset == nil {
			both.unset = map[*tree.Var]bool{}
		}
		both.unset[v] = true
	}
	return both
}

// facts are the variables that are not null if a condition holds, and if not.
type facts struct{ yes, no []*tree.Var }

// cond walks a condition, of any type that has a truth.
func (w *walker) cond(e ast.Expression) (tree.Expr, facts) {
	switch e := e.(type) {
	case *ast.UnaryExpression:
		if e.Operator == token.NOT {
			x, f := w.cond(e.Operand)
			return &tree.Unary{Node: node(e, boolean), Op: tree.Not, X: x}, facts{f.no, f.yes}
		}
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR:
			x, fx := w.cond(e.Left)
			before := w.flow.clone()
			op := tree.And
			if e.Operator == token.LOGICAL_AND {
				w.flow.assume(fx.yes)
			} else {
				op = tree.Or
				w.flow.assume(fx.no)
			}
			y, fy := w.cond(e.Right)
			w.flow = merge(before, w.flow)
			n := &tree.Logical{Op: op, X: x, Y: y}
			t := x.Type()
			if op == tree.Or && t.Kind == tree.Object && y.Type().Kind == tree.Object {
				t.Null = false // a null on the left gives the right side
			}
			t, ok := join(t, y.Type())
			if !ok {
				t, n.Mixed = boolean, true
			}
			n.Node = node(e, t)
			if op == tree.And {
				return n, facts{yes: append(fx.yes[:len(fx.yes):len(fx.yes)], fy.yes...)}
			}
			return n, facts{no: append(fx.no[:len(fx.no):len(fx.no)], fy.no...)}
		case token.STRICT_EQUAL, token.STRICT_NOT_EQUAL:
			x := w.expr(e)
			if b, ok := x.(*tree.Binary); ok {
				v := nullTest(b)
				if v == nil {
					return x, facts{}
				}
				if b.Op == tree.Eq {
					return x, facts{no: []*tree.Var{v}}
				}
				return x, facts{yes: []*tree.Var{v}}
			}
			return x, facts{}
		}
	}
	x := w.value(e)
	var f facts
	if v, ok := x.(*tree.VarRef); ok && v.T.Kind == tree.Object {
		f.yes = []*tree.Var{v.Var}
	}
	if o, ok := x.(*tree.Optional); ok {
		if v, ok := o.Base.(*tree.VarRef); ok { // a?.b is true only where a is there
			f.yes = []*tree.Var{v.Var}
		}
	}
	return x, f
}

// nullTest is the variable that a comparison tests for null, if it does that.
func nullTest(b *tree.Binary) *tree.Var {
	x, y := b.X, b.Y
	if x.Type().Kind == tree.Null {
		x, y = y, x
	}
	if v, ok := x.(*tree.VarRef); ok && y.Type().Kind == tree.Null {
		return v.Var
	}
	return nil
}

// branch walks one arm under what is known in it and gives what is known at
// its end.
func (w *walker) branch(start flow, known []*tree.Var, arm func()) flow {
	w.flow = start.clone()
	w.flow.assume(known)
	arm()
	return w.flow
}

// forget drops what is known of variables that the parts of a loop assign, as
// the loop's start is reached again after them.
func (w *walker) forget(parts ...ast.Node) {
	for _, p := range parts {
		assigned(p, func(name string, member bool) {
			for s := w.scope; s != nil; s = s.up {
				switch b := s.vars[name]; {
				case b == nil:
				case b.v != nil && !member:
					delete(w.flow.nonNull, b.v)
				case b.thing != nil:
					for _, x := range b.thing.parts() {
						if v, ok := x.(*tree.VarRef); ok {
							delete(w.flow.nonNull, v.Var)
						}
					}
				}
			}
		})
	}
}
