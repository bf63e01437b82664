package front

import (
	"math"
	"strconv"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/token"

	"gamehoster/games/body/internal/tree"
)

var (
	boolean = tree.Type{Kind: tree.Bool}
	number  = tree.Type{Kind: tree.Number}
	str     = tree.Type{Kind: tree.Str}
	void    = tree.Type{Kind: tree.Void}
	badType = tree.Type{Kind: tree.Bad}
)

const noUndefined = `undefined is not a value of the body language: use null for no object, 0 or "" for no value`

func node(e ast.Node, t tree.Type) tree.Node { return tree.Node{At: e.Idx0(), T: t} }

var operators = map[token.Token]tree.Op{
	token.PLUS: tree.Add, token.MINUS: tree.Sub, token.MULTIPLY: tree.Mul, token.SLASH: tree.Div, token.REMAINDER: tree.Rem, token.EXPONENT: tree.Pow,
	token.AND: tree.BitAnd, token.OR: tree.BitOr, token.EXCLUSIVE_OR: tree.BitXor,
	token.SHIFT_LEFT: tree.Shl, token.SHIFT_RIGHT: tree.Shr, token.UNSIGNED_SHIFT_RIGHT: tree.ShrU,
	token.STRICT_EQUAL: tree.Eq, token.STRICT_NOT_EQUAL: tree.Ne,
	token.LESS: tree.Lt, token.LESS_OR_EQUAL: tree.Le, token.GREATER: tree.Gt, token.GREATER_OR_EQUAL: tree.Ge,
}

// expr walks an expression. It may have no value (a call) or be an Optional;
// value refuses both.
func (w *walker) expr(e ast.Expression) tree.Expr {
	w.steps++
	x := w.plain(e)
	if t := x.Type(); t.Kind != tree.Object || !t.Null {
		return x
	}
	// Of the others the last part would be taken for the whole: b! is the end of a || b!.
	switch e.(type) {
	case *ast.Identifier, *ast.DotExpression, *ast.BracketExpression, *ast.CallExpression:
		if _, ok := x.(*tree.Optional); !ok && w.loader.files.asserted(e.Idx1()) {
			return w.there(x)
		}
	}
	return x
}

// plain is expr without TypeScript's !.
func (w *walker) plain(e ast.Expression) tree.Expr {
	switch e := e.(type) {
	case *ast.NumberLiteral:
		return w.numberLit(e)
	case *ast.BooleanLiteral:
		return &tree.BoolLit{Node: node(e, boolean), Value: e.Value}
	case *ast.NullLiteral:
		return &tree.NullLit{Node: node(e, tree.Type{Kind: tree.Null})}
	case *ast.StringLiteral:
		return w.strLit(e)
	case *ast.Identifier:
		return w.name(e)
	case *ast.DotExpression:
		return w.dot(e)
	case *ast.BracketExpression:
		return w.bracket(e)
	case *ast.OptionalChain:
		return w.optional(e)
	case *ast.Optional:
		return w.filled(e)
	case *ast.CallExpression:
		return w.call(e)
	case *ast.UnaryExpression:
		return w.unary(e)
	case *ast.BinaryExpression:
		return w.binary(e)
	case *ast.ConditionalExpression:
		return w.conditional(e)
	case *ast.AssignExpression:
		return w.assignment(e)
	case *ast.ObjectLiteral:
		return w.objectLiteral(e)
	case *ast.ArrayLiteral:
		return w.listLiteral(e)
	case *ast.SequenceExpression:
		n := &tree.Comma{}
		last := len(e.Sequence) - 1
		for _, x := range e.Sequence[:last] {
			n.List = append(n.List, w.effect(x))
		}
		x := w.expr(e.Sequence[last])
		if t, ok := x.(thing); ok {
			x = w.bad(t.Pos(), "%s", t.instead())
		}
		n.List = append(n.List, x)
		n.Node = node(e, n.List[len(n.List)-1].Type())
		return n
	}
	return w.bad(e.Idx0(), "%s", refusedExpression(e))
}

