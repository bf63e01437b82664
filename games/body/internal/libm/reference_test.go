package libm

import (
	"math"
	"math/big"
	"slices"
)

// The reference: elementary functions by their series and by Newton's method in
// numbers of 200 bits, written for this test and sharing nothing with the
// library. What they give is right to 130 bits and more, relative to its size.

const bits = 200

type float = *big.Float

func num() float                { return new(big.Float).SetPrec(bits) }
func of(x float64) float        { return num().SetFloat64(x) }
func mul(x, y float) float      { return num().Mul(x, y) }
func quo(x, y float) float      { return num().Quo(x, y) }
func plus(x, y float) float     { return num().Add(x, y) }
func minus(x, y float) float    { return num().Sub(x, y) }
func sqrt(x float) float        { return num().Sqrt(x) }
func twice(x float) float       { return num().SetMantExp(x, 1) }
func half(x float) float        { return num().SetMantExp(x, -1) }
func below(x float, e int) bool { return x.Sign() == 0 || x.MantExp(nil) <= e }

// fixed is a number of many bits from an integer that counts units of 2^-n.
func fixed(v *big.Int, n int) float {
	f := new(big.Float).SetPrec(uint(n)).SetInt(v)
	return f.SetMantExp(f, -n)
}

// inverseAtan is atan(1 / n), or with sign 1 atanh(1 / n), in units of 2^-size.
func inverseAtan(n, sign int64, size uint) *big.Int {
	sum, term := new(big.Int), new(big.Int).Lsh(big.NewInt(1), size)
	term.Quo(term, big.NewInt(n))
	for k := int64(1); term.Sign() != 0; k += 2 {
		sum.Add(sum, new(big.Int).Quo(term, big.NewInt(k)))
		term.Quo(term, big.NewInt(sign*n*n))
	}
	return sum
}

const longBits = 1400 // enough to take whole turns out of any double

var (
	// pi by Machin's formula, 2 ln 2 = 2 (2 atanh(1/3))
	longPi = func() float {
		v := new(big.Int).Mul(inverseAtan(5, -1, longBits+64), big.NewInt(16))
		return fixed(v.Sub(v, new(big.Int).Mul(inverseAtan(239, -1, longBits+64), big.NewInt(4))), longBits+64)
	}()
	bigPi  = num().Set(longPi)
	bigLn2 = func() float { return num().Set(twice(fixed(inverseAtan(3, 1, 400), 400))) }()
	ln10   = func() float { return bigLog(of(10)) }
	one    = of(1)

	inverses   = series(func(n int64) float { return quo(one, num().SetInt64(n)) })
	factorials = series(func() func(n int64) float {
		f := of(1)
		return func(n int64) float {
			if n > 0 {
				f = quo(f, num().SetInt64(n))
			}
			return f
		}
	}())
)

func series(of func(n int64) float) (list []float) {
	for n := int64(0); n < 60; n++ {
		if n == 0 {
			list = append(list, num().SetInt64(1))
			continue
		}
		list = append(list, of(n))
	}
	return list
}

// sum adds c[from] + c[from + step] z + c[from + 2 step] z^2 ... for n terms.
func sum(c []float, from, step, n int, z float, alternate bool) float {
	s := num()
	for i := n - 1; i >= 0; i-- {
		s.Mul(s, z)
		if alternate && i%2 == 1 {
			s.Sub(s, c[from+i*step])
		} else {
			s.Add(s, c[from+i*step])
		}
	}
	return s
}

func bigExp(x float) float {
	k, _ := quo(x, bigLn2).Float64()
	k = math.Round(k)
	const halvings = 8
	r := minus(x, mul(of(k), bigLn2))
	r.SetMantExp(r, -halvings)
	e := sum(factorials, 0, 1, 20, r, false)
	for range halvings {
		e.Mul(e, e)
	}
	return e.SetMantExp(e, int(k))
}

func bigExpm1(x float) float {
	if below(x, -1) {
		return mul(x, sum(factorials, 1, 1, 40, x, false))
	}
	return minus(bigExp(x), one)
}

func bigSinh(x float) float {
	if below(x, -1) {
		return mul(x, sum(factorials, 1, 2, 20, mul(x, x), false))
	}
	e := bigExp(x)
	return half(minus(e, quo(one, e)))
}

func bigCosh(x float) float {
	e := bigExp(x)
	return half(plus(e, quo(one, e)))
}

func bigTanh(x float) float { return quo(bigSinh(x), bigCosh(x)) }

// bigLog corrects the machine's logarithm of the mantissa.
func bigLog(x float) float {
	m := num()
	e := x.MantExp(m)
	near, _ := m.Float64()
	y := of(math.Log(near))
	p := bigExp(y)
	y.Add(y, twice(quo(minus(m, p), plus(m, p))))
	return y.Add(y, mul(of(float64(e)), bigLn2))
}

func bigLog1p(x float) float {
	if below(x, -45) {
		return mul(x, sum(inverses, 1, 1, 6, x, true))
	}
	return bigLog(plus(one, x))
}

