package rt_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
)

var special = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999999999999994, -0.49999999999999994, 2, 3, 5e-324, -5e-324, 2.2250738585072014e-308,
	1e-300, 1e300, 1 << 31, -(1 << 31), 1<<31 - 1, 1 << 32, 1<<32 + 1, 1 << 52, 1<<52 + 1, 1 << 53, -(1 << 53), 4503599627370495.5, 1 << 62, 1 << 63, -(1 << 63), 1 << 64,
	3 << 62, 1 << 83, 1 << 84, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), math.Pi, 10, 7.25, 6.1,
}

// doubles are the special ones, and some of all sizes.
func doubles(r *rand.Rand, n int) []float64 {
	list := append([]float64{}, special...)
	for range n {
		list = append(list, math.Float64frombits(r.Uint64()), math.Ldexp(float64(r.Int64N(1<<53)), r.IntN(40)-20))
	}
	return list
}

func equal(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestRem(t *testing.T) {
	def, r := define(t)
	rem := r.Rem()
	m := load(t, def, r, schema.OnServer, rem)
	list := doubles(rand.New(rand.NewPCG(1, 1)), 60)
	for _, x := range list {
		for _, y := range list {
			if got, want := m.number(rem, x, y), math.Mod(x, y); !equal(got, want) {
				t.Fatalf("%v %% %v is %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestToInt32(t *testing.T) {
	def, r := define(t)
	m := load(t, def, r, schema.OnServer, r.ToInt32())
	for _, x := range doubles(rand.New(rand.NewPCG(2, 1)), 3000) {
		want := uint32(0)
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v := math.Mod(math.Trunc(x), 1<<32)
			if v < 0 {
				v += 1 << 32
			}
			want = uint32(v)
		}
		if got := uint32(m.call(r.ToInt32(), math.Float64bits(x))); got != want {
			t.Fatalf("ToInt32(%v) is %d, want %d", x, got, want)
		}
	}
}

// Math.round goes up from halves, and keeps -0 where it rounds to nothing.
func TestRound(t *testing.T) {
	def, r := define(t)
	round, sign := r.Round(), r.Sign()
	m := load(t, def, r, schema.OnServer, round, sign)
	for _, x := range doubles(rand.New(rand.NewPCG(3, 1)), 3000) {
		want := math.Floor(x)
		if x-want >= 0.5 {
			want++
		}
		if want == 0 || want != want {
			want = math.Copysign(want, x)
		}
		if got := m.number(round, x); !equal(got, want) {
			t.Fatalf("round(%v) is %v, want %v", x, got, want)
		}
		want = x // a zero or a NaN
		if x > 0 {
			want = 1
		} else if x < 0 {
			want = -1
		}
		if got := m.number(sign, x); !equal(got, want) {
			t.Fatalf("sign(%v) is %v, want %v", x, got, want)
		}
	}
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// A body run's numbers depend on the instance's seed and the tick, and on the body,
// the actor and the command, which are 0 where there is no driver.
func TestRandom(t *testing.T) {
	const golden = 0x9E3779B97F4A7C15
	seeds := [2]uint64{0x1234567890abcdef, 0xfedcba0987654321}
	for _, tick := range []uint32{0, 1, 0xffffffff} {
		for i, server := range []bool{false, true} {
			def, r := define(t)
			random := r.Random(server)
			m := load(t, def, r, schema.OnServer, random)
			base := m.block(seeds[0], seeds[1])
			m.put(base+schema.HeaderTick, tick)
			x := mix(mix(seeds[i] + golden*(uint64(tick)+1)))
			for n := uint64(1); n <= 5; n++ {
				want := float64(mix(x+golden*n)>>11) / (1 << 53)
				if got := math.Float64frombits(m.call(random, uint64(base))); got != want {
					t.Fatalf("%s: number %d of tick %d is %v, want %v", random.Name, n, tick, got, want)
				}
			}
		}
	}
}
