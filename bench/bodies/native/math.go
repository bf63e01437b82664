package native

import "math"

// The sine and cosine of the body language's maths library, in Go: reduction by
// multiples of pi / 2 in pieces of 33 bits, then fdlibm's polynomials. Products
// are converted where a sum follows, as Go may fuse the two otherwise. The game's
// angles are a turn at most; arguments from 1e6 on are not reduced well.

const (
	pio2Head = 1.57079632673412561417e+00
	pio2Rest = 6.07710050650619224932e-11
	pio2B    = 6.07710050630396597660e-11
	pio2BT   = 2.02226624879595063154e-21
	pio2C    = 2.02226624871116645580e-21
	pio2CT   = 8.47842766036889956997e-32
	twoByPi  = 6.36619772367581382433e-01
	quarter  = 0.7853981633974483
	magic    = 3 << 51 // a sum with it has its integer part, rounded, in the low bits
)

func exponent(x float64) int { return int(math.Float64bits(x)>>52) & 0x7ff }

// reduce gives the multiple of pi / 2 nearest to x, and the rest and its tail.
func reduce(x float64) (quadrant int, y, tail float64) {
	n := float64(x*twoByPi) + magic
	q := n - magic
	r := x - float64(q*pio2Head)
	w := q * pio2Rest
	y = r - w
	if e := exponent(x); e-exponent(y) > 16 {
		t := r
		w = q * pio2B
		r = t - w
		w = float64(q*pio2BT) - ((t - r) - w)
		y = r - w
		if e-exponent(y) > 49 {
			t = r
			w = q * pio2C
			r = t - w
			w = float64(q*pio2CT) - ((t - r) - w)
			y = r - w
		}
	}
	return int(math.Float64bits(n)) & 3, y, (r - y) - w
}

func sinSmall(x, y float64) float64 {
	z := x * x
	v := z * x
	r := 8.33333333332248946124e-03 + float64(z*(-1.98412698298579493134e-04+float64(z*(2.75573137070700676789e-06+float64(z*(-2.50507602534068634195e-08+float64(z*1.58969099521155010221e-10)))))))
	return x - ((float64(z*(float64(0.5*y)-float64(v*r))) - y) - float64(v*-1.66666666666666324348e-01))
}

func cosSmall(x, y float64) float64 {
	z := x * x
	w := z * z
	r := float64(z*(4.16666666666666019037e-02+float64(z*(-1.38888888888741095749e-03+float64(z*2.48015872894767294178e-05))))) +
		float64(w*w)*(-2.75573143513906633035e-07+float64(z*(2.08757232129817482790e-09+float64(z*-1.13596475577881948265e-11))))
	half := 0.5 * z
	one := 1 - half
	return one + (((1 - one) - half) + (float64(z*r) - float64(x*y)))
}

// turned is the sine of x + shift pi / 2.
func turned(x float64, shift int) float64 {
	q, y, tail := 0, x, 0.0
	if math.Abs(x) > quarter {
		q, y, tail = reduce(x)
	}
	q += shift
	var v float64
	if q&1 == 0 {
		v = sinSmall(y, tail)
	} else {
		v = cosSmall(y, tail)
	}
	if q&2 != 0 {
		return -v
	}
	return v
}

func sin(x float64) float64 { return turned(x, 0) }

func cos(x float64) float64 { return turned(x, 1) }

const golden = 0x9E3779B97F4A7C15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// begin starts a body run, which has a random sequence of its own.
func (s *Sim) begin(body, actor uint32) { s.body, s.actor, s.seeded = body, actor, false }

func (s *Sim) random() float64 {
	if !s.seeded {
		x := mix(s.g.Seed + golden*(uint64(s.g.Tick)+1))
		s.rng = mix(x ^ (uint64(s.actor)<<32 | uint64(s.body)))
		s.seeded = true
	}
	s.rng += golden
	return float64(mix(s.rng)>>11) * (1.0 / (1 << 53))
}
