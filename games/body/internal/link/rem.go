package link

import (
	"fmt"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/wasm"
)

// rem emits x % y of unsigned integers as x - x / y * y. WebAssembly has an operator
// for it, but what wazero 1.12 makes of that on arm64 loses the quotient where
// registers are short (https://github.com/wazero/wazero/pull/2508). It would be made
// the same instructions there, and costs two cheap ones more on amd64.
func (e *emitter) rem(x *ir.Apply) {
	t, div, mul, sub := wasm.I32, byte(0x6e), byte(0x6c), byte(0x6b)
	switch x.Op {
	case ir.RemU32:
	case ir.RemU64:
		t, div, mul, sub = wasm.I64, 0x80, 0x7e, 0x7d
	default:
		// The quotient of the lowest number and -1 is a trap, its remainder is none.
		e.err = fmt.Errorf("link %s: no code for signed remainders", e.f.Name)
	}
	waits, ok := e.rems[t]
	if !ok {
		waits = [2]int{e.newLocal("dividend", t), e.newLocal("divisor", t)}
		e.rems[t] = waits
	}
	e.expr(x.X)
	y := func() { e.expr(x.Y) }
	if _, constant := x.Y.(*ir.Const); !constant {
		y()
		e.c.Idx(wasm.OpLocalSet, waits[1])
		y = func() { e.c.Idx(wasm.OpLocalGet, waits[1]) }
	}
	e.c.Idx(wasm.OpLocalTee, waits[0])
	e.c.Idx(wasm.OpLocalGet, waits[0])
	y()
	e.c.Op(div)
	y()
	e.c.Op(mul, sub)
}
