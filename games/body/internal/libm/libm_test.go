package libm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/link"
	"gamehoster/games/body/internal/lower"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

// library compiles the functions alone.
func library(t testing.TB) api.Module {
	t.Helper()
	all, err := functions()
	if err != nil {
		t.Fatal(err)
	}
	def := &schema.Definition{Types: []*schema.Type{{Name: "instance", Max: 1}, {Index: 1, Name: "player", Max: 1}}}
	r := rt.New(def)
	l := lower.New(r, lower.Faults{}, Func)
	var roots []*ir.Func
	for _, f := range all {
		roots = append(roots, l.Func(f))
	}
	m, err := link.Link(link.Options{
		Layout:  schema.NewLayout(def, schema.OnServer),
		Globals: []*ir.Global{r.Fault, r.FaultAt, r.Fuel, r.Tail}, Fuel: r.Fuel, Fault: r.Fault, FaultAt: r.FaultAt,
		ToInt32: r.ToInt32(), MaxPages: 1,
	}, roots...)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	w := wazero.NewRuntime(ctx)
	t.Cleanup(func() { w.Close(ctx) })
	mod, err := w.Instantiate(ctx, m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

func call(t testing.TB, mod api.Module, name string, args ...float64) float64 {
	t.Helper()
	in := []uint64{0}
	for _, a := range args {
		in = append(in, math.Float64bits(a))
	}
	out, err := mod.ExportedFunction(name).Call(context.Background(), in...)
	if err != nil {
		t.Fatalf("%s(%v): %v", name, args, err)
	}
	return math.Float64frombits(out[0])
}

const precision = 2400

func newFloat(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func bigOf(n int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(n) }

func op(f func(z, x, y *big.Float) *big.Float, x, y *big.Float) *big.Float {
	return f(new(big.Float).SetPrec(precision), x, y)
}

func mul(x, y *big.Float) *big.Float   { return op((*big.Float).Mul, x, y) }
func quo(x, y *big.Float) *big.Float   { return op((*big.Float).Quo, x, y) }
func plus(x, y *big.Float) *big.Float  { return op((*big.Float).Add, x, y) }
func minus(x, y *big.Float) *big.Float { return op((*big.Float).Sub, x, y) }

// bigPi by Machin's formula, in fixed point.
var bigPi = func() *big.Float {
	const bits = precision + 64
	unit := new(big.Int).Lsh(big.NewInt(1), bits)
	inverse := func(n int64) *big.Int {
		sum := new(big.Int)
		term := new(big.Int).Quo(unit, big.NewInt(n))
		for k := int64(1); term.Sign() != 0; k += 2 {
			part := new(big.Int).Quo(term, big.NewInt(k))
			if k%4 == 1 {
				sum.Add(sum, part)
			} else {
				sum.Sub(sum, part)
			}
			term.Quo(term, big.NewInt(n*n))
		}
		return sum
	}
	pi := new(big.Int).Mul(inverse(5), big.NewInt(4))
	pi.Sub(pi, inverse(239)).Mul(pi, big.NewInt(4))
	f := new(big.Float).SetPrec(precision).SetInt(pi)
	return f.SetMantExp(f, -bits)
}()

// bigSin is exact to far more than a double, whatever the size of x.
func bigSin(x *big.Float) *big.Float {
	turns, _ := quo(x, mul(bigPi, bigOf(2))).Int(nil)
	rest := minus(x, mul(mul(bigPi, bigOf(2)), new(big.Float).SetPrec(precision).SetInt(turns)))
	rest = new(big.Float).SetPrec(400).Set(rest)
	sum, term := new(big.Float).SetPrec(400), rest
	square := new(big.Float).SetPrec(400).Mul(rest, rest)
	for k := int64(1); k < 200; k += 2 {
		sum.Add(sum, term)
		term = new(big.Float).SetPrec(400).Mul(term, square)
		term.Quo(term, new(big.Float).SetInt64(-(k+1)*(k+2)))
	}
	return sum
}

func bigCos(x *big.Float) *big.Float { return bigSin(plus(x, quo(bigPi, bigOf(2)))) }

// bigAtan halves the argument until the series is fast.
func bigAtan(x *big.Float) *big.Float {
	prec := uint(400)
	n := func() *big.Float { return new(big.Float).SetPrec(prec) }
	v := n().Set(x)
	const halvings = 12
	for range halvings {
		root := n().Sqrt(n().Add(n().SetInt64(1), n().Mul(v, v)))
		v = n().Quo(v, root.Add(root, n().SetInt64(1)))
	}
	sum, term, square := n(), n().Set(v), n().Mul(v, v)
	for k := int64(1); k < 80; k += 2 {
		part := n().Quo(term, n().SetInt64(k))
		if k%4 == 1 {
			sum.Add(sum, part)
		} else {
			sum.Sub(sum, part)
		}
		term = n().Mul(term, square)
	}
	return sum.SetMantExp(sum, halvings)
}

func bigAtan2(y, x float64) *big.Float {
	switch {
	case x > 0:
		return bigAtan(quo(newFloat(y), newFloat(x)))
	case y > 0:
		return plus(bigPi, bigAtan(quo(newFloat(y), newFloat(x))))
	}
	return minus(bigAtan(quo(newFloat(y), newFloat(x))), bigPi)
}

// ulps is how many units in the last place got is from want.
func ulps(got float64, want *big.Float) float64 {
	near, _ := want.Float64()
	if near == got {
		near = math.Abs(near)
	}
	unit := math.Nextafter(math.Abs(near), math.Inf(1)) - math.Abs(near)
	if math.IsInf(unit, 0) || unit == 0 {
		return 0
	}
	d := minus(newFloat(got), want)
	e, _ := quo(d, newFloat(unit)).Float64()
	return math.Abs(e)
}

// arguments are dense, random and special ones.
func arguments(r *rand.Rand, n int) (list []float64) {
	for _, x := range []float64{0.5, 1, math.Pi, math.Pi / 2, math.Pi / 4, 3 * math.Pi / 4, 1e5, 1e6, 1e7, 1e22, math.MaxFloat64, 5e-324, 1e-300,
		// the double nearest to a multiple of pi / 2 in proportion to its size
		6381956970095103 * math.Pow(2, 797)} {
		list = append(list, x, -x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)))
	}
	list = slices.DeleteFunc(list, func(x float64) bool { return math.IsInf(x, 0) })
	for i := range n {
		switch i % 4 {
		case 0:
			list = append(list, (r.Float64()-0.5)*8)
		case 1:
			list = append(list, (r.Float64()-0.5)*3e6)
		case 2:
			list = append(list, float64(r.IntN(2000000)-1000000)*math.Pi/2) // near zeros
		default:
			x := math.Float64frombits(r.Uint64())
			if math.IsNaN(x) || math.IsInf(x, 0) {
				x = 1
			}
			list = append(list, x)
		}
	}
	return list
}

func TestAccuracy(t *testing.T) {
	mod := library(t)
	r := rand.New(rand.NewPCG(1, 2))
	args := arguments(r, 4000)
	worst := map[string]float64{}
	check := func(name string, want *big.Float, in ...float64) {
		got := call(t, mod, name, in...)
		e := ulps(got, want)
		if e >= 1 {
			w, _ := want.Float64()
			t.Errorf("%s(%v) = %v, off by %.3f ulp of %v", name, in, got, e, w)
		}
		worst[name] = max(worst[name], e)
	}
	for i, x := range args {
		s, c := bigSin(newFloat(x)), bigCos(newFloat(x))
		check("sin", s, x)
		check("cos", c, x)
		if math.Abs(x) > 1e-300 {
			check("tan", new(big.Float).SetPrec(300).Quo(s, c), x)
		}
		check("atan", bigAtan(newFloat(x)), x)
		y := args[(i*7+3)%len(args)]
		if ratio := math.Abs(y / x); ratio > 1e-290 && ratio < 1e290 {
			check("atan2", bigAtan2(y, x), y, x)
		}
		sum := plus(mul(newFloat(x), newFloat(x)), mul(newFloat(y), newFloat(y)))
		if root := new(big.Float).SetPrec(300).Sqrt(sum); root.Cmp(newFloat(math.MaxFloat64)) < 0 {
			check("hypot", root, x, y)
		}
	}
	for name, e := range worst {
		t.Logf("%s: at most %.3f ulp", name, e)
	}
}

func TestSpecialValues(t *testing.T) {
	mod := library(t)
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		name string
		args []float64
		want float64
	}{
		{"sin", []float64{zero}, zero}, {"sin", []float64{0}, 0}, {"sin", []float64{inf}, nan}, {"sin", []float64{nan}, nan},
		{"cos", []float64{zero}, 1}, {"cos", []float64{-inf}, nan}, {"cos", []float64{nan}, nan},
		{"tan", []float64{zero}, zero}, {"tan", []float64{inf}, nan}, {"tan", []float64{nan}, nan},
		{"atan", []float64{zero}, zero}, {"atan", []float64{inf}, math.Pi / 2}, {"atan", []float64{-inf}, -math.Pi / 2}, {"atan", []float64{nan}, nan},
		{"atan2", []float64{0, 0}, 0}, {"atan2", []float64{zero, 0}, zero}, {"atan2", []float64{0, zero}, math.Pi}, {"atan2", []float64{zero, zero}, -math.Pi},
		{"atan2", []float64{0, -1}, math.Pi}, {"atan2", []float64{zero, -1}, -math.Pi}, {"atan2", []float64{1, 0}, math.Pi / 2}, {"atan2", []float64{-1, zero}, -math.Pi / 2},
		{"atan2", []float64{inf, inf}, math.Pi / 4}, {"atan2", []float64{inf, -inf}, 3 * math.Pi / 4}, {"atan2", []float64{-inf, inf}, -math.Pi / 4}, {"atan2", []float64{-inf, -inf}, -3 * math.Pi / 4},
		{"atan2", []float64{1, inf}, 0}, {"atan2", []float64{-1, inf}, zero}, {"atan2", []float64{1, -inf}, math.Pi}, {"atan2", []float64{inf, 1}, math.Pi / 2}, {"atan2", []float64{nan, 1}, nan}, {"atan2", []float64{1, nan}, nan},
		{"hypot", []float64{inf, nan}, inf}, {"hypot", []float64{nan, -inf}, inf}, {"hypot", []float64{nan, 1}, nan}, {"hypot", []float64{0, zero}, 0}, {"hypot", []float64{3, 4}, 5},
		{"hypot", []float64{math.MaxFloat64, math.MaxFloat64}, inf}, {"hypot", []float64{5e-324, 0}, 5e-324},
	} {
		got := call(t, mod, c.name, c.args...)
		if math.Float64bits(got) != math.Float64bits(c.want) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s(%v) = %v, want %v", c.name, c.args, got, c.want)
		}
	}
}

