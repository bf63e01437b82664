package front

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// global reports whether the expression is the name of something that the
// language has and no variable hides.
func (w *walker) global(e ast.Expression, name string) bool {
	id, ok := e.(*ast.Identifier)
	return ok && id.Name.String() == name && w.find(name) == nil && w.symbol.module.names[name] == nil
}

// collection is the type of what names a collection: game.NAME, or a name for that.
func (w *walker) collection(e ast.Expression) *schema.Type {
	switch e := e.(type) {
	case *ast.DotExpression:
		if w.global(e.Left, "game") {
			return w.types[e.Identifier.Name.String()]
		}
	case *ast.Identifier:
		if b := w.find(e.Name.String()); b != nil && b.ready {
			if c, ok := b.thing.(*collection); ok {
				return c.of
			}
		}
	}
	return nil
}

func (w *walker) collectionNames() string {
	return ", as in game." + strings.Join(w.plurals(), ", game.") + ", or over a constant list"
}

func (w *walker) plurals() (names []string) {
	for _, t := range w.def.Types[1:] {
		names = append(names, t.Plural)
	}
	return names
}

// mathConstants are the numbers in Math, exactly as JavaScript has them.
var mathConstants = map[string]float64{
	"PI": math.Pi, "E": math.E, "LN2": math.Ln2, "LN10": math.Ln10, "SQRT2": math.Sqrt2,
	"SQRT1_2": 0.7071067811865476, "LOG2E": 1.4426950408889634, "LOG10E": 0.4342944819032518,
}

func (w *walker) dot(e *ast.DotExpression) tree.Expr {
	name := e.Identifier.Name.String()
	at := e.Identifier.Idx
	if s, problem, found := w.exportOf(e); problem != "" {
		return w.bad(at, "%s", problem)
	} else if found {
		return w.useSymbol(s, at)
	}
	switch {
	case w.global(e.Left, "Math"):
		return w.mathMember(name, at)
	case w.global(e.Left, "Number"):
		return w.numberMember(name, at)
	case w.global(e.Left, "game"):
		return w.gameMember(e.Idx0(), at, name)
	}
	return w.member(w.present(w.object(e.Left)), name, at)
}

// mathMember is Math.NAME.
func (w *walker) mathMember(name string, at file.Idx) tree.Expr {
	if v, ok := mathConstants[name]; ok {
		return &tree.NumberLit{Node: tree.Node{At: at, T: number}, Value: v}
	}
	if _, ok := mathFunctions[name]; ok {
		return w.bad(at, "Math.%s is a function: call it", name)
	}
	return w.bad(at, "Math.%s is not part of the body language%s", name, suggest(name, append(keys(mathConstants), keys(mathFunctions)...)))
}

// numberConstants are the numbers in Number.
var numberConstants = map[string]float64{
	"EPSILON": 0x1p-52, "MAX_SAFE_INTEGER": 1<<53 - 1, "MIN_SAFE_INTEGER": -(1<<53 - 1), "MAX_VALUE": math.MaxFloat64,
	"MIN_VALUE": math.SmallestNonzeroFloat64, "POSITIVE_INFINITY": math.Inf(1), "NEGATIVE_INFINITY": math.Inf(-1), "NaN": math.NaN(),
}

// numberMember is Number.NAME.
func (w *walker) numberMember(name string, at file.Idx) tree.Expr {
	if v, ok := numberConstants[name]; ok {
		return &tree.NumberLit{Node: tree.Node{At: at, T: number}, Value: v}
	}
	if numberTests[name] {
		return w.bad(at, "Number.%s is a function: call it", name)
	}
	return w.bad(at, "Number.%s is not part of the body language%s", name, suggest(name, append(keys(numberConstants), keys(numberTests)...)))
}

