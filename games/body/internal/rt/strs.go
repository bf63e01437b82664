package rt

import "gamehoster/games/body/internal/ir"

// A str is an address: of a byte with the length, behind which the bytes are, as
// UTF-8. None is longer than maxStr, as fields and literals are not and nothing
// joins two.
const maxStr = 255

// StrSlot is memory for a str that is kept.
func StrSlot() *ir.Data { return &ir.Data{Name: "str", Bytes: make([]byte, 1+maxStr)} }

// What a call counts for that goes over strs: by words, or byte by byte. Most strs are
// much shorter than the longest.
const (
	byWords = 2 * Unit
	byBytes = 16 * Unit
)

// SetStr is the function (to, room, from) that assigns a str to a field: at most
// room bytes, cut between code points, the rest of the room zero.
func (r *Runtime) SetStr() *ir.Func {
	return r.once("str.set", func(f *ir.Func) {
		r.SetWeight(f, byWords)
		to, room, from, n := local("to", ir.I32), local("room", ir.I32), local("from", ir.I32), local("n", ir.I32)
		f.Params, f.Keep = []*ir.Local{to, room, from}, true
		tail := ir.Do(ir.EqI32, ir.Do(ir.AndI32, byteAt(add(get(from), get(n)), 1), ir.Int(0xc0)), ir.Int(0x80))
		f.Body = []ir.Stmt{
			when(ir.Do(ir.EqI32, get(to), get(from)), &ir.Return{}),
			set(n, byteAt(get(from), 0)),
			when(ir.Do(ir.GtU32, get(n), get(room)),
				set(n, get(room)),
				while(ir.Both(get(n), tail), set(n, ir.Do(ir.SubI32, get(n), ir.Int(1))))),
			&ir.Store{Addr: get(to), Mem: ir.MemU8, X: get(n)},
			&ir.Copy{Dst: add(get(to), ir.Int(1)), Src: add(get(from), ir.Int(1)), N: get(n)},
			&ir.Fill{Dst: add(add(get(to), get(n)), ir.Int(1)), N: ir.Do(ir.SubI32, get(room), get(n))},
		}
	})
}

// CopyStr is the function (to, from) that keeps a str in a StrSlot.
func (r *Runtime) CopyStr() *ir.Func {
	return r.once("str.copy", func(f *ir.Func) {
		r.SetWeight(f, byWords)
		to, from := local("to", ir.I32), local("from", ir.I32)
		f.Params, f.Keep = []*ir.Local{to, from}, true
		f.Body = []ir.Stmt{&ir.Copy{Dst: get(to), Src: get(from), N: add(byteAt(get(from), 0), ir.Int(1))}}
	})
}

// EqualStr is the function (a, b) that tells whether two strs are equal.
func (r *Runtime) EqualStr() *ir.Func {
	return r.once("str.equal", func(f *ir.Func) {
		r.SetWeight(f, byWords)
		a, b, n := local("a", ir.I32), local("b", ir.I32), local("n", ir.I32)
		f.Params, f.Result, f.Keep = []*ir.Local{a, b}, ir.I32, true
		word := func(s *ir.Local) ir.Expr {
			return &ir.Load{Addr: add(get(s), get(n)), Off: ir.At(1), Mem: ir.MemI64}
		}
		f.Body = []ir.Stmt{
			set(n, byteAt(get(a), 0)),
			when(ir.Do(ir.NeI32, get(n), byteAt(get(b), 0)), ret(ir.Int(0))),
			while(ir.Do(ir.GeU32, get(n), ir.Int(8)),
				set(n, ir.Do(ir.SubI32, get(n), ir.Int(8))),
				when(ir.Not(ir.Do(ir.EqI64, word(a), word(b))), ret(ir.Int(0)))),
			while(get(n),
				when(ir.Do(ir.NeI32, byteAt(add(get(a), get(n)), 0), byteAt(add(get(b), get(n)), 0)), ret(ir.Int(0))),
				set(n, ir.Do(ir.SubI32, get(n), ir.Int(1)))),
			ret(ir.Int(1)),
		}
	})
}

// CompareStr is the function (a, b) that gives a number below, at or above zero as
// a stands before, with or behind b. JavaScript goes by the units of UTF-16, of
// which those past U+FFFF take two that stand before U+E000: the bytes that such
// code points begin with, 0xf0 and more, come before 0xee and 0xef.
func (r *Runtime) CompareStr() *ir.Func {
	return r.once("str.compare", func(f *ir.Func) {
		r.SetWeight(f, byBytes)
		a, b, i, n := local("a", ir.I32), local("b", ir.I32), local("i", ir.I32), local("n", ir.I32)
		x, y := local("x", ir.I32), local("y", ir.I32)
		f.Params, f.Result, f.Keep = []*ir.Local{a, b}, ir.I32, true
		order := func(l *ir.Local) ir.Expr {
			late := ir.Do(ir.EqI32, ir.Do(ir.AndI32, get(l), ir.Int(0xfe)), ir.Int(0xee))
			return add(get(l), ir.Do(ir.ShlI32, late, ir.Int(4)))
		}
		f.Body = []ir.Stmt{
			set(x, byteAt(get(a), 0)),
			set(y, byteAt(get(b), 0)),
			set(n, &ir.Cond{Test: ir.Do(ir.LtU32, get(x), get(y)), Then: get(x), Else: get(y)}),
			set(i, ir.Int(0)),
			while(ir.Do(ir.LtU32, get(i), get(n)),
				set(i, add(get(i), ir.Int(1))),
				set(x, byteAt(add(get(a), get(i)), 0)),
				set(y, byteAt(add(get(b), get(i)), 0)),
				when(ir.Do(ir.NeI32, get(x), get(y)), ret(ir.Do(ir.SubI32, order(x), order(y))))),
			ret(ir.Do(ir.SubI32, byteAt(get(a), 0), byteAt(get(b), 0))),
		}
	})
}

// LengthStr is the function (a) that counts a str's units of UTF-16: one for each
// code point, and one more where four bytes stand for it.
func (r *Runtime) LengthStr() *ir.Func {
	return r.once("str.length", func(f *ir.Func) {
		r.SetWeight(f, byBytes)
		a, n, c, units := local("a", ir.I32), local("n", ir.I32), local("c", ir.I32), local("units", ir.I32)
		f.Params, f.Result, f.Keep = []*ir.Local{a}, ir.I32, true
		f.Body = []ir.Stmt{
			set(units, ir.Int(0)),
			set(n, byteAt(get(a), 0)),
			while(get(n),
				set(c, byteAt(add(get(a), get(n)), 0)),
				set(units, add(get(units), add(
					ir.Do(ir.NeI32, ir.Do(ir.AndI32, get(c), ir.Int(0xc0)), ir.Int(0x80)),
					ir.Do(ir.GeU32, get(c), ir.Int(0xf0))))),
				set(n, ir.Do(ir.SubI32, get(n), ir.Int(1)))),
			ret(get(units)),
		}
	})
}

func byteAt(addr ir.Expr, off int) ir.Expr {
	return &ir.Load{Addr: addr, Off: ir.At(off), Mem: ir.MemU8}
}
