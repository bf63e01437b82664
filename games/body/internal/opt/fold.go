package opt

import (
	"math"
	"slices"

	"gamehoster/games/body/internal/ir"
)

// fold simplifies expressions and statements, innermost first.
func fold(o Options, body []ir.Stmt) []ir.Stmt {
	f := &folder{Options: o}
	f.Expr, f.Stmt = f.expr, f.stmt
	return f.Body(body)
}

type folder struct {
	Options
	ir.Rewriter
}

func (f *folder) stmt(s ir.Stmt) []ir.Stmt {
	switch s := s.(type) {
	case *ir.Set:
		if q, ok := s.X.(*ir.Seq); ok {
			return slices.Concat(q.Body, f.stmt(&ir.Set{Local: s.Local, X: q.Value}))
		}
	case *ir.Return:
		if q, ok := s.X.(*ir.Seq); ok {
			return slices.Concat(q.Body, f.One(&ir.Return{X: q.Value}))
		}
	case *ir.Eval:
		if q, ok := s.X.(*ir.Seq); ok {
			return slices.Concat(q.Body, f.stmt(&ir.Eval{X: q.Value}))
		}
		if pure(s.X) {
			return nil
		}
	case *ir.If:
		t := test(s.Test)
		if c, ok := t.(*ir.Const); ok {
			if c.Bits != 0 {
				return s.Then
			}
			return s.Else
		}
		if len(s.Then) == 0 && len(s.Else) == 0 {
			return f.stmt(&ir.Eval{X: t})
		}
		if q, ok := t.(*ir.Seq); ok {
			return slices.Concat(q.Body, f.One(&ir.If{Test: q.Value, Then: s.Then, Else: s.Else}))
		}
		if t != s.Test {
			return f.One(&ir.If{Test: t, Then: s.Then, Else: s.Else})
		}
	case *ir.Block:
		if !jumps(s.Body, s.Label) {
			return s.Body
		}
		if set := chain(s.Body, s.Label); set != nil {
			return f.stmt(&ir.Set{Local: set.Local, X: f.expr(set.X)})
		}
	}
	return f.One(s)
}

// pure reports whether an expression can be left out if its value is not used.
func pure(x ir.Expr) bool {
	ok := true
	ir.EachIn(x, func(ir.Stmt) { ok = false }, func(x ir.Expr) {
		if _, call := x.(*ir.Call); call {
			ok = false
		}
	})
	return ok
}

func jumps(body []ir.Stmt, l *ir.Label) (found bool) {
	ir.Each(body, func(s ir.Stmt) {
		if br, ok := s.(*ir.Br); ok && br.Label == l {
			found = true
		}
	}, nil)
	return found
}

// test simplifies an i32 of which only matters whether it is zero.
func test(x ir.Expr) ir.Expr {
	for {
		a, ok := x.(*ir.Apply)
		if !ok {
			return x
		}
		switch {
		case a.Op == ir.EqzI32:
			inner, ok := a.X.(*ir.Apply)
			if !ok || inner.Op != ir.EqzI32 {
				return x
			}
			x = inner.X // twice not
		case a.Op == ir.NeI32 && isInt(a.Y, 0):
			x = a.X
		default:
			return x
		}
	}
}

func isInt(x ir.Expr, v int32) bool {
	c, ok := x.(*ir.Const)
	return ok && c.T == ir.I32 && int32(uint32(c.Bits)) == v
}

func number(x ir.Expr) (float64, bool) {
	c, ok := x.(*ir.Const)
	if !ok || c.T != ir.F64 {
		return 0, false
	}
	return c.Value(), true
}