// value walks an expression whose value is used.
func (w *walker) value(e ast.Expression) tree.Expr {
	return w.needValue(w.expr(e), e.Idx0())
}

// object is value of what may be a thing too.
func (w *walker) object(e ast.Expression) tree.Expr {
	x := w.expr(e)
	if _, ok := x.(thing); ok {
		return x
	}
	return w.needValue(x, e.Idx0())
}

func (w *walker) needValue(x tree.Expr, at file.Idx) tree.Expr {
	switch x.Type().Kind {
	case tree.Void:
		if _, ok := x.(*tree.Assign); ok {
			return w.bad(at, "what a str field takes may be cut, so its assignment gives no value: assign one after the other")
		}
		if c, ok := x.(*tree.Call); ok {
			return w.bad(at, "\"%s\" returns nothing: write return in front of the value", c.Fn.Name)
		}
		return w.bad(at, "this gives no value")
	case tree.Constants:
		t := x.(thing)
		return w.bad(t.Pos(), "%s", t.instead())
	}
	return x
}

// present refuses an Optional's possible undefined.
func (w *walker) present(x tree.Expr) tree.Expr {
	if o, ok := x.(*tree.Optional); ok && o.T.Kind != tree.Bad {
		return w.bad(o.At, "this is undefined where the object is null: say what it is then, as in a?.x ?? 0")
	}
	return x
}

// want walks an expression that must have a type.
func (w *walker) want(e ast.Expression, t tree.Type) tree.Expr {
	return w.fit(w.present(w.value(e)), t)
}

// fit checks the type of a value.
func (w *walker) fit(x tree.Expr, t tree.Type) tree.Expr {
	have := x.Type()
	if have.Kind == tree.Bad || t.Kind == tree.Bad || have.Kind == t.Kind && (t.Kind != tree.Object || have.Of == t.Of && (t.Null || !have.Null)) {
		return x
	}
	if have.Kind == tree.Null && t.Kind == tree.Object && t.Null {
		return x
	}
	help := ""
	switch {
	case t.Kind == tree.Number && have.Kind == tree.Bool:
		help = ": write x ? 1 : 0"
	case t.Kind == tree.Bool && have.Kind == tree.Number:
		help = ": write x !== 0"
	case t.Kind == tree.Bool && have.Kind == tree.Object:
		help = ": write x !== null"
	case t.Kind == tree.Number && have.Kind == tree.Object:
		help = ": name one of its fields, or its id"
	case t.Kind == tree.Str && have.Kind == tree.Number:
		help = ": a str takes text only"
	}
	return w.bad(x.Pos(), "expected %s but this is %s%s", t, have, help)
}

// effect walks an expression whose value is dropped.
func (w *walker) effect(e ast.Expression) tree.Expr {
	const nothing = "nothing is done with this value"
	switch e := e.(type) {
	case *ast.CallExpression:
		x := w.expr(e)
		if t, ok := x.(thing); ok { // whatever it gives, the call is its first part
			return t.parts()[0]
		}
		return x
	case *ast.AssignExpression, *ast.OptionalChain, *ast.SequenceExpression:
		return w.expr(e)
	case *ast.UnaryExpression:
		if e.Operator == token.INCREMENT || e.Operator == token.DECREMENT {
			return w.expr(e)
		}
	case *ast.ConditionalExpression:
		return w.effectOfEither(e)
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR:
			return w.effectIf(e)
		case token.STRICT_EQUAL, token.EQUAL:
			return w.bad(e.Idx0(), nothing+": an assignment is written with one =")
		}
	case *ast.StringLiteral:
		if e.Value.String() == "use strict" {
			return w.bad(e.Idx, "bodies are modules and strict already: leave \"use strict\" out")
		}
	}
	x := w.expr(e)
	refused := false // and that was said
	tree.EachExpr([]tree.Stmt{&tree.Eval{X: x}}, func(part tree.Expr) { refused = refused || part.Type().Kind == tree.Bad })
	if refused {
		return x
	}
	return w.bad(e.Idx0(), nothing)
}

