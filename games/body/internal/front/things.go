package front

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// thing is what can have a name and members in a body but is no value when the game
// runs: a list or an object among the constants (view), a collection of game, an object
// that a body makes of values (record). The walk knows at every place which thing is
// meant. What of it is not known before the game runs are its parts, which are values;
// they are what is kept in variables, passed to helpers and given back by them.
type thing interface {
	tree.Expr
	parts() []tree.Expr           // in the order in which they are evaluated
	with(parts []tree.Expr) thing // the same thing of other parts
	shape() string                // equal where one version of a helper will do, but for the parts' types
	called() string               // as authors are told of it
	instead() string              // what to write where it stands for a value
	fixed(name string) string     // why its name cannot be assigned
	member(w *walker, name string, at file.Idx) tree.Expr
}

var thingNode = tree.Type{Kind: tree.Constants}

// listName is what a list is called that has no name.
const listName = "this list"

// collection is all objects of a type.
type collection struct {
	tree.Node
	of *schema.Type
}

func (c *collection) parts() []tree.Expr     { return nil }
func (c *collection) with([]tree.Expr) thing { return c }
func (c *collection) shape() string          { return c.called() }
func (c *collection) called() string         { return "game." + c.of.Plural }
func (c *collection) instead() string {
	return "a collection is not a value: go over it with for-of, or use its count, find() or spawn()"
}

func (c *collection) fixed(name string) string {
	return fmt.Sprintf("\"%s\" always stands for %s: it cannot be assigned", name, c.called())
}

func (c *collection) member(w *walker, name string, at file.Idx) tree.Expr {
	switch name {
	case "count":
		return &tree.Property{Node: tree.Node{At: c.At, T: number}, What: tree.Count, Of: c.of}
	case "length", "size":
		return w.bad(at, "a collection's number of objects is its count")
	case "find", "spawn":
		return w.bad(at, "%s is a function: call it", name)
	}
	return w.bad(at, "a collection has no \"%s\": it has count, find(), spawn() and for-of%s", name, suggest(name, []string{"count", "find", "spawn"}))
}

// record is an object or a list that a body writes: { x: 1, y: p.y } or [p.x, 2]. Once
// it has a name each of its values is in a variable.
type record struct {
	tree.Node
	name  string
	keys  []string    // nil of a list
	elems []tree.Expr // values and things
	count int         // of the values in it, as it was written
	bound bool        // its values are in variables of a name
	own   bool        // made here, so its values may be assigned
}

func (r *record) parts() (list []tree.Expr) {
	for _, x := range r.elems {
		if t, ok := x.(thing); ok {
			list = append(list, t.parts()...)
		} else {
			list = append(list, x)
		}
	}
	return list
}

func (r *record) with(parts []tree.Expr) thing {
	c := *r
	c.elems = make([]tree.Expr, len(r.elems))
	for i, x := range r.elems {
		n := 1
		if t, ok := x.(thing); ok {
			n = len(t.parts())
			c.elems[i] = t.with(parts[:n])
		} else {
			c.elems[i] = parts[0]
		}
		parts = parts[n:]
	}
	return &c
}

func (r *record) shape() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, x := range r.elems {
		if r.keys != nil {
			b.WriteString(strconv.Quote(r.keys[i]) + ":")
		}
		if t, ok := x.(thing); ok {
			b.WriteString(t.shape())
		} else {
			b.WriteString(kindOf(x.Type()))
		}
		b.WriteByte(',')
	}
	b.WriteByte('}')
	return b.String()
}

func (r *record) fixed(name string) string {
	if len(r.elems) == 0 {
		return fmt.Sprintf("\"%s\" always stands for the object that it was declared with", name)
	}
	member := r.memberName(0)
	if r.name == "" {
		member = name + member
	}
	return fmt.Sprintf("\"%s\" always stands for what it was declared with: assign the members, as in %s = ...", name, member)
}

// kindOf is the type that all values of a part have, a null being one of any object's.
func kindOf(t tree.Type) string {
	if t.Kind == tree.Null || t.Kind == tree.Object {
		return "object"
	}
	return t.String()
}

func (r *record) called() string {
	switch {
	case r.name != "":
		return r.name
	case r.keys == nil:
		return listName
	}
	return "this object"
}

func (r *record) instead() string {
	name := r.name
	if name == "" {
		name = "it"
	}
	switch {
	case r.keys == nil:
		return "a list is not a value: give it a name with const and read one of its elements, as in " + name + "[0]"
	case len(r.keys) == 0:
		return "an object without members is not a value"
	}
	return "an object that a body makes is not a value: give it a name with const and read one of its members, as in " + name + "." + r.keys[0]
}

