package front

import (
	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"
)

// assigned calls found with each name that a part of a body assigns to. It
// goes by name alone: a name in an inner scope counts for the outer one, which
// errs on the safe side.
func assigned(n ast.Node, found func(name string)) {
	visit := func(list ...ast.Node) {
		for _, x := range list {
			assigned(x, found)
		}
	}
	switch n := n.(type) {
	case *ast.AssignExpression:
		if id, ok := n.Left.(*ast.Identifier); ok {
			found(id.Name.String())
		}
		visit(n.Left, n.Right)
	case *ast.UnaryExpression:
		if id, ok := n.Operand.(*ast.Identifier); ok && (n.Operator == token.INCREMENT || n.Operator == token.DECREMENT) {
			found(id.Name.String())
		}
		visit(n.Operand)
	case *ast.BinaryExpression:
		visit(n.Left, n.Right)
	case *ast.BracketExpression:
		visit(n.Left, n.Member)
	case *ast.DotExpression:
		visit(n.Left)
	case *ast.Optional:
		visit(n.Expression)
	case *ast.OptionalChain:
		visit(n.Expression)
	case *ast.CallExpression:
		visit(n.Callee)
		for _, a := range n.ArgumentList {
			visit(a)
		}
	case *ast.ConditionalExpression:
		visit(n.Test, n.Consequent, n.Alternate)
	case *ast.SequenceExpression:
		for _, x := range n.Sequence {
			visit(x)
		}
	case *ast.BlockStatement:
		for _, s := range n.List {
			visit(s)
		}
	case *ast.ExpressionStatement:
		visit(n.Expression)
	case *ast.IfStatement:
		visit(n.Test, n.Consequent, n.Alternate)
	case *ast.ForStatement:
		visit(n.Test, n.Update, n.Body)
	case *ast.ForOfStatement:
		visit(n.Source, n.Body)
	case *ast.WhileStatement:
		visit(n.Test, n.Body)
	case *ast.DoWhileStatement:
		visit(n.Test, n.Body)
	case *ast.ReturnStatement:
		visit(n.Argument)
	case *ast.SwitchStatement:
		visit(n.Discriminant)
		for _, c := range n.Body {
			visit(c.Test)
			for _, s := range c.Consequent {
				visit(s)
			}
		}
	case *ast.LexicalDeclaration:
		for _, b := range n.List {
			visit(b.Initializer)
		}
	}
}