func (f *folder) expr(x ir.Expr) ir.Expr {
	switch x := x.(type) {
	case *ir.Apply:
		return f.apply(x)
	case *ir.Cond:
		if t := test(x.Test); t != x.Test {
			x = &ir.Cond{Test: t, Then: x.Then, Else: x.Else}
		}
		if c, ok := x.Test.(*ir.Const); ok {
			if c.Bits != 0 {
				return x.Then
			}
			return x.Else
		}
		if c, ok := x.Else.(*ir.Const); ok && c.T == ir.I32 && c.Bits == 0 && isTruth(x.Test) && isTruth(x.Then) && light(x.Then) {
			return computed(ir.AndI32, x.Test, x.Then) // cheaper than a branch
		}
		if isInt(x.Then, 1) && isTruth(x.Test) && isTruth(x.Else) && light(x.Else) {
			return computed(ir.OrI32, x.Test, x.Else)
		}
		return x
	case *ir.Call:
		if x.Fn == f.Rem {
			return f.rem(x)
		}
	case *ir.Seq:
		if len(x.Body) == 0 {
			return x.Value
		}
		if inner, ok := x.Value.(*ir.Seq); ok {
			return &ir.Seq{Body: slices.Concat(x.Body, inner.Body), Value: inner.Value}
		}
	case *ir.Load:
		// An addition of a constant joins the offset.
		if a, ok := x.Addr.(*ir.Apply); ok && a.Op == ir.AddI32 {
			if s, ok := a.Y.(*ir.Sym); ok && x.Off == (ir.Offset{}) {
				return &ir.Load{Addr: a.X, Off: s.Off, Mem: x.Mem}
			}
		}
	}
	return x
}

var inverse = map[ir.Op]ir.Op{
	ir.EqI32: ir.NeI32, ir.NeI32: ir.EqI32, ir.LtI32: ir.GeI32, ir.GeI32: ir.LtI32, ir.GtI32: ir.LeI32, ir.LeI32: ir.GtI32,
	ir.LtU32: ir.GeU32, ir.GeU32: ir.LtU32, ir.GtU32: ir.LeU32, ir.LeU32: ir.GtU32, ir.EqF64: ir.NeF64, ir.NeF64: ir.EqF64,
}

func (f *folder) apply(x *ir.Apply) ir.Expr {
	if y := constant(x); y != nil {
		return y
	}
	switch x.Op {
	case ir.EqzI32:
		if a, ok := x.X.(*ir.Apply); ok {
			if op, ok := inverse[a.Op]; ok {
				return &ir.Apply{Op: op, X: a.X, Y: a.Y}
			}
			if a.Op == ir.EqzI32 {
				if inner, ok := a.X.(*ir.Apply); ok && truth(inner) {
					return inner
				}
			}
		}
	case ir.EqI32:
		if sameLocal(x.X, x.Y) {
			return ir.Int(1)
		}
	case ir.LtU32:
		if a, b := spanOf(x.X), spanOf(x.Y); a.lo >= 0 && a.hi < b.lo {
			return ir.Int(1)
		}
	case ir.AndI32:
		if isInt(x.X, 1) && isTruth(x.Y) {
			return x.Y
		}
		if isInt(x.Y, 1) && isTruth(x.X) {
			return x.X
		}
		if isInt(x.X, 0) && pure(x.Y) || isInt(x.Y, 0) && pure(x.X) {
			return ir.Int(0)
		}
	case ir.DivF64:
		// Dividing by a power of two is multiplying by its inverse, to the bit.
		if v, ok := number(x.Y); ok {
			if frac, exp := math.Frexp(v); math.Abs(frac) == 0.5 && exp > -1000 && exp < 1000 {
				return f.expr(ir.Do(ir.MulF64, x.X, ir.Num(1/v)))
			}
		}
	case ir.MulF64:
		if v, ok := number(x.Y); ok && v == 1 {
			return x.X
		}
		if v, ok := number(x.X); ok && v == 1 {
			return x.Y
		}
	}
	return integers(x)
}

func isTruth(x ir.Expr) bool {
	a, ok := x.(*ir.Apply)
	return ok && truth(a)
}

// light reports whether x costs so little that it may be evaluated in vain. What it loads
// is there even so: of a row, or near address 0 for null, as indices are checked by traps.
func light(x ir.Expr) bool {
	n := 0
	ir.EachIn(x, nil, func(ir.Expr) { n++ })
	return n <= 8 && pure(x)
}

// sameLocal reports whether two expressions are the same read of a local.
func sameLocal(x, y ir.Expr) bool {
	a, ok1 := x.(*ir.Get)
	b, ok2 := y.(*ir.Get)
	return ok1 && ok2 && a.Local == b.Local
}

