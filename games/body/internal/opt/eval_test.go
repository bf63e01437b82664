package opt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/body/internal/ir"
)

// values are what locals have while an expression is evaluated, by their bits.
type values map[*ir.Local]uint64

func (v values) f64(x ir.Expr) float64 { return math.Float64frombits(v.eval(x)) }

func (v values) i32(x ir.Expr) int32 { return int32(uint32(v.eval(x))) }

// eval is the value of an expression of locals and constants, by the rules of
// WebAssembly. It shares nothing with the optimiser.
func (v values) eval(x ir.Expr) uint64 {
	switch x := x.(type) {
	case *ir.Const:
		return x.Bits
	case *ir.Get:
		return v[x.Local]
	case *ir.Cond:
		if v.i32(x.Test) != 0 {
			return v.eval(x.Then)
		}
		return v.eval(x.Else)
	case *ir.Apply:
		switch {
		case x.Op.In() == ir.I32 && x.Op.Out() == ir.F64:
			if x.Op == ir.FromU32 {
				return math.Float64bits(float64(uint32(v.i32(x.X))))
			}
			return math.Float64bits(float64(v.i32(x.X)))
		case x.Op.In() == ir.I32:
			b := int32(0)
			if x.Y != nil {
				b = v.i32(x.Y)
			}
			return uint64(uint32(evalI32(x.Op, v.i32(x.X), b)))
		case x.Op.Out() == ir.I32:
			return uint64(uint32(v.ofF64(x)))
		}
		b := 0.0
		if x.Y != nil {
			b = v.f64(x.Y)
		}
		return math.Float64bits(evalF64(x.Op, v.f64(x.X), b))
	}
	panic(fmt.Sprintf("no value of %T", x))
}

// ofF64 is an operator that makes an i32 of doubles.
func (v values) ofF64(x *ir.Apply) int32 {
	a := v.f64(x.X)
	if x.Y == nil { // ToInt32
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return 0
		}
		m := math.Mod(math.Trunc(a), 1<<32)
		if m < 0 {
			m += 1 << 32
		}
		return int32(uint32(m))
	}
	b := v.f64(x.Y)
	return truthValue(map[ir.Op]bool{
		ir.EqF64: a == b, ir.NeF64: a != b, ir.LtF64: a < b, ir.GtF64: a > b, ir.LeF64: a <= b, ir.GeF64: a >= b,
	}[x.Op])
}

func truthValue(v bool) int32 {
	if v {
		return 1
	}
	return 0
}

func evalI32(op ir.Op, a, b int32) int32 {
	switch op {
	case ir.AddI32:
		return a + b
	case ir.SubI32:
		return a - b
	case ir.MulI32:
		return a * b
	case ir.AndI32:
		return a & b
	case ir.OrI32:
		return a | b
	case ir.XorI32:
		return a ^ b
	case ir.ShlI32:
		return a << (uint32(b) & 31)
	case ir.ShrI32:
		return a >> (uint32(b) & 31)
	case ir.ShrU32:
		return int32(uint32(a) >> (uint32(b) & 31))
	}
	return truthValue(map[ir.Op]bool{
		ir.EqzI32: a == 0, ir.EqI32: a == b, ir.NeI32: a != b, ir.LtI32: a < b, ir.GtI32: a > b, ir.LeI32: a <= b, ir.GeI32: a >= b,
		ir.LtU32: uint32(a) < uint32(b), ir.GtU32: uint32(a) > uint32(b), ir.LeU32: uint32(a) <= uint32(b), ir.GeU32: uint32(a) >= uint32(b),
	}[op])
}

