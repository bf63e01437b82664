package rt

import (
	"math"

	"gamehoster/games/body/internal/ir"
)

// ToInt32 is JavaScript's ToInt32 for any number: the remainder modulo 2^32.
func (r *Runtime) ToInt32() *ir.Func {
	return r.once("toint32", func(f *ir.Func) {
		x, bits, exp, v := local("x", ir.F64), local("bits", ir.I64), local("exp", ir.I64), local("v", ir.I32)
		f.Params, f.Result = []*ir.Local{x}, ir.I32
		f.Body = []ir.Stmt{
			when(ir.Do(ir.LtF64, ir.Do(ir.AbsF64, get(x)), ir.Num(1<<63)), ret(ir.Do(ir.ToInt32Near, get(x)))),
			set(bits, ir.Do(ir.BitsOfF64, get(x))),
			set(exp, ir.Do(ir.SubI64, exponent(bits), ir.Long(1075))), // x = mantissa * 2^exp
			when(ir.Not(ir.Do(ir.LtI64, get(exp), ir.Long(32))), ret(ir.Int(0))),
			set(v, ir.Do(ir.WrapI64, ir.Do(ir.ShlI64, ir.Do(ir.OrI64, fraction(bits), ir.Long(1<<52)), get(exp)))),
			when(ir.Do(ir.LtI64, get(bits), ir.Long(0)), ret(ir.Do(ir.SubI32, ir.Int(0), get(v)))),
			ret(get(v)),
		}
	})
}

func exponent(bits *ir.Local) ir.Expr {
	return ir.Do(ir.AndI64, ir.Do(ir.ShrU64, get(bits), ir.Long(52)), ir.Long(0x7ff))
}

func fraction(bits *ir.Local) ir.Expr { return ir.Do(ir.AndI64, get(bits), ir.Long(1<<52-1)) }

// Rem is x % y, exact for all numbers: the remainder of a division that
// truncates, with the sign of x. It takes a step for eleven digits by which x is longer
// than y, and fuel for three of them.
func (r *Runtime) Rem() *ir.Func {
	return r.once("rem", func(f *ir.Func) {
		x, y := local("x", ir.F64), local("y", ir.F64)
		f.Params, f.Result, f.Keep = []*ir.Local{x, y}, ir.F64, true
		ax, ay := local("ax", ir.F64), local("ay", ir.F64)
		a, b := local("a", ir.I64), local("b", ir.I64)
		ea, eb, n, s := local("ea", ir.I64), local("eb", ir.I64), local("n", ir.I64), local("s", ir.I64)
		signed := func(v ir.Expr) ir.Stmt { return ret(ir.Do(ir.CopysignF64, v, get(x))) }
		split := func(bits, exp *ir.Local) ir.Stmt {
			return &ir.If{
				Test: ir.Do(ir.EqzI64, exponent(bits)),
				Then: []ir.Stmt{set(exp, ir.Long(1))},
				Else: []ir.Stmt{set(exp, exponent(bits)), set(bits, ir.Do(ir.OrI64, fraction(bits), ir.Long(1<<52)))},
			}
		}
		f.Body = []ir.Stmt{
			set(ax, ir.Do(ir.AbsF64, get(x))),
			set(ay, ir.Do(ir.AbsF64, get(y))),
			when(ir.Not(ir.Both(ir.Do(ir.GtF64, get(ay), ir.Num(0)), ir.Do(ir.LtF64, get(ax), ir.Num(math.Inf(1))))), ret(ir.Num(math.NaN()))),
			when(ir.Do(ir.LtF64, get(ax), get(ay)), ret(get(x))),
			when(ir.Do(ir.LtF64, get(ax), ir.Num(1<<53)), // and so is ay
				set(a, ir.Do(ir.ToI64, get(ax))),
				set(b, ir.Do(ir.ToI64, get(ay))),
				when(ir.Both(ir.Do(ir.EqF64, ir.Do(ir.FromI64, get(a)), get(ax)), ir.Do(ir.EqF64, ir.Do(ir.FromI64, get(b)), get(ay))),
					signed(ir.Do(ir.FromI64, ir.Do(ir.RemU64, get(a), get(b)))))),
			// long division of the mantissas, eleven bits a step
			set(a, ir.Do(ir.BitsOfF64, get(ax))),
			set(b, ir.Do(ir.BitsOfF64, get(ay))),
			split(a, ea),
			split(b, eb),
			set(n, ir.Do(ir.SubI64, get(ea), get(eb))),
			r.take(ir.Do(ir.WrapI64, ir.Do(ir.ShrU64, get(n), ir.Long(5)))),
			set(a, ir.Do(ir.RemU64, get(a), get(b))),
			while(ir.Do(ir.LtI64, ir.Long(0), get(n)),
				set(s, &ir.Cond{Test: ir.Do(ir.LtI64, get(n), ir.Long(11)), Then: get(n), Else: ir.Long(11)}),
				set(a, ir.Do(ir.RemU64, ir.Do(ir.ShlI64, get(a), get(s)), get(b))),
				set(n, ir.Do(ir.SubI64, get(n), get(s)))),
			when(ir.Do(ir.EqzI64, get(a)), signed(ir.Num(0))),
			set(s, ir.Do(ir.SubI64, ir.Do(ir.ClzI64, get(a)), ir.Long(11))),
			&ir.If{
				Test: ir.Do(ir.LtI64, get(s), get(eb)),
				Then: []ir.Stmt{set(a, ir.Do(ir.AddI64,
					ir.Do(ir.ShlI64, ir.Do(ir.SubI64, ir.Do(ir.SubI64, get(eb), get(s)), ir.Long(1)), ir.Long(52)),
					ir.Do(ir.ShlI64, get(a), get(s))))},
				Else: []ir.Stmt{set(a, ir.Do(ir.ShlI64, get(a), ir.Do(ir.SubI64, get(eb), ir.Long(1))))},
			},
			signed(ir.Do(ir.F64OfBits, get(a))),
		}
	})
}

// Round is Math.round: the nearest integer, halves upward, -0 kept.
func (r *Runtime) Round() *ir.Func {
	return r.once("round", func(f *ir.Func) {
		x, low := local("x", ir.F64), local("low", ir.F64)
		f.Params, f.Result, f.Inline = []*ir.Local{x}, ir.F64, true
		f.Body = []ir.Stmt{
			set(low, ir.Do(ir.FloorF64, get(x))),
			ret(ir.Do(ir.CopysignF64, ir.Do(ir.AddF64, get(low),
				&ir.Cond{Test: ir.Do(ir.GeF64, ir.Do(ir.SubF64, get(x), get(low)), ir.Num(0.5)), Then: ir.Num(1), Else: ir.Num(0)}), get(x))),
		}
	})
}

// Sign is Math.sign.
func (r *Runtime) Sign() *ir.Func {
	return r.once("sign", func(f *ir.Func) {
		x := local("x", ir.F64)
		f.Params, f.Result, f.Inline = []*ir.Local{x}, ir.F64, true
		f.Body = []ir.Stmt{ret(&ir.Cond{
			Test: ir.Do(ir.GtF64, ir.Do(ir.AbsF64, get(x)), ir.Num(0)),
			Then: ir.Do(ir.CopysignF64, ir.Num(1), get(x)),
			Else: get(x),
		})}
	})
}