// effectIf walks test && act() and test || act().
func (w *walker) effectIf(e *ast.BinaryExpression) tree.Expr {
	n := &tree.Logical{Node: node(e, void), Op: tree.And}
	var f facts
	n.X, f = w.cond(e.Left)
	before := w.flow.clone()
	if e.Operator == token.LOGICAL_OR {
		n.Op = tree.Or
		w.flow.assume(f.no)
	} else {
		w.flow.assume(f.yes)
	}
	n.Y = w.effect(e.Right)
	w.flow = merge(before, w.flow)
	return n
}

// effectOfEither walks test ? act() : other().
func (w *walker) effectOfEither(e *ast.ConditionalExpression) tree.Expr {
	n := &tree.Cond{Node: node(e, void)}
	var f facts
	n.Test, f = w.cond(e.Test)
	start := w.flow.clone()
	then := w.branch(start, f.yes, func() { n.Then = w.effect(e.Consequent) })
	other := w.branch(start, f.no, func() { n.Else = w.effect(e.Alternate) })
	w.flow = merge(then, other)
	return n
}

// maxText is the most bytes of a text in a body, as of a str field.
const maxText = 255

func (w *walker) strLit(e *ast.StringLiteral) tree.Expr {
	n := &tree.StrLit{Node: node(e, str), Value: e.Value.String()}
	for i, units := 0, e.Value.AsUtf16(); i < len(units); i++ {
		switch c := units[i]; {
		case c < 0xd800 || c > 0xdfff:
		case c < 0xdc00 && i+1 < len(units) && units[i+1]&0xfc00 == 0xdc00:
			i++
		default:
			return w.bad(e.Idx, "half of a character of two units is no text")
		}
	}
	if len(n.Value) > maxText {
		return w.bad(e.Idx, "this text has %d bytes, but a str holds %d at most", len(n.Value), maxText)
	}
	return n
}

func (w *walker) numberLit(e *ast.NumberLiteral) tree.Expr {
	n := &tree.NumberLit{Node: node(e, number)}
	if l := e.Literal; len(l) > 1 && l[0] == '0' && l[1] >= '0' && l[1] <= '9' {
		return w.bad(e.Idx, "a number has no zeros in front, where they would mean octal: write %s", strings.TrimLeft(l[:len(l)-1], "0")+l[len(l)-1:])
	}
	switch v := e.Value.(type) {
	case int64:
		n.Value = float64(v)
	case float64:
		n.Value = v
	default:
		return w.bad(e.Idx, "%s is not a number of the body language: numbers are doubles", e.Literal)
	}
	return n
}

// name walks an identifier that stands for a value.
func (w *walker) name(e *ast.Identifier) tree.Expr {
	name := e.Name.String()
	if b := w.find(name); b != nil {
		if !b.ready {
			return w.bad(e.Idx, "\"%s\" is used before it is declared", name)
		}
		if b.thing != nil {
			return again(w, b.thing, e.Idx)
		}
		if w.flow.unset[b.v] {
			return w.bad(e.Idx, "\"%s\" may have no value yet here: give it one where it is declared, or on every way to this place", name)
		}
		return w.readVar(b.v, e.Idx)
	}
	s, problem := w.loader.lookup(w.symbol.module, name)
	if s != nil || problem != "" || w.symbol.module.names[name] != nil {
		return w.useSymbol(s, e.Idx) // the problem of an import is told where that stands
	}
	switch name {
	case "Infinity":
		return &tree.NumberLit{Node: node(e, number), Value: math.Inf(1)}
	case "NaN":
		return &tree.NumberLit{Node: node(e, number), Value: math.NaN()}
	case "undefined":
		return w.bad(e.Idx, "%s", noUndefined)
	case "game":
		return w.bad(e.Idx, "game itself is not a value: name one of its fields or collections")
	case "Math":
		return w.bad(e.Idx, "Math itself is not a value: call one of its functions")
	case "random", "serverRandom":
		return w.bad(e.Idx, "\"%s\" is not a value: call it", name)
	}
	if w.missing[name] {
		return &tree.NullLit{Node: node(e, badType)}
	}
	w.missing[name] = true
	if help, ok := foreign[name]; ok {
		return w.bad(e.Idx, "%s", help)
	}
	if of := w.gameName(name); of != "" {
		return w.bad(e.Idx, "there is nothing called \"%s\" here: write game.%s for %s", name, name, of)
	}
	return w.bad(e.Idx, "there is nothing called \"%s\" here%s", name, suggest(name, w.visible()))
}

