package link

import (
	"fmt"
	"math"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/wasm"
)

// Canonical NaNs: the ones that every store writes.
const (
	nan32 = 0x7fc00000
	nan64 = 0x7ff8000000000000
)

// emitter writes one function.
type emitter struct {
	*linker
	f      *ir.Func
	c      wasm.Code
	locals map[*ir.Local]int
	extra  []wasm.ValType          // locals past the parameters
	names  []string                // of the parameters and locals
	labels []*ir.Label             // of the enclosing blocks, nil for those that nothing jumps to
	ways   map[*ir.Label]int       // how many ways lead to each label
	nan    int                     // local in which a float waits for its check; -1 for none yet
	rems   map[wasm.ValType][2]int // locals in which the two parts of a remainder wait
	fuel   int                     // local that holds the fuel while the function runs; -1 if it takes none
	err    error
}

func (l *linker) emit(f *ir.Func) (*wasm.Func, error) {
	e := &emitter{linker: l, f: f, locals: map[*ir.Local]int{}, nan: -1, rems: map[wasm.ValType][2]int{}, fuel: -1}
	w := &wasm.Func{Name: f.Name}
	for i, p := range f.Params {
		e.locals[p] = i
		w.Params = append(w.Params, p.Type.Wasm())
		e.names = append(e.names, p.Name)
	}
	if f.Result != ir.Void {
		w.Results = []wasm.ValType{f.Result.Wasm()}
	}
	body := l.body(f)
	if burns(body) {
		e.fuel = e.newLocal("fuel", wasm.I32)
		e.loadFuel()
	}
	e.ways = ways(body)
	if !e.onClient() {
		body = touched(body)
	}
	e.stmts(body)
	if f.Result != ir.Void {
		e.c.Op(wasm.OpUnreachable) // the front end made sure of a return
	} else {
		e.storeFuel()
	}
	w.Locals, w.Code = e.extra, e.c
	if e.Names {
		w.Names = e.names
	}
	return w, e.err
}

// ways counts how many ways there are to where the labels of a body lead.
func ways(body []ir.Stmt) map[*ir.Label]int {
	n := map[*ir.Label]int{}
	ir.Each(body, func(s ir.Stmt) {
		switch s := s.(type) {
		case *ir.Br:
			n[s.Label]++
		case *ir.Block:
			if !ends(s.Body) {
				n[s.Label]++
			}
		case *ir.Loop:
			n[s.Label]++
		}
	}, nil)
	return n
}

// ends reports whether a list never gets to its end.
func ends(list []ir.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch s := list[len(list)-1].(type) {
	case *ir.Br, *ir.Return, *ir.Trap:
		return true
	case *ir.If:
		return ends(s.Then) && ends(s.Else)
	case *ir.Loop:
		return ends(s.Body)
	}
	return false
}

// burns reports whether a body itself takes fuel.
func burns(body []ir.Stmt) (found bool) {
	ir.Each(body, func(s ir.Stmt) {
		if _, ok := s.(*ir.Fuel); ok {
			found = true
		}
	}, nil)
	return found
}

// Fuel is in a local while a function that takes some runs, because a global
// costs a store and a load in every round of a loop. It is handed over in the
// global at calls of functions that take fuel as well, and at the end.
func (e *emitter) loadFuel() {
	if e.fuel >= 0 {
		e.c.Idx(wasm.OpGlobalGet, e.globals[e.Fuel])
		e.c.Idx(wasm.OpLocalSet, e.fuel)
	}
}

func (e *emitter) storeFuel() {
	if e.fuel >= 0 {
		e.c.Idx(wasm.OpLocalGet, e.fuel)
		e.c.Idx(wasm.OpGlobalSet, e.globals[e.Fuel])
	}
}

func (e *emitter) local(l *ir.Local) int {
	i, ok := e.locals[l]
	if !ok {
		i = e.newLocal(l.Name, l.Type.Wasm())
		e.locals[l] = i
	}
	return i
}

func (e *emitter) newLocal(name string, t wasm.ValType) int {
	e.names = append(e.names, name)
	e.extra = append(e.extra, t)
	return len(e.f.Params) + len(e.extra) - 1
}

func (e *emitter) enter(op byte, l *ir.Label) {
	e.c.Op(op, wasm.BlockVoid)
	e.labels = append(e.labels, l)
}

func (e *emitter) leave() {
	e.c.Op(wasm.OpEnd)
	e.labels = e.labels[:len(e.labels)-1]
}

