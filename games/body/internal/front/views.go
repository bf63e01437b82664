package front

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
)

// view is a thing: a list or an object among the constants, or one of several where an
// index is computed when the game runs. all is what it may be, levels and path tell
// which; the path is its parts. What reads on in it gives another view or, in the end,
// a value.
type view struct {
	tree.Node
	name   string // as in LEVELS or LEVELS[].speed
	key    string // tells it from every other; the file that it is of, and how it is got to
	all    []*constant
	levels []tree.Level
	path   []tree.Expr
}

func (v *view) parts() []tree.Expr { return v.path }

func (v *view) with(path []tree.Expr) thing {
	c := *v
	c.path = path
	return &c
}

func (v *view) shape() string  { return v.key }
func (v *view) called() string { return v.name }

func (v *view) instead() string {
	example := v.name + "[0]"
	if keys := v.all[0].keys; keys != nil {
		example = v.name + "." + keys[0]
	}
	if v.name == listName {
		return "a list is not a value: give it a name with const and read one of its elements, as in it[0]"
	}
	return "a table is not a value: read one of its elements, as in " + example
}

func (v *view) fixed(name string) string {
	return fmt.Sprintf("\"%s\" always stands for %s: to choose another, choose its index or use another const", name, v.name)
}

// size is how many elements a list has, whichever it is, at most; -1 for an object.
func (v *view) size() int {
	most := 0
	for _, c := range v.all {
		if c.keys != nil {
			return -1
		}
		most = max(most, len(c.list))
	}
	return most
}

// has reports whether an object has a member with a name, whichever it is.
func (v *view) has(name string) bool {
	return slices.ContainsFunc(v.all, func(c *constant) bool { return c.key(name) != nil })
}

// elementsOf is what walker.elements has found.
type elementsOf struct {
	level tree.Level
	parts []*constant
}

