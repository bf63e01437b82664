// Package lower turns the checked tree of a body into ir.
//
//	number     f64                 arith.go
//	bool       i32, 0 or 1
//	str        i32, an address     strs.go
//	object     i32, an address of a row; null is 0
//	table      constant data       tables.go
//	statement  blocks and loops    lower.go
//	result     one value; others are left at fixed addresses    result.go
//	log        a record for the host                            log.go
//
// Numbers are doubles throughout, with a conversion where a field or an operator works on
// integers; the optimiser takes conversions out where that cannot be noticed. References
// are ids in fields, looked up when they are read. Nothing here depends on a side: places
// in the state are named by type and field, and what a browser leaves out (a store to a
// sent field) is marked as such.
//
// The order of evaluation is that of JavaScript: a value that is used behind something
// which could change it is kept in a local first (keep, operands). Every loop takes fuel,
// and whatever may fail (null, an index, a name) is a trap with its place.
package lower

import (
	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/schema"
)

// Faults are the codes of the faults that bodies cause.
type Faults struct{ Null, Index, Name uint32 }

// Lowerer lowers the functions of one game.
type Lowerer struct {
	rt        *rt.Runtime
	faults    Faults
	math      func(name string) *tree.Func
	funcs     map[*tree.Func]*ir.Func
	tables    map[*tree.Table]*tableData
	texts     map[string]*ir.Data
	positions map[file.Idx]int
	places    []file.Idx
	logs      []LogSite
	of        map[*ir.Func]*tree.Func // what each function was
	more      map[*tree.Func][]*ir.Data
}

// New gives a Lowerer. math gives the functions of Math that are no
// instructions.
func New(r *rt.Runtime, faults Faults, math func(name string) *tree.Func) *Lowerer {
	return &Lowerer{
		rt: r, faults: faults, math: math,
		funcs: map[*tree.Func]*ir.Func{}, tables: map[*tree.Table]*tableData{}, texts: map[string]*ir.Data{}, more: map[*tree.Func][]*ir.Data{}, of: map[*ir.Func]*tree.Func{}, positions: map[file.Idx]int{},
	}
}

// Places are the positions that faults may name, by index.
func (l *Lowerer) Places() []file.Idx { return l.places }

// Place is the index of a position.
func (l *Lowerer) Place(at file.Idx) int {
	i, ok := l.positions[at]
	if !ok {
		i = len(l.places)
		l.positions[at] = i
		l.places = append(l.places, at)
	}
	return i
}

// Func lowers a function, once, and those that it calls.
func (l *Lowerer) Func(t *tree.Func) *ir.Func {
	if f := l.funcs[t]; f != nil {
		return f
	}
	f := &ir.Func{Name: t.Name, Result: typeOf(t.Result)}
	l.funcs[t], l.of[f] = f, t
	fn := &function{Lowerer: l, of: t, fn: f, server: t.Server, trusted: t.Library, vars: map[*tree.Var]*ir.Local{}, slots: map[*tree.Var]*ir.Data{}, jumps: map[*tree.Target]jump{}}
	fn.base = &ir.Local{Name: "base", Type: ir.I32}
	f.Params = []*ir.Local{fn.base}
	for _, p := range t.Params {
		f.Params = append(f.Params, fn.local(p))
	}
	fn.stmts(t.Body)
	f.Body = fn.out
	l.rt.SetWeight(f, min(l.weight(f), rt.Heavy)) // until it is charged
	return f
}

// Written is where a function stands that an author wrote; false for others.
func (l *Lowerer) Written(f *ir.Func) (file.Idx, bool) {
	t := l.of[f]
	if t == nil || t.Library {
		return 0, false
	}
	return t.At, true
}

// Charge makes a function take fuel if it is heavy, with what it calls that is not, so
// that no tower of calls is free. What is lighter counts where it is called. It is meant
// to be called when calls were inlined that are going to be, for what is called before
// what calls it.
func (l *Lowerer) Charge(f *ir.Func) {
	t := l.of[f]
	if t == nil {
		return // the runtime's, which knows what it weighs
	}
	w := l.weight(f)
	if w >= rt.Heavy && !t.Library {
		l.rt.Pay(f, w, l.Place(t.At))
	} else {
		l.rt.SetWeight(f, w)
	}
}