func (e *emitter) depth(l *ir.Label) int {
	for i := len(e.labels) - 1; i >= 0; i-- {
		if e.labels[i] == l {
			return len(e.labels) - 1 - i
		}
	}
	e.err = fmt.Errorf("link %s: a jump to %s from outside", e.f.Name, l.Name)
	return 0
}

func (e *emitter) stmts(list []ir.Stmt) {
	// A round that ends by taking fuel goes back while there is some: one jump in
	// every round instead of two.
	if n := len(list); n >= 2 {
		fuel, ok1 := list[n-2].(*ir.Fuel)
		br, ok2 := list[n-1].(*ir.Br)
		if ok1 && ok2 {
			e.stmts(list[:n-2])
			e.burn(fuel)
			e.c.Op(ir.GeI32.Code()...)
			e.enter(wasm.OpIf, nil)
			e.c.Idx(wasm.OpBr, e.depth(br.Label))
			e.leave()
			e.trap(e.OutOfGas, fuel.At)
			return
		}
	}
	for _, s := range list {
		e.stmt(s)
	}
}

// burn takes fuel and leaves what is left on the stack, and a zero.
func (e *emitter) burn(s *ir.Fuel) {
	e.c.Idx(wasm.OpLocalGet, e.fuel)
	e.c.I32(int32(s.Cost))
	e.c.Op(ir.SubI32.Code()...)
	e.c.Idx(wasm.OpLocalTee, e.fuel)
	e.c.I32(0)
}

func (e *emitter) stmt(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Set:
		e.expr(s.X)
		e.c.Idx(wasm.OpLocalSet, e.local(s.Local))
	case *ir.SetGlobal:
		e.expr(s.X)
		e.c.Idx(wasm.OpGlobalSet, e.globals[s.Global])
	case *ir.Store:
		e.store(s)
	case *ir.Copy:
		e.expr(s.Dst)
		e.expr(s.Src)
		e.expr(s.N)
		e.c.MemoryCopy()
	case *ir.Fill:
		e.fill(s)
	case *ir.Eval:
		e.expr(s.X)
		if s.X.Type() != ir.Void {
			e.c.Op(wasm.OpDrop)
		}
	case *ir.If:
		e.ifStmt(s)
	case *ir.Block:
		e.enter(wasm.OpBlock, s.Label)
		e.stmts(s.Body)
		e.leave()
	case *ir.Loop:
		e.enter(wasm.OpLoop, s.Label)
		e.stmts(s.Body)
		e.leave()
	case *ir.Br:
		e.c.Idx(wasm.OpBr, e.depth(s.Label))
	case *ir.Return:
		if s.X != nil {
			e.expr(s.X)
		}
		e.storeFuel()
		e.c.Op(wasm.OpReturn)
	case *ir.Fuel:
		e.burn(s)
		e.c.Op(ir.LtI32.Code()...)
		e.enter(wasm.OpIf, nil)
		e.trap(e.OutOfGas, s.At)
		e.leave()
	case *ir.Trap:
		e.trap(s.Fault, s.At)
	default:
		e.err = fmt.Errorf("link %s: no code for %T", e.f.Name, s)
	}
}

func (e *emitter) trap(fault uint32, at int) {
	if !e.onClient() {
		e.storeFuel() // the driver counts what a failed run took
	}
	e.c.I32(int32(fault))
	e.c.Idx(wasm.OpGlobalSet, e.globals[e.Fault])
	e.c.I32(int32(at))
	e.c.Idx(wasm.OpGlobalSet, e.globals[e.FaultAt])
	e.c.Op(wasm.OpUnreachable)
}

func (e *emitter) ifStmt(s *ir.If) {
	// A lone jump needs no block of its own. But if others get to the same place,
	// wazero puts the jump into one all the same, and then has forgotten that it could
	// jump by the flags of the comparison.
	if len(s.Then) == 1 && len(s.Else) == 0 {
		if br, ok := s.Then[0].(*ir.Br); ok && e.ways[br.Label] == 1 {
			e.test(s.Test)
			e.c.Idx(wasm.OpBrIf, e.depth(br.Label))
			return
		}
	}
	e.test(s.Test)
	e.enter(wasm.OpIf, nil)
	e.stmts(s.Then)
	// An empty else, too: without one wazero forgets at the end of the if which
	// addresses it has checked.
	e.c.Op(wasm.OpElse)
	e.stmts(s.Else)
	e.leave()
}