// memberName is what the variable of a member is called.
func (r *record) memberName(i int) string {
	if r.keys == nil {
		return fmt.Sprintf("%s[%d]", r.name, i)
	}
	return r.name + "." + r.keys[i]
}

// index is where a member is; -1 for none.
func (r *record) index(name string) int {
	if r.keys != nil {
		return slices.Index(r.keys, name)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(r.elems) && strconv.Itoa(i) == name {
		return i
	}
	return -1
}

func (r *record) member(w *walker, name string, at file.Idx) tree.Expr {
	i := r.index(name)
	switch {
	case r.keys == nil && name == "length":
		return &tree.NumberLit{Node: tree.Node{At: at, T: number}, Value: float64(len(r.elems))}
	case i < 0 && r.keys == nil && (name == "" || name[0] > '9'):
		return w.bad(at, "a list has its elements and length only")
	case i < 0 && r.keys == nil:
		return w.bad(at, "%s has %s: there is none at %s", r.called(), howMany(len(r.elems)), name)
	case i < 0:
		return w.bad(at, "%s has no \"%s\"%s", r.called(), name, offer(name, r.keys))
	case !r.bound:
		return w.bad(r.At, "give this a name first: const it = ...; and then it.%s", name)
	}
	return again(w, r.elems[i], at)
}

// again is what a variable or a thing in variables is, read at another place.
func again(w *walker, x tree.Expr, at file.Idx) tree.Expr {
	switch x := x.(type) {
	case *tree.VarRef:
		return w.readVar(x.Var, at)
	case *record:
		c := *x
		c.At, c.elems = at, make([]tree.Expr, len(x.elems))
		for i, in := range x.elems {
			c.elems[i] = again(w, in, at)
		}
		return &c
	case *view:
		c := *x
		c.At = at
		return &c
	}
	return x
}

// objectLiteral walks { x: 1, y }, and { ...v, y: 2 }.
func (w *walker) objectLiteral(e *ast.ObjectLiteral) tree.Expr {
	r := &record{Node: tree.Node{At: e.LeftBrace, T: thingNode}, keys: []string{}, own: true}
	copied := map[string]bool{} // members that a later one may replace
	for _, p := range e.Value {
		if s, ok := p.(*ast.SpreadElement); ok {
			if x := w.spreadInto(r, s, copied); x != nil {
				return x
			}
			continue
		}
		name, value, at := property(p)
		switch {
		case value == nil:
			return w.bad(p.Idx0(), "an object has names and values only: { x: 1, y: 2 }")
		case name == "__proto__":
			return w.bad(p.Idx0(), "\"%s\" cannot be a name here: it is one of every object's", name)
		case copied[name]:
			i := r.index(name)
			r.keys, r.elems = slices.Delete(r.keys, i, i+1), slices.Delete(r.elems, i, i+1)
			delete(copied, name)
		case r.index(name) >= 0:
			return w.bad(at, "\"%s\" is there twice", name)
		}
		if x := w.add(r, value); x != nil {
			return x
		}
		r.keys = append(r.keys, name)
	}
	return r
}

// spreadInto copies the members of an object into another; the result is nil unless
// that was refused.
func (w *walker) spreadInto(r *record, s *ast.SpreadElement, copied map[string]bool) tree.Expr {
	x := w.object(s.Expression)
	var names []string
	switch x := x.(type) {
	case *record:
		if x.bound {
			names = x.keys
		}
	case *view:
		names = x.all[0].keys
	}
	at := s.Expression.Idx0()
	switch {
	case x.Type().Kind == tree.Bad:
		return x
	case names == nil:
		return w.bad(at, "only an object of this body or among the constants can be copied: name the members, as in { x: p.x }")
	}
	for _, name := range names {
		if r.index(name) >= 0 {
			return w.bad(at, "\"%s\" is there twice", name)
		}
		if bad := w.append(r, x.(thing).member(w, name, at), at); bad != nil {
			return bad
		}
		r.keys = append(r.keys, name)
		copied[name] = true
	}
	return nil
}

// property is the name and the value of a member of an object literal; without a value
// it is no plain one.
func property(p ast.Property) (name string, value ast.Expression, at file.Idx) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String(), &p.Name, p.Name.Idx
	case *ast.PropertyKeyed:
		key, ok := p.Key.(*ast.StringLiteral)
		if ok && p.Kind == ast.PropertyKindValue && !p.Computed {
			return key.Value.String(), p.Value, key.Idx
		}
	}
	return "", nil, 0
}