// useSymbol is the value of a name at a file's top level. Where that is in error, as
// is told elsewhere, s is nil.
func (w *walker) useSymbol(s *symbol, at file.Idx) tree.Expr {
	switch {
	case s == nil:
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	case s.kind == symConst:
		return w.useConstant(s, at)
	case s.kind == symNamespace:
		return w.bad(at, "\"%s\" is a file: name one of its exports, as in %s.name", s.name, s.name)
	}
	return w.bad(at, "a function is not a value of the body language: call it")
}

// exportOf is what NAME.MEMBER stands for where NAME is an import * as NAME; found is
// false where it is not.
func (w *walker) exportOf(d *ast.DotExpression) (s *symbol, problem string, found bool) {
	id, ok := d.Left.(*ast.Identifier)
	if !ok || w.find(id.Name.String()) != nil {
		return nil, "", false
	}
	ns := w.symbol.module.names[id.Name.String()]
	if ns == nil || ns.kind != symNamespace {
		return nil, "", false
	}
	name := d.Identifier.Name.String()
	s, problem = w.loader.follow(&symbol{kind: symImport, name: name, module: w.symbol.module, from: ns.from, imported: name}, name)
	return s, problem, true
}

// gameName is what game has under a name; empty for nothing.
func (w *walker) gameName(name string) string {
	switch {
	case w.types[name] != nil:
		return "the collection"
	case w.def.Instance().Field(name) != nil:
		return "the instance's field"
	case name == "tick" || name == "dt":
		return "the instance's time"
	}
	return ""
}

// visible are the names that can be used where the walk stands.
func (w *walker) visible() []string {
	names := append(keys(w.symbol.module.names), "game", "random", "Math")
	for s := w.scope; s != nil; s = s.up {
		names = append(names, keys(s.vars)...)
	}
	return names
}

func (w *walker) readVar(v *tree.Var, at file.Idx) tree.Expr {
	t := v.Type
	if t.Kind == tree.Bad || w.broken[v] {
		return &tree.NullLit{Node: tree.Node{At: at, T: badType}}
	}
	if w.flow.nonNull[place{v: v}] {
		t.Null = false
	}
	return &tree.VarRef{Node: tree.Node{At: at, T: t}, Var: v}
}

