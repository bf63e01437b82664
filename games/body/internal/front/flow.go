package front

import (
	"maps"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"

	"gamehoster/games/body/internal/tree"
)

// flow is what is known where the walk stands: what is not null though its type allows
// it, which variables have no value yet, and whether the place can be reached at all.
type flow struct {
	nonNull map[place]bool
	unset   map[*tree.Var]bool
	dead    bool
}

// maxFacts is how many places are known not to be null, and how many variables may have
// no value yet, at one place of a body.
const maxFacts = 200

// place is where an object can be: a variable or, with a path as in .owner.mate, a field
// of what is in one; without a variable a field of the instance. What is known of a field
// spares the author a warning and nothing else, as it is not followed through calls.
type place struct {
	v    *tree.Var
	path string
}

// placeOf is where an expression reads an object; false for one that is nowhere else.
func placeOf(x tree.Expr) (place, bool) {
	var of tree.Expr
	name := ""
	switch x := x.(type) {
	case *tree.VarRef:
		return place{v: x.Var}, true
	case *tree.NonNull:
		return placeOf(x.X)
	case *tree.Field:
		of, name = x.Obj, "."+x.Field.Name
	case *tree.Property:
		if x.What != tree.Owner {
			return place{}, false
		}
		of, name = x.Obj, ".owner"
	default:
		return place{}, false
	}
	if of == nil {
		return place{path: name}, true
	}
	p, ok := placeOf(of)
	p.path += name
	return p, ok
}

// objectAt is placeOf what may be null.
func objectAt(x tree.Expr) []place {
	if k := x.Type().Kind; k != tree.Object && k != tree.Null {
		return nil
	}
	if p, ok := placeOf(x); ok {
		return []place{p}
	}
	return nil
}

func (f flow) clone() flow { return flow{maps.Clone(f.nonNull), maps.Clone(f.unset), f.dead} }

// set notes that v received a value of type t.
func (f *flow) set(v *tree.Var, t tree.Type) {
	delete(f.unset, v)
	f.drop(func(p place) bool { return p.v == v })
	if v.Type.Null && t.Kind == tree.Object && !t.Null { // of others the type tells it
		f.assume([]place{{v: v}})
	}
}

// drop forgets of places that they are not null.
func (f *flow) drop(which func(p place) bool) {
	maps.DeleteFunc(f.nonNull, func(p place, _ bool) bool { return which(p) })
}

// written notes that a field of some object was written.
func (f *flow) written(name string) {
	f.drop(func(p place) bool { return strings.Contains(p.path+".", "."+name+".") })
}

// called notes that a helper ran, or an object was removed: any field may be another.
func (f *flow) called() { f.drop(func(p place) bool { return p.path != "" }) }

// clear notes that v was declared without a value.
func (f *flow) clear(v *tree.Var) {
	if f.unset == nil {
		f.unset = map[*tree.Var]bool{}
	}
	f.unset[v] = true
	f.drop(func(p place) bool { return p.v == v })
}

