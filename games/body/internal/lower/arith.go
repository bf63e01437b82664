package lower

import (
	"math"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/tree"
)

func (f *function) unary(x *tree.Unary) ir.Expr {
	switch x.Op {
	case tree.Not:
		return ir.Not(f.truth(x.X))
	case tree.Neg:
		return ir.Do(ir.NegF64, f.expr(x.X))
	case tree.BitNot:
		return ir.Do(ir.FromI32, ir.Do(ir.XorI32, ir.Do(ir.ToInt32, f.expr(x.X)), ir.Int(-1)))
	}
	return f.expr(x.X) // plus
}

var floatOps = map[tree.Op]ir.Op{
	tree.Add: ir.AddF64, tree.Sub: ir.SubF64, tree.Mul: ir.MulF64, tree.Div: ir.DivF64,
	tree.Lt: ir.LtF64, tree.Le: ir.LeF64, tree.Gt: ir.GtF64, tree.Ge: ir.GeF64,
}

var bitOps = map[tree.Op]ir.Op{
	tree.BitAnd: ir.AndI32, tree.BitOr: ir.OrI32, tree.BitXor: ir.XorI32,
	tree.Shl: ir.ShlI32, tree.Shr: ir.ShrI32, tree.ShrU: ir.ShrU32,
}

func (f *function) binary(x *tree.Binary) ir.Expr {
	switch x.Op {
	case tree.Eq, tree.Ne:
		sides := f.operands([]tree.Expr{x.X, x.Y}, false)
		equal := f.equal(operandType(x), sides[0], sides[1])
		if x.Op == tree.Ne {
			return ir.Not(equal)
		}
		return equal
	}
	if x.X.Type().Kind == tree.Str {
		return f.compareStr(x)
	}
	return f.arithmetic(x.Op, f.expr(x.X), x.Y)
}

// operandType is the type that a comparison compares.
func operandType(x *tree.Binary) tree.Type {
	if t := x.X.Type(); t.Kind != tree.Null {
		return t
	}
	return x.Y.Type()
}

func (f *function) equal(t tree.Type, a, b ir.Expr) ir.Expr {
	switch t.Kind {
	case tree.Number:
		return ir.Do(ir.EqF64, a, b)
	case tree.Str:
		return &ir.Call{Fn: f.rt.EqualStr(), Args: []ir.Expr{a, b}}
	}
	return ir.Do(ir.EqI32, a, b)
}

// arithmetic applies an operator to a value and an expression, in this order.
func (f *function) arithmetic(op tree.Op, a ir.Expr, y tree.Expr) ir.Expr {
	if o, ok := floatOps[op]; ok {
		return ir.Do(o, a, f.expr(y))
	}
	if o, ok := bitOps[op]; ok {
		bits := ir.Do(o, ir.Do(ir.ToInt32, a), ir.Do(ir.ToInt32, f.expr(y)))
		if op == tree.ShrU {
			return ir.Do(ir.FromU32, bits)
		}
		return ir.Do(ir.FromI32, bits)
	}
	if op == tree.Rem {
		return &ir.Call{Fn: f.rt.Rem(), Args: []ir.Expr{a, f.expr(y)}}
	}
	return f.pow(a, f.expr(y))
}

// pow is a ** b. The square, which is what most powers are, is a product; so it is
// in the maths library.
func (f *function) pow(a, b ir.Expr) ir.Expr {
	if n, ok := b.(*ir.Const); ok && n.Value() == 2 {
		return f.seq(func() ir.Expr {
			v := f.keep(a)
			return ir.Do(ir.MulF64, ir.Read(v), ir.Read(v))
		})
	}
	return f.library("pow", a, b)
}

// instructions are the functions of Math that are one.
var instructions = map[string]ir.Op{
	"abs": ir.AbsF64, "ceil": ir.CeilF64, "floor": ir.FloorF64, "fround": ir.Fround, "sqrt": ir.SqrtF64, "trunc": ir.TruncF64,
}

func (f *function) mathCall(x *tree.Math) ir.Expr {
	args := make([]ir.Expr, len(x.Args))
	for i, a := range x.Args {
		args[i] = f.expr(a)
	}
	if op, ok := instructions[x.Name]; ok {
		return ir.Do(op, args[0])
	}
	switch x.Name {
	case "isNaN", "isFinite", "isInteger", "isSafeInteger":
		return f.isNumber(x.Name, args[0])
	case "min", "max":
		op := ir.MinF64
		if x.Name == "max" {
			op = ir.MaxF64
		}
		v := args[0]
		for _, a := range args[1:] {
			v = ir.Do(op, v, a)
		}
		return v
	case "round":
		return &ir.Call{Fn: f.rt.Round(), Args: args}
	case "sign":
		return &ir.Call{Fn: f.rt.Sign(), Args: args}
	case "imul":
		return ir.Do(ir.FromI32, ir.Do(ir.MulI32, ir.Do(ir.ToInt32, args[0]), ir.Do(ir.ToInt32, args[1])))
	case "clz32":
		wide := ir.Do(ir.ClzI64, ir.Do(ir.ExtendU32, ir.Do(ir.ToInt32, args[0])))
		return ir.Do(ir.FromI32, ir.Do(ir.SubI32, ir.Do(ir.WrapI64, wide), ir.Int(32)))
	case "hypot":
		return f.hypot(args)
	case "pow":
		return f.pow(args[0], args[1])
	}
	return f.library(x.Name, args...)
}

