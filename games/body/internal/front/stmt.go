package front

import (
	"slices"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/token"

	"gamehoster/games/body/internal/tree"
)

func (w *walker) stmts(list []ast.Statement) (out []tree.Stmt) {
	for _, s := range list {
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
		return []tree.Stmt{&tree.Eval{X: w.effect(s.Expression)}}
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
			if id, ok := b.Target.(*ast.Identifier); ok {
				w.declare(id, badType, false)
			}
		}
	default:
		w.errorf(start(s), "%s", refusedStatement(s))
	}
	return nil
}

func (w *walker) declaration(d *ast.LexicalDeclaration) (out []tree.Stmt) {
	for _, b := range d.List {
		if pattern, ok := b.Target.(*ast.ObjectPattern); ok {
			if b.Initializer == nil {
				continue // a syntax error
			}
			out = append(out, w.pattern(pattern, b.Initializer, d.Token == token.CONST)...)
			continue
		}
		id, ok := b.Target.(*ast.Identifier)
		if !ok {
			w.errorf(b.Idx0(), "lists are not part of the body language: declare one name after the other")
			continue
		}
		if b.Initializer == nil {
			w.errorf(id.Idx, "\"%s\" needs a first value, which also tells its type: let %s = 0", id.Name, id.Name)
			w.declare(id, tree.Type{Kind: tree.Bad}, false)
			continue
		}
		x := w.present(w.object(b.Initializer))
		out = append(out, w.bind(id, x, d.Token == token.CONST)...)
	}
	return out
}

// pattern declares the names of a pattern with what an expression has under them.
func (w *walker) pattern(p *ast.ObjectPattern, e ast.Expression, constant bool) []tree.Stmt {
	if w.global(e, "game") {
		return w.destructure(p, func(name string, at file.Idx) tree.Expr { return w.gameMember(at, at, name) }, constant)
	}
	x := w.object(e)
	if v, ok := x.(*view); ok {
		v, out := w.captured(v)
		return append(out, w.destructure(p, func(name string, at file.Idx) tree.Expr { return w.viewMember(v, name, at) }, constant)...)
	}
	if x.Type().Kind == tree.Object {
		x = w.nonNull(w.present(x))
	}
	v := &tree.Var{Name: "from", Type: x.Type(), Const: true}
	w.flow.set(v, x.Type())
	return append([]tree.Stmt{&tree.Decl{Var: v, X: x}}, w.destructure(p, w.memberOf(v), constant)...)
}

// memberOf reads members of what a variable holds.
func (w *walker) memberOf(v *tree.Var) func(name string, at file.Idx) tree.Expr {
	return func(name string, at file.Idx) tree.Expr { return w.member(w.readVar(v, at), name, at) }
}

// destructure declares the names of { x, y: height } with what read gives for them.
func (w *walker) destructure(p *ast.ObjectPattern, read func(name string, at file.Idx) tree.Expr, constant bool) (out []tree.Stmt) {
	if p.Rest != nil {
		w.errorf(p.Rest.Idx0(), "name each field: the rest of an object cannot be kept")
	}
	for _, prop := range p.Properties {
		var name string
		var id *ast.Identifier
		var at file.Idx
		switch prop := prop.(type) {
		case *ast.PropertyShort:
			if prop.Initializer != nil {
				w.errorf(prop.Initializer.Idx0(), "fields always have a value: leave the default out")
			}
			name, id, at = prop.Name.Name.String(), &prop.Name, prop.Name.Idx
		case *ast.PropertyKeyed:
			key, ok := prop.Key.(*ast.StringLiteral)
			target, ok2 := prop.Value.(*ast.Identifier)
			if !ok || !ok2 || prop.Computed {
				w.errorf(prop.Idx0(), "a pattern names fields only: { x, y: height }")
				continue
			}
			name, id, at = key.Value.String(), target, key.Idx
		default:
			w.errorf(p.LeftBrace, "a pattern names fields only: { x, y: height }")
			continue
		}
		out = append(out, w.bind(id, read(name, at), constant)...)
	}
	return out
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
	n := &tree.Return{}
	if s.Argument != nil {
		n.X = w.value(s.Argument)
		w.returned(n.X)
	} else if w.returns {
		w.errorf(s.Return, "\"%s\" returns a value elsewhere, so it must do so here", w.symbol.name)
	}
	w.flow.dead = true
	return []tree.Stmt{n}
}