func (w *walker) unary(e *ast.UnaryExpression) tree.Expr {
	switch e.Operator {
	case token.NOT:
		x, _ := w.cond(e)
		return x
	case token.MINUS:
		return &tree.Unary{Node: node(e, number), Op: tree.Neg, X: w.want(e.Operand, number)}
	case token.PLUS:
		return w.toNumber(w.present(w.value(e.Operand)), e.Idx0())
	case token.BITWISE_NOT:
		return &tree.Unary{Node: node(e, number), Op: tree.BitNot, X: w.want(e.Operand, number)}
	case token.INCREMENT, token.DECREMENT:
		op := tree.Add
		if e.Operator == token.DECREMENT {
			op = tree.Sub
		}
		one := &tree.NumberLit{Node: node(e, number), Value: 1}
		target := w.updatable(e.Operand)
		if target.Type().Kind == tree.Bad {
			return target
		}
		w.fit(target, number)
		return &tree.Assign{Node: node(e, number), Target: target, Op: op, X: one, Old: e.Postfix}
	case token.TYPEOF:
		return w.bad(e.Idx0(), "typeof is not part of the body language: types are known when the game is checked")
	case token.VOID:
		if n, ok := e.Operand.(*ast.NumberLiteral); ok && n.Value == int64(0) {
			return w.bad(e.Idx0(), "%s", noUndefined) // as esbuild writes undefined
		}
	case token.DELETE:
		return w.bad(e.Idx0(), "fields cannot be deleted: objects go with remove()")
	}
	return w.bad(e.Idx0(), "the operator %s is not part of the body language", e.Operator)
}

// toNumber is +x and Number(x).
func (w *walker) toNumber(x tree.Expr, at file.Idx) tree.Expr {
	n := tree.Node{At: at, T: number}
	if x.Type().Kind == tree.Bool {
		return &tree.Cond{Node: n, Test: x, Then: &tree.NumberLit{Node: n, Value: 1}, Else: &tree.NumberLit{Node: n}}
	}
	return &tree.Unary{Node: n, Op: tree.Plus, X: w.fit(x, number)}
}

func (w *walker) binary(e *ast.BinaryExpression) tree.Expr {
	switch e.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR:
		return w.logical(e)
	case token.COALESCE:
		return w.nullish(e)
	case token.EQUAL:
		return w.bad(e.Left.Idx0(), "use === instead of ==")
	case token.NOT_EQUAL:
		return w.bad(e.Left.Idx0(), "use !== instead of !=")
	}
	op, ok := operators[e.Operator]
	if !ok {
		return w.bad(e.Left.Idx0(), "the operator %s is not part of the body language", e.Operator)
	}
	if op == tree.Eq || op == tree.Ne {
		x, y := w.value(e.Left), w.value(e.Right)
		x, y = w.unequal(x, y), w.unequal(y, x)
		x, y = w.present(x), w.present(y)
		w.comparable(op, x, y, e.Left.Idx0())
		return &tree.Binary{Node: node(e, boolean), Op: op, X: x, Y: y}
	}
	t := number
	if op >= tree.Lt && op <= tree.Ge {
		t = boolean
	}
	x, y := w.value(e.Left), w.value(e.Right)
	if t == boolean {
		x, y = notANumber(x), notANumber(y)
	}
	x, y = w.present(x), w.present(y)
	a, b := x.Type().Kind == tree.Str, y.Type().Kind == tree.Str
	switch {
	case a && b && t == boolean:
		return &tree.Binary{Node: node(e, t), Op: op, X: x, Y: y}
	case (a || b) && op == tree.Add && x.Type().Kind != tree.Bad && y.Type().Kind != tree.Bad:
		return w.bad(e.Left.Idx0(), "strs cannot be joined in a body: build texts in client.js")
	}
	x, y = w.fit(x, number), w.fit(y, number)
	return &tree.Binary{Node: node(e, t), Op: op, X: x, Y: y}
}

// notANumber is a number that is undefined where an object is null, as an order sees
// it: undefined is neither less nor more than anything, like NaN.
func notANumber(x tree.Expr) tree.Expr {
	if _, ok := x.(*tree.Optional); ok && x.Type() == number {
		n := tree.Node{At: x.Pos(), T: number}
		return &tree.Nullish{Node: n, X: x, Y: &tree.NumberLit{Node: n, Value: math.NaN()}}
	}
	return x
}

