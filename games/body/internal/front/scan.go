package front

import (
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"
)

// children are the direct parts of a node, those that are absent left out. What
// stands in functions and classes inside bodies, which are refused, is left out too.
func children(n ast.Node) (list []ast.Node) {
	expr := func(xs ...ast.Expression) {
		for _, x := range xs {
			if x != nil {
				list = append(list, x)
			}
		}
	}
	stmt := func(ss ...ast.Statement) {
		for _, s := range ss {
			if s != nil {
				list = append(list, s)
			}
		}
	}
	members := func(p ast.Property) {
		switch p := p.(type) {
		case *ast.PropertyShort:
			expr(p.Initializer)
		case *ast.PropertyKeyed:
			expr(p.Value)
		case *ast.SpreadElement:
			expr(p.Expression)
		}
	}
	bindings := func(bs []*ast.Binding) {
		for _, b := range bs {
			expr(b.Target, b.Initializer)
		}
	}
	switch n := n.(type) {
	case *ast.AssignExpression:
		expr(n.Left, n.Right)
	case *ast.UnaryExpression:
		expr(n.Operand)
	case *ast.BinaryExpression:
		expr(n.Left, n.Right)
	case *ast.BracketExpression:
		expr(n.Left, n.Member)
	case *ast.DotExpression:
		expr(n.Left)
	case *ast.Optional:
		expr(n.Expression)
	case *ast.OptionalChain:
		expr(n.Expression)
	case *ast.CallExpression:
		expr(n.Callee)
		expr(n.ArgumentList...)
	case *ast.ConditionalExpression:
		expr(n.Test, n.Consequent, n.Alternate)
	case *ast.SequenceExpression:
		expr(n.Sequence...)
	case *ast.ArrayLiteral:
		expr(n.Value...)
	case *ast.SpreadElement:
		expr(n.Expression)
	case *ast.BlockStatement:
		stmt(n.List...)
	case *ast.ExpressionStatement:
		expr(n.Expression)
	case *ast.IfStatement:
		expr(n.Test)
		stmt(n.Consequent, n.Alternate)
	case *ast.ForStatement:
		switch init := n.Initializer.(type) {
		case *ast.ForLoopInitializerExpression:
			expr(init.Expression)
		case *ast.ForLoopInitializerLexicalDecl:
			bindings(init.LexicalDeclaration.List)
		}
		expr(n.Test, n.Update)
		stmt(n.Body)
	case *ast.ForOfStatement:
		if d, ok := n.Into.(*ast.ForDeclaration); ok {
			expr(d.Target)
		}
		expr(n.Source)
		stmt(n.Body)
	case *ast.WhileStatement:
		expr(n.Test)
		stmt(n.Body)
	case *ast.DoWhileStatement:
		expr(n.Test)
		stmt(n.Body)
	case *ast.ReturnStatement:
		expr(n.Argument)
	case *ast.SwitchStatement:
		expr(n.Discriminant)
		for _, c := range n.Body {
			expr(c.Test)
			stmt(c.Consequent...)
		}
	case *ast.LabelledStatement:
		stmt(n.Statement)
	case *ast.TemplateLiteral:
		expr(n.Expressions...)
	case *ast.ObjectLiteral:
		for _, p := range n.Value {
			members(p)
		}
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			members(p)
		}
	case *ast.ArrayPattern:
		expr(n.Elements...)
	case *ast.LexicalDeclaration:
		bindings(n.List)
	}
	return list
}

// assigned calls found with each name that a part of a body assigns to, and whether
// to a member of what is called that. It goes by name alone: a name in an inner scope
// counts for the outer one, which errs on the safe side.
func assigned(n ast.Node, found func(name string, member bool)) {
	target := func(e ast.Expression) {
		if id, ok := e.(*ast.Identifier); ok {
			found(id.Name.String(), false)
		} else if id := root(e); id != nil {
			found(id.Name.String(), true)
		}
	}
	switch n := n.(type) {
	case *ast.AssignExpression:
		target(n.Left)
		if p, ok := n.Left.(*ast.ArrayPattern); ok {
			for _, el := range p.Elements {
				target(el)
			}
		}
	case *ast.CallExpression: // Object.assign(o, ...)
		if d, ok := n.Callee.(*ast.DotExpression); ok && d.Identifier.Name == "assign" && len(n.ArgumentList) > 0 {
			if id := root(n.ArgumentList[0]); id != nil {
				found(id.Name.String(), true)
			}
		}
	case *ast.UnaryExpression:
		if n.Operator == token.INCREMENT || n.Operator == token.DECREMENT {
			target(n.Operand)
		}
	}
	for _, c := range children(n) {
		assigned(c, found)
	}
}

// deepest finds a node that is nested deeper than the rest of the compiler's
// recursion is meant to follow; nil where there is none. It is itself no recursion
// of the machine's.
func deepest(roots []ast.Node) ast.Node {
	type place struct {
		n     ast.Node
		depth int
	}
	var stack []place
	for _, r := range roots {
		stack = append(stack, place{r, 1})
	}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.depth > maxDepth {
			return p.n
		}
		for _, c := range children(p.n) {
			stack = append(stack, place{c, p.depth + 1})
		}
	}
	return nil
}
