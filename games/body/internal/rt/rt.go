// Package rt is the part of a game's module that no author wrote: the driver
// that runs a tick, the rows of objects (made, found, removed, compacted), the
// random numbers, and the few operations of JavaScript that WebAssembly has no
// instruction for. All of it is ir, written by hand, and like the bodies it
// serves both sides: where they differ the linker decides.
//
//	tick(base, input)
//	  tick += 1
//	  input: leaves, joins, commands, each with its bodies
//	  players, then each type of entity: the rows that the tick began with
//	  the instance
//	  types whose rows came or went: compact
//
// Around each run of a body the driver sets what it is: its number and actor, for
// reports and for random numbers, and its fuel. A run that is among the input's skips
// is left out.
//
// # Rows
//
// A type's rows lie one behind the other. Those that were there when the tick began are
// in ascending order of ids; what is made comes behind them; what is removed is marked
// and stays readable until the tick ends.
//
//	+---+---+---+---+---+---+---+
//	| 2 | 4 | 6x| 8 |14 |12 |18x|      x: marked removed, not counted as live
//	+---+---+---+---+---+---+---+
//	               sorted       rows
//
//	+---+---+---+---+---+
//	| 2 | 4 | 8 |12 |14 |              behind the tick: compact closed gaps and sorted
//	+---+---+---+---+---+
package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// Globals are the module's variables.
type Globals struct {
	Fault, FaultAt, FaultBody, FaultActor *ir.Global // read by the host after a trap

	Fuel     *ir.Global // what is left of the running body's budget
	TickFuel *ir.Global // server: what is left of the tick's
	Again    *ir.Global // server: what is left for running the tick again after faults
	Seq      *ir.Global // of the running command; 0 in other bodies
	Seed     *ir.Global // of the running body's random numbers, advanced by each
	Seeded   *ir.Global // whether Seed is set
	Secret   *ir.Global // the same for serverRandom()
	Secreted *ir.Global
	Tail     *ir.Global // a second result, in the maths library
	ViewAt   *ir.Global // server: see Driver.View
	LogUsed  *ir.Global // server: see Log
	LogLost  *ir.Global
}

// Runtime makes the functions that a game's bodies need, each when it is
// first asked for.
type Runtime struct {
	Globals
	def     *schema.Definition
	funcs   map[string]*ir.Func
	weights map[*ir.Func]int // what a call counts for besides its own nodes
	paid    map[*ir.Fuel]int // weight that a statement takes fuel for
	scratch *ir.Data         // a row on its way to its place
	strides []int            // bytes of a row on the server, by type
	LogArea *ir.Data         // nil while no body logs
}

// New gives the runtime of a game.
func New(def *schema.Definition) *Runtime {
	i32 := func(name string, export bool) *ir.Global { return &ir.Global{Name: name, Type: ir.I32, Export: export} }
	largest := 0
	var strides []int
	for _, t := range schema.NewLayout(def, schema.OnServer).Types {
		strides = append(strides, t.Stride)
		largest = max(largest, t.Stride)
	}
	return &Runtime{
		Globals: Globals{
			Fault: i32("fault", true), FaultAt: i32("fault_at", true), FaultBody: i32("fault_body", true), FaultActor: i32("fault_actor", true),
			Fuel: i32("fuel", false), TickFuel: &ir.Global{Name: "tick_fuel", Type: ir.I64}, Again: &ir.Global{Name: "again_fuel", Type: ir.I64}, Seq: i32("seq", false),
			Seed: &ir.Global{Name: "seed", Type: ir.I64}, Seeded: i32("seeded", false),
			Secret: &ir.Global{Name: "secret", Type: ir.I64}, Secreted: i32("secreted", false),
			Tail: &ir.Global{Name: "tail", Type: ir.F64}, ViewAt: i32("view_at", true), LogUsed: i32("log_used", true), LogLost: i32("log_lost", true),
		},
		def:     def,
		funcs:   map[string]*ir.Func{},
		weights: map[*ir.Func]int{},
		paid:    map[*ir.Fuel]int{},
		scratch: &ir.Data{Name: "row", Bytes: make([]byte, largest)},
		strides: strides,
	}
}