// unequal is a side of === that is undefined where an object is null, as something else
// that the other side is not: undefined equals no number and no object.
func (w *walker) unequal(x, other tree.Expr) tree.Expr {
	_, ok := x.(*tree.Optional)
	if _, both := other.(*tree.Optional); !ok || both {
		return x
	}
	t := x.Type()
	if t.Kind == tree.Object && other.Type().Kind == tree.Object && !other.Type().Null {
		n := tree.Node{At: x.Pos(), T: t}
		return &tree.Nullish{Node: n, X: x, Y: &tree.NullLit{Node: tree.Node{At: n.At, T: tree.Type{Kind: tree.Null}}}}
	}
	return notANumber(x)
}

// comparable checks the two sides of === and !==.
func (w *walker) comparable(op tree.Op, x, y tree.Expr, at file.Idx) {
	a, b := x.Type(), y.Type()
	if a.Kind == tree.Null || a.Kind == tree.Bad {
		a, b = b, a
	}
	switch {
	case a.Kind == tree.Bad || b.Kind == tree.Bad:
	case a.Kind == tree.Command || b.Kind == tree.Command:
		w.errorf(at, "commands cannot be compared: compare their fields")
	case a.Kind == tree.Object && (b.Kind == tree.Null || b.Kind == tree.Object && b.Of == a.Of):
	case a.Kind != b.Kind || a.Kind == tree.Object:
		result := "false"
		if op == tree.Ne {
			result = "true"
		}
		w.errorf(at, "%s and %s are never equal, so this is always %s", x.Type(), y.Type(), result)
	}
}

// logical walks && and || whose value is used: both sides must have one type.
func (w *walker) logical(e *ast.BinaryExpression) tree.Expr {
	x, _ := w.cond(e)
	return w.oneType(x, e.Operator)
}

func (w *walker) oneType(x tree.Expr, op token.Token) tree.Expr {
	l, ok := x.(*tree.Logical)
	if !ok {
		return w.present(x)
	}
	for _, side := range []tree.Expr{w.oneType(l.X, op), w.oneType(l.Y, op)} {
		if side.Type().Kind == tree.Bad {
			return side
		}
	}
	if l.Mixed {
		return w.bad(l.At, "the two sides of %s are %s and %s: use if, or compare them so that both are bools", op, l.X.Type(), l.Y.Type())
	}
	return l
}

func (w *walker) nullish(e *ast.BinaryExpression) tree.Expr {
	x := w.value(e.Left)
	t := x.Type()
	_, optional := x.(*tree.Optional)
	if t.Kind != tree.Bad && !optional && t.Kind != tree.Object && t.Kind != tree.Null {
		return w.bad(e.Left.Idx0(), "this is never null, so ?? has no use here")
	}
	before := w.flow.clone()
	y := w.present(w.value(e.Right))
	w.flow = merge(before, w.flow)
	if y.Type().Kind == tree.Object && t.Kind == tree.Object {
		t.Null = false
	}
	joined, ok := join(t, y.Type())
	if !ok {
		return w.bad(e.Left.Idx0(), "the two sides of ?? are %s and %s", t, y.Type())
	}
	return &tree.Nullish{Node: node(e, joined), X: x, Y: y}
}

func (w *walker) conditional(e *ast.ConditionalExpression) tree.Expr {
	n := &tree.Cond{}
	var f facts
	n.Test, f = w.cond(e.Test)
	start := w.flow.clone()
	then := w.branch(start, f.yes, func() { n.Then = w.present(w.object(e.Consequent)) })
	other := w.branch(start, f.no, func() { n.Else = w.present(w.object(e.Alternate)) })
	w.flow = merge(then, other)
	if a, ok := n.Then.(*view); ok {
		if b, ok := n.Else.(*view); ok && len(a.path) == 0 && len(b.path) == 0 {
			return w.eitherView(n.Test, a, b, e.Idx0())
		}
	}
	n.Then, n.Else = w.needValue(n.Then, e.Consequent.Idx0()), w.needValue(n.Else, e.Alternate.Idx0())
	t, ok := join(n.Then.Type(), n.Else.Type())
	if !ok {
		return w.bad(e.Consequent.Idx0(), "the two values of ? : are %s and %s: both must have one type", n.Then.Type(), n.Else.Type())
	}
	n.Node = node(e, t)
	return n
}