// gameMember is game.NAME.
func (w *walker) gameMember(from, at file.Idx, name string) tree.Expr {
	in := w.def.Instance()
	if f := in.Field(name); f != nil {
		return w.fieldExpr(nil, in, f, from)
	}
	if of := w.types[name]; of != nil {
		return &collection{Node: tree.Node{At: at, T: thingNode}, of: of}
	}
	switch name {
	case "tick":
		return &tree.Property{Node: tree.Node{At: from, T: number}, What: tree.Tick}
	case "dt":
		return &tree.NumberLit{Node: tree.Node{At: from, T: number}, Value: 1 / float64(w.def.TickRate)}
	case "open":
		return &tree.Property{Node: tree.Node{At: from, T: boolean}, What: tree.Open}
	case "id":
		return &tree.NumberLit{Node: tree.Node{At: from, T: number}, Value: 0}
	case "end":
		return w.bad(at, "game.end is a function: call it")
	}
	if help, ok := w.elsewhere(name); ok {
		return w.bad(at, "%s", help)
	}
	var known []string
	for _, f := range in.Fields {
		known = append(known, f.Name)
	}
	known = append(append(known, w.plurals()...), "tick", "dt", "open", "end")
	return w.bad(at, "game has no field or collection \"%s\"%s", name, offerField(name, known))
}

// elsewhere is what to do about a name that game does not have in bodies.
func (w *walker) elsewhere(name string) (string, bool) {
	help, ok := elsewhere[name]
	plurals := w.plurals() // the players' first
	return strings.ReplaceAll(help, "COLLECTION", plurals[min(1, len(plurals)-1)]), ok
}

// member is x.NAME of an object or a command.
func (w *walker) member(x tree.Expr, name string, at file.Idx) tree.Expr {
	t := x.Type()
	switch t.Kind {
	case tree.Bad:
		return x
	case tree.Constants:
		return x.(thing).member(w, name, at)
	case tree.Object:
		x = w.nonNull(x)
		if f := t.Of.Field(name); f != nil {
			return w.fieldExpr(x, t.Of, f, x.Pos())
		}
		n := tree.Node{At: x.Pos(), T: number}
		switch {
		case name == "id":
			return &tree.Property{Node: n, What: tree.ID, Obj: x, Of: t.Of}
		case name == "owner" && t.Of.Owned:
			n.T = tree.Type{Kind: tree.Object, Of: w.def.Player(), Null: true}
			return &tree.Property{Node: n, What: tree.Owner, Obj: x, Of: t.Of}
		case name == "owner" && t.Of.Index != schema.PlayerType:
			return w.bad(at, "type %s has no owner: declare it \"owned\": true in gamehoster-game.json", t.Of.Name)
		case name == "remove":
			return w.bad(at, "remove is a function: call it")
		}
		known := []string{"id"}
		if t.Of.Owned {
			known = append(known, "owner")
		}
		for _, f := range t.Of.Fields {
			known = append(known, f.Name)
		}
		return w.bad(at, "type %s has no field \"%s\"%s", t.Of.Name, name, offerField(name, known))
	case tree.Command:
		for _, f := range t.Cmd.Fields {
			if f.Name == name {
				return &tree.CommandField{Node: tree.Node{At: x.Pos(), T: w.fieldType(f)}, Obj: x, Cmd: t.Cmd, Field: f}
			}
		}
		var known []string
		for _, f := range t.Cmd.Fields {
			known = append(known, f.Name)
		}
		return w.bad(at, "command %s has no field \"%s\"%s", t.Cmd.Name, name, offerField(name, known))
	case tree.Str:
		if name == "length" {
			return &tree.StrLen{Node: tree.Node{At: x.Pos(), T: number}, X: x}
		}
		return w.bad(at, "a str has no \"%s\" in a body: it can be assigned and compared, and has a length", name)
	case tree.Null:
		return w.bad(x.Pos(), "this is always null, which has no \"%s\"", name)
	}
	return w.bad(at, "%s has no \"%s\"", t, name)
}

// nonNull makes sure that an object is there. Where it may be null the author
// is warned, and the body's run ends there if it is.
func (w *walker) nonNull(x tree.Expr) tree.Expr {
	if !x.Type().Null {
		return x
	}
	if at, ok := placeOf(x); !ok || !w.flow.nonNull[at] {
		w.warnNull(x)
	}
	return w.there(x)
}

// there is an object that may be null where the author knows that it is not. The body's
// run ends there if it is, as nothing behind it would ask again.
func (w *walker) there(x tree.Expr) tree.Expr {
	t := x.Type()
	t.Null = false
	if at, ok := placeOf(x); ok {
		w.flow.assume([]place{at})
	}
	return &tree.NonNull{Node: tree.Node{At: x.Pos(), T: t}, X: x}
}