// turn gives x modulo pi / 2 and how often that was taken out, modulo 4.
func turn(x float64) (r float, q int) {
	if math.Abs(x) < 0.78 {
		return of(x), 0
	}
	long := func() float { return new(big.Float).SetPrec(uint(max(math.Ilogb(x), 0) + 330)) }
	quarter := long().Set(longPi)
	quarter.SetMantExp(quarter, -1)
	v := long().SetFloat64(x)
	n := long().Quo(v, quarter)
	n.Add(n, long().SetFloat64(math.Copysign(0.5, x)))
	turns, _ := n.Int(nil)
	v.Sub(v, long().Mul(quarter, long().SetInt(turns)))
	return num().Set(v), int(new(big.Int).And(turns, big.NewInt(3)).Int64())
}

func sinSeries(r float) float { return mul(r, sum(factorials, 1, 2, 24, mul(r, r), true)) }
func cosSeries(r float) float { return sum(factorials, 0, 2, 24, mul(r, r), true) }

// bigSin is the sine of x + shift pi / 2.
func bigSin(x float64, shift int) float {
	r, q := turn(x)
	q += shift
	v := sinSeries
	if q&1 == 1 {
		v = cosSeries
	}
	y := v(r)
	if q&2 == 2 {
		y.Neg(y)
	}
	return y
}

func bigTan(x float64) float { return quo(bigSin(x, 0), bigSin(x, 1)) }

// bigAtan corrects the machine's arc tangent.
func bigAtan(x float) float {
	near, _ := x.Float64()
	a := math.Atan(near)
	t := bigTan(a)
	d := quo(minus(x, t), plus(one, mul(x, t)))
	return plus(of(a), mul(d, sum(inverses, 1, 2, 3, mul(d, d), true)))
}

func bigAtan2(y, x float64) float {
	switch {
	case x > 0:
		return bigAtan(quo(of(y), of(x)))
	case y > 0:
		return plus(bigPi, bigAtan(quo(of(y), of(x))))
	}
	return minus(bigAtan(quo(of(y), of(x))), bigPi)
}

// bigAsin corrects the machine's arc sine.
func bigAsin(x float64) float {
	a := math.Asin(x)
	d := minus(mul(of(x), bigSin(a, 1)), mul(sqrt(minus(one, mul(of(x), of(x)))), bigSin(a, 0)))
	z := mul(d, d)
	return plus(of(a), mul(d, plus(one, mul(z, plus(inverses[6], mul(z, of(3.0/40)))))))
}

func bigAcos(x float64) float { return minus(half(bigPi), bigAsin(x)) }

func bigAsinh(x float64) float {
	v := num().Abs(of(x))
	z := mul(v, v)
	y := bigLog1p(plus(v, quo(z, plus(one, sqrt(plus(one, z))))))
	if x < 0 {
		y.Neg(y)
	}
	return y
}

func bigAcosh(x float64) float {
	t := minus(of(x), one)
	return bigLog1p(plus(t, sqrt(mul(t, plus(t, of(2))))))
}

func bigAtanh(x float64) float {
	return half(bigLog1p(quo(twice(of(x)), minus(one, of(x)))))
}

func bigPow(x, y float64) float {
	v := bigExp(mul(of(y), bigLog(of(math.Abs(x)))))
	if x < 0 && math.Abs(math.Mod(y, 2)) == 1 {
		v.Neg(v)
	}
	return v
}

// bigCbrt improves the machine's cube root by a step of Halley's method.
func bigCbrt(x float64) float {
	t := of(math.Cbrt(x))
	c := mul(t, mul(t, t))
	return quo(mul(t, plus(c, twice(of(x)))), plus(twice(c), of(x)))
}

func bigHypot(list ...float64) float {
	s := num()
	for _, x := range list {
		s.Add(s, mul(of(x), of(x)))
	}
	return sqrt(s)
}

// exactRem is x % y in integers.
func exactRem(x, y float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || y == 0 {
		return math.NaN()
	}
	if math.IsInf(y, 0) {
		return x
	}
	units := func(v float64) *big.Int { // of 2^-1074
		f := new(big.Float).SetFloat64(math.Abs(v))
		i, _ := f.SetMantExp(f, 1074).Int(nil)
		return i
	}
	r := new(big.Float).SetInt(new(big.Int).Rem(units(x), units(y)))
	v, _ := r.SetMantExp(r, -1074).Float64()
	return math.Copysign(v, x)
}