// truth reports whether an operator yields 0 or 1.
func truth(x *ir.Apply) bool {
	return x.Op.Out() == ir.I32 && (x.Op == ir.EqzI32 || x.Op == ir.EqzI64 || x.Op >= ir.EqI32 && x.Op <= ir.GeU32 ||
		x.Op >= ir.EqI64 && x.Op <= ir.GeU64 || x.Op >= ir.EqF64 && x.Op <= ir.GeF64)
}

// constant computes an operator of constants; nil if it is none.
func constant(x *ir.Apply) ir.Expr {
	a, ok := x.X.(*ir.Const)
	if !ok {
		return nil
	}
	b := &ir.Const{}
	if x.Y != nil {
		if b, ok = x.Y.(*ir.Const); !ok {
			return nil
		}
	}
	if a.T == ir.F64 {
		return constantF64(x.Op, a.Value(), b.Value())
	}
	if a.T == ir.I32 {
		return constantI32(x.Op, uint32(a.Bits), uint32(b.Bits))
	}
	return nil
}

func truthOf(v bool) ir.Expr {
	if v {
		return ir.Int(1)
	}
	return ir.Int(0)
}

func constantF64(op ir.Op, a, b float64) ir.Expr {
	switch op {
	case ir.AddF64:
		return ir.Num(a + b)
	case ir.SubF64:
		return ir.Num(a - b)
	case ir.MulF64:
		return ir.Num(a * b)
	case ir.DivF64:
		return ir.Num(a / b)
	case ir.MinF64, ir.MaxF64:
		switch {
		case a != a || b != b: // Go's would let an infinity win
			return ir.Num(math.NaN())
		case op == ir.MinF64:
			return ir.Num(math.Min(a, b))
		}
		return ir.Num(math.Max(a, b))
	case ir.NegF64:
		return ir.Num(-a)
	case ir.AbsF64:
		return ir.Num(math.Abs(a))
	case ir.SqrtF64:
		return ir.Num(math.Sqrt(a))
	case ir.FloorF64:
		return ir.Num(math.Floor(a))
	case ir.CeilF64:
		return ir.Num(math.Ceil(a))
	case ir.TruncF64:
		return ir.Num(math.Trunc(a))
	case ir.Fround:
		return ir.Num(float64(float32(a)))
	case ir.EqF64:
		return truthOf(a == b)
	case ir.NeF64:
		return truthOf(a != b)
	case ir.LtF64:
		return truthOf(a < b)
	case ir.GtF64:
		return truthOf(a > b)
	case ir.LeF64:
		return truthOf(a <= b)
	case ir.GeF64:
		return truthOf(a >= b)
	case ir.ToInt32, ir.ToInt32Near:
		if math.Abs(a) < 1<<62 {
			return ir.Int(int(int32(int64(a))))
		}
	}
	return nil
}

func constantI32(op ir.Op, a, b uint32) ir.Expr {
	number := func(v uint32) ir.Expr { return &ir.Const{T: ir.I32, Bits: uint64(v)} }
	switch op {
	case ir.EqzI32:
		return truthOf(a == 0)
	case ir.EqI32:
		return truthOf(a == b)
	case ir.NeI32:
		return truthOf(a != b)
	case ir.LtI32:
		return truthOf(int32(a) < int32(b))
	case ir.GtI32:
		return truthOf(int32(a) > int32(b))
	case ir.LeI32:
		return truthOf(int32(a) <= int32(b))
	case ir.GeI32:
		return truthOf(int32(a) >= int32(b))
	case ir.AddI32:
		return number(a + b)
	case ir.SubI32:
		return number(a - b)
	case ir.MulI32:
		return number(a * b)
	case ir.AndI32:
		return number(a & b)
	case ir.OrI32:
		return number(a | b)
	case ir.XorI32:
		return number(a ^ b)
	case ir.ShlI32:
		return number(a << (b & 31))
	case ir.ShrI32:
		return number(uint32(int32(a) >> (b & 31)))
	case ir.ShrU32:
		return number(a >> (b & 31))
	case ir.FromI32:
		return ir.Num(float64(int32(a)))
	case ir.FromU32:
		return ir.Num(float64(a))
	}
	return nil
}