// weight is what a function weighs. One of the maths library is made of cases, of which
// less than half run.
func (l *Lowerer) weight(f *ir.Func) int {
	w := l.rt.Weight(f.Body)
	if l.of[f].Library {
		w /= 2
	}
	return w
}

func typeOf(t tree.Type) ir.Type {
	switch t.Kind {
	case tree.Void:
		return ir.Void
	case tree.Number:
		return ir.F64
	}
	return ir.I32
}

// function lowers one function.
type function struct {
	*Lowerer
	of      *tree.Func
	fn      *ir.Func
	server  bool
	trusted bool // of the maths library: its indices are inside its tables
	base    *ir.Local
	vars    map[*tree.Var]*ir.Local
	slots   map[*tree.Var]*ir.Data // where variables keep strs
	jumps   map[*tree.Target]jump
	out     []ir.Stmt // where statements go
}

// jump is where break and continue of a loop lead.
type jump struct{ out, next *ir.Label }

func (f *function) local(v *tree.Var) *ir.Local {
	l := f.vars[v]
	if l == nil {
		l = &ir.Local{Name: v.Name, Type: typeOf(v.Type)}
		f.vars[v] = l
	}
	return l
}

func (f *function) temp(t ir.Type) *ir.Local { return &ir.Local{Name: "t", Type: t} }

func (f *function) emit(s ...ir.Stmt) { f.out = append(f.out, s...) }

// block collects the statements that do emits.
func (f *function) block(do func()) []ir.Stmt {
	outer := f.out
	f.out = nil
	do()
	inner := f.out
	f.out = outer
	return inner
}

// seq is the value that do gives, behind the statements that it emits.
func (f *function) seq(do func() ir.Expr) ir.Expr {
	var x ir.Expr
	body := f.block(func() { x = do() })
	if len(body) == 0 {
		return x
	}
	return &ir.Seq{Body: body, Value: x}
}

// keep gives the value that x has now as something that can be read more than
// once, set in the statement list that is being written.
func (f *function) keep(x ir.Expr) *ir.Local {
	t := f.temp(x.Type())
	f.emit(&ir.Set{Local: t, X: x})
	return t
}

func (f *function) stmts(list []tree.Stmt) {
	for _, s := range list {
		f.stmt(s)
	}
}

func (f *function) stmt(s tree.Stmt) {
	switch s := s.(type) {
	case *tree.Decl:
		if s.Var.Type.Kind == tree.Str {
			f.assignStr(s.Var, s.X)
			return
		}
		f.emit(&ir.Set{Local: f.local(s.Var), X: f.expr(s.X)})
	case *tree.Eval:
		f.effect(s.X)
	case *tree.Block:
		if s.Target == nil {
			f.stmts(s.Body)
			return
		}
		j := jump{out: &ir.Label{Name: "out"}}
		f.jumps[s.Target] = j
		f.emit(&ir.Block{Label: j.out, Body: f.block(func() { f.stmts(s.Body) })})
	case *tree.If:
		test := f.truth(s.Test)
		then := f.block(func() { f.stmts(s.Then) })
		other := f.block(func() { f.stmts(s.Else) })
		f.emit(&ir.If{Test: test, Then: then, Else: other})
	case *tree.Loop:
		f.loop(s)
	case *tree.ForOf:
		f.forOf(s)
	case *tree.Switch:
		f.switchStmt(s)
	case *tree.Break:
		f.emit(&ir.Br{Label: f.jumps[s.Target].out})
	case *tree.Continue:
		f.emit(&ir.Br{Label: f.jumps[s.Target].next})
	case *tree.Return:
		f.giveBack(s)
	}
}

// loop writes
//
//	block out { loop again { if !test br out; block next { body } step; fuel; br again } }
func (f *function) loop(s *tree.Loop) {
	j := jump{&ir.Label{Name: "out"}, &ir.Label{Name: "next"}}
	again := &ir.Label{Name: "again"}
	f.jumps[s.Target] = j
	test := func() {
		if s.Test != nil {
			f.emit(&ir.If{Test: ir.Not(f.truth(s.Test)), Then: []ir.Stmt{&ir.Br{Label: j.out}}})
		}
	}
	body := f.block(func() {
		if !s.Late {
			test()
		}
		f.emit(&ir.Block{Label: j.next, Body: f.block(func() { f.stmts(s.Body) })})
		if s.Late {
			test()
		}
		if s.Step != nil {
			f.effect(s.Step)
		}
	})
	f.rounds(body, j.out, again, s.At)
}