// warnNull tells that what is used here may be null.
func (w *walker) warnNull(x tree.Expr) {
	switch y := x.(type) {
	case *tree.VarRef:
		w.warnf(x.Pos(), "\"%s\" may be null here%s, which ends the body: test it first, as in if (!%s) return", y.Var.Name, full(w.spawned[y.Var]), y.Var.Name)
	case *tree.Spawn:
		w.warnf(x.Pos(), "this may be null%s, which ends the body: keep it in a const and test that first", full(y.Of))
	default:
		w.warnf(x.Pos(), "this may be null, which ends the body: keep it in a const and test that first")
	}
}

// full is why spawn() gives null; empty for what is no result of it.
func full(of *schema.Type) string {
	if of == nil {
		return ""
	}
	return fmt.Sprintf(" (spawn() gives null when all %d %s that max allows are in use)", of.Max, of.Plural)
}

func (w *walker) fieldExpr(obj tree.Expr, of *schema.Type, f *schema.Field, at file.Idx) tree.Expr {
	return &tree.Field{Node: tree.Node{At: at, T: w.fieldType(f)}, Obj: obj, Of: of, Field: f}
}

func (w *walker) fieldType(f *schema.Field) tree.Type {
	switch f.Kind {
	case schema.Bool:
		return boolean
	case schema.Str:
		return str
	case schema.Ref:
		return tree.Type{Kind: tree.Object, Of: w.def.Types[f.Ref], Null: true}
	}
	return number
}

// constantChain is the name of the constant that a chain of members begins with.
func (w *walker) constantChain(e ast.Expression) (string, bool) {
	id := root(e)
	if id == nil {
		return "", false
	}
	if b := w.find(id.Name.String()); b != nil {
		_, ok := b.thing.(*view)
		return id.Name.String(), ok
	}
	s, _ := w.loader.lookup(w.symbol.module, id.Name.String())
	return id.Name.String(), s != nil && s.kind == symConst
}

// bracket walks x[y]: an element of a table, or a field whose name is only known
// when the game runs.
func (w *walker) bracket(e *ast.BracketExpression) tree.Expr { return w.bracketOf(e, false) }

// bracketOf is bracket; write tells that it is written and not read.
func (w *walker) bracketOf(e *ast.BracketExpression, write bool) tree.Expr {
	if of := w.collection(e.Left); of != nil {
		return w.bad(e.LeftBracket, "objects are found by id: game.%s.find(id)", of.Plural)
	}
	if w.global(e.Left, "game") {
		return w.named(nil, tree.Type{Kind: tree.Object, Of: w.def.Instance()}, e, write)
	}
	x := w.present(w.object(e.Left))
	t := x.Type()
	switch t.Kind {
	case tree.Bad:
		return x
	case tree.Constants:
		return w.thingIndex(x.(thing), e)
	case tree.Object:
		return w.named(w.nonNull(x), t, e, write)
	case tree.Command:
		return w.named(x, t, e, write)
	case tree.Str:
		return w.unit(x, e)
	}
	return w.bad(e.LeftBracket, "%s has no elements", t)
}

// thingIndex is an element of a thing.
func (w *walker) thingIndex(t thing, e *ast.BracketExpression) tree.Expr {
	r, ok := t.(*record)
	if !ok {
		return w.viewIndex(t.(*view), e)
	}
	if s, ok := e.Member.(*ast.StringLiteral); ok {
		return w.bad(e.LeftBracket, "write .%s instead of [\"%s\"]", s.Value, s.Value)
	}
	if r.keys != nil {
		return w.bad(e.LeftBracket, "the members of %s are named where they are used: %s.%s; what is chosen by a computed name stands among the constants at the top level, or is a field",
			r.called(), r.called(), r.keys[0])
	}
	x := w.want(e.Member, number)
	if x.Type().Kind == tree.Bad {
		return x
	}
	i, known := w.fold(x)
	if !known {
		return w.bad(e.Member.Idx0(), "the index into a list that a body makes is written as a number, as in %s[0]: a list of constants takes any", r.called())
	}
	return r.member(w, strconv.FormatFloat(i, 'f', -1, 64), e.Member.Idx0())
}