// isNumber is what Number tells of a number.
func (f *function) isNumber(what string, x ir.Expr) ir.Expr {
	return f.seq(func() ir.Expr {
		v := f.keep(x)
		size := ir.Do(ir.AbsF64, ir.Read(v))
		switch what {
		case "isNaN":
			return ir.Not(ir.Do(ir.EqF64, ir.Read(v), ir.Read(v)))
		case "isFinite":
			return ir.Do(ir.LtF64, size, ir.Num(math.Inf(1)))
		}
		whole := ir.Do(ir.EqF64, ir.Do(ir.TruncF64, ir.Read(v)), ir.Read(v))
		if what == "isSafeInteger" {
			return ir.Do(ir.AndI32, whole, ir.Do(ir.LeF64, size, ir.Num(1<<53-1)))
		}
		return ir.Do(ir.AndI32, whole, ir.Do(ir.LtF64, size, ir.Num(math.Inf(1))))
	})
}

// library calls a function of the maths library.
func (f *function) library(name string, args ...ir.Expr) ir.Expr {
	return &ir.Call{Fn: f.Func(f.math(name)), Args: append([]ir.Expr{ir.Read(f.base)}, args...)}
}

// hypot of three numbers and more is the root of the sum of their squares, all at
// the scale of the largest.
func (f *function) hypot(args []ir.Expr) ir.Expr {
	switch len(args) {
	case 1:
		return ir.Do(ir.AbsF64, args[0])
	case 2:
		return f.library("hypot", args...)
	}
	return f.seq(func() ir.Expr {
		list := make([]*ir.Local, len(args))
		for i, a := range args {
			list[i] = f.keep(a)
		}
		m := ir.Do(ir.AbsF64, ir.Read(list[0]))
		for _, v := range list[1:] {
			m = f.library("larger", m, ir.Read(v))
		}
		most := f.keep(m)
		result := f.keep(ir.Read(most))
		f.emit(&ir.If{Test: ir.Do(ir.LtF64, ir.Read(most), ir.Num(math.Inf(1))), Then: f.block(func() {
			scale := f.keep(f.library("scaleOf", ir.Read(most)))
			f.emit(&ir.SetGlobal{Global: f.rt.Tail, X: ir.Num(0)})
			sum := ir.Num(0)
			for _, v := range list {
				sum = f.library("plusSquare", sum, ir.Do(ir.MulF64, ir.Read(v), ir.Read(scale)))
			}
			f.emit(&ir.Set{Local: result, X: f.library("rootOf", sum, ir.Read(scale))})
		})})
		return ir.Read(result)
	})
}

func (f *function) intrinsic(x *tree.Intrinsic) ir.Expr {
	switch x.What {
	case tree.HighWord:
		return ir.Do(ir.FromI32, ir.Do(ir.WrapI64, ir.Do(ir.ShrU64, ir.Do(ir.BitsOfF64, f.expr(x.Args[0])), ir.Long(32))))
	case tree.LowWord:
		return ir.Do(ir.FromU32, ir.Do(ir.WrapI64, ir.Do(ir.BitsOfF64, f.expr(x.Args[0]))))
	case tree.FromWords:
		high := ir.Do(ir.ShlI64, ir.Do(ir.ExtendU32, ir.Do(ir.ToInt32Near, f.expr(x.Args[0]))), ir.Long(32))
		return ir.Do(ir.F64OfBits, ir.Do(ir.OrI64, high, ir.Do(ir.ExtendU32, ir.Do(ir.ToInt32Near, f.expr(x.Args[1])))))
	case tree.Scale:
		// the lowest bits of 1.5 * 2^52 + k are those of k: moved up they are what
		// the exponent grows by
		bits := ir.Do(ir.BitsOfF64, f.expr(x.Args[0]))
		return ir.Do(ir.F64OfBits, ir.Do(ir.AddI64, bits, ir.Do(ir.ShlI64, ir.Do(ir.BitsOfF64, f.expr(x.Args[1])), ir.Long(52))))
	case tree.Head:
		const low = 1<<27 - 1
		return ir.Do(ir.F64OfBits, ir.Do(ir.AndI64, ir.Do(ir.BitsOfF64, f.expr(x.Args[0])), ir.Long(^uint64(low))))
	}
	return &ir.GetGlobal{Global: f.rt.Tail}
}
