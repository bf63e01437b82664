package libm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestAccuracy compares each function with the reference at special, dense and
// random arguments; -points sets how many. The log has the greatest error found.
func TestAccuracy(t *testing.T) {
	var mu sync.Mutex
	report := map[string]string{}
	t.Run("all", func(t *testing.T) {
		for _, f := range functionsTested {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				m := start(t, compile(t, f), wazero.NewRuntimeConfig())
				args := arguments(f, rand.New(rand.NewPCG(1, uint64(len(f.name)))), scaled(*points))
				var line string
				if f.exact {
					line = checkExact(t, m, f, args)
				} else {
					line = checkUlps(t, m, f, args)
				}
				mu.Lock()
				defer mu.Unlock()
				report[f.name] = line
			})
		}
	})
	for _, f := range functionsTested {
		t.Logf("%-7s %s", f.name, report[f.name])
	}
}

func checkExact(t *testing.T, m *machine, f function, args []float64) string {
	got := m.run(t, f, args)
	for i, v := range got {
		a := args[i*f.args:][:f.args]
		if want := exact(f.name, a); !same(v, want) {
			t.Fatalf("%s(%v) = %v, want %v", f.name, a, v, want)
		}
	}
	return fmt.Sprintf("exact at %d arguments", len(got))
}

// same tells whether two numbers have the same bits or both are NaNs.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
}

func checkUlps(t *testing.T, m *machine, f function, args []float64) string {
	got := m.run(t, f, args)
	worst, at, n, rounded := 0.0, []float64{}, 0, 0
	failed := 0
	for i, v := range got {
		a := args[i*f.args:][:f.args]
		want, ok := reference(f.name, a)
		if !ok {
			continue
		}
		n++
		e := ulps(v, want)
		if e <= 0.5 {
			rounded++
		}
		if e > worst {
			worst, at = e, a
		}
		if !(e < 1) {
			if failed++; failed <= 5 {
				w, _ := want.Float64()
				t.Errorf("%s(%v) = %v, off by %.3f ulp of %v", f.name, a, v, e, w)
			}
		}
	}
	return fmt.Sprintf("%.3f ulp at most, at %v; %.2f %% of %d correctly rounded", worst, at, 100*float64(rounded)/float64(n), n)
}
