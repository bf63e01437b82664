package front

import (
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/token"
	"github.com/grafana/sobek/unistring"

	"gamehoster/games/body/internal/tree"
)

// taken is what a pattern takes apart: read gives the member of a name, at the element
// at an index of a list.
type taken struct {
	what string
	read func(name string, at file.Idx) tree.Expr
	has  func(name string) bool // nil where every name is one
	size int                    // of a list; -1 for what is none
	at   func(i int, at file.Idx) tree.Expr
}

// bindTarget declares what a name or a pattern stands for with a value or a thing.
func (w *walker) bindTarget(target ast.Expression, x tree.Expr, constant bool) []tree.Stmt {
	switch p := target.(type) {
	case *ast.Identifier:
		return w.bind(p, x, constant)
	case *ast.ObjectPattern, *ast.ArrayPattern:
		from, out := w.sourceOf(target, x)
		return append(out, w.takeApart(target, from, constant)...)
	}
	w.errorf(target.Idx0(), "a pattern has names only: { x, y: height } or [x, y]")
	return nil
}

// bind declares a name.
func (w *walker) bind(id *ast.Identifier, x tree.Expr, constant bool) []tree.Stmt {
	t, ok := x.(thing)
	if !ok {
		d := &tree.Decl{Var: w.declare(id, x.Type(), constant), X: x}
		if s, ok := x.(*tree.Spawn); ok {
			w.spawned[d.Var] = s.Of
		}
		return []tree.Stmt{d}
	}
	t, out := w.kept(id, t)
	w.bindThing(id, t)
	return out
}

func (w *walker) bindThing(id *ast.Identifier, t thing) {
	name := id.Name.String()
	if b := w.scope.vars[name]; b != nil && !b.ready {
		b.thing, b.ready = t, true
	} else {
		w.scope.vars[name] = &binding{thing: t, ready: true}
	}
}

// sourceOf is what a pattern takes apart, with what has to be kept of it first.
func (w *walker) sourceOf(pattern ast.Expression, x tree.Expr) (taken, []tree.Stmt) {
	if t, ok := x.(thing); ok {
		t, out := w.kept(hidden(pattern), t)
		s := taken{what: t.called(), size: -1, read: func(name string, at file.Idx) tree.Expr { return t.member(w, name, at) }}
		switch t := t.(type) {
		case *view:
			s.size = t.size()
			s.at = func(i int, at file.Idx) tree.Expr { return w.viewAt(t, float64(i), at) }
			if t.size() < 0 {
				s.has = t.has
			}
		case *record:
			if s.has = func(name string) bool { return t.index(name) >= 0 }; t.keys == nil {
				s.has = nil
				s.size = len(t.elems)
				s.at = func(i int, at file.Idx) tree.Expr { return again(w, t.elems[i], at) }
			}
		}
		return s, out
	}
	if x.Type().Kind == tree.Object {
		x = w.nonNull(w.present(x))
	}
	v := &tree.Var{Name: "from", Type: x.Type(), Const: true}
	w.flow.set(v, x.Type())
	return taken{what: x.Type().String(), size: -1, read: w.memberOf(v)}, []tree.Stmt{&tree.Decl{Var: v, X: x}}
}

// hidden is a name for what a pattern takes apart, which has none.
func hidden(pattern ast.Expression) *ast.Identifier {
	return &ast.Identifier{Idx: pattern.Idx0()}
}

// memberOf reads members of what a variable holds.
func (w *walker) memberOf(v *tree.Var) func(name string, at file.Idx) tree.Expr {
	return func(name string, at file.Idx) tree.Expr { return w.member(w.readVar(v, at), name, at) }
}

func (w *walker) takeApart(pattern ast.Expression, from taken, constant bool) []tree.Stmt {
	if p, ok := pattern.(*ast.ArrayPattern); ok {
		return w.takeElements(p, from, constant)
	}
	return w.takeMembers(pattern.(*ast.ObjectPattern), from, constant)
}

// takeMembers declares the names of { x, y: height }.
func (w *walker) takeMembers(p *ast.ObjectPattern, from taken, constant bool) (out []tree.Stmt) {
	if p.Rest != nil {
		w.errorf(p.Rest.Idx0(), "name each field: the rest of an object cannot be kept")
		w.spoilTarget(p.Rest)
	}
	for _, prop := range p.Properties {
		var name string
		var target, initial ast.Expression
		var at file.Idx
		switch prop := prop.(type) {
		case *ast.PropertyShort:
			name, target, initial, at = prop.Name.Name.String(), &prop.Name, prop.Initializer, prop.Name.Idx
		case *ast.PropertyKeyed:
			key, ok := prop.Key.(*ast.StringLiteral)
			if !ok || prop.Computed {
				w.errorf(prop.Idx0(), "a pattern has names only: { x, y: height }")
				continue
			}
			name, at = key.Value.String(), key.Idx
			target, initial = withDefault(prop.Value)
		default:
			w.errorf(p.LeftBrace, "a pattern has names only: { x, y: height }")
			continue
		}
		if initial != nil && from.has == nil {
			w.errorf(initial.Idx0(), "fields always have a value: leave the default out")
		}
		if initial != nil && from.has != nil && !from.has(name) {
			if everyObjects[name] {
				w.errorf(at, "\"%s\" is one of every object's in JavaScript, so its default would never be used: use another name", name)
				w.spoilTarget(target)
				continue
			}
			out = append(out, w.bindTarget(target, w.present(w.object(initial)), constant)...)
			continue
		}
		out = append(out, w.bindTarget(target, from.read(name, at), constant)...)
	}
	return out
}