// TestSameInNode runs the library's text in Node and compares every bit.
func TestSameInNode(t *testing.T) {
	mod := library(t)
	r := rand.New(rand.NewPCG(3, 4))
	args := arguments(r, 2000)
	prelude := `
const f = new Float64Array(1), u = new Uint32Array(f.buffer), s = new Int32Array(f.buffer);
let kept = 0;
const highWord = (x) => { f[0] = x; return s[1]; };
const lowWord = (x) => { f[0] = x; return u[0]; };
const fromWords = (h, l) => { s[1] = h; u[0] = l; return f[0]; };
const setTail = (x) => { kept = x; };
const tail = () => kept;
const bits = (x) => { f[0] = x === x ? x : NaN; return u[1].toString(16).padStart(8, "0") + u[0].toString(16).padStart(8, "0"); };
`
	epilogue := `
for (let i = 0; i < args.length; i++) {
  const x = args[i], y = args[(i * 7 + 3) % args.length];
  console.log([sin(x), cos(x), tan(x), atan(x), atan2(y, x), hypot(x, y)].map(bits).join(" "));
}
`
	text := make([]string, len(args))
	for i, x := range args {
		text[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	list, _ := json.Marshal(text)
	script := prelude + strings.ReplaceAll(source, "export ", "") + "\nconst args = " + string(list) + ".map(Number);\n" + epilogue
	cmd := exec.Command("node", "-")
	cmd.Stdin = strings.NewReader(script)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("node is needed for this test: %v\n%s", err, problems.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, x := range args {
		y := args[(i*7+3)%len(args)]
		var got []string
		for _, v := range []float64{call(t, mod, "sin", x), call(t, mod, "cos", x), call(t, mod, "tan", x), call(t, mod, "atan", x), call(t, mod, "atan2", y, x), call(t, mod, "hypot", x, y)} {
			if v != v {
				v = math.Float64frombits(0x7ff8000000000000)
			}
			got = append(got, fmt.Sprintf("%016x", math.Float64bits(v)))
		}
		if strings.Join(got, " ") != lines[i] {
			t.Fatalf("x %v, y %v:\nwasm %s\nnode %s", x, y, strings.Join(got, " "), lines[i])
		}
	}
}
