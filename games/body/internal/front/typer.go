package front

import (
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/eval"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// Bounds of what one game costs: how many versions of helpers it needs, how often one is
// walked, and how many expressions all walks go over.
const (
	maxInstances = 2000
	maxWalks     = 40
	maxSteps     = 1 << 20
)

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
	eval      *eval.Evaluator
	tables    map[string]*tree.Table // by the view's key
	spread    map[string]elementsOf  // likewise
	parts     map[string][]*constant // likewise: what views that were gone on to may be
	settled   map[string]bool        // likewise: those whose parts are known to be of one type
	steps     int                    // expressions that were walked
	copies    int                    // of constants; see maxCopies
	library   bool                   // the intrinsics are there
	calls     []*symbol              // the functions being walked, outermost first
}

// instance is a function for given argument types.
type instance struct {
	fn     *tree.Func
	key    string // among the instances; empty for a constant's
	gives  thing  // in place of a value
	report report
	callee map[*instance]bool // of the last walk
}

func newTyper(def *schema.Definition, l *loader, math func(name string) *tree.Func) *typer {
	t := &typer{
		def: def, loader: l, files: l.files, types: map[string]*schema.Type{}, instances: map[string]*instance{},
		constants: map[*symbol]*constant{}, eval: eval.New(math), tables: map[string]*tree.Table{}, spread: map[string]elementsOf{},
		parts: map[string][]*constant{}, settled: map[string]bool{},
	}
	for _, ty := range def.Types[1:] {
		t.types[ty.Plural] = ty
	}
	return t
}

// argument is what a function is called with: a value of a type, or a thing, of which
// its parts are passed.
type argument struct {
	t     tree.Type
	thing thing
}

func values(types ...tree.Type) (args []argument) {
	for _, t := range types {
		args = append(args, argument{t: t})
	}
	return args
}

// key tells arguments apart for which a function has to be walked anew.
func (a argument) key() string {
	types := []tree.Type{a.t}
	key := ""
	if a.thing != nil {
		key, types = a.thing.shape(), nil
		for _, x := range a.thing.parts() {
			types = append(types, x.Type())
		}
	}
	for _, t := range types {
		key += "," + t.String()
		if t.Kind == tree.Command {
			key += " " + t.Cmd.Name
		}
	}
	return key + ";"
}

// request gives the instance of a function for arguments, walking it when it is new.
// The problem tells why there is none.
func (t *typer) request(s *symbol, args []argument, server bool) (in *instance, problem string) {
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
	key += "("
	for _, a := range args {
		key += a.key()
	}
	if in := t.instances[key]; in != nil {
		return in, ""
	}
	if len(t.instances) >= maxInstances || t.steps > maxSteps {
		return nil, "the helpers of this game are called with too many different types"
	}
	in = &instance{key: key, fn: &tree.Func{Name: s.name, At: s.at, Server: server, Library: t.library}}
	in.report.files = t.files
	t.instances[key] = in
	t.calls = append(t.calls, s)
	w := &walker{typer: t, symbol: s, in: in, args: args, vars: map[*ast.Identifier]*tree.Var{}, partVars: map[partOf]*tree.Var{}, held: map[*tree.Var]bool{}, broken: map[*tree.Var]bool{}}
	w.run()
	t.calls = t.calls[:len(t.calls)-1]
	return in, ""
}

// walker walks one instance.
type walker struct {
	*typer
	symbol *symbol
	in     *instance
	args   []argument

	vars     map[*ast.Identifier]*tree.Var // by declaration, kept from walk to walk
	partVars map[partOf]*tree.Var          // likewise
	held     map[*tree.Var]bool            // those among partVars
	broken   map[*tree.Var]bool            // those that were given what they cannot hold, as was told

	changed bool // a type grew: walk again
	scope   *scope
	flow    flow
	targets []*target
	labels  []string                   // of the statement that comes next
	missing map[string]bool            // names that were looked for in vain; each is told of once
	spawned map[*tree.Var]*schema.Type // the variables that spawn() was first assigned to
	result  tree.Type                  // joined over the returns
	gives   thing                      // likewise, where they give things
	returns bool                       // there is a return with a value
	bare    file.Idx                   // the first one without
	hole    *ast.Optional              // the ?. of the chain being walked
	holeVar *tree.Var                  // and the variable that stands for what is before it
}

// scope is the names of one block.
type scope struct {
	up   *scope
	vars map[string]*binding
}

type binding struct {
	v     *tree.Var
	thing thing // in place of a variable
	ready bool  // its declaration was passed
}

// target is a statement that break or continue may refer to.
type target struct {
	*tree.Target
	loop   bool
	only   bool // a labelled block, which only its label leaves
	labels []string
	left   flow // what is known where break leads, whichever it is
	next   flow // likewise for continue
}

// run walks until nothing changes. Types only grow, and each variable's at
// most twice, so it ends.
func (w *walker) run() {
	for walks := 0; ; walks++ {
		w.changed = false
		w.in.report = report{files: w.files}
		w.in.callee = map[*instance]bool{}
		if w.walk(); !w.changed {
			return
		}
		if walks == maxWalks || w.steps > maxSteps {
			w.errorf(w.symbol.at, "what the variables of \"%s\" hold depends on too many others: give those that begin with null something else, or split the function", w.symbol.name)
			return
		}
	}
}