// assignable walks what is written. only tells that it is not read.
func (w *walker) assignable(e ast.Expression, only bool) tree.Expr {
	switch e := e.(type) {
	case *ast.Identifier:
		if b := w.find(e.Name.String()); b != nil && b.ready && b.v != nil {
			if b.v.Assigned = true; b.v.Const {
				return w.bad(e.Idx, "\"%s\" is a constant: declare it with let", e.Name)
			}
			return &tree.VarRef{Node: tree.Node{At: e.Idx, T: b.v.Type}, Var: b.v}
		} else if b != nil && b.ready {
			return w.bad(e.Idx, "%s", b.thing.fixed(e.Name.String()))
		}
		if x := w.name(e); x.Type().Kind == tree.Bad {
			return x
		}
		return w.bad(e.Idx, "\"%s\" is a constant", e.Name)
	case *ast.DotExpression:
		if r := w.recordAt(e.Left); r != nil {
			return w.assignMember(r, e.Identifier.Name.String(), e.Identifier.Idx)
		}
		x := w.dot(e)
		switch p := x.(type) {
		case *tree.Field:
			return x
		case *tree.Property:
			if p.What == tree.Open {
				return x
			}
			return w.bad(e.Identifier.Idx, "\"%s\" cannot be assigned: it is given by the engine", e.Identifier.Name)
		case *tree.CommandField:
			return w.bad(e.Identifier.Idx, "a command's fields cannot be assigned: copy it into a let first")
		}
		if t, ok := x.(thing); ok {
			return w.bad(e.Identifier.Idx, "%s cannot be assigned as a whole", t.called())
		}
		if x.Type().Kind == tree.Bad {
			return x
		}
		if v, ok := w.constantChain(e.Left); ok {
			return w.bad(e.Identifier.Idx, "%s is constant: nothing in it can be assigned", v)
		}
		return w.bad(e.Identifier.Idx, "this cannot be assigned")
	case *ast.PrivateDotExpression:
		return w.bad(e.Idx0(), "%s", refusedClass)
	case *ast.ArrayPattern, *ast.ObjectPattern, *ast.ArrayLiteral, *ast.ObjectLiteral:
		return w.bad(e.Idx0(), "assign one name or field after the other")
	case *ast.BracketExpression:
		if r := w.recordAt(e.Left); r != nil && r.keys == nil {
			if i, ok := w.fold(w.want(e.Member, number)); ok {
				return w.assignMember(r, strconv.FormatFloat(i, 'f', -1, 64), e.Member.Idx0())
			}
		}
		x := w.bracketOf(e, only)
		switch n := x.(type) {
		case *tree.Named:
			if n.Cmd != nil {
				return w.bad(e.LeftBracket, "a command's fields cannot be assigned: copy it into a let first")
			}
			return x
		case *tree.Field:
			return x
		}
		if x.Type().Kind == tree.Bad {
			return x
		}
		return w.bad(e.Idx0(), "a table is constant: its elements cannot be assigned")
	}
	return w.bad(e.Idx0(), "this cannot be assigned")
}

// updatable is assignable of what is read as well.
func (w *walker) updatable(e ast.Expression) tree.Expr {
	x := w.assignable(e, false)
	if v, ok := x.(*tree.VarRef); ok && w.flow.unset[v.Var] {
		return w.bad(v.At, "\"%s\" may have no value yet here: give it one where it is declared, or on every way to this place", v.Var.Name)
	}
	return x
}

