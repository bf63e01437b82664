package front

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
)

// constant is the value of a constant at a file's top level, or a part of it.
type constant struct {
	x    tree.Expr   // a number, bool or str; nil for a list or an object
	list []*constant // the elements of a list or the values of an object
	keys []string    // the names of an object's values; nil for a list
}

func (c *constant) key(name string) *constant {
	if i := slices.Index(c.keys, name); i >= 0 {
		return c.list[i]
	}
	return nil
}

// view is an expression that stands for a list or an object among the constants,
// or for one of several where an index is computed when the game runs: parts are
// what it may be, levels and path tell which. It is no value; what reads on in it
// gives another view or, in the end, a value.
type view struct {
	tree.Node
	name   string // as in LEVELS or LEVELS[].speed
	key    string // the name, and the file that it is of
	parts  []*constant
	levels []tree.Level
	path   []tree.Expr
}

// elementsOf is what walker.elements has found.
type elementsOf struct {
	level tree.Level
	parts []*constant
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
	in := &instance{fn: &tree.Func{Name: s.name}}
	in.report.files = t.files
	w := &walker{typer: t, symbol: &symbol{name: s.name, module: s.module, at: s.at}, in: in, vars: map[*ast.Identifier]*tree.Var{}, pure: true}
	c := w.constant(s.value, true)
	for _, d := range in.report.list {
		t.loader.report.place(d.Severity, d.Pos, d.Source, "%s", d.Message)
	}
	s.busy = false
	t.constants[s] = c
	return c
}

// constant is the value that an expression at the top level stands for. Inside lists
// and objects it must be known now, outside it may be a calculation.
func (w *walker) constant(e ast.Expression, outside bool) *constant {
	switch e := e.(type) {
	case *ast.ArrayLiteral:
		c := &constant{}
		for _, el := range e.Value {
			if el == nil {
				w.errorf(e.LeftBracket, "a table has no holes")
				return nil
			}
			if s, ok := el.(*ast.SpreadElement); ok {
				w.errorf(s.Expression.Idx0()-3, "a table's elements are written one by one")
				return nil
			}
			part := w.constant(el, false)
			if part == nil {
				return nil
			}
			c.list = append(c.list, part)
		}
		if len(c.list) == 0 {
			w.errorf(e.LeftBracket, "a table has at least one element")
			return nil
		}
		return c
	case *ast.ObjectLiteral:
		return w.constantObject(e)
	}
	x := w.present(w.object(e))
	if v, ok := x.(*view); ok {
		return v.parts[0] // there are no computed indices here
	}
	if x.Type().Kind == tree.Bad {
		return nil
	}
	if y := literal(x); y != nil {
		return &constant{x: y}
	}
	switch {
	case x.Type().Kind != tree.Number && x.Type().Kind != tree.Bool && x.Type().Kind != tree.Str:
		w.errorf(e.Idx0(), "a constant at the top level is a number, a bool, a str, or a list or an object of such")
		return nil
	case !outside:
		w.errorf(e.Idx0(), "an element of a table is a value that can be computed when the game is checked")
		return nil
	}
	return &constant{x: x}
}

func (w *walker) constantObject(e *ast.ObjectLiteral) *constant {
	c := &constant{keys: []string{}}
	for _, p := range e.Value {
		var name string
		var value ast.Expression
		switch p := p.(type) {
		case *ast.PropertyShort:
			name, value = p.Name.Name.String(), &p.Name
		case *ast.PropertyKeyed:
			key, ok := p.Key.(*ast.StringLiteral)
			if ok && p.Kind == ast.PropertyKindValue && !p.Computed {
				name, value = key.Value.String(), p.Value
			}
		}
		if value == nil {
			w.errorf(p.Idx0(), "a constant object has names and values only: { slow: 1, fast: 2 }")
			return nil
		}
		switch {
		case name == "__proto__":
			w.errorf(p.Idx0(), "\"%s\" cannot be a name here: it is one of every object's", name)
			return nil
		case slices.Contains(c.keys, name):
			w.errorf(p.Idx0(), "\"%s\" is there twice", name)
			return nil
		}
		part := w.constant(value, false)
		if part == nil {
			return nil
		}
		c.keys, c.list = append(c.keys, name), append(c.list, part)
	}
	if len(c.list) == 0 {
		w.errorf(e.LeftBrace, "a constant object has at least one value")
		return nil
	}
	return c
}

