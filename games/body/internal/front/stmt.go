package front

import (
	"slices"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/token"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

func (w *walker) stmts(list []ast.Statement) (out []tree.Stmt) {
	dead := w.flow.dead
	for _, s := range list {
		if _, jump := s.(*ast.BranchStatement); w.flow.dead && !dead && !jump {
			w.warnf(start(s), "nothing leads here: what stands in front of it always leaves")
			dead = true // which is said once
		}
		out = append(out, w.stmt(s)...)
	}
	return out
}

// block walks a statement in a scope of its own.
func (w *walker) block(s ast.Statement) []tree.Stmt {
	w.push()
	defer w.pop()
	if b, ok := s.(*ast.BlockStatement); ok {
		w.hoist(b.List)
		return w.stmts(b.List)
	}
	return w.stmt(s)
}

func (w *walker) stmt(s ast.Statement) []tree.Stmt {
	switch s := s.(type) {
	case *ast.EmptyStatement:
	case *ast.BlockStatement:
		return []tree.Stmt{&tree.Block{Body: w.block(s)}}
	case *ast.LexicalDeclaration:
		return w.declaration(s)
	case *ast.ExpressionStatement:
		return w.expression(s.Expression)
	case *ast.IfStatement:
		return w.ifStmt(s)
	case *ast.ReturnStatement:
		return w.returnStmt(s)
	case *ast.WhileStatement:
		return w.loop(s.While, s.Test, nil, s.Body, false)
	case *ast.DoWhileStatement:
		return w.loop(s.Do, s.Test, nil, s.Body, true)
	case *ast.ForStatement:
		return w.forStmt(s)
	case *ast.ForOfStatement:
		return w.forOf(s)
	case *ast.SwitchStatement:
		return w.switchStmt(s)
	case *ast.BranchStatement:
		return w.jump(s)
	case *ast.LabelledStatement:
		return w.labelled(s)
	case *ast.VariableStatement:
		w.errorf(s.Var, "use let or const instead of var")
		for _, b := range s.List {
			w.spoilTarget(b.Target)
		}
	default:
		if f, ok := s.(*ast.FunctionDeclaration); ok && f.Function.Name != nil {
			w.declare(f.Function.Name, badType, false)
		}
		w.errorf(start(s), "%s", refusedStatement(s))
	}
	return nil
}

// expression walks an expression that stands alone.
func (w *walker) expression(e ast.Expression) []tree.Stmt {
	if a, ok := e.(*ast.AssignExpression); ok && a.Operator == token.ASSIGN {
		pattern, ok := a.Left.(*ast.ArrayPattern)
		list, ok2 := a.Right.(*ast.ArrayLiteral)
		if ok && ok2 {
			return w.exchange(pattern, list)
		}
	}
	if c, ok := e.(*ast.CallExpression); ok {
		if d, ok := c.Callee.(*ast.DotExpression); ok && w.global(d.Left, "Object") && d.Identifier.Name == "assign" {
			return w.assignAll(c)
		}
	}
	return []tree.Stmt{&tree.Eval{X: w.effect(e)}}
}

func (w *walker) declaration(d *ast.LexicalDeclaration) (out []tree.Stmt) {
	for _, b := range d.List {
		id, plain := b.Target.(*ast.Identifier)
		if b.Initializer != nil {
			out = append(out, w.initialised(b, d.Token == token.CONST)...)
		} else if plain {
			if w.flow.clear(w.declare(id, badType, false)); len(w.flow.unset) > maxFacts {
				w.errorf(id.Idx, "more than %d variables have no value yet: give each one where it is declared", maxFacts)
				return out
			}
		} // else it is a syntax error
	}
	return out
}

// initialised walks NAME = value or PATTERN = value of a declaration.
func (w *walker) initialised(b *ast.Binding, constant bool) []tree.Stmt {
	pattern, ok := b.Target.(*ast.ObjectPattern)
	if ok && w.global(b.Initializer, "game") {
		from := taken{what: "game", size: -1, read: func(name string, at file.Idx) tree.Expr { return w.gameMember(at, at, name) }}
		return w.takeApart(pattern, from, constant)
	}
	if ok && w.global(b.Initializer, "Math") {
		from := taken{what: "Math", size: -1, read: func(name string, at file.Idx) tree.Expr { return w.mathMember(name, at) }}
		return w.takeApart(pattern, from, constant)
	}
	x := w.object(b.Initializer)
	if _, bad := x.(*tree.NullLit); bad && x.Type().Kind == tree.Bad {
		w.spoilTarget(b.Target)
		return nil
	}
	return w.bindTarget(b.Target, w.present(x), constant)
}

func (w *walker) ifStmt(s *ast.IfStatement) []tree.Stmt {
	n := &tree.If{}
	var f facts
	n.Test, f = w.cond(s.Test)
	start := w.flow.clone()
	then := w.branch(start, f.yes, func() { n.Then = w.block(s.Consequent) })
	other := w.branch(start, f.no, func() {
		if s.Alternate != nil {
			n.Else = w.block(s.Alternate)
		}
	})
	w.flow = merge(then, other)
	return []tree.Stmt{n}
}

func (w *walker) returnStmt(s *ast.ReturnStatement) []tree.Stmt {
	if s.Argument != nil {
		return w.giveBack(s.Argument)
	}
	w.leave(s.Return)
	return []tree.Stmt{&tree.Return{}}
}

// leave notes a return of nothing.
func (w *walker) leave(at file.Idx) {
	if w.flow.dead = true; w.bare == 0 {
		w.bare = at
	}
}

// giveBack walks what a function returns. What has no value is done, and then nothing
// is returned.
func (w *walker) giveBack(e ast.Expression) []tree.Stmt {
	x := w.expr(e)
	defer func() { w.flow.dead = true }()
	if t, ok := x.(thing); ok {
		return w.giveThing(t)
	}
	if x.Type().Kind == tree.Void {
		w.leave(e.Idx0())
		return []tree.Stmt{&tree.Eval{X: x}, &tree.Return{}}
	}
	x = w.present(w.needValue(x, e.Idx0()))
	switch {
	case w.gives != nil:
		w.errorf(x.Pos(), "\"%s\" returns %s elsewhere, so it cannot return %s", w.symbol.name, w.gives.called(), x.Type())
	case !w.returns:
		w.returns, w.result = true, x.Type()
	default:
		t, ok := join(w.result, x.Type())
		if !ok {
			w.errorf(x.Pos(), "\"%s\" returns %s elsewhere, so it cannot return %s", w.symbol.name, w.result, x.Type())
		}
		w.result = t
	}
	return []tree.Stmt{&tree.Return{X: x}}
}

// giveThing returns a thing's parts. Its caller knows by them which thing it is.
func (w *walker) giveThing(t thing) []tree.Stmt {
	parts := t.parts()
	r, made := t.(*record)
	refuse := func(format string, args ...any) []tree.Stmt {
		w.errorf(t.Pos(), format, args...)
		if !w.returns { // so that callers are not refused as well
			w.returns, w.result = true, badType
		}
		return nil
	}
	switch {
	case len(parts) == 0:
		return refuse("\"%s\" always returns %s: name that where it is called", w.symbol.name, t.called())
	case made && r.foreign():
		return refuse("\"%s\" returns an object that it was given: make one of its own, as in return { ...%s }", w.symbol.name, t.called())
	case made && r.repeated(map[string]bool{}):
		return refuse("\"%s\" returns one object under two names, which would be two where it is called: copy it, as in { ...it }", w.symbol.name)
	case w.returns && w.gives == nil && w.result.Kind == tree.Bad:
		return nil // that was told
	case w.returns && w.gives == nil:
		return refuse("\"%s\" returns %s elsewhere, so it cannot return %s", w.symbol.name, w.result, t.called())
	case w.gives == nil:
		w.returns, w.gives = true, t
	default:
		both, ok := sameThing(w.gives, t)
		if !ok {
			return refuse("\"%s\" returns %s elsewhere, whose members or their types are others than those of %s: give both the same, in one order", w.symbol.name, w.gives.called(), t.called())
		}
		w.gives = both
	}
	return []tree.Stmt{&tree.Return{X: parts[0], More: parts[1:]}}
}

func (w *walker) forStmt(s *ast.ForStatement) (out []tree.Stmt) {
	w.push()
	defer w.pop()
	switch init := s.Initializer.(type) {
	case nil:
	case *ast.ForLoopInitializerLexicalDecl:
		w.hoist([]ast.Statement{&init.LexicalDeclaration})
		out = w.declaration(&init.LexicalDeclaration)
	case *ast.ForLoopInitializerExpression:
		out = []tree.Stmt{&tree.Eval{X: w.effect(init.Expression)}}
	default:
		w.errorf(s.For, "use let instead of var")
		return nil
	}
	return []tree.Stmt{&tree.Block{Body: append(out, w.loop(s.For, s.Test, s.Update, s.Body, false)...)}}
}

// loop walks the parts of a loop; those that are nil are absent.
func (w *walker) loop(at file.Idx, test, step ast.Expression, body ast.Statement, late bool) []tree.Stmt {
	n := &tree.Loop{At: at, Target: &tree.Target{Name: "loop"}, Late: late}
	t := &target{Target: n.Target, loop: true, labels: w.takeLabels()}
	if always(test) {
		test = nil
	}
	w.forget(test, step, body)
	var f facts
	if test != nil && !late {
		n.Test, f = w.cond(test)
	}
	tested := w.flow.clone()
	out := w.inside(t, func() {
		w.flow.assume(f.yes)
		n.Body = w.block(body)
	})
	if w.flow = merge(w.flow, t.next); w.flow.dead {
		w.flow = tested.clone() // nothing leads here; what stands here has to be sound nevertheless
	}
	if test != nil && late {
		n.Test, f = w.cond(test)
		tested = w.flow.clone()
	}
	if step != nil {
		n.Step = w.effect(step)
	}
	if w.flow = tested; test == nil {
		w.flow.dead = true
	}
	w.flow.assume(f.no)
	w.flow = merge(w.flow, out)
	if test == nil && !leaves(n.Body, n.Target) {
		w.warnf(at, "nothing ends this loop: it has no break and no return, so it uses up the body's fuel, which drops the body for that tick")
	}
	return []tree.Stmt{n}
}

// always reports whether a test is true whatever happens.
func always(test ast.Expression) bool {
	switch t := test.(type) {
	case *ast.BooleanLiteral:
		return t.Value
	case *ast.NumberLiteral:
		return t.Value == int64(1)
	}
	return false
}

// search reports whether a body has a statement that is what is looked for.
func search(body []tree.Stmt, found func(s tree.Stmt) bool) bool {
	for _, s := range body {
		if found(s) {
			return true
		}
		var inner [][]tree.Stmt
		switch s := s.(type) {
		case *tree.Block:
			inner = [][]tree.Stmt{s.Body}
		case *tree.If:
			inner = [][]tree.Stmt{s.Then, s.Else}
		case *tree.Loop:
			inner = [][]tree.Stmt{s.Body}
		case *tree.ForOf:
			inner = [][]tree.Stmt{s.Body}
		case *tree.Switch:
			for _, c := range s.Cases {
				inner = append(inner, c.Body)
			}
		}
		for _, list := range inner {
			if search(list, found) {
				return true
			}
		}
	}
	return false
}

// leaves reports whether a loop's body can end the loop: by a break to it or to
// something around it, or by a return.
func leaves(body []tree.Stmt, loop *tree.Target) bool {
	own := map[*tree.Target]bool{}
	search(body, func(s tree.Stmt) bool {
		switch s := s.(type) {
		case *tree.Block:
			own[s.Target] = true
		case *tree.Loop:
			own[s.Target] = true
		case *tree.ForOf:
			own[s.Target] = true
		case *tree.Switch:
			own[s.Target] = true
		}
		return false
	})
	return search(body, func(s tree.Stmt) bool {
		switch s := s.(type) {
		case *tree.Break:
			return !own[s.Target]
		case *tree.Continue:
			return !own[s.Target] && s.Target != loop
		case *tree.Return:
			return true
		}
		return false
	})
}

func (w *walker) forOf(s *ast.ForOfStatement) []tree.Stmt {
	d, ok := s.Into.(*ast.ForDeclaration)
	if !ok {
		w.errorf(s.For, "write for (const x of game.things): the loop declares its variable")
		return nil
	}
	w.push()
	defer w.pop()
	w.hoistTarget(d.Target)
	of, loop := w.overWhat(s, d)
	if loop != nil {
		return loop
	}
	t := &target{Target: &tree.Target{Name: "each"}, loop: true, labels: w.takeLabels()}
	if of == nil { // that was told; what is wrong in the body is told as well
		w.spoilTarget(d.Target)
		w.inside(t, func() { w.block(s.Body) })
		return nil
	}
	w.forget(d.Target, s.Body)
	start := w.flow.clone()
	n := &tree.ForOf{At: s.For, Target: t.Target, Of: of}
	object := tree.Type{Kind: tree.Object, Of: of}
	w.inside(t, func() {
		if id, ok := d.Target.(*ast.Identifier); ok {
			n.Var = w.declare(id, object, d.IsConst)
		} else {
			n.Var = &tree.Var{Name: "each", Type: object, Const: true}
			n.Body = w.bindTarget(d.Target, &tree.VarRef{Node: tree.Node{At: d.Idx, T: object}, Var: n.Var}, d.IsConst)
		}
		n.Body = append(n.Body, w.block(s.Body)...)
	})
	w.flow = start
	return []tree.Stmt{n}
}

// overWhat is the type of the collection that a for-of goes over. For a list of
// constants it gives the statements of the loop instead.
func (w *walker) overWhat(s *ast.ForOfStatement, d *ast.ForDeclaration) (*schema.Type, []tree.Stmt) {
	switch x := w.expr(s.Source).(type) {
	case *collection:
		return x.of, nil
	case *view:
		return nil, w.forOfTable(s, d, x)
	case *record:
		w.errorf(s.Source.Idx0(), "for-of goes over a collection or a list of constants: write the steps out, or put the list at the top level")
	default:
		if x.Type().Kind != tree.Bad {
			w.errorf(s.Source.Idx0(), "for-of goes over a collection%s", w.collectionNames())
		}
	}
	return nil, nil
}

// maxCases is how many cases a switch has: each is a block around those before it.
const maxCases = 500

func (w *walker) switchStmt(s *ast.SwitchStatement) []tree.Stmt {
	t := &target{Target: &tree.Target{Name: "switch"}, labels: w.takeLabels()}
	n := &tree.Switch{Target: t.Target, X: w.present(w.value(s.Discriminant)), Default: -1}
	if len(s.Body) > maxCases {
		w.errorf(s.Body[maxCases].Idx0(), "a switch has %d cases at most: look the value up in a table of constants", maxCases)
		return nil
	}
	w.push()
	defer w.pop()
	for _, c := range s.Body {
		w.hoist(c.Consequent)
		w.forget(c.Test)
	}
	start := w.flow.clone()
	fall := flow{dead: true} // what is known at the end of the case before
	out := w.inside(t, func() {
		for i, c := range s.Body {
			k := tree.Case{}
			if c.Test == nil {
				n.Default = i
			} else {
				w.flow = start.clone()
				k.Test = w.present(w.value(c.Test))
				w.comparable(tree.Eq, n.X, k.Test, c.Test.Idx0())
			}
			w.flow = merge(fall, start).clone()
			k.Body = w.stmts(c.Consequent)
			for _, b := range w.scope.vars {
				b.ready = false // another case may be entered without passing this one
			}
			fall = w.flow
			n.Cases = append(n.Cases, k)
		}
	})
	out = merge(out, fall)
	if n.Default < 0 {
		out = merge(out, start)
	}
	w.flow = out
	return []tree.Stmt{n}
}

// labelled walks a statement with a label. Loops and switches take it; around
// anything else there is a block that break leaves.
func (w *walker) labelled(s *ast.LabelledStatement) []tree.Stmt {
	w.labels = append(w.labels, s.Label.Name.String())
	switch s.Statement.(type) {
	case *ast.LabelledStatement, *ast.WhileStatement, *ast.DoWhileStatement, *ast.ForStatement, *ast.ForOfStatement, *ast.SwitchStatement:
		return w.stmt(s.Statement)
	}
	n := &tree.Block{Target: &tree.Target{Name: "block"}}
	out := w.inside(&target{Target: n.Target, only: true, labels: w.takeLabels()}, func() { n.Body = w.block(s.Statement) })
	w.flow = merge(w.flow, out)
	return []tree.Stmt{n}
}

func (w *walker) jump(s *ast.BranchStatement) []tree.Stmt {
	here := w.flow.clone()
	w.flow.dead = true
	for i := len(w.targets) - 1; i >= 0; i-- {
		t := w.targets[i]
		if s.Label != nil && !slices.Contains(t.labels, s.Label.Name.String()) || s.Label == nil && t.only {
			continue
		}
		if s.Token == token.BREAK {
			t.left = merge(t.left, here)
			return []tree.Stmt{&tree.Break{Target: t.Target}}
		}
		if t.loop {
			t.next = merge(t.next, here)
			return []tree.Stmt{&tree.Continue{Target: t.Target}}
		}
		if s.Label != nil {
			break
		}
	}
	w.errorf(s.Idx, "there is no loop here to %s", s.Token)
	return nil
}
