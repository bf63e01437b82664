package opt

import (
	"math"

	"gamehoster/games/body/internal/ir"
)

// span is the whole numbers from lo to hi.
type span struct{ lo, hi int64 }

var (
	spanI32 = span{math.MinInt32, math.MaxInt32}
	spanU32 = span{0, math.MaxUint32}
)

func (s span) inI32() bool { return s.lo >= math.MinInt32 && s.hi <= math.MaxInt32 }

func (s span) join(t span) span { return span{min(s.lo, t.lo), max(s.hi, t.hi)} }

// exact is the largest size below which sums and products of whole numbers are
// exact in a double.
const exact = 1 << 53

// whole tells whether a double is a whole number, never -0 and never a NaN, that
// comes from an i32 or u32: it gives that and its span.
func whole(x ir.Expr) (bits ir.Expr, s span, ok bool) {
	switch x := x.(type) {
	case *ir.Const:
		v, _ := number(x)
		if x.T != ir.F64 || v != math.Trunc(v) || v == 0 && math.Signbit(v) || v < math.MinInt32 || v > math.MaxUint32 {
			return nil, span{}, false
		}
		return ir.Int(int(int32(uint32(int64(v))))), span{int64(v), int64(v)}, true
	case *ir.Apply:
		if x.Op == ir.FromI32 {
			return x.X, spanOf(x.X), true
		}
		if x.Op == ir.FromU32 {
			s := spanOf(x.X)
			if s.lo < 0 {
				s = spanU32
			}
			return x.X, s, true
		}
	}
	return nil, span{}, false
}

// spanOf is where an i32, taken as signed, can be.
func spanOf(x ir.Expr) span {
	switch x := x.(type) {
	case *ir.Const:
		v := int64(int32(uint32(x.Bits)))
		return span{v, v}
	case *ir.Load:
		if s, ok := memSpan(x.Mem); ok {
			return s
		}
	case *ir.Get:
		if l := x.Local; l.Lo != 0 || l.Hi != 0 {
			return span{l.Lo, l.Hi}
		}
	case *ir.Cond:
		return spanOf(x.Then).join(spanOf(x.Else))
	case *ir.Seq:
		return spanOf(x.Value)
	case *ir.Apply:
		return spanOfApply(x)
	}
	return spanI32
}

func spanOfApply(x *ir.Apply) span {
	if truth(x) {
		return span{0, 1}
	}
	if x.Y == nil || x.Op.In() != ir.I32 {
		return spanI32
	}
	a, b := spanOf(x.X), spanOf(x.Y)
	s := spanI32
	switch x.Op {
	case ir.AddI32:
		s = span{a.lo + b.lo, a.hi + b.hi}
	case ir.SubI32:
		s = span{a.lo - b.hi, a.hi - b.lo}
	case ir.MulI32:
		s = product(a, b)
	case ir.AndI32:
		if a.lo >= 0 {
			s = span{0, a.hi}
		}
		if b.lo >= 0 {
			s = span{0, min(s.hi, b.hi)}
		}
	case ir.ShrI32:
		if b.lo == b.hi && b.lo >= 0 && b.lo < 32 {
			s = span{a.lo >> b.lo, a.hi >> b.lo}
		}
	case ir.ShrU32:
		if b.lo == b.hi && b.lo&31 > 0 {
			s = span{0, math.MaxUint32 >> (b.lo & 31)}
		}
	case ir.RemU32, ir.RemI32:
		if a.lo >= 0 && b.lo > 0 {
			s = span{0, min(a.hi, b.hi-1)}
		}
	}
	if !s.inI32() {
		return spanI32
	}
	return s
}

// product is the span of a product, cut at sizes that are far past being exact.
func product(a, b span) span {
	const most = 1 << 62
	s := span{math.MaxInt64, math.MinInt64}
	for _, x := range [2]int64{a.lo, a.hi} {
		for _, y := range [2]int64{b.lo, b.hi} {
			v := int64(most)
			if size := math.Abs(float64(x)) * math.Abs(float64(y)); size < most {
				v = x * y
			} else if (x < 0) != (y < 0) {
				v = -most
			}
			s = s.join(span{v, v})
		}
	}
	return s
}

var comparisons = map[ir.Op][2]ir.Op{ // signed, unsigned
	ir.EqF64: {ir.EqI32, ir.EqI32}, ir.NeF64: {ir.NeI32, ir.NeI32},
	ir.LtF64: {ir.LtI32, ir.LtU32}, ir.LeF64: {ir.LeI32, ir.LeU32},
	ir.GtF64: {ir.GtI32, ir.GtU32}, ir.GeF64: {ir.GeI32, ir.GeU32},
}