// rounds wraps the body of a loop, charging each round for its size.
func (f *function) rounds(body []ir.Stmt, out, again *ir.Label, at file.Idx) {
	body = append(body, &ir.Fuel{Cost: 1 + f.rt.Weight(body)/rt.Unit, At: f.Place(at)}, &ir.Br{Label: again})
	f.emit(&ir.Block{Label: out, Body: []ir.Stmt{&ir.Loop{Label: again, Body: body}}})
}

func (f *function) forOf(s *tree.ForOf) {
	j := jump{&ir.Label{Name: "out"}, &ir.Label{Name: "next"}}
	again := &ir.Label{Name: "again"}
	f.jumps[s.Target] = j
	row := &ir.Local{Name: "row", Type: ir.I32}
	end := &ir.Local{Name: "end", Type: ir.I32}
	v := f.local(s.Var)
	if s.Var.Const {
		row = v // nothing else writes it
	}
	f.emit(
		&ir.Set{Local: row, X: rt.FirstRow(ir.Read(f.base), s.Of)},
		&ir.Set{Local: end, X: rt.RowsEnd(ir.Read(f.base), s.Of)})
	body := f.block(func() {
		f.emit(&ir.If{Test: ir.Do(ir.GeU32, ir.Read(row), ir.Read(end)), Then: []ir.Stmt{&ir.Br{Label: j.out}}})
		f.emit(&ir.Block{Label: j.next, Body: f.block(func() {
			f.emit(&ir.If{Test: rt.Removed(ir.Read(row)), Then: []ir.Stmt{&ir.Br{Label: j.next}}})
			if row != v {
				f.emit(&ir.Set{Local: v, X: ir.Read(row)})
			}
			f.stmts(s.Body)
		})})
		f.emit(&ir.Set{Local: row, X: ir.Do(ir.AddI32, ir.Read(row), rt.Stride(s.Of))})
	})
	f.rounds(body, j.out, again, s.At)
}

// switchStmt writes one block per case, all closed in order, so that jumping to
// the end of block i runs the bodies from case i on:
//
//	block out { block 1 { block 0 { tests } body 0 } body 1 }
func (f *function) switchStmt(s *tree.Switch) {
	out := &ir.Label{Name: "out"}
	f.jumps[s.Target] = jump{out: out}
	x := f.temp(typeOf(s.X.Type()))
	labels := make([]*ir.Label, len(s.Cases))
	inner := f.block(func() {
		tests := make([]ir.Expr, len(s.Cases))
		var all []ir.Expr
		for i, c := range s.Cases {
			if c.Test != nil {
				tests[i] = f.expr(c.Test)
				all = append(all, tests[i])
			}
		}
		value := f.expr(s.X)
		if s.X.Type().Kind == tree.Str && disturbs(all) {
			value = f.copied(rt.StrSlot(), value)
		}
		f.emit(&ir.Set{Local: x, X: value})
		for i := range s.Cases {
			labels[i] = &ir.Label{Name: "case"}
			if tests[i] != nil {
				f.emit(&ir.If{Test: f.equal(s.X.Type(), ir.Read(x), tests[i]), Then: []ir.Stmt{&ir.Br{Label: labels[i]}}})
			}
		}
		if s.Default >= 0 {
			f.emit(&ir.Br{Label: labels[s.Default]})
		} else {
			f.emit(&ir.Br{Label: out})
		}
	})
	for i, c := range s.Cases {
		wrapped := []ir.Stmt{&ir.Block{Label: labels[i], Body: inner}}
		inner = append(wrapped, f.block(func() { f.stmts(c.Body) })...)
	}
	f.emit(&ir.Block{Label: out, Body: inner})
}

// written notes a server body's write of a shared field in the row's mark.
func (f *function) written(obj *ir.Local, of *schema.Type, field *schema.Field) {
	if !f.server || field.Sync != schema.Shared {
		return
	}
	if of.Index == schema.InstanceType {
		off := ir.Offset{Place: ir.Rows, Type: of.Index, Add: schema.RowMark}
		f.emit(rt.MarkWritten(ir.Read(f.base), off))
		return
	}
	f.emit(rt.MarkWritten(ir.Read(obj), ir.At(schema.RowMark)))
}