func (w *walker) walk() {
	fn := w.in.fn
	w.flow = flow{}
	w.scope = nil
	w.targets, w.labels = nil, nil
	w.spawned, w.missing = map[*tree.Var]*schema.Type{}, map[string]bool{}
	w.result, w.gives, w.returns, w.bare = tree.Type{Kind: tree.Void}, nil, false, 0
	fn.Params, fn.Body = nil, nil
	w.push()
	fn.Body = w.params()
	w.hoist(w.symbol.body)
	if w.symbol.value != nil {
		fn.Body = append(fn.Body, w.giveBack(w.symbol.value)...)
	} else {
		fn.Body = append(fn.Body, w.stmts(w.symbol.body)...)
	}
	w.pop()
	switch {
	case w.returns && w.bare != 0:
		w.errorf(w.bare, "\"%s\" returns a value elsewhere, so it must do so here", w.symbol.name)
	case w.returns && !w.flow.dead:
		w.errorf(w.symbol.at, "\"%s\" returns a value on some paths and none on others", w.symbol.name)
	}
	w.in.gives, fn.Result, fn.More = w.gives, w.result, nil
	if w.gives == nil {
		return
	}
	for i, x := range w.gives.parts() {
		if i == 0 {
			fn.Result = x.Type()
		} else {
			fn.More = append(fn.More, x.Type())
		}
	}
}

// params declares the parameters; patterns and default values among them become
// declarations that the body begins with.
func (w *walker) params() (body []tree.Stmt) {
	p := w.symbol.params
	if p == nil {
		return nil
	}
	if p.Rest != nil {
		w.errorf(p.Rest.Idx0(), noRest)
		w.spoilTarget(p.Rest)
	}
	for _, b := range p.List {
		w.hoistTarget(b.Target)
	}
	// What is passed is declared first: the names' own declarations come in their order.
	passed := make([]tree.Expr, len(p.List))
	for i, b := range p.List {
		if i < len(w.args) {
			passed[i] = w.param(b.Target, w.args[i])
		}
	}
	for i, b := range p.List {
		x := passed[i]
		if x == nil && b.Initializer != nil {
			x = w.present(w.object(b.Initializer))
		}
		id, plain := b.Target.(*ast.Identifier)
		switch {
		case x == nil: // the caller is told
			w.spoilTarget(b.Target)
		case plain && passed[i] != nil:
			w.passedName(id, x)
		default:
			body = append(body, w.bindTarget(b.Target, x, false)...)
		}
	}
	return body
}

// param declares what an argument comes in.
func (w *walker) param(target ast.Expression, a argument) tree.Expr {
	id, plain := target.(*ast.Identifier)
	if !plain {
		id = hidden(target)
	}
	fn := w.in.fn
	if a.thing == nil {
		v := &tree.Var{Name: id.Name.String(), Type: a.t, Const: !plain}
		if plain {
			if w.vars[id] == nil {
				w.vars[id] = v
			}
			v = w.vars[id]
		}
		fn.Params = append(fn.Params, v)
		w.flow.set(v, a.t)
		return &tree.VarRef{Node: tree.Node{At: target.Idx0(), T: a.t}, Var: v}
	}
	parts := a.thing.parts()
	vars := make([]tree.Expr, len(parts))
	for i, x := range parts {
		v := &tree.Var{Name: id.Name.String(), Type: x.Type(), Const: true}
		fn.Params = append(fn.Params, v)
		w.flow.set(v, x.Type())
		vars[i] = &tree.VarRef{Node: tree.Node{At: target.Idx0(), T: x.Type()}, Var: v}
	}
	t := a.thing.with(vars)
	if r, ok := t.(*record); ok {
		return r.given(id.Name.String())
	}
	return t
}

// passedName makes the name of a parameter known that is no pattern.
func (w *walker) passedName(id *ast.Identifier, x tree.Expr) {
	if t, ok := x.(thing); ok {
		w.bindThing(id, t)
		return
	}
	w.declare(id, x.Type(), false)
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

// inside walks what jumps to t can leave, and gives what is known where break leads.
func (w *walker) inside(t *target, walk func()) flow {
	t.left, t.next = flow{dead: true}, flow{dead: true}
	w.targets = append(w.targets, t)
	walk()
	w.targets = w.targets[:len(w.targets)-1]
	return t.left
}

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
	eachName(target, func(id *ast.Identifier) {
		name := id.Name.String()
		if w.scope.vars[name] != nil {
			w.errorf(id.Idx, "\"%s\" is declared twice", name)
			return
		}
		w.scope.vars[name] = &binding{}
	})
}

// declare makes a variable known from here on. Its type is at least t.
func (w *walker) declare(id *ast.Identifier, t tree.Type, constant bool) *tree.Var {
	v := w.vars[id]
	if v == nil {
		v = &tree.Var{Name: id.Name.String(), Type: t, Const: constant}
		w.vars[id] = v
	}
	w.grow(v, t, id.Idx)
	if b := w.scope.vars[v.Name]; b != nil && !b.ready {
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
		w.broken[v] = true
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