// listLiteral walks [1, 2]: a table where all of it is constant.
func (w *walker) listLiteral(e *ast.ArrayLiteral) tree.Expr {
	if len(e.Value) == 0 {
		return w.bad(e.LeftBracket, "an empty list stays empty: what comes and goes is a collection of entities, with spawn() and remove()")
	}
	if w.isConstant(e) {
		c := w.constantList(e)
		if c == nil {
			return &tree.NullLit{Node: node(e, badType)}
		}
		// What a parameter stands for in it is another thing in each instance.
		key := fmt.Sprintf("%d in %s", e.LeftBracket, w.in.key)
		return &view{Node: node(e, thingNode), name: listName, key: key, all: []*constant{c}}
	}
	r := &record{Node: node(e, thingNode), own: true}
	for _, el := range e.Value {
		switch s := el.(type) {
		case nil:
			return w.bad(e.LeftBracket, "a list has no holes")
		case *ast.SpreadElement:
			return w.bad(s.Expression.Idx0()-3, "a list's elements are written one by one")
		}
		if x := w.add(r, el); x != nil {
			return x
		}
	}
	return r
}

// maxParts is how many values an object or a list that a body makes has, and how many
// are passed to a helper: browsers take no function with a thousand.
const maxParts = 400

// add walks one more member of a record; the result is nil unless that was refused.
func (w *walker) add(r *record, e ast.Expression) tree.Expr {
	if name, at := w.changes(r, e); name != "" {
		return w.bad(at, "\"%s\" is assigned in an object or a list that it is in: do that before", name)
	}
	x := w.present(w.object(e))
	if x.Type().Kind == tree.Bad {
		return x
	}
	return w.append(r, x, e.Idx0())
}

// append adds a member to a record; the result is nil unless that was refused.
func (w *walker) append(r *record, x tree.Expr, at file.Idx) tree.Expr {
	if t, ok := x.(thing); ok {
		r.count += len(t.parts())
	} else {
		r.count++
	}
	if r.count > maxParts {
		return w.bad(at, "an object or a list that a body makes has %d values at most, with those of the objects in it: keep more in fields, or among the constants at the top level", maxParts)
	}
	r.elems = append(r.elems, x)
	return nil
}

// isConstant reports whether an expression in a body is made of what is constant, by
// its looks.
func (w *walker) isConstant(e ast.Expression) bool {
	switch e := e.(type) {
	case *ast.NumberLiteral, *ast.StringLiteral, *ast.BooleanLiteral:
		return true
	case *ast.UnaryExpression:
		return w.isConstant(e.Operand)
	case *ast.BinaryExpression:
		return w.isConstant(e.Left) && w.isConstant(e.Right)
	case *ast.ArrayLiteral:
		for _, el := range e.Value {
			if el == nil || !w.isConstant(el) {
				return false
			}
		}
		return len(e.Value) > 0
	case *ast.ObjectLiteral:
		for _, p := range e.Value {
			if _, value, _ := property(p); value == nil || !w.isConstant(value) {
				return false
			}
		}
		return len(e.Value) > 0
	case *ast.Identifier, *ast.DotExpression:
		if d, ok := e.(*ast.DotExpression); ok && (w.global(d.Left, "Math") || w.global(d.Left, "Number")) {
			return true
		}
		if w.global(e, "NaN") || w.global(e, "Infinity") {
			return true
		}
		if id := root(e); id != nil {
			if b := w.find(id.Name.String()); b != nil {
				v, ok := b.thing.(*view)
				return ok && len(v.path) == 0 // an element that is found by a number is not the same every time
			}
		}
		_, constant := w.constantChain(e)
		return constant
	}
	return false
}

// kept puts a thing's parts into variables, which the statements declare, so that it
// stays what it is now. id is the name that it is for.
func (w *walker) kept(id *ast.Identifier, t thing) (thing, []tree.Stmt) {
	count := 0
	return w.keep(id, t, &count)
}

func (w *walker) keep(id *ast.Identifier, t thing, count *int) (thing, []tree.Stmt) {
	r, ok := t.(*record)
	if !ok {
		if v, ok := t.(*view); ok && v.name == listName && id.Name != "" {
			c := *v
			c.name, t = id.Name.String(), &c // a pattern has none
		}
		return w.captured(t)
	}
	if r.bound {
		return r, nil // another name of the same object
	}
	c := *r
	c.name, c.bound, c.elems = id.Name.String(), true, make([]tree.Expr, len(r.elems))
	var out []tree.Stmt
	for i, x := range r.elems {
		if inner, ok := x.(thing); ok {
			inner, more := w.keep(id, inner, count)
			c.elems[i] = inner
			out = append(out, more...)
			continue
		}
		v := w.partVar(id, *count, c.memberName(i), x.Type())
		*count++
		out = append(out, &tree.Decl{Var: v, X: x})
		c.elems[i] = &tree.VarRef{Node: tree.Node{At: x.Pos(), T: x.Type()}, Var: v}
	}
	return &c, out
}

