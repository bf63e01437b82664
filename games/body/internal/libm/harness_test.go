package libm

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/link"
	"gamehoster/games/body/internal/lower"
	"gamehoster/games/body/internal/opt"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/wasm"
	"gamehoster/games/schema"
)

var points = flag.Int("points", 12000, "arguments per function in the tests of accuracy")

// scaled is a twentieth of a number of arguments where tests are to be short.
func scaled(n int) int {
	if testing.Short() {
		return n / 20
	}
	return n
}

// function is one that the tests call as bodies do: by an expression of x, y
// and z.
type function struct {
	name  string
	args  int
	text  string
	exact bool // the result is the exact one, or the exact one rounded
}

var functionsTested = []function{
	{"sin", 1, "Math.sin(x)", false}, {"cos", 1, "Math.cos(x)", false}, {"tan", 1, "Math.tan(x)", false},
	{"asin", 1, "Math.asin(x)", false}, {"acos", 1, "Math.acos(x)", false}, {"atan", 1, "Math.atan(x)", false}, {"atan2", 2, "Math.atan2(x, y)", false},
	{"exp", 1, "Math.exp(x)", false}, {"expm1", 1, "Math.expm1(x)", false},
	{"sinh", 1, "Math.sinh(x)", false}, {"cosh", 1, "Math.cosh(x)", false}, {"tanh", 1, "Math.tanh(x)", false},
	{"asinh", 1, "Math.asinh(x)", false}, {"acosh", 1, "Math.acosh(x)", false}, {"atanh", 1, "Math.atanh(x)", false},
	{"log", 1, "Math.log(x)", false}, {"log1p", 1, "Math.log1p(x)", false}, {"log2", 1, "Math.log2(x)", false}, {"log10", 1, "Math.log10(x)", false},
	{"pow", 2, "x ** y", false}, {"cbrt", 1, "Math.cbrt(x)", false},
	{"hypot", 2, "Math.hypot(x, y)", false}, {"hypot3", 3, "Math.hypot(x, y, z)", false},
	{"fmod", 2, "x % y", true}, {"round", 1, "Math.round(x)", true}, {"trunc", 1, "Math.trunc(x)", true}, {"sign", 1, "Math.sign(x)", true},
	{"fround", 1, "Math.fround(x)", true}, {"imul", 2, "Math.imul(x, y)", true}, {"clz32", 1, "Math.clz32(x)", true},
	{"min3", 3, "Math.min(x, y, z)", true}, {"max3", 3, "Math.max(x, y, z)", true},
}

// compiled is a module in which each function can be called on many arguments.
type compiled struct {
	bytes []byte
	heap  int
}

// compile makes a module of some of the functions, which exports run_NAME(in,
// out, n): it reads n times the function's arguments and writes n results.
func compile(t testing.TB, list ...function) compiled {
	t.Helper()
	m := linked(t, list...)
	m.MinPages = 200
	return compiled{m.Encode(), 8192}
}

