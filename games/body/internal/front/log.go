package front

import (
	"github.com/grafana/sobek/ast"

	"gamehoster/games/body/internal/tree"
)

// log walks log(...): its arguments become one line, with spaces between them as
// in a browser's console.
func (w *walker) log(e *ast.CallExpression) tree.Expr {
	if len(e.ArgumentList) == 0 {
		return w.bad(e.Idx0(), "log() takes what to write: log(`${p.id} is at ${p.x}`)")
	}
	n := &tree.Log{Node: node(e, void)}
	for i, a := range e.ArgumentList {
		if i > 0 {
			n.AddText(" ")
		}
		if t, ok := a.(*ast.TemplateLiteral); ok {
			w.template(n, t)
			continue
		}
		w.logged(n, a)
	}
	return n
}

// template adds the parts of `text ${value} text`.
func (w *walker) template(n *tree.Log, t *ast.TemplateLiteral) {
	if t.Tag != nil {
		w.errorf(t.Tag.Idx0(), "only plain templates are part of the body language")
		return
	}
	for i, el := range t.Elements {
		n.AddText(el.Parsed.String())
		if i < len(t.Expressions) {
			w.logged(n, t.Expressions[i])
		}
	}
}

func (w *walker) logged(n *tree.Log, e ast.Expression) {
	x := w.present(w.value(e))
	switch x.Type().Kind {
	case tree.Number, tree.Bool, tree.Bad:
		n.AddValue(x)
	case tree.Str:
		if s, ok := x.(*tree.StrLit); ok {
			n.AddText(s.Value)
			return
		}
		n.AddValue(x)
	default:
		w.errorf(e.Idx0(), "%s has no text: name the fields to write, or its id", x.Type())
	}
}
