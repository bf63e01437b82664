package front

import (
	"strconv"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// mathFunctions are the functions of Math, with how many arguments they take;
// -1 for one or more.
var mathFunctions = map[string]int{
	"abs": 1, "ceil": 1, "floor": 1, "fround": 1, "round": 1, "sign": 1, "sqrt": 1, "trunc": 1,
	"min": -1, "max": -1, "imul": 2, "clz32": 1,
	"sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "atan2": 2, "hypot": -1, "cbrt": 1, "pow": 2,
	"exp": 1, "expm1": 1, "log": 1, "log1p": 1, "log2": 1, "log10": 1,
	"sinh": 1, "cosh": 1, "tanh": 1, "asinh": 1, "acosh": 1, "atanh": 1,
}

// numberTests are the functions of Number.
var numberTests = map[string]bool{"isNaN": true, "isFinite": true, "isInteger": true, "isSafeInteger": true}

func (w *walker) call(e *ast.CallExpression) tree.Expr {
	switch callee := e.Callee.(type) {
	case *ast.Identifier:
		return w.callName(e, callee)
	case *ast.DotExpression:
		return w.callMember(e, callee)
	case *ast.Optional:
		return w.bad(e.Idx0(), "functions are always there, so ?.() has no use here")
	}
	if c, ok := e.Callee.(*ast.DynamicImportExpression); ok {
		return w.bad(e.LeftParenthesis, "%s", refusedExpression(c))
	}
	return w.bad(e.Idx0(), "only functions by their name can be called")
}

func (w *walker) callName(e *ast.CallExpression, callee *ast.Identifier) tree.Expr {
	name := callee.Name.String()
	if b := w.find(name); b != nil {
		if b.v != nil && b.v.Type.Kind == tree.Bad {
			return &tree.NullLit{Node: node(e, badType)}
		}
		return w.bad(callee.Idx, "\"%s\" is a variable, not a function", name)
	}
	s, problem := w.loader.lookup(w.symbol.module, name)
	if s != nil || problem != "" || w.symbol.module.names[name] != nil {
		return w.callSymbol(e, s, callee.Idx)
	}
	if w.library {
		if x := w.intrinsic(e, name); x != nil {
			return x
		}
	}
	switch name {
	case "random", "serverRandom":
		if len(e.ArgumentList) != 0 {
			return w.bad(e.ArgumentList[0].Idx0(), "%s() takes nothing and gives a number from 0 up to, not including, 1", name)
		}
		return &tree.Random{Node: node(e, number), Server: name == "serverRandom"}
	case "log":
		return w.log(e)
	case "isNaN", "isFinite":
		return w.callNumber(e, name, name)
	case "Number", "Boolean":
		return w.convert(e, name)
	}
	if w.missing[name+"()"] {
		return &tree.NullLit{Node: node(e, badType)}
	}
	w.missing[name+"()"] = true
	if help, ok := foreign[name]; ok {
		return w.bad(callee.Idx, "%s", help)
	}
	return w.bad(callee.Idx, "there is no function \"%s\"%s", name, suggest(name, append(w.functions(), "random", "serverRandom")))
}

// callSymbol calls what has a name at a file's top level; see useSymbol.
func (w *walker) callSymbol(e *ast.CallExpression, s *symbol, at file.Idx) tree.Expr {
	switch {
	case s == nil:
		return &tree.NullLit{Node: node(e, badType)}
	case s.kind == symFunc:
		s.called = true
		return w.callHelper(e, s)
	case s.kind == symNamespace:
		return w.bad(at, "\"%s\" is a file: call one of its functions, as in %s.name()", s.name, s.name)
	}
	if d, ok := s.value.(*ast.DotExpression); ok && s.module.names["Math"] == nil { // const sin = Math.sin
		if id, ok := d.Left.(*ast.Identifier); ok && id.Name == "Math" {
			return w.callMath(e, d.Identifier.Name.String(), at)
		}
	}
	return w.bad(at, "\"%s\" is a constant, not a function", s.name)
}

// frozen is Object.freeze(x): constants are that anyhow.
func (w *walker) frozen(x tree.Expr) tree.Expr {
	switch x := x.(type) {
	case *record:
		c := *x
		c.own = false
		return &c
	case *view:
		return x
	}
	if x.Type().Kind == tree.Bad {
		return x
	}
	return w.bad(x.Pos(), "Object.freeze takes an object or a list that is written here, and this is %s", describe(x))
}

// intrinsics are the functions of the maths library's own.
var intrinsics = map[string]tree.Inner{
	"highWord": tree.HighWord, "lowWord": tree.LowWord, "fromWords": tree.FromWords,
	"scale": tree.Scale, "head": tree.Head, "setTail": tree.SetTail, "tail": tree.Tail, "apart": tree.Apart,
}

func (w *walker) intrinsic(e *ast.CallExpression, name string) tree.Expr {
	what, ok := intrinsics[name]
	if !ok {
		return nil
	}
	n := &tree.Intrinsic{Node: node(e, number), What: what}
	if what == tree.SetTail || what == tree.Apart {
		n.T = void
	}
	for _, a := range e.ArgumentList {
		n.Args = append(n.Args, w.want(a, number))
	}
	return n
}

// functions are the names of the functions that the module can call.
func (w *walker) functions() (names []string) {
	for name, s := range w.symbol.module.names {
		if s.kind != symConst {
			names = append(names, name)
		}
	}
	return names
}

func (w *walker) callHelper(e *ast.CallExpression, s *symbol) tree.Expr {
	n := &tree.Call{}
	var args []argument
	refused := false
	for i, a := range e.ArgumentList {
		x := w.present(w.object(a))
		refused = refused || x.Type().Kind == tree.Bad
		t, ok := x.(thing)
		if !ok {
			n.Args = append(n.Args, x)
			args = append(args, argument{t: x.Type()})
			continue
		}
		if name, at := w.changes(t, e.ArgumentList[i+1:]...); name != "" {
			return w.bad(at, "\"%s\" is assigned among the arguments of a call that it is passed to: do that before", name)
		}
		n.Args = append(n.Args, t.parts()...)
		args = append(args, argument{thing: t})
	}
	if len(n.Args) > maxParts {
		return w.bad(e.Idx0(), "%s is given %d values, with those of the objects among its arguments: a helper takes %d at most", s.name, len(n.Args), maxParts)
	}
	if least, most := takes(s.params); len(args) < least || len(args) > most {
		if s.params.Rest != nil && len(args) > most {
			return w.bad(s.params.Rest.Idx0(), noRest)
		}
		return w.bad(e.Idx0(), "%s takes %s, not %d", s.name, argumentRange(least, most), len(args))
	}
	if refused {
		return &tree.NullLit{Node: node(e, badType)}
	}
	in, problem := w.request(s, args, w.in.fn.Server)
	if problem != "" {
		return w.bad(e.Idx0(), "%s", problem)
	}
	w.in.callee[in] = true
	w.flow.called()
	n.Fn = in.fn
	n.Node = node(e, in.fn.Result)
	if in.gives == nil {
		return n
	}
	parts := []tree.Expr{n}
	for i, t := range in.fn.More {
		parts = append(parts, &tree.More{Node: node(e, t), Fn: in.fn, Index: i})
	}
	return w.fresh(in.gives.with(parts), e.Idx0())
}

// changes is the name, if any, that expressions behind a thing's place assign, or a member
// of, where that may be a member of the thing's: what reads it at its place would not see that.
func (w *walker) changes(t thing, later ...ast.Expression) (what string, at file.Idx) {
	r, ok := t.(*record)
	if !ok || !r.refers() {
		return "", 0
	}
	for _, e := range later {
		assigned(e, func(name string, _ bool) {
			if b := w.find(name); b != nil && b.thing != nil {
				what, at = name, e.Idx0()
			}
		})
	}
	return what, at
}

// fresh is a thing that a call gives, at the place of the call.
func (w *walker) fresh(t thing, at file.Idx) tree.Expr {
	switch t := t.(type) {
	case *record:
		c := *t
		c.At, c.name, c.bound = at, "", false
		for i, x := range c.elems {
			if in, ok := x.(thing); ok {
				c.elems[i] = w.fresh(in, at)
			}
		}
		return &c
	case *view:
		t.At = at
	}
	return t
}

const noRest = "rest parameters are not part of the body language: name each parameter"

// takes is how few and how many arguments a function can be called with.
func takes(p *ast.ParameterList) (least, most int) {
	for i, b := range p.List {
		if b.Initializer == nil {
			least = i + 1
		}
	}
	return least, len(p.List)
}

func argumentRange(least, most int) string {
	if least == most {
		return arguments(most)
	}
	return strconv.Itoa(least) + " to " + arguments(most)
}

func (w *walker) callMember(e *ast.CallExpression, d *ast.DotExpression) tree.Expr {
	name := d.Identifier.Name.String()
	at := d.Identifier.Idx
	if s, problem, found := w.exportOf(d); problem != "" {
		return w.bad(at, "%s", problem)
	} else if found {
		return w.callSymbol(e, s, at)
	}
	switch {
	case w.global(d.Left, "Math"):
		return w.callMath(e, name, at)
	case w.global(d.Left, "Number"):
		return w.callNumber(e, name, "Number."+name)
	case w.global(d.Left, "Object") && name == "freeze" && len(e.ArgumentList) == 1:
		return w.frozen(w.object(e.ArgumentList[0]))
	case w.global(d.Left, "game"):
		if name == "end" {
			if len(e.ArgumentList) != 0 {
				return w.bad(e.ArgumentList[0].Idx0(), "game.end() takes nothing")
			}
			return &tree.End{Node: node(e, void)}
		}
		if w.types[name] != nil || w.def.Instance().Field(name) != nil {
			return w.bad(at, "game.%s is not a function", name)
		}
		if help, ok := w.elsewhere(name); ok {
			return w.bad(at, "%s", help)
		}
		return w.bad(at, "game has no function \"%s\": it has end()%s", name, suggest(name, []string{"end"}))
	}
	if of := w.collection(d.Left); of != nil {
		return w.callCollection(e, of, name, d)
	}
	obj := w.present(w.object(d.Left))
	if t, ok := obj.(thing); ok {
		return w.bad(at, "%s has no function \"%s\": it keeps the members that it was made with; what comes and goes is a collection of entities", t.called(), name)
	}
	switch obj.Type().Kind {
	case tree.Bad:
		return obj
	case tree.Object:
		obj = w.nonNull(obj)
		of := obj.Type().Of
		if name == "remove" {
			if len(e.ArgumentList) != 0 {
				return w.bad(e.ArgumentList[0].Idx0(), "remove() takes nothing")
			}
			w.flow.called()
			return &tree.Remove{Node: node(e, void), Of: of, Obj: obj}
		}
		if of.Field(name) != nil || name == "id" || name == "owner" {
			return w.bad(at, "\"%s\" is a field, not a function", name)
		}
		return w.bad(at, "type %s has no function \"%s\": it has remove()%s", of.Name, name, suggest(name, []string{"remove"}))
	}
	if obj.Type().Kind == tree.Str && name != "length" {
		return w.bad(at, "a str has no function \"%s\" in a body: it can be assigned and compared, and has a length", name)
	} else if obj.Type().Kind == tree.Str {
		return w.bad(at, "length is a number: write it without ()")
	}
	return w.bad(at, "%s has no function \"%s\"", obj.Type(), name)
}

func (w *walker) callCollection(e *ast.CallExpression, of *schema.Type, name string, d *ast.DotExpression) tree.Expr {
	t := tree.Type{Kind: tree.Object, Of: of, Null: true}
	args := e.ArgumentList
	switch name {
	case "find":
		if len(args) != 1 {
			return w.bad(e.Idx0(), "find() takes the id of the object")
		}
		switch args[0].(type) {
		case *ast.ArrowFunctionLiteral, *ast.FunctionLiteral:
			return w.bad(args[0].Idx0(), "find() takes an id: to find by something else, go over the collection with for (const x of game.%s) and if", of.Plural)
		}
		return &tree.Find{Node: node(e, t), Of: of, ID: w.want(args[0], number)}
	case "spawn":
		n := &tree.Spawn{Node: node(e, t), Of: of}
		switch {
		case of.Index == schema.PlayerType:
			return w.bad(e.Idx0(), "players come by joining: they cannot be made")
		case of.Owned && len(args) != 1:
			return w.bad(e.Idx0(), "type %s is owned: spawn() takes its owner, as in game.%s.spawn(player)", of.Name, of.Plural)
		case of.Owned:
			n.Owner = w.fit(w.nonNullArg(w.present(w.value(args[0]))), tree.Type{Kind: tree.Object, Of: w.def.Player()})
			if n.Owner.Type().Kind == tree.Bad {
				return n.Owner
			}
		case len(args) != 0:
			return w.bad(args[0].Idx0(), "type %s has no owner, so spawn() takes nothing: declare it \"owned\": true, or set fields afterwards", of.Name)
		}
		return n
	case "count":
		return w.bad(d.Identifier.Idx, "count is a number: write it without ()")
	case "push", "add":
		return w.bad(d.Identifier.Idx, "objects are made by the collection: const x = game.%s.spawn()", of.Plural)
	case "forEach", "map", "filter", "some", "every", "reduce":
		return w.bad(d.Identifier.Idx, "go over a collection with for (const x of game.%s)", of.Plural)
	case "remove", "delete":
		return w.bad(d.Identifier.Idx, "an object is removed by itself: x.remove()")
	}
	return w.bad(d.Identifier.Idx, "a collection has no function \"%s\"%s", name, suggest(name, []string{"find", "spawn"}))
}

func (w *walker) nonNullArg(x tree.Expr) tree.Expr {
	if x.Type().Kind == tree.Object {
		return w.nonNull(x)
	}
	return x
}

func (w *walker) callMath(e *ast.CallExpression, name string, at file.Idx) tree.Expr {
	want, ok := mathFunctions[name]
	switch {
	case name == "random":
		return w.bad(at, "use random(): it gives the same numbers on the server and in browsers, Math.random() does not")
	case !ok && mathConstants[name] != 0:
		return w.bad(at, "Math.%s is a number: write it without ()", name)
	case !ok:
		return w.bad(at, "Math.%s is not part of the body language%s", name, suggest(name, keys(mathFunctions)))
	}
	n := &tree.Math{Node: node(e, number), Name: name}
	for _, a := range e.ArgumentList {
		if _, spread := a.(*ast.SpreadElement); spread {
			return w.bad(a.Idx0(), "lists are not part of the body language: name each argument")
		}
		n.Args = append(n.Args, w.want(a, number))
	}
	if want < 0 && len(n.Args) == 0 {
		return w.bad(e.Idx0(), "Math.%s takes one argument or more", name)
	}
	if want >= 0 && len(n.Args) != want {
		return w.bad(e.Idx0(), "Math.%s takes %s, not %d", name, arguments(want), len(n.Args))
	}
	return n
}

// callNumber is isNaN(x), Number.isInteger(x) and their like.
func (w *walker) callNumber(e *ast.CallExpression, name, written string) tree.Expr {
	switch {
	case !numberTests[name]:
		return w.bad(e.Callee.Idx0(), "%s is not part of the body language%s", written, suggest(name, keys(numberTests)))
	case len(e.ArgumentList) != 1:
		return w.bad(e.Idx0(), "%s takes 1 argument, not %d", written, len(e.ArgumentList))
	}
	return &tree.Math{Node: node(e, boolean), Name: name, Args: []tree.Expr{w.want(e.ArgumentList[0], number)}}
}

// convert is Number(x) and Boolean(x).
func (w *walker) convert(e *ast.CallExpression, name string) tree.Expr {
	if len(e.ArgumentList) != 1 {
		return w.bad(e.Idx0(), "%s takes 1 argument, not %d", name, len(e.ArgumentList))
	}
	if name == "Number" {
		return w.toNumber(w.present(w.value(e.ArgumentList[0])), e.Idx0())
	}
	x, _ := w.cond(e.ArgumentList[0])
	not := &tree.Unary{Node: node(e, boolean), Op: tree.Not, X: x}
	return &tree.Unary{Node: not.Node, Op: tree.Not, X: not}
}

func arguments(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}