func evalF64(op ir.Op, a, b float64) float64 {
	switch op {
	case ir.AddF64:
		return a + b
	case ir.SubF64:
		return a - b
	case ir.MulF64:
		return a * b
	case ir.DivF64:
		return a / b
	case ir.MinF64, ir.MaxF64:
		if a != a || b != b {
			return math.NaN()
		}
		if op == ir.MinF64 {
			return math.Min(a, b)
		}
		return math.Max(a, b)
	case ir.AbsF64:
		return math.Abs(a)
	case ir.NegF64:
		return -a
	case ir.FloorF64:
		return math.Floor(a)
	case ir.CeilF64:
		return math.Ceil(a)
	case ir.TruncF64:
		return math.Trunc(a)
	case ir.SqrtF64:
		return math.Sqrt(a)
	case ir.CopysignF64:
		return math.Copysign(a, b)
	case ir.Fround:
		return float64(float32(a))
	}
	panic("no value of " + op.String())
}

// same reports whether two values of a type are the same; all NaNs are.
func sameValue(t ir.Type, a, b uint64) bool {
	if t != ir.F64 {
		return uint32(a) == uint32(b)
	}
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	return a == b || x != x && y != y
}

var specialF64 = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 100, 800, -800, 799.9999999999999, 1600, -1600, 1e300, -1e300, 5e-324, -5e-324,
	math.MaxInt32, math.MinInt32, math.MaxUint32, 1 << 32, 1 << 53, -(1 << 53), 1 << 62, 1e-300, math.Pi, math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 16777217,
}

var specialI32 = []int32{0, 1, -1, 2, 3, 7, 31, 32, 255, 256, 65535, math.MaxInt32, math.MinInt32, math.MaxInt32 - 1, math.MinInt32 + 1, -3, 1 << 30}

// maker makes random expressions over a few locals.
type maker struct {
	*rand.Rand
	x, y, a, b, small *ir.Local
}

func (m *maker) f64(depth int) ir.Expr {
	if depth == 0 || m.IntN(6) == 0 {
		switch m.IntN(4) {
		case 0:
			return ir.Num(specialF64[m.IntN(len(specialF64))])
		case 1:
			return ir.Read(m.y)
		}
		return ir.Read(m.x)
	}
	one := []ir.Op{ir.AbsF64, ir.NegF64, ir.FloorF64, ir.CeilF64, ir.TruncF64, ir.SqrtF64, ir.Fround}
	two := []ir.Op{ir.AddF64, ir.SubF64, ir.MulF64, ir.DivF64, ir.MinF64, ir.MaxF64, ir.AddF64, ir.SubF64, ir.MulF64}
	switch m.IntN(8) {
	case 0:
		return ir.Do(one[m.IntN(len(one))], m.f64(depth-1))
	case 1, 2:
		return ir.Do(ir.FromI32, m.i32(depth-1))
	case 3:
		return ir.Do(ir.FromU32, m.i32(depth-1))
	case 4:
		return &ir.Cond{Test: m.i32(depth - 1), Then: m.f64(depth - 1), Else: m.f64(depth - 1)}
	}
	return ir.Do(two[m.IntN(len(two))], m.f64(depth-1), m.f64(depth-1))
}

func (m *maker) i32(depth int) ir.Expr {
	if depth == 0 || m.IntN(6) == 0 {
		switch m.IntN(4) {
		case 0:
			return ir.Int(int(specialI32[m.IntN(len(specialI32))]))
		case 1:
			return ir.Read(m.b)
		case 2:
			return ir.Read(m.small)
		}
		return ir.Read(m.a)
	}
	compare := []ir.Op{ir.EqF64, ir.NeF64, ir.LtF64, ir.GtF64, ir.LeF64, ir.GeF64}
	two := []ir.Op{
		ir.AddI32, ir.SubI32, ir.MulI32, ir.AndI32, ir.OrI32, ir.XorI32, ir.ShlI32, ir.ShrI32, ir.ShrU32,
		ir.EqI32, ir.NeI32, ir.LtI32, ir.GtI32, ir.LeI32, ir.GeI32, ir.LtU32, ir.GeU32, ir.GtU32, ir.LeU32,
	}
	switch m.IntN(8) {
	case 0:
		return ir.Not(m.i32(depth - 1))
	case 1, 2:
		return ir.Do(ir.ToInt32, m.f64(depth-1))
	case 3, 4:
		return ir.Do(compare[m.IntN(len(compare))], m.f64(depth-1), m.f64(depth-1))
	case 5:
		return &ir.Cond{Test: m.i32(depth - 1), Then: m.i32(depth - 1), Else: m.i32(depth - 1)}
	}
	return ir.Do(two[m.IntN(len(two))], m.i32(depth-1), m.i32(depth-1))
}