// test leaves what a jump depends on. A machine compares bits in the instruction
// that masks them if it is told to compare.
func (e *emitter) test(x ir.Expr) {
	e.expr(x)
	if a, ok := x.(*ir.Apply); ok && a.Op == ir.AndI32 {
		e.c.I32(0)
		e.c.Op(ir.NeI32.Code()...)
	}
}

// known gives the value of an I32 that is a number on this side.
func (l *linker) known(x ir.Expr) (int, bool) {
	switch x := x.(type) {
	case *ir.Const:
		return int(int32(uint32(x.Bits))), x.T == ir.I32
	case *ir.Sym:
		return l.offset(x.Off)
	}
	return 0, false
}

// fill writes zeros, by stores where the length is small and known.
func (e *emitter) fill(s *ir.Fill) {
	n, ok := e.known(s.N)
	if dst, simple := s.Dst.(*ir.Get); ok && simple && n%8 == 0 && n <= 160 {
		for at := 0; at < n; at += 8 {
			e.c.Idx(wasm.OpLocalGet, e.local(dst.Local))
			e.c.I64(0)
			e.c.Mem(0x37, 0, at)
		}
		return
	}
	e.expr(s.Dst)
	e.c.I32(0)
	e.expr(s.N)
	e.c.MemoryFill()
}

var (
	loadOps  = [...]byte{ir.MemI8: 0x2c, ir.MemU8: 0x2d, ir.MemI16: 0x2e, ir.MemU16: 0x2f, ir.MemI32: 0x28, ir.MemI64: 0x29, ir.MemF32: 0x2a, ir.MemF64: 0x2b}
	storeOps = [...]byte{ir.MemI8: 0x3a, ir.MemU8: 0x3a, ir.MemI16: 0x3b, ir.MemU16: 0x3b, ir.MemI32: 0x36, ir.MemI64: 0x37, ir.MemF32: 0x38, ir.MemF64: 0x39}
	aligns   = [...]int{ir.MemI16: 1, ir.MemU16: 1, ir.MemI32: 2, ir.MemI64: 3, ir.MemF32: 2, ir.MemF64: 3}
)

const (
	opDemote  = 0xb6
	opPromote = 0xbb
	opF64Ge   = 0x66
)

func (e *emitter) store(s *ir.Store) {
	off, ok := e.offset(s.Off)
	if s.Sent && e.onClient() || !ok {
		for _, x := range []ir.Expr{s.Addr, s.X} {
			if effects(x) {
				e.expr(x)
				e.c.Op(wasm.OpDrop)
			}
		}
		return
	}
	e.expr(s.Addr)
	e.expr(s.X)
	if s.Mem == ir.MemF32 || s.Mem == ir.MemF64 {
		e.canonical(s.Mem, s.X)
	}
	e.c.Mem(storeOps[s.Mem], aligns[s.Mem], off)
}

func (e *emitter) onClient() bool {
	n, _ := e.offset(ir.Offset{Place: ir.ServerSide})
	return n == 0
}

// effects reports whether evaluating x could be noticed.
func effects(x ir.Expr) (found bool) {
	ir.EachIn(x, func(ir.Stmt) { found = true }, func(x ir.Expr) {
		if _, ok := x.(*ir.Call); ok {
			found = true
		}
	})
	return found
}

// canonical converts the number on the stack for memory, with the one NaN that
// every machine must write.
func (e *emitter) canonical(m ir.Mem, x ir.Expr) {
	if ordered(x) {
		if m == ir.MemF32 {
			e.c.Op(opDemote)
		}
		return
	}
	if e.nan < 0 {
		e.nan = e.newLocal("nan", wasm.F64)
	}
	e.c.Idx(wasm.OpLocalTee, e.nan)
	e.c.Idx(wasm.OpLocalGet, e.nan)
	e.c.Op(opF64Ge, wasm.OpIf) // a NaN is not even as much as itself
	if m == ir.MemF32 {
		e.c.Op(byte(wasm.F32))
		e.c.Idx(wasm.OpLocalGet, e.nan)
		e.c.Op(opDemote, wasm.OpElse)
		e.c.F32(nan32)
	} else {
		e.c.Op(byte(wasm.F64))
		e.c.Idx(wasm.OpLocalGet, e.nan)
		e.c.Op(wasm.OpElse)
		e.c.F64(nan64)
	}
	e.c.Op(wasm.OpEnd)
}