// partOf names a variable that holds a part of what a name means.
type partOf struct {
	id *ast.Identifier
	i  int
}

func (w *walker) partVar(id *ast.Identifier, i int, name string, t tree.Type) *tree.Var {
	key := partOf{id, i}
	v := w.partVars[key]
	if v == nil {
		v = &tree.Var{Name: name, Type: t, Assigned: true}
		w.partVars[key], w.held[v] = v, true
	}
	w.grow(v, t, id.Idx)
	w.flow.set(v, t)
	return v
}

// captured is a thing whose parts keep the values that they have now.
func (w *walker) captured(t thing) (thing, []tree.Stmt) {
	parts := append([]tree.Expr(nil), t.parts()...)
	var out []tree.Stmt
	for i, x := range parts {
		if r, ok := x.(*tree.VarRef); ok && r.Var.Const {
			continue
		}
		at := &tree.Var{Name: "at", Type: x.Type(), Const: true}
		out = append(out, &tree.Decl{Var: at, X: x})
		parts[i] = &tree.VarRef{Node: tree.Node{At: x.Pos(), T: x.Type()}, Var: at}
	}
	if len(out) == 0 {
		return t, nil
	}
	return t.with(parts), out
}

// recordAt is the record that an expression names, of those in variables; nil for
// anything else.
func (w *walker) recordAt(e ast.Expression) *record {
	switch e := e.(type) {
	case *ast.Identifier:
		if b := w.find(e.Name.String()); b != nil && b.ready {
			r, _ := b.thing.(*record)
			return r
		}
	case *ast.DotExpression:
		if r := w.recordAt(e.Left); r != nil {
			if i := r.index(e.Identifier.Name.String()); i >= 0 {
				in, _ := r.elems[i].(*record)
				return in
			}
		}
	}
	return nil
}

// assignMember is a member of a record as the target of an assignment.
func (w *walker) assignMember(r *record, name string, at file.Idx) tree.Expr {
	if !r.own {
		return w.bad(at, "%s cannot be changed here: it was given to this function, or frozen, so make another, as in const own = { ...%s, %s: 0 }", r.called(), r.called(), name)
	}
	if r.keys != nil && r.index(name) < 0 {
		return w.bad(at, "%s has no \"%s\"%s; an object has its members from the start, as in { x: 0, y: 0 }", r.called(), name, offer(name, r.keys))
	}
	x := r.member(w, name, at)
	v, ok := x.(*tree.VarRef)
	if !ok {
		if x.Type().Kind == tree.Bad {
			return x
		}
		return w.bad(at, "\"%s\" of %s cannot be assigned as a whole", name, r.called())
	}
	return &tree.VarRef{Node: tree.Node{At: at, T: v.Var.Type}, Var: v.Var}
}

// sameThing is what a helper gives that gives either of two things.
func sameThing(a, b thing) (thing, bool) {
	if a.shape() != b.shape() {
		return nil, false
	}
	parts, others := a.parts(), b.parts()
	for i, x := range parts {
		t, ok := join(x.Type(), others[i].Type())
		if !ok {
			return nil, false
		}
		parts[i] = &tree.NullLit{Node: tree.Node{At: x.Pos(), T: t}}
	}
	return a.with(parts), true
}

// foreign reports whether a record, or one in it, may be known elsewhere as well.
func (r *record) foreign() bool {
	return !r.own || slices.ContainsFunc(r.elems, func(x tree.Expr) bool {
		in, ok := x.(*record)
		return ok && in.foreign()
	})
}

// refers reports whether a record, or one in it, is one of the body's variables, so that it
// changes when they do.
func (r *record) refers() bool {
	return r.bound || slices.ContainsFunc(r.elems, func(x tree.Expr) bool {
		in, ok := x.(*record)
		return ok && in.refers()
	})
}

// repeated reports whether the same object is in a record twice, under two names.
func (r *record) repeated(seen map[string]bool) bool {
	if parts := r.parts(); r.bound && len(parts) > 0 {
		if v, ok := parts[0].(*tree.VarRef); ok {
			key := fmt.Sprintf("%p %s", v.Var, r.shape())
			if seen[key] {
				return true
			}
			seen[key] = true
		}
	}
	return slices.ContainsFunc(r.elems, func(x tree.Expr) bool {
		in, ok := x.(*record)
		return ok && in.repeated(seen)
	})
}

// given is a record as a helper has it that it was passed to.
func (r *record) given(name string) *record {
	c := *r
	c.name, c.bound, c.own = name, true, false
	c.elems = slices.Clone(r.elems)
	for i, x := range c.elems {
		if in, ok := x.(*record); ok {
			c.elems[i] = in.given(name)
		}
	}
	return &c
}
