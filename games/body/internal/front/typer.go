package front

import (
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// maxInstances bounds how many versions of helpers one game may need.
const maxInstances = 2000

// typer gives types. It works on function instances: a function together with
// the types of its arguments and whether it runs in server bodies. An instance
// is walked again until the types of its variables stay the same, and the
// findings of the last walk count.
type typer struct {
	def       *schema.Definition
	loader    *loader
	files     *Files
	types     map[string]*schema.Type // by collection name
	instances map[string]*instance
	constants map[*symbol]*constant
	tables    map[string]*tree.Table // by the view's key
	spread    map[string]elementsOf  // likewise
	library   bool                   // the intrinsics are there
	calls     []*symbol              // the functions being walked, outermost first
}

// instance is a function for given argument types.
type instance struct {
	fn     *tree.Func
	report report
	walked bool
	callee map[*instance]bool // of the last walk
}

func newTyper(def *schema.Definition, l *loader) *typer {
	t := &typer{
		def: def, loader: l, files: l.files, types: map[string]*schema.Type{}, instances: map[string]*instance{},
		constants: map[*symbol]*constant{}, tables: map[string]*tree.Table{}, spread: map[string]elementsOf{},
	}
	for _, ty := range def.Types[1:] {
		t.types[ty.Plural] = ty
	}
	return t
}

// request gives the instance of a function for argument types, walking it when
// it is new. The problem tells why there is none.
func (t *typer) request(s *symbol, args []tree.Type, server bool) (in *instance, problem string) {
	for i, c := range t.calls {
		if c == s {
			names := []string{}
			for _, c := range t.calls[i:] {
				names = append(names, c.name)
			}
			return nil, "recursion is not part of the body language: " + strings.Join(append(names, s.name), " calls ")
		}
	}
	key := s.module.path + ":" + s.name
	if server {
		key += ":server"
	}
	for _, a := range args {
		key += "," + a.String()
		if a.Kind == tree.Command {
			key += " " + a.Cmd.Name
		}
	}
	if in := t.instances[key]; in != nil {
		return in, ""
	}
	if len(t.instances) >= maxInstances {
		return nil, "the helpers of this game are called with too many different types"
	}
	in = &instance{fn: &tree.Func{Name: s.name, At: s.at, Server: server, Library: t.library}}
	in.report.files = t.files
	t.instances[key] = in
	t.calls = append(t.calls, s)
	w := &walker{typer: t, symbol: s, in: in, args: args, vars: map[*ast.Identifier]*tree.Var{}}
	w.run()
	t.calls = t.calls[:len(t.calls)-1]
	in.walked = true
	return in, ""
}

// walker walks one instance.
type walker struct {
	*typer
	symbol *symbol
	in     *instance
	args   []tree.Type
	vars   map[*ast.Identifier]*tree.Var // by declaration, kept from walk to walk

	changed bool // a type grew: walk again
	scope   *scope
	flow    flow
	targets []target
	labels  []string                   // of the statement that comes next
	spawned map[*tree.Var]*schema.Type // the variables that spawn() was first assigned to
	result  tree.Type                  // joined over the returns
	returns bool                       // there is a return with a value
	hole    *ast.Optional              // the ?. of the chain being walked
	holeVar *tree.Var                  // and the variable that stands for what is before it
	pure    bool                       // a constant's value: no state, no randomness
}

// scope is the names of one block.
type scope struct {
	up   *scope
	vars map[string]*binding
}

type binding struct {
	v     *tree.Var
	view  *view // in place of a variable: a name for a part of a constant
	ready bool  // its declaration was passed
}

// target is a statement that break or continue may refer to.
type target struct {
	*tree.Target
	loop   bool
	only   bool // a labelled block, which only its label leaves
	labels []string
}

// run walks until nothing changes. Types only grow, and each variable's at
// most twice, so it ends.
func (w *walker) run() {
	for {
		w.changed = false
		w.in.report.list, w.in.report.seen = nil, nil
		w.in.callee = map[*instance]bool{}
		w.walk()
		if !w.changed {
			return
		}
	}
}

func (w *walker) walk() {
	fn := w.in.fn
	w.flow = flow{}
	w.scope = nil
	w.targets, w.labels = nil, nil
	w.spawned = map[*tree.Var]*schema.Type{}
	w.result, w.returns = tree.Type{Kind: tree.Void}, false
	fn.Params, fn.Body = nil, nil
	w.push()
	fn.Body = w.params()
	w.hoist(w.symbol.body)
	if w.symbol.value != nil {
		x := w.expr(w.symbol.value)
		if v, ok := x.(*view); ok {
			x = w.notValue(v)
		}
		w.returned(x)
		fn.Body = append(fn.Body, &tree.Return{X: x})
		w.flow.dead = true
	} else {
		fn.Body = append(fn.Body, w.stmts(w.symbol.body)...)
	}
	w.pop()
	if w.returns && !w.flow.dead {
		w.errorf(w.symbol.at, "\"%s\" returns a value on some paths and none on others", w.symbol.name)
	}
	if fn.Result != w.result {
		fn.Result = w.result
	}
}

// params declares the parameters; patterns among them become declarations that
// the body begins with.
func (w *walker) params() (body []tree.Stmt) {
	p := w.symbol.params
	if p == nil {
		return nil
	}
	if p.Rest != nil {
		w.errorf(p.Rest.Idx0(), "rest parameters are not part of the body language: name each parameter")
	}
	for i, b := range p.List {
		if i >= len(w.args) {
			break // the caller is told
		}
		if b.Initializer != nil {
			w.errorf(b.Initializer.Idx0(), "parameters have no default values in the body language: pass a value in each call")
		}
		switch target := b.Target.(type) {
		case *ast.Identifier:
			if w.scope.vars[target.Name.String()] != nil {
				w.errorf(target.Idx, "\"%s\" is declared twice", target.Name)
			}
			v := w.declare(target, w.args[i], false)
			w.in.fn.Params = append(w.in.fn.Params, v)
		case *ast.ObjectPattern:
			v := &tree.Var{Name: "arg", Type: w.args[i], Const: true}
			w.in.fn.Params = append(w.in.fn.Params, v)
			body = append(body, w.destructure(target, w.memberOf(v), true)...)
		default:
			w.errorf(b.Idx0(), "only names and { fields } of an object can be parameters")
			w.in.fn.Params = append(w.in.fn.Params, &tree.Var{Name: "arg", Type: w.args[i]})
		}
	}
	return body
}

func (w *walker) errorf(at file.Idx, format string, args ...any) {
	w.in.report.errorf(at, format, args...)
}

func (w *walker) warnf(at file.Idx, format string, args ...any) {
	w.in.report.warnf(at, format, args...)
}

// bad reports an error and gives an expression that causes no others.
func (w *walker) bad(at file.Idx, format string, args ...any) tree.Expr {
	w.errorf(at, format, args...)
	return &tree.NullLit{Node: tree.Node{At: at, T: tree.Type{Kind: tree.Bad}}}
}

// target gives the loop or switch that is being walked something to jump to.
func (w *walker) target(name string) *tree.Target { return &tree.Target{Name: name} }

// takeLabels gives the labels that stand before the statement being walked.
func (w *walker) takeLabels() []string {
	labels := w.labels
	w.labels = nil
	return labels
}

func (w *walker) push() { w.scope = &scope{up: w.scope, vars: map[string]*binding{}} }
func (w *walker) pop()  { w.scope = w.scope.up }

func (w *walker) find(name string) *binding {
	for s := w.scope; s != nil; s = s.up {
		if b := s.vars[name]; b != nil {
			return b
		}
	}
	return nil
}

// hoist enters the names that a block declares, so that a use in front of the
// declaration is told from a use of an outer name.
func (w *walker) hoist(list []ast.Statement) {
	for _, st := range list {
		if d, ok := st.(*ast.LexicalDeclaration); ok {
			for _, b := range d.List {
				w.hoistTarget(b.Target)
			}
		}
	}
}

func (w *walker) hoistTarget(target ast.Expression) {
	switch x := target.(type) {
	case *ast.Identifier:
		name := x.Name.String()
		if w.scope.vars[name] != nil {
			w.errorf(x.Idx, "\"%s\" is declared twice", name)
			return
		}
		w.scope.vars[name] = &binding{}
	case *ast.ObjectPattern:
		for _, p := range x.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				w.hoistTarget(&p.Name)
			case *ast.PropertyKeyed:
				w.hoistTarget(p.Value)
			}
		}
	}
}