// once gives the function of a name, building it the first time.
func (r *Runtime) once(name string, build func(f *ir.Func)) *ir.Func {
	f := r.funcs[name]
	if f == nil {
		f = &ir.Func{Name: name}
		r.funcs[name] = f
		build(f)
		if _, ok := r.weights[f]; !ok {
			r.SetWeight(f, r.Weight(f.Body))
		}
	}
	return f
}

func local(name string, t ir.Type) *ir.Local { return &ir.Local{Name: name, Type: t} }

func get(l *ir.Local) ir.Expr { return &ir.Get{Local: l} }

func set(l *ir.Local, x ir.Expr) ir.Stmt { return &ir.Set{Local: l, X: x} }

func load(addr ir.Expr, off ir.Offset) ir.Expr {
	return &ir.Load{Addr: addr, Off: off, Mem: ir.MemI32}
}

func store(addr ir.Expr, off ir.Offset, x ir.Expr) ir.Stmt {
	return &ir.Store{Addr: addr, Off: off, Mem: ir.MemI32, X: x}
}

func add(x, y ir.Expr) ir.Expr { return ir.Do(ir.AddI32, x, y) }

func ret(x ir.Expr) ir.Stmt { return &ir.Return{X: x} }

func when(test ir.Expr, then ...ir.Stmt) ir.Stmt { return &ir.If{Test: test, Then: then} }

// while is a loop that ends where test is zero.
func while(test ir.Expr, body ...ir.Stmt) ir.Stmt {
	out, again := &ir.Label{Name: "out"}, &ir.Label{Name: "again"}
	loop := []ir.Stmt{when(ir.Not(test), &ir.Br{Label: out})}
	loop = append(loop, body...)
	loop = append(loop, &ir.Br{Label: again})
	return &ir.Block{Label: out, Body: []ir.Stmt{&ir.Loop{Label: again, Body: loop}}}
}

func counts(t *schema.Type, which int) ir.Offset {
	return ir.Offset{Place: ir.Counts, Type: t.Index, Add: which}
}

func rowsOf(t *schema.Type) ir.Expr { return &ir.Sym{Off: ir.Offset{Place: ir.Rows, Type: t.Index}} }

// Stride is the size of a row of a type.
func Stride(t *schema.Type) ir.Expr {
	return &ir.Sym{Off: ir.Offset{Place: ir.Stride, Type: t.Index}}
}

// FirstRow is the address of a type's first row.
func FirstRow(base ir.Expr, t *schema.Type) ir.Expr { return add(base, rowsOf(t)) }

// RowsEnd is the address behind a type's last row.
func RowsEnd(base ir.Expr, t *schema.Type) ir.Expr {
	return add(FirstRow(base, t), ir.Do(ir.MulI32, load(base, counts(t, schema.CountRows)), Stride(t)))
}

// Live is how many objects of a type there are.
func Live(base ir.Expr, t *schema.Type) ir.Expr { return load(base, counts(t, schema.CountLive)) }

// Removed is not zero where a row is marked removed.
func Removed(row ir.Expr) ir.Expr {
	return ir.Do(ir.AndI32, load(row, ir.At(schema.RowMark)), ir.Int(schema.MarkRemoved))
}

// MarkWritten is the statement that notes a server body's write in a row; off
// is where the mark is.
func MarkWritten(row ir.Expr, off ir.Offset) ir.Stmt {
	return store(row, off, ir.Do(ir.OrI32, load(row, off), ir.Int(schema.MarkWritten)))
}

// Type is the type of a number.
func (r *Runtime) Type(number int) *schema.Type { return r.def.Types[number] }

func typed(name string, t *schema.Type) string { return name + "." + t.Name }