// assume notes that what is at the places is not null. What is known is copied at every
// branch, so it is bounded; to know less costs a check, and a warning at most.
func (f *flow) assume(places []place) {
	for _, p := range places {
		if f.nonNull == nil {
			f.nonNull = map[place]bool{}
		}
		if len(f.nonNull) < maxFacts {
			f.nonNull[p] = true
		}
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
	both := flow{nonNull: map[place]bool{}, unset: maps.Clone(a.unset)}
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

// facts are the places that are not null if a condition holds, and if not.
type facts struct{ yes, no []place }

// behind is what is still known when an expression was evaluated after the places that
// the facts are about were read.
func (f facts) behind(w *walker, e ast.Expression) facts {
	if len(f.yes)+len(f.no) == 0 {
		return f
	}
	gone := map[*tree.Var]bool{}
	assigned(e, func(name string, _ bool) {
		for _, v := range w.variables(name) {
			gone[v] = true
		}
	})
	keep := func(list []place) (kept []place) {
		for _, p := range list {
			if !gone[p.v] {
				kept = append(kept, p)
			}
		}
		return kept
	}
	return facts{keep(f.yes), keep(f.no)}
}

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
			if isLiteral(y) && op == tree.Or && x.Type().Kind == tree.Bool && y.Type().Kind != tree.Bool {
				w.warnf(e.Right.Idx0(), "this stands for true, whatever is in front of it: write both comparisons, as in x === 1 || x === 2")
			}
			w.flow = merge(before, w.flow)
			fx = fx.behind(w, e.Right)
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
				return x, told(b).behind(w, e)
			}
			return x, facts{}
		case token.LESS, token.LESS_OR_EQUAL, token.GREATER, token.GREATER_OR_EQUAL:
			x := w.expr(e)
			if b, ok := x.(*tree.Binary); ok {
				return x, facts{yes: append(absent(b.X, b.Y), absent(b.Y, b.X)...)}.behind(w, e)
			}
			return x, facts{}
		}
	}
	x := w.value(e)
	if a, ok := x.(*tree.Assign); ok && a.Op == tree.NoOp && isLiteral(a.X) {
		w.warnf(e.Idx0(), "this assigns, and does not compare: a comparison is written with ===")
	}
	f := facts{yes: objectAt(x)}
	if o, ok := x.(*tree.Optional); ok { // a?.b is true only where a is there
		f = facts{yes: objectAt(o.Base)}.behind(w, e)
	}
	return x, f
}

// isLiteral reports whether a value is written as it is.
func isLiteral(x tree.Expr) bool {
	switch x.(type) {
	case *tree.NumberLit, *tree.BoolLit, *tree.StrLit:
		return true
	}
	return false
}

// told is what === and !== tell: of a place that is compared with null, and of a in
// a?.b === c, which only holds where a is there.
func told(b *tree.Binary) facts {
	x, y := b.X, b.Y
	if x.Type().Kind == tree.Null {
		x, y = y, x
	}
	var f facts
	if y.Type().Kind == tree.Null {
		f.no = objectAt(x)
	} else {
		f.yes = append(absent(x, y), absent(y, x)...)
	}
	if b.Op == tree.Ne {
		f.yes, f.no = f.no, f.yes
	}
	return f
}

// absent is the base of x where x is a?.b, or else something that is not equal to
// other, or in any order with it.
func absent(x, other tree.Expr) []place {
	n, ok := x.(*tree.Nullish)
	if !ok {
		return nil
	}
	o, ok := n.X.(*tree.Optional)
	if !ok {
		return nil
	}
	switch y := n.Y.(type) {
	case *tree.NumberLit:
		ok = y.Value != y.Value
	case *tree.NullLit:
		ok = other.Type().Kind == tree.Object && !other.Type().Null
	default:
		ok = false
	}
	if !ok {
		return nil
	}
	return objectAt(o.Base)
}

// branch walks one arm under what is known in it and gives what is known at
// its end.
func (w *walker) branch(start flow, known []place, arm func()) flow {
	w.flow = start.clone()
	w.flow.assume(known)
	arm()
	return w.flow
}

// forget drops what is known of variables that the parts of a loop assign, and of
// fields, as the loop's start is reached again after them. A member that is assigned may
// be one of any object that the body made, under a name which it has in the loop only.
func (w *walker) forget(parts ...ast.Node) {
	w.flow.called()
	gone := map[*tree.Var]bool{}
	members := false
	for _, part := range parts {
		assigned(part, func(name string, member bool) {
			members = members || member
			for _, v := range w.variables(name) {
				if !member || v.Name != name {
					gone[v] = true
				}
			}
		})
	}
	w.flow.drop(func(p place) bool { return gone[p.v] || members && w.held[p.v] })
}

// variables are those that a name in one of the scopes around may stand for.
func (w *walker) variables(name string) (list []*tree.Var) {
	for s := w.scope; s != nil; s = s.up {
		switch b := s.vars[name]; {
		case b == nil:
		case b.v != nil:
			list = append(list, b.v)
		case b.thing != nil:
			for _, x := range b.thing.parts() {
				if v, ok := x.(*tree.VarRef); ok {
					list = append(list, v.Var)
				}
			}
		}
	}
	return list
}