// declare makes a variable known from here on. Its type is at least t.
func (w *walker) declare(id *ast.Identifier, t tree.Type, constant bool) *tree.Var {
	v := w.vars[id]
	if v == nil {
		v = &tree.Var{Name: id.Name.String(), Type: t, Const: constant}
		w.vars[id] = v
	}
	w.grow(v, t, id.Idx)
	if b := w.scope.vars[v.Name]; b != nil && b.v == nil {
		b.v, b.ready = v, true
	} else {
		w.scope.vars[v.Name] = &binding{v: v, ready: true}
	}
	w.flow.set(v, t)
	return v
}

// grow widens a variable's type by that of a value it receives.
func (w *walker) grow(v *tree.Var, t tree.Type, at file.Idx) {
	joined, ok := join(v.Type, t)
	if !ok {
		w.errorf(at, "\"%s\" holds %s, so it cannot take %s: use another variable", v.Name, v.Type, t)
		return
	}
	if joined != v.Type {
		v.Type = joined
		w.changed = true
	}
}

// join is the least type that holds values of both.
func join(a, b tree.Type) (tree.Type, bool) {
	switch {
	case a == b, b.Kind == tree.Bad:
		return a, true
	case a.Kind == tree.Bad:
		return b, true
	case a.Kind == tree.Null && b.Kind == tree.Object:
		b.Null = true
		return b, true
	case a.Kind == tree.Object && b.Kind == tree.Null:
		a.Null = true
		return a, true
	case a.Kind == tree.Object && b.Kind == tree.Object && a.Of == b.Of:
		a.Null = a.Null || b.Null
		return a, true
	}
	return a, false
}