// ordered reports whether x is certainly not a NaN.
func ordered(x ir.Expr) bool {
	switch x := x.(type) {
	case *ir.Const:
		return !math.IsNaN(x.Value())
	case *ir.Apply:
		return x.Op == ir.FromI32 || x.Op == ir.FromU32
	}
	return false
}

func (e *emitter) expr(x ir.Expr) {
	switch x := x.(type) {
	case *ir.Const:
		switch x.T {
		case ir.I32:
			e.c.I32(int32(uint32(x.Bits)))
		case ir.I64:
			e.c.I64(int64(x.Bits))
		default:
			if x.Bits != 0 && !e.onClient() {
				e.c.Idx(wasm.OpGlobalGet, e.number(x.Bits))
			} else {
				e.c.F64(x.Bits)
			}
		}
	case *ir.Sym:
		n, ok := e.offset(x.Off)
		if !ok {
			e.err = e.lacking(e.f, x.Off)
		}
		e.c.I32(int32(n))
	case *ir.DataAddr:
		e.c.I32(int32(e.data[x.Data]))
	case *ir.Get:
		e.c.Idx(wasm.OpLocalGet, e.local(x.Local))
	case *ir.GetGlobal:
		e.c.Idx(wasm.OpGlobalGet, e.globals[x.Global])
	case *ir.Load:
		n, ok := e.offset(x.Off)
		if !ok {
			e.err = e.lacking(e.f, x.Off)
		}
		if a, ok := x.Addr.(*ir.Apply); ok && a.Op == ir.AddI32 && isData(a.X) {
			// An element of a table, whose index was checked.
			n += e.data[a.X.(*ir.DataAddr).Data]
			e.expr(a.Y)
		} else {
			e.expr(x.Addr)
		}
		e.c.Mem(loadOps[x.Mem], aligns[x.Mem], n)
		if x.Mem == ir.MemF32 {
			e.c.Op(opPromote)
		}
	case *ir.Apply:
		switch x.Op {
		case ir.RemI32, ir.RemU32, ir.RemI64, ir.RemU64:
			e.rem(x)
			return
		}
		if code, ok := turned(x); ok {
			e.expr(x.Y)
			e.expr(x.X)
			e.c.Op(code)
			return
		}
		e.expr(x.X)
		if x.Y != nil {
			e.expr(x.Y)
		}
		if x.Op == ir.ToInt32 {
			e.c.Idx(wasm.OpCall, e.funcs[e.ToInt32])
		} else {
			e.c.Op(x.Op.Code()...)
		}
	case *ir.Cond:
		e.cond(x)
	case *ir.Call:
		for _, a := range x.Args {
			e.expr(a)
		}
		if e.burners[x.Fn] {
			e.storeFuel()
		}
		e.c.Idx(wasm.OpCall, e.funcs[x.Fn])
		if e.burners[x.Fn] {
			e.loadFuel()
		}
	case *ir.Seq:
		e.stmts(x.Body)
		e.expr(x.Value)
	default:
		e.err = fmt.Errorf("link %s: no code for %T", e.f.Name, x)
	}
}

func isData(x ir.Expr) bool {
	_, ok := x.(*ir.DataAddr)
	return ok
}

// calls reports whether a value is got by a call.
func calls(x ir.Expr) (found bool) {
	ir.EachIn(x, nil, func(x ir.Expr) {
		if _, ok := x.(*ir.Call); ok {
			found = true
		}
	})
	return found
}

func (e *emitter) cond(x *ir.Cond) {
	// Where a call stands between what a select chooses from and its test, wazero takes
	// the first for a NaN that the test compares.
	if cheap(x.Then) && cheap(x.Else) && !calls(x.Test) {
		e.expr(x.Then)
		e.expr(x.Else)
		e.expr(x.Test)
		e.c.Op(wasm.OpSelect)
		return
	}
	e.expr(x.Test)
	e.c.Op(wasm.OpIf, byte(x.Type().Wasm()))
	e.labels = append(e.labels, nil)
	e.expr(x.Then)
	e.c.Op(wasm.OpElse)
	e.expr(x.Else)
	e.leave()
}

// cheap reports whether a value costs nothing and does not depend on when it
// is evaluated relative to a condition without statements.
func cheap(x ir.Expr) bool {
	_, ok := x.(*ir.Const)
	return ok
}
