// Package link turns ir into the module of one side. It takes the functions
// that the host enters, follows their calls, and leaves everything else out:
// what no shared body reaches never gets into a client's module, constant bytes
// included. Symbolic places become numbers here, from the side's layout.
//
//	0       16                 heap
//	+-------+------------------+-- - - - - - - - -
//	| zeros | constant bytes   | blocks, the host's
//	+-------+------------------+-- - - - - - - - -
//
// Memory starts with 16 zero bytes, so that address 0 is no object and reads as
// one with id 0.
//
// # Fuel
//
// A function that takes fuel keeps it in a local and hands it over in a global, at
// calls of what takes some as well and at its end. That is one subtraction and one
// jump for a round of a loop.
//
// # What wazero makes of it
//
// Servers run the module on wazero, whose compiler translates one instruction after
// the other and optimises little. So the order and choice of instructions is ours to
// make, where browsers do not care. On the server
//
//   - an object's last byte is read before its fields are, because every access is
//     checked by four instructions unless one further on was (see touched);
//   - numbers are read from globals, because a constant takes two instructions through
//     an integer register wherever it stands (see linker.number);
//
// and on both sides, as it does no harm to browsers,
//
//   - a lone conditional jump is br_if only if nothing else leads to where it goes. If
//     something does, wazero splits the edge behind its back and then makes a truth
//     value of the comparison and tests that, five instructions for two;
//   - a NaN is looked for with x >= x, which is one flag, where x == x is two, and in an
//     if, where a select would make a truth value of it first;
//   - bits are compared with zero by name where they decide a jump, as wazero masks and
//     compares in one instruction only then.
//
// bench/bodies/README.md has the disassembly of what is left.
package link

import (
	"fmt"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/wasm"
	"gamehoster/games/schema"
)

// Options are what a module is linked with.
type Options struct {
	Layout   *schema.Layout
	Globals  []*ir.Global
	Fuel     *ir.Global // taken from by ir.Fuel
	Fault    *ir.Global // written by ir.Trap
	FaultAt  *ir.Global
	OutOfGas uint32   // the fault of ir.Fuel
	ToInt32  *ir.Func // stands for the operator of that name
	Log      *ir.Data // exported as "log", if the module has it; may be nil
	MaxPages uint32   // of the module's memory
	Names    bool     // variables have names in the module
}

// dataBase is where constant bytes begin.
const dataBase = 16

// Link makes a module with the roots exported under their names.
func Link(o Options, roots ...*ir.Func) (*wasm.Module, error) {
	l := &linker{
		Options: o, bodies: map[*ir.Func][]ir.Stmt{}, funcs: map[*ir.Func]int{}, globals: map[*ir.Global]int{}, data: map[*ir.Data]int{},
		calls: map[*ir.Func][]*ir.Func{}, burners: map[*ir.Func]bool{}, numbers: map[uint64]int{}, top: dataBase,
	}
	list := l.reach(roots...)
	for _, f := range list {
		if l.needsToInt32(f) {
			list = l.reach(append(list, o.ToInt32)...)
			break
		}
	}
	for i, f := range list {
		l.funcs[f] = i
		l.place(f)
		l.burner(f)
	}
	m := &wasm.Module{MaxPages: o.MaxPages}
	for i, g := range o.Globals {
		l.globals[g] = i
		export := ""
		if g.Export {
			export = g.Name
		}
		w := wasm.Global{Type: g.Type.Wasm(), Mutable: true, Export: export}
		if o.Names {
			w.Name = g.Name
		}
		m.Globals = append(m.Globals, w)
	}
	exported := map[*ir.Func]bool{}
	for _, f := range roots {
		exported[f] = true
	}
	frames := map[*ir.Func]int{}
	l.module = m
	for _, f := range list {
		w, err := l.emit(f)
		if err != nil {
			return nil, err
		}
		if exported[f] {
			w.Export = f.Name
		}
		m.Funcs = append(m.Funcs, w)
		frames[f] = len(w.Params) + len(w.Locals)
	}
	if err := l.checkStack(frames, roots); err != nil {
		return nil, err
	}
	m.Data = l.segments
	heap := (l.top + 63) / 64 * 64
	m.Globals = append(m.Globals, wasm.Global{Type: wasm.I32, Init: uint64(heap), Export: "heap"})
	if at, ok := l.data[o.Log]; ok && o.Log != nil {
		m.Globals = append(m.Globals, wasm.Global{Type: wasm.I32, Init: uint64(at), Export: "log"})
	}
	m.MinPages = uint32((heap + wasm.PageSize - 1) / wasm.PageSize)
	return m, nil
}