// named is a field of an object, of a command or, with obj nil, of the instance by
// a name that is computed.
func (w *walker) named(obj tree.Expr, t tree.Type, e *ast.BracketExpression, write bool) tree.Expr {
	if s, ok := e.Member.(*ast.StringLiteral); ok {
		return w.bad(e.LeftBracket, "write .%s instead of [\"%s\"]", s.Value, s.Value)
	}
	name := w.present(w.value(e.Member))
	switch name.Type().Kind {
	case tree.Bad:
		return name
	case tree.Str:
	default:
		return w.bad(e.Member.Idx0(), "a field is named by a str, but this is %s", name.Type())
	}
	if s, ok := name.(*tree.StrLit); ok {
		if obj == nil {
			return w.gameMember(e.Idx0(), e.Member.Idx0(), s.Value)
		}
		return w.member(obj, s.Value, e.Member.Idx0())
	}
	n := &tree.Named{Node: node(e, number), Obj: obj, Of: t.Of, Cmd: t.Cmd, Name: name}
	if t.Cmd != nil {
		for _, f := range t.Cmd.Fields {
			if f.Kind.Number() {
				n.Fields = append(n.Fields, f)
			}
		}
	} else {
		n.Fields = w.namedFields(t.Of, write)
	}
	if len(n.Fields) == 0 {
		return w.bad(e.LeftBracket, "a computed name stands for a number, and there is no field here that is one and that this body may see")
	}
	return n
}

// namedFields are the fields that a computed name can stand for: numbers that the
// function may read or write.
func (w *walker) namedFields(of *schema.Type, write bool) (list []*schema.Field) {
	for _, f := range of.Fields {
		visible := w.in.fn.Server || f.Sync != schema.Server && (write || f.Audience == schema.All)
		if f.Kind.Number() && visible {
			list = append(list, f)
		}
	}
	return list
}

// optional walks a chain with ?. in it.
func (w *walker) optional(e *ast.OptionalChain) tree.Expr {
	hole := findHole(e.Expression)
	if hole == nil {
		return w.expr(e.Expression)
	}
	var base tree.Expr
	if findHole(hole.Expression) != nil { // a?.b?.c: the first ?. is part of the second one's base
		base = w.optional(&ast.OptionalChain{Expression: hole.Expression})
	} else {
		base = w.value(hole.Expression)
	}
	t := base.Type()
	if t.Kind != tree.Object {
		if t.Kind == tree.Bad {
			return base
		}
		return w.bad(e.Idx0(), "%s is never null, so ?. has no use here: write a dot", t)
	}
	t.Null = false
	v := &tree.Var{Name: "maybe", Type: t, Const: true}
	outer, outerVar := w.hole, w.holeVar
	w.hole, w.holeVar = hole, v
	defer func() { w.hole, w.holeVar = outer, outerVar }()
	before := w.flow.clone()
	w.flow.assume(objectAt(base))
	n := &tree.Optional{Base: base, Var: v, Rest: w.expr(e.Expression)}
	w.flow = merge(before, w.flow)
	n.Node = node(e, n.Rest.Type())
	if n.T.Kind == tree.Object {
		n.T.Null = true
	}
	if n.T.Kind == tree.Bad {
		return n.Rest
	}
	return n
}

// findHole is the ?. that stands last in a chain: what is before it is its base.
func findHole(e ast.Expression) *ast.Optional {
	switch e := e.(type) {
	case *ast.Optional:
		return e
	case *ast.DotExpression:
		return findHole(e.Left)
	case *ast.BracketExpression:
		return findHole(e.Left)
	case *ast.CallExpression:
		return findHole(e.Callee)
	}
	return nil
}

// filled is the value of a chain's base at the place that it came from.
func (w *walker) filled(e *ast.Optional) tree.Expr {
	if e != w.hole {
		return w.bad(e.Idx0(), "this use of ?. is not part of the body language: use if")
	}
	return &tree.VarRef{Node: node(e, w.holeVar.Type), Var: w.holeVar}
}
