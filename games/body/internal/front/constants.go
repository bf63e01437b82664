package front

import (
	"slices"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
)

// constant is the value of a constant at a file's top level, or a part of it.
type constant struct {
	x    tree.Expr   // a number, bool or str; nil for a list or an object
	list []*constant // the elements of a list or the values of an object
	keys []string    // the names of an object's values; nil for a list

	at map[string]int // where each name is, of an object that was written
}

func (c *constant) key(name string) *constant {
	if i := c.index(name); i >= 0 {
		return c.list[i]
	}
	return nil
}

func (c *constant) index(name string) int {
	if c.at == nil {
		return slices.Index(c.keys, name)
	}
	if i, ok := c.at[name]; ok {
		return i
	}
	return -1
}

// topLevel gives the value of a constant, which is worked out where it is first
// used; nil if there is none that is sound. Its findings are the file's and no
// function's.
func (t *typer) topLevel(s *symbol, problem func(format string, args ...any)) *constant {
	if c, ok := t.constants[s]; ok {
		return c
	}
	if s.busy {
		problem("the constant \"%s\" is made of itself", s.name)
		return nil
	}
	s.busy = true
	in := &instance{fn: &tree.Func{Name: s.name}, callee: map[*instance]bool{}}
	in.report.files = t.files
	w := &walker{
		typer: t, symbol: &symbol{name: s.name, module: s.module, at: s.at}, in: in,
		vars: map[*ast.Identifier]*tree.Var{}, partVars: map[partOf]*tree.Var{}, held: map[*tree.Var]bool{}, missing: map[string]bool{}, broken: map[*tree.Var]bool{},
	}
	c := w.constant(s.value)
	t.loader.report.take(in, map[*instance]bool{})
	s.busy = false
	t.constants[s] = c
	return c
}

// take takes over the findings of an instance and of what it calls.
func (r *report) take(in *instance, done map[*instance]bool) {
	if done[in] {
		return
	}
	done[in] = true
	for _, d := range in.report.list {
		r.place(d.Severity, d.Pos, d.Source, "%s", d.Message)
	}
	for c := range in.callee {
		r.take(c, done)
	}
}

const notKnown = "a constant at the top level is what can be computed when the game is checked: without the game's state, and without chance"

// constant is the value that an expression stands for, which must be known now.
func (w *walker) constant(e ast.Expression) *constant {
	switch e := e.(type) {
	case *ast.ArrayLiteral:
		return w.constantList(e)
	case *ast.ObjectLiteral:
		return w.constantObject(e)
	}
	before := len(w.in.report.list)
	x := w.present(w.object(e))
	if x.Type().Kind == tree.Bad || w.in.report.list[before:].Failed() {
		return nil
	}
	if t, ok := x.(thing); ok {
		return w.constantThing(t, e.Idx0())
	}
	if y := w.literal(x); y != nil {
		return &constant{x: y}
	}
	if k := x.Type().Kind; k != tree.Number && k != tree.Bool && k != tree.Str {
		w.errorf(e.Idx0(), "a constant at the top level is a number, a bool, a str, or a list or an object of such")
		return nil
	}
	w.errorf(e.Idx0(), "%s", notKnown)
	return nil
}

// constantThing is the constant that a list or an object is made into, in the order in
// which its parts are evaluated.
func (w *walker) constantThing(t thing, at file.Idx) *constant {
	switch t := t.(type) {
	case *view:
		if len(t.path) == 0 {
			return t.all[0]
		}
	case *record:
		c := &constant{keys: t.keys}
		for _, x := range t.elems {
			var part *constant
			if in, ok := x.(thing); ok {
				part = w.constantThing(in, at)
			} else if y := w.literal(x); y != nil {
				part = &constant{x: y}
			} else {
				w.errorf(at, "%s", notKnown)
			}
			if part == nil {
				return nil
			}
			c.list = append(c.list, part)
		}
		return c
	}
	w.errorf(at, "a constant at the top level is a number, a bool, a str, or a list or an object of such")
	return nil
}