func (w *walker) assignment(e *ast.AssignExpression) tree.Expr {
	switch e.Operator {
	case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
		return w.assignLazily(e)
	case token.ASSIGN:
		return w.assignTo(e.Left, func() tree.Expr { return w.present(w.object(e.Right)) })
	}
	target := w.updatable(e.Left)
	t := target.Type()
	n := &tree.Assign{Node: node(e, t), Target: target}
	op, ok := operators[e.Operator]
	if !ok {
		return w.bad(e.Left.Idx0(), "the operator %s= is not part of the body language", e.Operator)
	}
	if t.Kind == tree.Str {
		return w.bad(e.Left.Idx0(), "strs cannot be joined in a body: build texts in client.js")
	}
	w.fit(target, number)
	n.Op, n.X = op, w.want(e.Right, number)
	return n
}

// assignTo assigns the value that is walked behind the target.
func (w *walker) assignTo(left ast.Expression, value func() tree.Expr) tree.Expr {
	target := w.assignable(left, true)
	n := &tree.Assign{Node: node(left, target.Type()), Target: target}
	x := value()
	if _, variable := target.(*tree.VarRef); target.Type().Kind == tree.Bad && !variable {
		return target
	}
	w.receive(n, w.needValue(x, x.Pos()), left)
	return n
}

// receive checks what an assignment writes, and notes what is known behind it.
func (w *walker) receive(n *tree.Assign, x tree.Expr, left ast.Expression) {
	t := n.Target.Type()
	n.X = x
	if v, ok := n.Target.(*tree.VarRef); ok {
		w.grow(v.Var, x.Type(), left.Idx0())
		w.flow.set(v.Var, x.Type())
		n.T = x.Type()
		return
	}
	if t.Kind == tree.Object {
		t.Null = true // a reference can be set to null
		if f, ok := n.Target.(*tree.Field); ok {
			defer w.flow.written(f.Field.Name)
		}
	}
	n.X = w.fit(x, t)
	if f, ok := n.Target.(*tree.Field); ok && t.Kind == tree.Str {
		if lit, ok := n.X.(*tree.StrLit); ok && len(lit.Value) > f.Field.Len {
			w.errorf(x.Pos(), "this text has %d bytes, but %s holds %d", len(lit.Value), f.Field.Name, f.Field.Len)
		}
		n.T = void // JavaScript would give the text as it was before the field cut it
	}
	if t.Kind == tree.Object {
		n.T = x.Type()
	}
}

// assignLazily walks a ??= b, a ||= b and a &&= b.
func (w *walker) assignLazily(e *ast.AssignExpression) tree.Expr {
	op := map[token.Token]tree.Op{token.LOGICAL_AND: tree.And, token.LOGICAL_OR: tree.Or, token.COALESCE: tree.Coalesce}[e.Operator]
	target := w.updatable(e.Left)
	t := target.Type()
	v, variable := target.(*tree.VarRef)
	switch {
	case t.Kind == tree.Bad && !variable:
		return target
	case op == tree.Coalesce && t.Kind != tree.Object && t.Kind != tree.Null && t.Kind != tree.Bad:
		return w.bad(e.Left.Idx0(), "this is never null, so ??= has no use here")
	}
	n := &tree.Assign{Node: node(e, t), Target: target, Op: op}
	before := w.flow.clone()
	if variable && op == tree.And {
		w.flow.assume([]place{{v: v.Var}})
	}
	x := w.present(w.value(e.Right))
	w.receive(n, x, e.Left)
	if variable && op != tree.And && t.Kind == tree.Object { // it was there before, or is what was written
		before.assume([]place{{v: v.Var}})
	}
	if w.flow = merge(before, w.flow); variable && op == tree.And {
		w.flow.drop(func(p place) bool { return p.v == v.Var })
	}
	switch n.T.Kind {
	case tree.Object:
		n.T.Null = op == tree.And || x.Type().Null || x.Type().Kind == tree.Null
	case tree.Null:
		n.T = t
	}
	return n
}