// useConstant is a constant's value where its name stands.
func (w *walker) useConstant(s *symbol, at file.Idx) tree.Expr {
	c := w.topLevel(s, func(format string, args ...any) { w.errorf(at, format, args...) })
	if c == nil {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	n := tree.Node{At: at, T: tree.Type{Kind: tree.Constants}}
	return w.settle(&view{Node: n, name: s.name, key: strconv.Quote(s.module.path) + s.name, all: []*constant{c}})
}

// settle gives a view, or the value that it stands for if it has come to values.
func (w *walker) settle(v *view) tree.Expr {
	first := v.all[0]
	if !w.settled[v.key] {
		for _, p := range v.all[1:] {
			if (p.x == nil) != (first.x == nil) || p.x != nil && p.x.Type() != first.x.Type() || (p.keys == nil) != (first.keys == nil) {
				return w.bad(v.At, "what %s may be is of different types", v.name)
			}
		}
		w.settled[v.key] = true
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
		t = &tree.Table{Name: strings.ReplaceAll(v.name, "[]", ""), Kind: v.all[0].x.Type().Kind, Levels: v.levels}
		for _, p := range v.all {
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

// partsOf are the parts that a view with a key may be, one for each of all that make tells,
// found where they are first used. Tables are large and used often. False is for parts
// that are too many; nil among them ends it, too.
func (w *walker) partsOf(key string, of *view, at file.Idx, make func(c *constant) *constant) ([]*constant, bool) {
	if parts, ok := w.parts[key]; ok {
		return parts, true
	}
	if !w.afford(len(of.all), at) {
		return nil, false
	}
	var parts []*constant
	for _, c := range of.all {
		p := make(c)
		if p == nil {
			return nil, false
		}
		parts = append(parts, p)
	}
	w.parts[key] = parts
	return parts, true
}

// onward is a view of parts of v's parts.
func (v *view) onward(step, key string, parts []*constant) *view {
	return &view{
		Node: v.Node, name: v.name + step, key: v.key + key,
		all: parts, levels: slices.Clip(v.levels), path: slices.Clip(v.path),
	}
}

// member is v.NAME.
func (v *view) member(w *walker, name string, at file.Idx) tree.Expr {
	step := "." + strconv.Quote(name) // a name may have dots and brackets in it
	parts, ok := w.partsOf(v.key+step, v, at, func(c *constant) *constant {
		p := c.key(name)
		switch {
		case c.keys == nil && name == "length":
			p = &constant{x: &tree.NumberLit{Node: tree.Node{At: at, T: number}, Value: float64(len(c.list))}}
		case c.keys == nil:
			w.errorf(at, "a table has its elements and length only")
		case p == nil:
			w.errorf(at, "%s has no \"%s\"%s", v.name, name, offer(name, c.keys))
		}
		return p
	})
	if !ok {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	return w.settle(v.onward("."+name, step, parts))
}

// viewIndex is v[X].
func (w *walker) viewIndex(v *view, e *ast.BracketExpression) tree.Expr {
	if v.all[0].keys != nil {
		return w.viewName(v, e)
	}
	x := w.want(e.Member, number)
	if x.Type().Kind == tree.Bad {
		return x
	}
	if i, ok := w.fold(x); ok {
		return w.viewAt(v, i, e.Member.Idx0())
	}
	return w.further(v, x, e.LeftBracket)
}

// viewAt is an element whose index is known.
func (w *walker) viewAt(v *view, i float64, at file.Idx) tree.Expr {
	step := fmt.Sprintf("[%v]", i)
	parts, ok := w.partsOf(v.key+step, v, at, func(c *constant) *constant {
		if i < 0 || i != math.Trunc(i) || i >= float64(len(c.list)) {
			w.errorf(at, "%s has %s: there is none at %v", v.name, howMany(len(c.list)), i)
			return nil
		}
		return c.list[int(i)]
	})
	if !ok {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	return w.settle(v.onward(step, step, parts))
}

// elements are the elements of all that a view may be, one after the other, and how
// many each has; false where they are too many. Those of objects are in the order of the
// first one's names, which all of them must have.
func (w *walker) elements(v *view, at file.Idx) (e elementsOf, ok bool) {
	if e, ok = w.spread[v.key]; ok {
		return e, true
	}
	e.level.Keys = v.all[0].keys
	for _, p := range v.all {
		if !w.afford(len(p.list), at) {
			return e, false
		}
		list := p.list
		if !slices.Equal(p.keys, e.level.Keys) {
			list = nil
			for _, k := range e.level.Keys {
				list = append(list, p.key(k))
			}
			if len(p.keys) != len(list) || slices.Contains(list, nil) {
				w.errorf(at, "what %s may be has different names", v.name)
				return e, false
			}
		}
		e.level.Lens = append(e.level.Lens, len(list))
		e.parts = append(e.parts, list...)
	}
	w.spread[v.key] = e
	return e, true
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
		return v.member(w, s.Value, e.Member.Idx0())
	}
	return w.further(v, x, e.LeftBracket)
}

// further is the element of a view that x tells when the game runs.
func (w *walker) further(v *view, x tree.Expr, at file.Idx) tree.Expr {
	e, ok := w.elements(v, at)
	if !ok {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	return w.settle(v.chosen("[]", e, x))
}

// chosen is a view of the parts of v's parts among which x chooses.
func (v *view) chosen(step string, e elementsOf, x tree.Expr) *view {
	n := v.onward(step, step, e.parts)
	n.levels = append(n.levels, e.level)
	n.path = append(n.path, x)
	return n
}

// unit is a character of a str among the constants: "#..#"[x] or MAP[y][x]. The texts
// become a table of their characters.
func (w *walker) unit(x tree.Expr, e *ast.BracketExpression) tree.Expr {
	v := &view{Node: node(e, thingNode)}
	var texts []string
	switch x := x.(type) {
	case *tree.StrLit:
		v.name, v.key, texts = "this str", strconv.Quote(x.Value), []string{x.Value}
	case *tree.Index:
		v.name, v.key, v.path = x.Table.Name, fmt.Sprintf("%p", x.Table), x.Path
		v.levels, texts = x.Table.Levels, x.Table.Texts
	default:
		return w.bad(e.LeftBracket, "only a str among the constants has single characters: this one is taken as a whole, to be compared and assigned")
	}
	v.key += " characters"
	if v.all = w.parts[v.key]; v.all == nil {
		for _, text := range texts {
			if !w.afford(len(text), e.LeftBracket) {
				return &tree.NullLit{Node: node(e, badType)}
			}
			c := &constant{}
			for _, r := range text {
				if r > 0xffff {
					return w.bad(e.LeftBracket, "a character of %q takes two places in JavaScript, so single ones cannot be read", text)
				}
				n := tree.Node{At: e.LeftBracket, T: str}
				c.list = append(c.list, &constant{x: &tree.StrLit{Node: n, Value: string(r)}})
			}
			v.all = append(v.all, c)
		}
		w.parts[v.key] = v.all
	}
	if v.size() == 0 {
		return w.bad(e.LeftBracket, "an empty str has no characters")
	}
	return w.viewIndex(v, e)
}

// eitherView is one of two tables, by a test.
func (w *walker) eitherView(test tree.Expr, a, b *view, at file.Idx) tree.Expr {
	n := tree.Node{At: at, T: number}
	which := &tree.Cond{Node: n, Test: test, Then: &tree.NumberLit{Node: n}, Else: &tree.NumberLit{Node: n, Value: 1}}
	name := a.name + " or " + b.name
	v := &view{Node: tree.Node{At: at, T: thingNode}, name: name, key: "(" + a.key + "|" + b.key + ")"}
	return w.settle(v.chosen("", elementsOf{tree.Level{Lens: []int{2}}, []*constant{a.all[0], b.all[0]}}, which))
}

func howMany(n int) string {
	if n == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", n)
}

// forOfTable goes over the elements of a constant list.
func (w *walker) forOfTable(s *ast.ForOfStatement, d *ast.ForDeclaration, v *view) []tree.Stmt {
	if v.all[0].keys != nil {
		w.errorf(s.Source.Idx0(), "for-of goes over a list or a collection, but %s is an object: its names are %s", v.name, strings.Join(v.all[0].keys, ", "))
		return nil
	}
	w.push()
	defer w.pop()
	t, out := w.captured(v)
	v = t.(*view)
	i := &tree.Var{Name: "i", Type: number, Assigned: true}
	read := func() tree.Expr { return &tree.VarRef{Node: tree.Node{At: s.For, T: number}, Var: i} }
	count := func(n float64) tree.Expr { return &tree.NumberLit{Node: tree.Node{At: s.For, T: number}, Value: n} }
	length := v.member(w, "length", s.For)
	at := &tree.Var{Name: "at", Type: number, Const: true}
	x := w.further(v, &tree.VarRef{Node: tree.Node{At: s.For, T: number}, Var: at}, s.For)
	n := &tree.Loop{
		At: s.For, Target: &tree.Target{Name: "each"},
		Test: &tree.Binary{Node: tree.Node{At: s.For, T: boolean}, Op: tree.Lt, X: read(), Y: length},
		Step: &tree.Assign{Node: tree.Node{At: s.For, T: number}, Target: read(), Op: tree.Add, X: count(1), Old: true},
	}
	w.forget(d.Target, s.Body)
	start := w.flow.clone()
	n.Body = []tree.Stmt{&tree.Decl{Var: at, X: read()}}
	w.inside(&target{Target: n.Target, loop: true, labels: w.takeLabels()}, func() {
		n.Body = append(n.Body, w.bindTarget(d.Target, x, d.IsConst)...)
		n.Body = append(n.Body, w.block(s.Body)...)
	})
	w.flow = start
	return append(out, &tree.Decl{Var: i, X: count(0)}, n)
}