// integers does in i32 what is done with whole numbers in f64, where that
// cannot be told from outside.
func integers(x *ir.Apply) ir.Expr {
	switch x.Op {
	case ir.ToInt32, ir.ToInt32Near:
		return toInt32(x)
	case ir.FloorF64, ir.CeilF64, ir.TruncF64:
		if _, _, ok := whole(x.X); ok {
			return x.X
		}
	case ir.AbsF64:
		if _, s, ok := whole(x.X); ok && s.lo >= 0 {
			return x.X
		}
	case ir.NegF64:
		if a, s, ok := whole(x.X); ok && (s.lo > 0 || s.hi < 0) && -s.hi >= math.MinInt32 && -s.lo <= math.MaxInt32 {
			return computed(ir.FromI32, computed(ir.SubI32, ir.Int(0), a))
		}
	case ir.AddF64, ir.SubF64, ir.MulF64:
		return arithmetic(x)
	case ir.GtF64:
		// the truth of a whole number: |x| > 0
		if abs, ok := x.X.(*ir.Apply); ok && abs.Op == ir.AbsF64 {
			if v, ok := number(x.Y); ok && v == 0 {
				if a, _, ok := whole(abs.X); ok {
					return ir.Do(ir.NeI32, a, ir.Int(0))
				}
			}
		}
	}
	ops, ok := comparisons[x.Op]
	if !ok {
		return x
	}
	a, s, ok1 := whole(x.X)
	b, t, ok2 := whole(x.Y)
	switch {
	case !ok1 || !ok2:
		return x
	case s.inI32() && t.inI32():
		return computed(ops[0], a, b)
	case s.lo >= 0 && t.lo >= 0:
		return computed(ops[1], a, b)
	}
	return x
}

// computed applies an operator and computes it if its operands are constants.
func computed(op ir.Op, args ...ir.Expr) ir.Expr {
	x := ir.Do(op, args...)
	if y := constant(x.(*ir.Apply)); y != nil {
		return y
	}
	return x
}

var wholeOps = map[ir.Op]ir.Op{ir.AddF64: ir.AddI32, ir.SubF64: ir.SubI32, ir.MulF64: ir.MulI32}

// arithmetic is +, - and * of whole numbers whose result is an i32 again. A
// product must not be -0, which takes a zero and a negative number.
func arithmetic(x *ir.Apply) ir.Expr {
	a, s, ok1 := whole(x.X)
	b, t, ok2 := whole(x.Y)
	if !ok1 || !ok2 {
		return x
	}
	r, ok := result(x.Op, s, t)
	if !ok || !r.inI32() {
		return x
	}
	return computed(ir.FromI32, computed(wholeOps[x.Op], a, b))
}

// result is the span of an operator's result on whole numbers; ok is false where
// it might be -0.
func result(op ir.Op, s, t span) (r span, ok bool) {
	switch op {
	case ir.AddF64:
		return span{s.lo + t.lo, s.hi + t.hi}, true
	case ir.SubF64:
		return span{s.lo - t.hi, s.hi - t.lo}, true
	}
	if s.lo <= math.MinInt32 || s.hi >= math.MaxInt32 || t.lo <= math.MinInt32 || t.hi >= math.MaxInt32 {
		return span{}, false // products of these may be inexact
	}
	return product(s, t), s.lo > 0 || t.lo > 0 || s.lo >= 0 && t.lo >= 0
}

// toInt32 cancels a conversion against the one it undoes, and computes modulo
// 2^32 what is exact before the conversion. Here a -0 cannot be seen.
func toInt32(x *ir.Apply) ir.Expr {
	if a, _, ok := whole(x.X); ok {
		return a
	}
	if c, ok := x.X.(*ir.Cond); ok {
		a, _, ok1 := whole(c.Then)
		b, _, ok2 := whole(c.Else)
		if ok1 && ok2 {
			return &ir.Cond{Test: c.Test, Then: a, Else: b}
		}
	}
	inner, ok := x.X.(*ir.Apply)
	if !ok {
		return x
	}
	switch inner.Op {
	case ir.AddF64, ir.SubF64, ir.MulF64:
		a, s, ok1 := whole(inner.X)
		b, t, ok2 := whole(inner.Y)
		if !ok1 || !ok2 {
			break
		}
		if inner.Op == ir.MulF64 {
			if p := product(s, t); p.lo <= -exact || p.hi >= exact {
				break
			}
		}
		return computed(wholeOps[inner.Op], a, b)
	case ir.NegF64:
		if a, _, ok := whole(inner.X); ok {
			return computed(ir.SubI32, ir.Int(0), a)
		}
	}
	return x
}

// rem is x % y of whole numbers. The result has the sign of x, zero included.
func (f *folder) rem(x *ir.Call) ir.Expr {
	a, s, ok1 := whole(x.Args[0])
	b, t, ok2 := whole(x.Args[1])
	if ok1 && ok2 && s.lo >= 0 && t.lo > 0 {
		return ir.Do(ir.FromU32, ir.Do(ir.RemU32, a, b))
	}
	return x
}