// exact is the result of the functions that have no error.
func exact(name string, a []float64) float64 {
	int32Of := func(x float64) int32 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0
		}
		i, _ := new(big.Float).SetFloat64(x).Int(nil)
		return int32(uint32(new(big.Int).And(i, big.NewInt(math.MaxUint32)).Uint64()))
	}
	nan := slices.ContainsFunc(a, func(x float64) bool { return x != x })
	switch name {
	case "fmod":
		return exactRem(a[0], a[1])
	case "round":
		if !(math.Abs(a[0]) < 1<<52) {
			return a[0]
		}
		v := new(big.Float).SetPrec(1200).SetFloat64(a[0])
		v.Add(v, half(one))
		i, _ := v.Int64() // truncated
		if v.Sign() < 0 && !v.IsInt() {
			i--
		}
		return math.Copysign(float64(i), a[0])
	case "trunc":
		return math.Trunc(a[0])
	case "sign":
		if a[0] == 0 || a[0] != a[0] {
			return a[0]
		}
		return math.Copysign(1, a[0])
	case "fround":
		return float64(float32(a[0]))
	case "imul":
		return float64(int32Of(a[0]) * int32Of(a[1]))
	case "clz32":
		n := 0
		for v := uint32(int32Of(a[0])); n < 32 && v>>(31-n) == 0; n++ {
		}
		return float64(n)
	case "min3":
		if nan {
			return math.NaN()
		}
		return math.Min(math.Min(a[0], a[1]), a[2])
	case "max3":
		if nan {
			return math.NaN()
		}
		return math.Max(math.Max(a[0], a[1]), a[2])
	}
	panic(name)
}

// reference is the exact result of a function for arguments at which it is
// finite and not zero; ok is false for others.
func reference(name string, a []float64) (y float, ok bool) {
	x := a[0]
	for _, v := range a {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
	}
	nonZero := x != 0
	switch name {
	case "sin":
		return bigSin(x, 0), nonZero
	case "cos":
		return bigSin(x, 1), true
	case "tan":
		return bigTan(x), nonZero
	case "asin":
		return within(x, 1, bigAsin)
	case "acos":
		if x == 1 {
			return nil, false
		}
		return within(x, 1, bigAcos)
	case "atan":
		return bigAtan(of(x)), nonZero
	case "exp":
		return limited(x, bigExp)
	case "expm1":
		y, ok = limited(x, bigExpm1)
		return y, ok && nonZero
	case "sinh":
		y, ok = limited(x, bigSinh)
		return y, ok && nonZero
	case "cosh":
		return limited(x, bigCosh)
	case "tanh":
		y, ok = limited(x, bigTanh)
		return y, ok && nonZero
	case "asinh":
		return bigAsinh(x), nonZero
	case "acosh":
		if x <= 1 {
			return nil, false
		}
		return bigAcosh(x), true
	case "atanh":
		if !nonZero || math.Abs(x) == 1 {
			return nil, false
		}
		return within(x, 1, bigAtanh)
	case "log1p":
		if x <= -1 || x == 0 {
			return nil, false
		}
		return bigLog1p(of(x)), true
	case "log", "log2", "log10":
		if x <= 0 || x == 1 {
			return nil, false
		}
		y = bigLog(of(x))
		switch name {
		case "log2":
			return quo(y, bigLn2), true
		case "log10":
			return quo(y, ln10()), true
		}
		return y, true
	case "cbrt":
		if !nonZero {
			return nil, false
		}
		return bigCbrt(x), true
	case "atan2":
		if !nonZero || a[1] == 0 {
			return nil, false
		}
		return bigAtan2(x, a[1]), true
	case "pow":
		if x == 0 || x < 0 && a[1] != math.Trunc(a[1]) || math.Abs(x) == 1 || a[1] == 0 {
			return nil, false
		}
		if about := a[1] * math.Log2(math.Abs(x)); !(math.Abs(about) < 1200) {
			return nil, false
		}
		return bigPow(x, a[1]), true
	case "hypot", "hypot3":
		y = bigHypot(a...)
		return y, y.Sign() != 0
	}
	panic(name)
}

func within(x, limit float64, f func(float64) float) (float, bool) {
	if math.Abs(x) > limit {
		return nil, false
	}
	return f(x), true
}

func limited(x float64, f func(float) float) (float, bool) {
	if math.Abs(x) > 800 {
		return nil, false
	}
	return f(of(x)), true
}

// ulps is how far got is from want, in units of the last place that the double
// nearest to want has.
func ulps(got float64, want float) float64 {
	near, _ := want.Float64()
	if near == got {
		if math.IsInf(near, 0) {
			return 0
		}
		// at most half a unit: the fast way, in a double
		d, _ := minus(want, of(got)).Float64()
		return math.Abs(d) / unit(near)
	}
	if math.IsInf(got, 0) != math.IsInf(near, 0) {
		// the largest double and infinity are neighbours
		if math.Abs(got) == math.MaxFloat64 || math.Abs(near) == math.MaxFloat64 {
			return 1
		}
		return math.Inf(1)
	}
	d, _ := quo(minus(of(got), want), of(unit(near))).Float64()
	return math.Abs(d)
}

func unit(x float64) float64 {
	x = math.Abs(x)
	if x >= 0x1p1023 {
		return 0x1p971
	}
	return math.Nextafter(x, math.Inf(1)) - x
}