func (w *walker) constantList(e *ast.ArrayLiteral) *constant {
	c := &constant{}
	for _, el := range e.Value {
		switch el := el.(type) {
		case nil:
			w.errorf(e.LeftBracket, "a table has no holes")
			return nil
		case *ast.SpreadElement:
			of := w.constant(el.Expression)
			if of == nil {
				return nil
			}
			if of.x != nil || of.keys != nil {
				w.errorf(el.Expression.Idx0(), "only another list can be copied into a list")
				return nil
			}
			if !w.afford(len(of.list), el.Expression.Idx0()) {
				return nil
			}
			c.list = append(c.list, of.list...)
		default:
			part := w.constant(el)
			if part == nil {
				return nil
			}
			c.list = append(c.list, part)
		}
	}
	if len(c.list) == 0 {
		w.errorf(e.LeftBracket, "a table has at least one element, and keeps those that it has: what comes and goes is a collection of entities")
		return nil
	}
	return c
}

func (w *walker) constantObject(e *ast.ObjectLiteral) *constant {
	c := &constant{keys: []string{}, at: map[string]int{}}
	copied := map[string]bool{} // names that a later one may replace
	for _, p := range e.Value {
		if s, ok := p.(*ast.SpreadElement); ok {
			of := w.constant(s.Expression)
			if of == nil {
				return nil
			}
			if of.keys == nil {
				w.errorf(s.Expression.Idx0(), "only another object can be copied into an object")
				return nil
			}
			if !w.afford(len(of.keys), s.Expression.Idx0()) {
				return nil
			}
			for i, name := range of.keys {
				c.set(name, of.list[i])
				copied[name] = true
			}
			continue
		}
		name, value, _ := property(p)
		switch {
		case value == nil:
			w.errorf(p.Idx0(), "a constant object has names and values only: { slow: 1, fast: 2 }")
			return nil
		case name == "__proto__":
			w.errorf(p.Idx0(), "\"%s\" cannot be a name here: it is one of every object's", name)
			return nil
		case c.key(name) != nil && !copied[name]:
			w.errorf(p.Idx0(), "\"%s\" is there twice", name)
			return nil
		}
		part := w.constant(value)
		if part == nil {
			return nil
		}
		c.set(name, part)
		delete(copied, name)
	}
	if len(c.list) == 0 {
		w.errorf(e.LeftBrace, "a constant object has at least one value, and keeps those that it has: what changes is kept in fields")
		return nil
	}
	return c
}

// maxCopies is how many constants a game may have besides those that are written: copies
// of lists, and what indices that are computed when the game runs may lead to.
const maxCopies = 1 << 20

// afford takes from the number of constants that may still be copied.
func (w *walker) afford(n int, at file.Idx) bool {
	if w.copies += n; w.copies <= maxCopies {
		return true
	}
	w.errorf(at, "the constants of this game have more than %d elements with their copies, and with what several indices lead to: make them smaller", maxCopies)
	return false
}

// set gives an object a value under a name.
func (c *constant) set(name string, part *constant) {
	if i := c.index(name); i >= 0 {
		c.list[i] = part
		return
	}
	c.at[name] = len(c.keys)
	c.keys, c.list = append(c.keys, name), append(c.list, part)
}

// literal is the value of an expression that is known now, or nil.
func (w *walker) literal(x tree.Expr) tree.Expr {
	v, ok := w.eval.Run(x)
	n := tree.Node{At: x.Pos(), T: x.Type()}
	switch {
	case !ok:
	case v.Kind == tree.Number:
		return &tree.NumberLit{Node: n, Value: v.Num}
	case v.Kind == tree.Bool:
		return &tree.BoolLit{Node: n, Value: v.Num != 0}
	case v.Kind == tree.Str:
		return &tree.StrLit{Node: n, Value: v.Text}
	}
	return nil
}

// fold is the value of a number that is known now.
func (w *walker) fold(x tree.Expr) (float64, bool) {
	v, ok := w.eval.Run(x)
	return v.Num, ok && v.Kind == tree.Number
}

// root is the name that a chain of members begins with, or nil.
func root(e ast.Expression) *ast.Identifier {
	for {
		switch x := e.(type) {
		case *ast.Identifier:
			return x
		case *ast.DotExpression:
			e = x.Left
		case *ast.BracketExpression:
			e = x.Left
		default:
			return nil
		}
	}
}