// literal is the value of an expression that is known now, or nil.
func literal(x tree.Expr) tree.Expr {
	switch x.(type) {
	case *tree.BoolLit, *tree.StrLit:
		return x
	}
	if x.Type().Kind == tree.Number {
		if v, ok := fold(x); ok {
			return &tree.NumberLit{Node: tree.Node{At: x.Pos(), T: number}, Value: v}
		}
	}
	return nil
}

// useConstant is a constant's value where its name stands.
func (w *walker) useConstant(s *symbol, at file.Idx) tree.Expr {
	c := w.topLevel(s, func(format string, args ...any) { w.errorf(at, format, args...) })
	if c == nil {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	n := tree.Node{At: at, T: tree.Type{Kind: tree.Constants}}
	return w.settle(&view{Node: n, name: s.name, key: s.module.path + ":" + s.name, parts: []*constant{c}})
}

// settle gives a view, or the value that it stands for if it has come to values.
func (w *walker) settle(v *view) tree.Expr {
	first := v.parts[0]
	for _, p := range v.parts[1:] {
		if (p.x == nil) != (first.x == nil) || p.x != nil && p.x.Type() != first.x.Type() || (p.keys == nil) != (first.keys == nil) {
			return w.bad(v.At, "what %s may be is of different types", v.name)
		}
	}
	if first.x == nil {
		return v
	}
	if len(v.path) > 0 {
		return w.read(v)
	}
	n := tree.Node{At: v.At, T: first.x.Type()}
	switch x := first.x.(type) {
	case *tree.NumberLit:
		return &tree.NumberLit{Node: n, Value: x.Value}
	case *tree.BoolLit:
		return &tree.BoolLit{Node: n, Value: x.Value}
	case *tree.StrLit:
		return &tree.StrLit{Node: n, Value: x.Value}
	}
	return first.x
}

// read reads one of several values.
func (w *walker) read(v *view) tree.Expr {
	t := w.tables[v.key]
	if t == nil {
		t = &tree.Table{Name: strings.ReplaceAll(v.name, "[]", ""), Kind: v.parts[0].x.Type().Kind, Levels: v.levels}
		for _, p := range v.parts {
			switch x := p.x.(type) {
			case *tree.NumberLit:
				t.Values = append(t.Values, x.Value)
			case *tree.BoolLit:
				value := 0.0
				if x.Value {
					value = 1
				}
				t.Values = append(t.Values, value)
			case *tree.StrLit:
				t.Texts = append(t.Texts, x.Value)
			}
		}
		w.tables[v.key] = t
	}
	return &tree.Index{Node: tree.Node{At: v.At, T: tree.Type{Kind: t.Kind}}, Table: t, Path: v.path}
}

// onward is a view of parts of v's parts.
func (v *view) onward(step string, parts []*constant) *view {
	return &view{
		Node: v.Node, name: v.name + step, key: v.key + step,
		parts: parts, levels: slices.Clip(v.levels), path: slices.Clip(v.path),
	}
}

// viewMember is v.NAME.
func (w *walker) viewMember(v *view, name string, at file.Idx) tree.Expr {
	var parts []*constant
	for _, p := range v.parts {
		switch {
		case p.keys == nil && name == "length":
			parts = append(parts, &constant{x: &tree.NumberLit{Node: tree.Node{At: at, T: number}, Value: float64(len(p.list))}})
		case p.keys == nil:
			return w.bad(at, "a table has its elements and length only")
		case p.key(name) == nil:
			return w.bad(at, "%s has no \"%s\"%s", v.name, name, offer(name, p.keys))
		default:
			parts = append(parts, p.key(name))
		}
	}
	return w.settle(v.onward("."+name, parts))
}

// viewIndex is v[X].
func (w *walker) viewIndex(v *view, e *ast.BracketExpression) tree.Expr {
	if v.parts[0].keys != nil {
		return w.viewName(v, e)
	}
	x := w.want(e.Member, number)
	if x.Type().Kind == tree.Bad {
		return x
	}
	var parts []*constant
	if i, ok := fold(x); ok {
		for _, p := range v.parts {
			if i < 0 || i != math.Trunc(i) || i >= float64(len(p.list)) {
				return w.bad(e.Member.Idx0(), "%s has %s: there is none at %v", v.name, howMany(len(p.list)), i)
			}
			parts = append(parts, p.list[int(i)])
		}
		return w.settle(v.onward(fmt.Sprintf("[%v]", i), parts))
	}
	if w.pure {
		return w.bad(e.Member.Idx0(), "the index of a constant is a number that can be computed when the game is checked")
	}
	level, parts := w.elements(v)
	return w.further(v, "[]", level, x, parts)
}

// elements are the elements of all that a view may be, one after the other, and how
// many each has.
func (w *walker) elements(v *view) (tree.Level, []*constant) {
	e, ok := w.spread[v.key]
	if !ok {
		for _, p := range v.parts {
			e.level.Lens = append(e.level.Lens, len(p.list))
			e.parts = append(e.parts, p.list...)
		}
		w.spread[v.key] = e
	}
	return e.level, e.parts
}

// viewName is v[X] of an object, whose index is a name.
func (w *walker) viewName(v *view, e *ast.BracketExpression) tree.Expr {
	if s, ok := e.Member.(*ast.StringLiteral); ok {
		return w.bad(e.LeftBracket, "write .%s instead of [\"%s\"]", s.Value, s.Value)
	}
	x := w.present(w.value(e.Member))
	switch x.Type().Kind {
	case tree.Bad:
		return x
	case tree.Str:
	default:
		return w.bad(e.Member.Idx0(), "the values of %s have names, which are strs, but this is %s", v.name, x.Type())
	}
	if s, ok := x.(*tree.StrLit); ok {
		return w.viewMember(v, s.Value, e.Member.Idx0())
	}
	keys := v.parts[0].keys
	level := tree.Level{Keys: keys}
	var parts []*constant
	for _, p := range v.parts {
		if len(p.keys) != len(keys) {
			return w.bad(e.LeftBracket, "what %s may be has different names", v.name)
		}
		level.Lens = append(level.Lens, len(keys))
		for _, k := range keys {
			part := p.key(k)
			if part == nil {
				return w.bad(e.LeftBracket, "what %s may be has different names", v.name)
			}
			parts = append(parts, part)
		}
	}
	return w.further(v, "[]", level, x, parts)
}

func (w *walker) further(v *view, step string, level tree.Level, x tree.Expr, parts []*constant) tree.Expr {
	n := v.onward(step, parts)
	n.levels = append(n.levels, level)
	n.path = append(n.path, x)
	return w.settle(n)
}

// captured is a view whose indices keep the values that they have now: what is
// computed goes into variables, which the statements declare.
func (w *walker) captured(v *view) (*view, []tree.Stmt) {
	n := v.onward("", v.parts)
	n.path = slices.Clone(v.path)
	var out []tree.Stmt
	for i, x := range n.path {
		if r, ok := x.(*tree.VarRef); ok && r.Var.Const {
			continue
		}
		at := &tree.Var{Name: "at", Type: x.Type(), Const: true}
		out = append(out, &tree.Decl{Var: at, X: x})
		n.path[i] = &tree.VarRef{Node: tree.Node{At: x.Pos(), T: x.Type()}, Var: at}
	}
	return n, out
}

func howMany(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
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

// fold computes an expression that is made of numbers.
func fold(x tree.Expr) (float64, bool) {
	switch x := x.(type) {
	case *tree.NumberLit:
		return x.Value, true
	case *tree.Unary:
		v, ok := fold(x.X)
		switch x.Op {
		case tree.Neg:
			return -v, ok
		case tree.Plus:
			return v, ok
		}
	case *tree.Binary:
		a, ok := fold(x.X)
		b, ok2 := fold(x.Y)
		return foldBinary(x.Op, a, b, ok && ok2)
	case *tree.Math:
		if len(x.Args) != 1 {
			return 0, false
		}
		v, ok := fold(x.Args[0])
		switch x.Name {
		case "sqrt":
			return math.Sqrt(v), ok
		case "abs":
			return math.Abs(v), ok
		case "floor":
			return math.Floor(v), ok
		case "ceil":
			return math.Ceil(v), ok
		case "trunc":
			return math.Trunc(v), ok
		case "fround":
			return float64(float32(v)), ok
		}
	}
	return 0, false
}

func foldBinary(op tree.Op, a, b float64, known bool) (float64, bool) {
	bits := func(v float64) int32 { return int32(int64(v)) }
	small := known && math.Abs(a) < 1<<53 && math.Abs(b) < 1<<53
	switch op {
	case tree.Add:
		return a + b, known
	case tree.Sub:
		return a - b, known
	case tree.Mul:
		return a * b, known
	case tree.Div:
		return a / b, known
	case tree.Rem:
		return math.Mod(a, b), known
	case tree.Pow:
		return a * a, known && b == 2
	case tree.BitAnd:
		return float64(bits(a) & bits(b)), small
	case tree.BitOr:
		return float64(bits(a) | bits(b)), small
	case tree.BitXor:
		return float64(bits(a) ^ bits(b)), small
	case tree.Shl:
		return float64(bits(a) << (uint32(bits(b)) & 31)), small
	}
	return 0, false
}

// forOfTable goes over the elements of a constant list.
func (w *walker) forOfTable(s *ast.ForOfStatement, id *ast.Identifier, v *view) []tree.Stmt {
	if v.parts[0].keys != nil {
		w.errorf(s.Source.Idx0(), "for-of goes over a list or a collection, but %s is an object: its names are %s", v.name, strings.Join(v.parts[0].keys, ", "))
		return nil
	}
	w.push()
	defer w.pop()
	v, out := w.captured(v)
	i := &tree.Var{Name: "i", Type: number, Assigned: true}
	read := func() tree.Expr { return &tree.VarRef{Node: tree.Node{At: s.For, T: number}, Var: i} }
	count := func(n float64) tree.Expr { return &tree.NumberLit{Node: tree.Node{At: s.For, T: number}, Value: n} }
	length := w.viewMember(v, "length", s.For)
	level, parts := w.elements(v)
	at := &tree.Var{Name: "at", Type: number, Const: true}
	x := w.further(v, "[]", level, &tree.VarRef{Node: tree.Node{At: s.For, T: number}, Var: at}, parts)
	n := &tree.Loop{
		At: s.For, Target: w.target("each"),
		Test: &tree.Binary{Node: tree.Node{At: s.For, T: boolean}, Op: tree.Lt, X: read(), Y: length},
		Step: &tree.Assign{Node: tree.Node{At: s.For, T: number}, Target: read(), Op: tree.Add, X: count(1), Old: true},
	}
	w.forget(s.Body)
	start := w.flow.clone()
	n.Body = []tree.Stmt{&tree.Decl{Var: at, X: read()}}
	d := s.Into.(*ast.ForDeclaration)
	n.Body = append(n.Body, w.bind(id, x, d.IsConst)...)
	w.targets = append(w.targets, target{Target: n.Target, loop: true, labels: w.takeLabels()})
	n.Body = append(n.Body, w.block(s.Body)...)
	w.targets = w.targets[:len(w.targets)-1]
	w.flow = start
	return append(out, &tree.Decl{Var: i, X: count(0)}, n)
}

// bind declares a name for a value, or for a list or object among the constants.
func (w *walker) bind(id *ast.Identifier, x tree.Expr, constant bool) []tree.Stmt {
	v, ok := x.(*view)
	if !ok {
		d := &tree.Decl{Var: w.declare(id, x.Type(), constant), X: x}
		if s, ok := x.(*tree.Spawn); ok {
			w.spawned[d.Var] = s.Of
		}
		return []tree.Stmt{d}
	}
	if !constant {
		w.errorf(id.Idx, "\"%s\" stands for a part of the table %s, so it is declared with const", id.Name, v.name)
	}
	v, out := w.captured(v)
	name := id.Name.String()
	if b := w.scope.vars[name]; b != nil && b.v == nil {
		b.view, b.ready = v, true
	} else {
		w.scope.vars[name] = &binding{view: v, ready: true}
	}
	return out
}

// notValue is what to do with a list or an object instead of using it as a value.
func (w *walker) notValue(v *view) tree.Expr {
	example := v.name + "[0]"
	if keys := v.parts[0].keys; keys != nil {
		example = v.name + "." + keys[0]
	}
	return w.bad(v.At, "a table is not a value: read one of its elements, as in %s", example)
}
