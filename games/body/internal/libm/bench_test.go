package libm

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tetratelabs/wazero"
)

// usual are arguments as games have them.
func usual(f function, n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	list := make([]float64, n*f.args)
	for i := range list {
		switch f.name {
		case "asin", "acos", "atanh":
			list[i] = 2*r.Float64() - 1
		case "acosh":
			list[i] = 1 + 10*r.Float64()
		case "log", "log2", "log10", "log1p":
			list[i] = 100 * r.Float64()
		case "pow":
			list[i] = 10 * r.Float64()
		case "imul", "clz32":
			list[i] = float64(r.IntN(1 << 30))
		default:
			list[i] = 20*r.Float64() - 10
		}
	}
	return list
}

var native = map[string]func(a []float64) float64{
	"sin": func(a []float64) float64 { return math.Sin(a[0]) }, "cos": func(a []float64) float64 { return math.Cos(a[0]) }, "tan": func(a []float64) float64 { return math.Tan(a[0]) },
	"asin": func(a []float64) float64 { return math.Asin(a[0]) }, "acos": func(a []float64) float64 { return math.Acos(a[0]) }, "atan": func(a []float64) float64 { return math.Atan(a[0]) },
	"atan2": func(a []float64) float64 { return math.Atan2(a[0], a[1]) }, "exp": func(a []float64) float64 { return math.Exp(a[0]) }, "expm1": func(a []float64) float64 { return math.Expm1(a[0]) },
	"sinh": func(a []float64) float64 { return math.Sinh(a[0]) }, "cosh": func(a []float64) float64 { return math.Cosh(a[0]) }, "tanh": func(a []float64) float64 { return math.Tanh(a[0]) },
	"asinh": func(a []float64) float64 { return math.Asinh(a[0]) }, "acosh": func(a []float64) float64 { return math.Acosh(a[0]) }, "atanh": func(a []float64) float64 { return math.Atanh(a[0]) },
	"log": func(a []float64) float64 { return math.Log(a[0]) }, "log1p": func(a []float64) float64 { return math.Log1p(a[0]) }, "log2": func(a []float64) float64 { return math.Log2(a[0]) }, "log10": func(a []float64) float64 { return math.Log10(a[0]) },
	"pow": func(a []float64) float64 { return math.Pow(a[0], a[1]) }, "cbrt": func(a []float64) float64 { return math.Cbrt(a[0]) }, "hypot": func(a []float64) float64 { return math.Hypot(a[0], a[1]) },
	"fmod": func(a []float64) float64 { return math.Mod(a[0], a[1]) }, "round": func(a []float64) float64 { return math.Floor(a[0] + 0.5) }, "trunc": func(a []float64) float64 { return math.Trunc(a[0]) },
}

// BenchmarkMath is the time of a call in a loop over 4096 arguments, and that of
// Go's function where it has one.
func BenchmarkMath(b *testing.B) {
	const n = 4096
	m := start(b, compile(b, functionsTested...), wazero.NewRuntimeConfig())
	ctx := context.Background()
	for _, f := range functionsTested {
		args := usual(f, n)
		b.Run(f.name, func(b *testing.B) {
			m.run(b, f, args)
			fn := m.mod.ExportedFunction("run_" + f.name)
			stack := make([]uint64, 3)
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += n {
				stack[0], stack[1], stack[2] = uint64(m.heap), uint64(m.heap+8*len(args)), uint64(min(n, b.N-done))
				if err := fn.CallWithStack(ctx, stack); err != nil {
					b.Fatal(err)
				}
			}
		})
		if g := native[f.name]; g != nil {
			b.Run(f.name+"/go", func(b *testing.B) {
				sum := 0.0
				for i := range b.N {
					at := i % n * f.args
					sum += g(args[at : at+f.args])
				}
				sink = sum
			})
		}
	}
}

var sink float64