// values are some for the locals.
func (m *maker) values() values {
	f := func() uint64 { return math.Float64bits(specialF64[m.IntN(len(specialF64))]) }
	i := func() uint64 { return uint64(uint32(specialI32[m.IntN(len(specialI32))])) }
	return values{m.x: f(), m.y: f(), m.a: i(), m.b: i(), m.small: uint64(m.IntN(256))}
}

// TestFoldKeepsValues folds random expressions and compares what they yield.
func TestFoldKeepsValues(t *testing.T) {
	seed := rand.Uint64()
	m := &maker{
		rand.New(rand.NewPCG(seed, 0)), local("x", ir.F64), local("y", ir.F64), local("a", ir.I32), local("b", ir.I32),
		&ir.Local{Name: "small", Type: ir.I32, Hi: 255},
	}
	g := &ir.Global{Name: "g"}
	changed := 0
	for range 20000 {
		x := m.f64(4)
		if m.IntN(2) == 0 {
			x = m.i32(4)
		}
		before := text(&ir.SetGlobal{Global: g, X: x})
		body := shifts(fold(Options{}, []ir.Stmt{&ir.SetGlobal{Global: g, X: x}}))
		y := body[0].(*ir.SetGlobal).X
		after := text(body...)
		if after != before {
			changed++
		}
		for range 20 {
			v := m.values()
			if a, b := v.eval(x), v.eval(y); !sameValue(x.Type(), a, b) {
				t.Fatalf("seed %d: %#x became %#x with x=%v y=%v a=%d b=%d small=%d\n%s\n%s", seed, a, b,
					v.f64(ir.Read(m.x)), v.f64(ir.Read(m.y)), v.i32(ir.Read(m.a)), v.i32(ir.Read(m.b)), v[m.small], before, after)
			}
		}
	}
	if changed < 5000 {
		t.Errorf("seed %d: only %d expressions were changed", seed, changed)
	}
}

// TestShiftsKeepValues tries every pair of bounds with every way and number.
func TestShiftsKeepValues(t *testing.T) {
	x := local("x", ir.F64)
	g := &ir.Global{Name: "g"}
	above, below := []ir.Op{ir.GtF64, ir.GeF64}, []ir.Op{ir.LtF64, ir.LeF64}
	changed, n := 0, 0
	for _, high := range specialF64 {
		for _, low := range specialF64 {
			for _, k := range specialF64 {
				up := ir.Do(above[n%2], ir.Read(x), ir.Num(high))
				down := ir.Do(below[n/2%2], ir.Read(x), ir.Num(low))
				less, more := ir.Do(ir.SubF64, ir.Read(x), ir.Num(k)), ir.Do(ir.AddF64, ir.Read(x), ir.Num(k))
				c := &ir.Cond{Test: up, Then: less, Else: &ir.Cond{Test: down, Then: more, Else: ir.Read(x)}}
				if n/4%2 == 1 {
					c = &ir.Cond{Test: down, Then: more, Else: &ir.Cond{Test: up, Then: less, Else: ir.Read(x)}}
				}
				n++
				y := shifts([]ir.Stmt{&ir.SetGlobal{Global: g, X: c}})[0].(*ir.SetGlobal).X
				if _, ok := y.(*ir.Apply); ok {
					changed++
				}
				for _, v := range specialF64 {
					at := values{x: math.Float64bits(v)}
					if a, b := at.eval(c), at.eval(y); !sameValue(ir.F64, a, b) {
						t.Fatalf("%v with x = %v\n%s\n%s", math.Float64frombits(a), v, text(&ir.SetGlobal{Global: g, X: c}), text(&ir.SetGlobal{Global: g, X: y}))
					}
				}
			}
		}
	}
	if changed < n/10 {
		t.Errorf("%d of %d were changed", changed, n)
	}
}