// everyObjects are the members that every object of JavaScript has.
var everyObjects = map[string]bool{
	"constructor": true, "hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true, "toLocaleString": true, "toString": true,
	"valueOf": true, "__proto__": true, "__defineGetter__": true, "__defineSetter__": true, "__lookupGetter__": true, "__lookupSetter__": true,
}

// takeElements declares the names of [x, , y].
func (w *walker) takeElements(p *ast.ArrayPattern, from taken, constant bool) (out []tree.Stmt) {
	if from.size < 0 {
		w.errorf(p.LeftBracket, "only a list is taken apart with [ ], and this is %s: use { } with names, or declare one name after the other", from.what)
		w.spoilTarget(p)
		return nil
	}
	if p.Rest != nil {
		w.errorf(p.Rest.Idx0(), "name each element: the rest of a list cannot be kept")
		w.spoilTarget(p.Rest)
	}
	for i, el := range p.Elements {
		target, initial := withDefault(el)
		switch {
		case target == nil: // a hole
		case i < from.size:
			out = append(out, w.bindTarget(target, from.at(i, target.Idx0()), constant)...)
		case initial != nil:
			out = append(out, w.bindTarget(target, w.present(w.object(initial)), constant)...)
		default:
			w.errorf(target.Idx0(), "%s has %s: there is none at %d", from.what, howMany(from.size), i)
			w.spoilTarget(target)
		}
	}
	return out
}

// withDefault takes x = 1 of a pattern apart.
func withDefault(e ast.Expression) (target, initial ast.Expression) {
	if a, ok := e.(*ast.AssignExpression); ok && a.Operator == token.ASSIGN {
		return a.Left, a.Right
	}
	return e, nil
}

// spoilTarget declares names whose pattern was refused, so that their uses are not
// refused as well.
func (w *walker) spoilTarget(target ast.Expression) {
	eachName(target, func(id *ast.Identifier) { w.declare(id, badType, false) })
}

// eachName calls found with the names that a pattern declares.
func eachName(target ast.Expression, found func(id *ast.Identifier)) {
	switch x := target.(type) {
	case *ast.Identifier:
		found(x)
	case *ast.AssignExpression:
		eachName(x.Left, found)
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				found(&p.Name)
			case *ast.PropertyKeyed:
				eachName(p.Value, found)
			}
		}
		if x.Rest != nil {
			eachName(x.Rest, found)
		}
	case *ast.ArrayPattern:
		for _, el := range x.Elements {
			if el != nil {
				eachName(el, found)
			}
		}
		if x.Rest != nil {
			eachName(x.Rest, found)
		}
	}
}

// exchange walks [a, b] = [b, a]: all values are taken before the first is assigned.
func (w *walker) exchange(p *ast.ArrayPattern, list *ast.ArrayLiteral) []tree.Stmt {
	if p.Rest != nil || len(p.Elements) != len(list.Value) {
		w.errorf(p.LeftBracket, "there are %d names for %d values: assign one after the other", len(p.Elements), len(list.Value))
		return nil
	}
	var out []tree.Stmt
	taken := make([]tree.Expr, len(list.Value))
	for i, e := range list.Value {
		if e == nil || p.Elements[i] == nil {
			w.errorf(p.LeftBracket, "a list has no holes")
			return nil
		}
		x := w.present(w.value(e))
		v := &tree.Var{Name: "was", Type: x.Type(), Const: true}
		w.flow.set(v, x.Type())
		out = append(out, &tree.Decl{Var: v, X: x})
		taken[i] = &tree.VarRef{Node: tree.Node{At: x.Pos(), T: x.Type()}, Var: v}
	}
	for i, target := range p.Elements {
		out = append(out, &tree.Eval{X: w.assignTo(target, func() tree.Expr { return taken[i] })})
	}
	return out
}

// assignAll walks Object.assign(p, { x: 1, y: 2 }): all values are taken before the
// first is assigned.
func (w *walker) assignAll(e *ast.CallExpression) []tree.Stmt {
	if len(e.ArgumentList) != 2 {
		w.errorf(e.Idx0(), "Object.assign takes what to assign to and an object of values: Object.assign(p, { x: 1, y: 2 })")
		return nil
	}
	to := e.ArgumentList[0]
	var out []tree.Stmt
	if w.recordAt(to) == nil && !w.global(to, "game") {
		x := w.nonNullArg(w.present(w.object(to)))
		if k := x.Type().Kind; k != tree.Object {
			if k != tree.Bad {
				w.errorf(to.Idx0(), "Object.assign writes to an object of the game or one that this body makes, and this is %s", describe(x))
			}
			return nil
		}
		id := hidden(to)
		id.Name = "to"
		w.push()
		defer w.pop()
		out = w.bind(id, x, true)
		to = id
	}
	from := e.ArgumentList[1]
	t, ok := w.object(from).(thing)
	keys := memberNames(t)
	if !ok || keys == nil {
		w.errorf(from.Idx0(), "the values for Object.assign stand in an object: { x: 1, y: 2 }")
		return nil
	}
	t, more := w.kept(hidden(from), t)
	out = append(out, more...)
	for _, name := range keys {
		target := &ast.DotExpression{Left: to, Identifier: ast.Identifier{Name: unistring.NewFromString(name), Idx: from.Idx0()}}
		out = append(out, &tree.Eval{X: w.assignTo(target, func() tree.Expr { return t.member(w, name, from.Idx0()) })})
	}
	return out
}

// memberNames are the names of what an object has; nil for what is none.
func memberNames(t thing) []string {
	switch t := t.(type) {
	case *record:
		return t.keys
	case *view:
		return t.all[0].keys
	}
	return nil
}

// describe is what an expression is, as authors are told.
func describe(x tree.Expr) string {
	if t, ok := x.(thing); ok {
		return t.called()
	}
	return x.Type().String()
}