func linked(t testing.TB, list ...function) *wasm.Module {
	t.Helper()
	var text strings.Builder
	for _, f := range list {
		fmt.Fprintf(&text, "export function %s(%s) { return %s; }\n", f.name, strings.Join([]string{"x", "y", "z"}[:f.args], ", "), f.text)
	}
	all, err := front.Library(map[string][]byte{"calls.js": []byte(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	def := &schema.Definition{Types: []*schema.Type{{Name: "instance", Max: 1}, {Index: 1, Name: "player", Max: 1}}}
	r := rt.New(def)
	l := lower.New(r, lower.Faults{}, Func)
	var roots []*ir.Func
	for _, f := range list {
		roots = append(roots, batch(f, l.Func(all[f.name])))
	}
	opt.New(opt.Options{BodyFuel: 1 << 20, Rem: r.Rem(), Charge: l.Charge}).Run(roots...)
	m, err := link.Link(link.Options{
		Layout:  schema.NewLayout(def, schema.OnServer),
		Globals: []*ir.Global{r.Fault, r.FaultAt, r.Fuel, r.Tail}, Fuel: r.Fuel, Fault: r.Fault, FaultAt: r.FaultAt,
		ToInt32: r.ToInt32(), MaxPages: 1024,
	}, roots...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// batch is the function that calls f for n arguments.
func batch(f function, fn *ir.Func) *ir.Func {
	in, out, n := &ir.Local{Name: "in", Type: ir.I32}, &ir.Local{Name: "out", Type: ir.I32}, &ir.Local{Name: "n", Type: ir.I32}
	args := []ir.Expr{ir.Int(0)}
	for i := range f.args {
		args = append(args, &ir.Load{Addr: ir.Read(in), Off: ir.At(8 * i), Mem: ir.MemF64})
	}
	fn.Keep = true
	done, again := &ir.Label{Name: "done"}, &ir.Label{Name: "again"}
	plus := func(l *ir.Local, v int) ir.Stmt { return &ir.Set{Local: l, X: ir.Do(ir.AddI32, ir.Read(l), ir.Int(v))} }
	return &ir.Func{Name: "run_" + f.name, Keep: true, Params: []*ir.Local{in, out, n}, Body: []ir.Stmt{
		&ir.Block{Label: done, Body: []ir.Stmt{&ir.Loop{Label: again, Body: []ir.Stmt{
			&ir.If{Test: ir.Not(ir.Read(n)), Then: []ir.Stmt{&ir.Br{Label: done}}},
			&ir.Store{Addr: ir.Read(out), Mem: ir.MemF64, X: &ir.Call{Fn: fn, Args: args}},
			plus(in, 8*f.args), plus(out, 8), plus(n, -1),
			&ir.Br{Label: again},
		}}}},
	}}
}

// machine runs a module.
type machine struct {
	mod  api.Module
	heap int
}

func start(t testing.TB, c compiled, config wazero.RuntimeConfig) *machine {
	t.Helper()
	ctx := context.Background()
	w := wazero.NewRuntimeWithConfig(ctx, config)
	t.Cleanup(func() { w.Close(ctx) })
	mod, err := w.Instantiate(ctx, c.bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &machine{mod, c.heap}
}

func encode(list []float64) []byte {
	var b []byte
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func decode(b []byte) []float64 {
	list := make([]float64, len(b)/8)
	for i := range list {
		list[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return list
}

// run calls a function for all arguments, which stand one behind the other.
func (m *machine) run(t testing.TB, f function, args []float64) []float64 {
	t.Helper()
	n := len(args) / f.args
	out := m.heap + 8*len(args)
	if !m.mod.Memory().Write(uint32(m.heap), encode(args)) {
		t.Fatal("too many arguments")
	}
	if _, err := m.mod.ExportedFunction("run_"+f.name).Call(context.Background(), uint64(m.heap), uint64(out), uint64(n)); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	b, ok := m.mod.Memory().Read(uint32(out), uint32(8*n))
	if !ok {
		t.Fatal("too many results")
	}
	return decode(b)
}

// tested is the function of a name.
func tested(name string) function {
	for _, f := range functionsTested {
		if f.name == name {
			return f
		}
	}
	panic(name)
}

// special are the values at which something is different, with their neighbours.
var special = func() (list []float64) {
	for _, x := range []float64{
		0, 5e-324, 2.2250738585072014e-308, 1e-300, 1e-160, 1e-17, 1e-9, 1e-8, 0.0104, 1.0 / 96, 0.3333, 0.34, 0.3466, math.Ln2 / 2, 0.4375, 0.49999999999999994, 0.5, 0.6875,
		0.7083334922790527, math.Pi / 4, 1, 1.1875, math.Pi / 2, 1.5, 2, 2.4375, 2.5, 3, math.Pi, 3 * math.Pi / 4, 4, 7, 10, 20, 22, 27, 40, 52, 100, 128, 255, 708, 709.782712893384, 710.4758600739439,
		745.1332191019412, 746, 750, 1000, 1023, 1024, 1e5, 1e6, 1e7, 1e9, 2147483647, 2147483648, 4294967295, 4294967296, 4503599627370496, 4503599627370497, 9007199254740991, 9007199254740992,
		9223372036854775807, 1e19, 1e22, 1e25, 1e100, 1e150, 1e160, 1e300, math.MaxFloat64, math.Inf(1),
		// the double nearest to a multiple of pi / 2 in proportion to its size
		6381956970095103 * math.Pow(2, 797),
	} {
		list = append(list, x, -x, math.Nextafter(x, 0), -math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)), -math.Nextafter(x, math.Inf(1)))
	}
	return append(list, math.NaN(), math.Copysign(0, -1))
}()

// anything is a double of any bits.
func anything(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64()) }

// arguments are special, dense and random arguments of a function, n of them and
// some.
func arguments(f function, r *rand.Rand, n int) (list []float64) {
	between := func(a, b float64) float64 { return a + (b-a)*r.Float64() }
	// near is a number with a size between powers of 2.
	near := func(low, high float64) float64 {
		return math.Copysign(math.Exp2(between(low, high)), between(-1, 1))
	}
	one := func(i int) float64 {
		switch f.name {
		case "sin", "cos", "tan":
			switch i % 6 {
			case 0:
				return between(-4, 4)
			case 1:
				return between(-1.5e6, 1.5e6)
			case 2:
				return float64(r.IntN(4000000)-2000000) * math.Pi / 4 // near zeros and corners
			case 3:
				return near(-40, 0)
			case 4:
				return near(20, 1023)
			}
		case "asin", "acos", "atanh":
			switch i % 4 {
			case 0, 1:
				return between(-1, 1)
			case 2:
				return math.Copysign(1-math.Exp2(between(-53, 0)), between(-1, 1))
			}
			return near(-60, 0)
		case "acosh":
			if i%2 == 0 {
				return 1 + math.Exp2(between(-52, 4))
			}
			return math.Exp2(between(0, 1023))
		case "atan", "tanh", "asinh", "cbrt":
			switch i % 4 {
			case 0:
				return between(-3, 3)
			case 1:
				return between(-24, 24)
			case 2:
				return near(-60, 60)
			}
		case "exp", "expm1", "sinh", "cosh":
			switch i % 5 {
			case 0:
				return between(-1.2, 1.2)
			case 1:
				return between(-30, 30)
			case 2:
				return between(-746, 711)
			case 3:
				return near(-54, 0)
			}
			return float64(r.IntN(1500)-750) * math.Ln2 / 2 // the ends of intervals
		case "log", "log2", "log10":
			switch i % 5 {
			case 0:
				return between(0.7, 1.42)
			case 1:
				return 1 + near(-53, -4)
			case 2:
				return between(0, 30)
			case 3:
				return math.Exp2(between(-1074, 1024))
			}
		case "log1p":
			switch i % 5 {
			case 0:
				return between(-0.3, 0.42)
			case 1:
				return near(-60, -1)
			case 2:
				return between(-1, 30)
			case 3:
				return math.Exp2(between(-60, 1024))
			}
		}
		return anything(r)
	}
	pair := func(i int) (x, y float64) {
		switch f.name {
		case "atan2":
			switch i % 3 {
			case 0:
				return between(-10, 10), between(-10, 10)
			case 1:
				return near(-30, 30), near(-30, 30)
			}
		case "pow":
			switch i % 8 {
			case 0:
				return between(0, 4), between(-20, 20)
			case 1:
				x = math.Exp2(between(-1074, 1024))
				return x, between(-745, 709) / math.Log(x) // any size of result
			case 2:
				x = 1 + near(-50, -2)
				return x, between(-745, 709) / math.Log(x)
			case 3:
				x = between(0.5, 2)
				return x, between(-745, 709) / math.Log(x)
			case 4:
				return float64(r.IntN(40) - 20), float64(r.IntN(100) - 50)
			case 5:
				return -between(0, 10), float64(r.IntN(600) - 300)
			case 6:
				return math.Abs(anything(r)), between(-2, 2)
			}
		case "hypot":
			switch i % 3 {
			case 0:
				return between(-1000, 1000), between(-1000, 1000)
			case 1:
				x = near(-1074, 1023)
				return x, x * near(-60, 2)
			}
		case "fmod":
			switch i % 5 {
			case 0:
				return between(-1000, 1000), between(-10, 10)
			case 1:
				return float64(r.IntN(1<<30) - 1<<29), float64(r.IntN(100) + 1)
			case 2:
				return near(0, 1023), near(-1074, 0)
			case 3:
				y = near(-20, 20)
				return y * float64(r.IntN(1<<20)), y // no rest, or nearly so
			}
		case "imul":
			return between(-1e10, 1e10), between(-1e10, 1e10)
		}
		return anything(r), anything(r)
	}
	for i, x := range special {
		switch f.args {
		case 1:
			list = append(list, x)
		case 2:
			for j, y := range special {
				if i%6 < 2 && j%6 < 2 || i+j > 2*len(special)-60 {
					list = append(list, x, y)
				}
			}
		case 3:
			for j := 0; j < len(special); j += 6 {
				list = append(list, x, special[j], special[(3*i+7*j)%len(special)])
			}
		}
	}
	for i := range n {
		switch f.args {
		case 1:
			list = append(list, one(i))
		case 2:
			x, y := pair(i)
			list = append(list, x, y)
		case 3:
			switch i % 3 {
			case 0:
				list = append(list, between(-1000, 1000), between(-1000, 1000), between(-1000, 1000))
			case 1:
				x := near(-1074, 1022)
				list = append(list, x, x*near(-30, 1), x*near(-30, 1))
			default:
				list = append(list, anything(r), anything(r), anything(r))
			}
		}
	}
	return list
}