// returned notes the type of a value that the function returns.
func (w *walker) returned(x tree.Expr) {
	if !w.returns {
		w.returns, w.result = true, x.Type()
		return
	}
	t, ok := join(w.result, x.Type())
	if !ok {
		w.errorf(x.Pos(), "\"%s\" returns %s elsewhere, so it cannot return %s", w.symbol.name, w.result, x.Type())
	}
	w.result = t
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
	n := &tree.Loop{At: at, Target: w.target("loop"), Late: late}
	labels := w.takeLabels()
	if always(test) {
		test = nil
	}
	w.forget(test, step, body)
	start := w.flow.clone()
	var f facts
	if test != nil && !late {
		n.Test, f = w.cond(test)
	}
	w.targets = append(w.targets, target{Target: n.Target, loop: true, labels: labels})
	w.flow.assume(f.yes)
	n.Body = w.block(body)
	w.targets = w.targets[:len(w.targets)-1]
	w.flow = start.clone() // continue may lead to the step from anywhere
	if test != nil && late {
		n.Test, _ = w.cond(test)
	}
	if step != nil {
		n.Step = w.effect(step)
	}
	w.flow = start
	w.flow.dead = test == nil && !jumpsTo(n.Body, n.Target)
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

// jumpsTo reports whether a body breaks out to the target.
func jumpsTo(body []tree.Stmt, to *tree.Target) bool {
	return search(body, func(s tree.Stmt) bool {
		b, ok := s.(*tree.Break)
		return ok && b.Target == to
	})
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
	id, ok := d.Target.(*ast.Identifier)
	if !ok {
		w.errorf(d.Idx, "write for (const x of game.things), and { fields } in the loop's body")
		return nil
	}
	of := w.collection(s.Source)
	if of == nil {
		if d, ok := s.Source.(*ast.DotExpression); ok && w.global(d.Left, "game") && w.def.Instance().Field(d.Identifier.Name.String()) == nil {
			w.expr(d) // there is no such thing
			return nil
		}
		x := w.expr(s.Source)
		if v, ok := x.(*view); ok {
			return w.forOfTable(s, id, v)
		}
		if x.Type().Kind != tree.Bad {
			w.errorf(s.Source.Idx0(), "for-of goes over a collection%s", w.collectionNames())
		}
		return nil
	}
	labels := w.takeLabels()
	w.push()
	defer w.pop()
	w.forget(s.Body)
	start := w.flow.clone()
	n := &tree.ForOf{At: s.For, Target: w.target("each"), Of: of}
	n.Var = w.declare(id, tree.Type{Kind: tree.Object, Of: of}, d.IsConst)
	w.targets = append(w.targets, target{Target: n.Target, loop: true, labels: labels})
	n.Body = w.block(s.Body)
	w.targets = w.targets[:len(w.targets)-1]
	w.flow = start
	return []tree.Stmt{n}
}

func (w *walker) switchStmt(s *ast.SwitchStatement) []tree.Stmt {
	labels := w.takeLabels()
	n := &tree.Switch{Target: w.target("switch"), X: w.present(w.value(s.Discriminant)), Default: -1}
	w.push()
	defer w.pop()
	for _, c := range s.Body {
		w.hoist(c.Consequent)
	}
	w.targets = append(w.targets, target{Target: n.Target, labels: labels})
	start := w.flow.clone()
	out := start // what is known behind the switch, if no case matches
	fall := flow{dead: true}
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
	w.targets = w.targets[:len(w.targets)-1]
	broken := false
	for _, c := range n.Cases {
		broken = broken || jumpsTo(c.Body, n.Target)
	}
	if n.Default >= 0 && !broken {
		out = fall
	} else {
		w.flow = out.clone()
		for _, c := range s.Body {
			w.forget(c.Test)
			for _, st := range c.Consequent {
				w.forget(st)
			}
		}
		out = w.flow
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
	n := &tree.Block{Target: w.target("block")}
	w.targets = append(w.targets, target{Target: n.Target, only: true, labels: w.takeLabels()})
	start := w.flow.clone()
	n.Body = w.block(s.Statement)
	w.targets = w.targets[:len(w.targets)-1]
	if jumpsTo(n.Body, n.Target) {
		w.flow = start
		w.forget(s.Statement)
	}
	return []tree.Stmt{n}
}

func (w *walker) jump(s *ast.BranchStatement) []tree.Stmt {
	w.flow.dead = true
	for i := len(w.targets) - 1; i >= 0; i-- {
		t := w.targets[i]
		if s.Label != nil && !slices.Contains(t.labels, s.Label.Name.String()) || s.Label == nil && t.only {
			continue
		}
		if s.Token == token.BREAK {
			return []tree.Stmt{&tree.Break{Target: t.Target}}
		}
		if t.loop {
			return []tree.Stmt{&tree.Continue{Target: t.Target}}
		}
		if s.Label != nil {
			break
		}
	}
	w.errorf(s.Idx, "there is no loop here to %s", s.Token)
	return nil
}