type linker struct {
	Options
	bodies   map[*ir.Func][]ir.Stmt // without what the side lacks
	funcs    map[*ir.Func]int
	globals  map[*ir.Global]int
	data     map[*ir.Data]int
	calls    map[*ir.Func][]*ir.Func
	burners  map[*ir.Func]bool // functions that take fuel, or lead to one that does
	numbers  map[uint64]int    // f64 constants by their bits: the globals that hold them
	segments []wasm.Data
	module   *wasm.Module
	top      int
}

// body is a function's body without the branches that this side never takes.
func (l *linker) body(f *ir.Func) []ir.Stmt {
	body, ok := l.bodies[f]
	if !ok {
		r := &ir.Rewriter{}
		r.Stmt = func(s ir.Stmt) []ir.Stmt {
			c, ok := s.(*ir.If)
			if !ok {
				return r.One(s)
			}
			test, known := l.known(c.Test)
			switch {
			case known && test != 0:
				return c.Then
			case known:
				return c.Else
			case len(c.Then) == 0 && len(c.Else) == 0 && !effects(c.Test):
				return nil
			}
			return r.One(s)
		}
		body = r.Body(f.Body)
		l.bodies[f] = body
	}
	return body
}

// reach is ir.Reach on this side.
func (l *linker) reach(roots ...*ir.Func) []*ir.Func {
	return ir.ReachBy(l.callees, roots...)
}

// callees are the functions that a function calls on this side.
func (l *linker) callees(f *ir.Func) []*ir.Func {
	list, ok := l.calls[f]
	if !ok {
		list = ir.Callees(l.body(f))
		l.calls[f] = list
	}
	return list
}

// burner finds whether a function takes fuel, or leads to one that does.
func (l *linker) burner(f *ir.Func) bool {
	found, ok := l.burners[f]
	if !ok {
		found = burns(l.body(f)) || l.takes(f)
		for _, g := range l.callees(f) {
			found = l.burner(g) || found
		}
		l.burners[f] = found
	}
	return found
}

// takes reports whether a function itself takes fuel from the global.
func (l *linker) takes(f *ir.Func) (found bool) {
	ir.Each(l.body(f), func(s ir.Stmt) {
		if g, ok := s.(*ir.SetGlobal); ok && g.Global == l.Fuel {
			found = true
		}
	}, nil)
	return found
}

func (l *linker) needsToInt32(f *ir.Func) (found bool) {
	ir.Each(l.body(f), nil, func(x ir.Expr) {
		if a, ok := x.(*ir.Apply); ok && a.Op == ir.ToInt32 {
			found = true
		}
	})
	return found
}

// place gives addresses to the constant bytes that a function refers to.
func (l *linker) place(f *ir.Func) {
	ir.Each(l.body(f), nil, func(x ir.Expr) {
		a, ok := x.(*ir.DataAddr)
		if !ok {
			return
		}
		if _, placed := l.data[a.Data]; placed {
			return
		}
		l.data[a.Data] = l.top
		for _, b := range a.Data.Bytes {
			if b != 0 {
				l.segments = append(l.segments, wasm.Data{At: uint32(l.top), Bytes: a.Data.Bytes})
				break
			}
		}
		l.top = (l.top + len(a.Data.Bytes) + 7) / 8 * 8
	})
}

// number is the global that holds an f64 constant, on the server: wazero makes a
// constant by two instructions wherever it is used, and reads a global by one, or
// by none where an operator can have its operand in memory. Browsers do better with
// constants that stand in the code.
func (l *linker) number(bits uint64) int {
	i, ok := l.numbers[bits]
	if !ok {
		i = len(l.module.Globals)
		l.module.Globals = append(l.module.Globals, wasm.Global{Type: wasm.F64, Init: bits})
		l.numbers[bits] = i
	}
	return i
}

// offset is a place's number on this side; ok is false for a field that the
// side lacks.
func (l *linker) offset(o ir.Offset) (n int, ok bool) {
	t := l.Layout.Types
	switch o.Place {
	case ir.RowField:
		if n = t[o.Type].Offsets[o.Field]; n < 0 {
			return 0, false
		}
	case ir.Instance:
		if n = t[schema.InstanceType].Offsets[o.Field]; n < 0 {
			return 0, false
		}
		n += t[schema.InstanceType].Rows
	case ir.Rows:
		n = t[o.Type].Rows
	case ir.Counts:
		n = t[o.Type].Counts
	case ir.Stride:
		n = t[o.Type].Stride
	case ir.CommandField:
		n = l.Layout.Commands[o.Type].Offsets[o.Field]
	case ir.CommandStride:
		n = l.Layout.CommandStride
	case ir.ServerSide:
		if l.Layout.Side == schema.OnServer {
			n = 1
		}
	}
	return n + o.Add, true
}

func (l *linker) lacking(f *ir.Func, o ir.Offset) error {
	return fmt.Errorf("link %s: the side has no field %d.%d", f.Name, o.Type, o.Field)
}
