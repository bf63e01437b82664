package front

import (
	"github.com/grafana/sobek/ast"
)

// enum recognises what an enum of TypeScript was made into,
//
//	var Kind = ((Kind2) => {
//		Kind2[Kind2["ROCK"] = 0] = "ROCK";
//		Kind2["SHIP"] = "a ship";
//		return Kind2;
//	})(Kind || {});
//
// and gives it as the constant object { ROCK: 0, SHIP: "a ship" }; nil for anything
// else. Names of numbers, Kind[0], are not there.
func enum(b *ast.Binding) (*ast.Identifier, *ast.ObjectLiteral) {
	id, _ := b.Target.(*ast.Identifier)
	call, _ := b.Initializer.(*ast.CallExpression)
	if id == nil || call == nil {
		return nil, nil
	}
	fn, _ := call.Callee.(*ast.ArrowFunctionLiteral)
	if fn == nil || len(fn.ParameterList.List) != 1 {
		return nil, nil
	}
	param, _ := fn.ParameterList.List[0].Target.(*ast.Identifier)
	body, _ := fn.Body.(*ast.BlockStatement)
	if param == nil || body == nil {
		return nil, nil
	}
	list := &ast.ObjectLiteral{LeftBrace: id.Idx, RightBrace: id.Idx}
	for _, s := range body.List {
		if _, ok := s.(*ast.ReturnStatement); ok {
			continue
		}
		e, ok := s.(*ast.ExpressionStatement)
		if !ok {
			return nil, nil
		}
		name, value := enumMember(e.Expression, param)
		if inner, ok := name.(*ast.AssignExpression); ok {
			name, value = enumMember(inner, param)
		}
		key, ok := name.(*ast.StringLiteral)
		if !ok {
			return nil, nil
		}
		list.Value = append(list.Value, &ast.PropertyKeyed{Key: key, Kind: ast.PropertyKindValue, Value: value})
	}
	return id, list
}

// enumMember takes NAME[index] = value apart.
func enumMember(e ast.Expression, of *ast.Identifier) (index, value ast.Expression) {
	a, _ := e.(*ast.AssignExpression)
	if a == nil {
		return nil, nil
	}
	at, _ := a.Left.(*ast.BracketExpression)
	if at == nil {
		return nil, nil
	}
	if id, ok := at.Left.(*ast.Identifier); !ok || id.Name != of.Name {
		return nil, nil
	}
	return at.Member, a.Right
}
