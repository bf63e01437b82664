package libm

import (
	"math"
	"regexp"
	"testing"

	"github.com/tetratelabs/wazero"
)

// TestSpecialValues holds the library to what JavaScript says of zeros,
// infinities and NaNs, and to results that are exact.
func TestSpecialValues(t *testing.T) {
	m := start(t, compile(t, functionsTested...), wazero.NewRuntimeConfig())
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	type values = []float64
	for name, cases := range map[string][]values{ // arguments, result
		"sin":   {{zero, zero}, {0, 0}, {inf, nan}, {-inf, nan}, {5e-324, 5e-324}, {-1e-310, -1e-310}},
		"cos":   {{zero, 1}, {0, 1}, {inf, nan}, {5e-324, 1}},
		"tan":   {{zero, zero}, {0, 0}, {-inf, nan}, {5e-324, 5e-324}},
		"asin":  {{zero, zero}, {1, math.Pi / 2}, {-1, -math.Pi / 2}, {1.0000000000000002, nan}, {inf, nan}, {5e-324, 5e-324}},
		"acos":  {{1, 0}, {-1, math.Pi}, {0, math.Pi / 2}, {zero, math.Pi / 2}, {-1.0000000000000002, nan}, {-inf, nan}},
		"atan":  {{zero, zero}, {inf, math.Pi / 2}, {-inf, -math.Pi / 2}, {1, math.Pi / 4}, {5e-324, 5e-324}},
		"sinh":  {{zero, zero}, {inf, inf}, {-inf, -inf}, {711, inf}, {-1000, -inf}},
		"cosh":  {{zero, 1}, {inf, inf}, {-inf, inf}, {-711, inf}},
		"tanh":  {{zero, zero}, {inf, 1}, {-inf, -1}, {1000, 1}, {-19.5, -1}},
		"asinh": {{zero, zero}, {inf, inf}, {-inf, -inf}},
		"acosh": {{1, 0}, {inf, inf}, {0.9999999999999999, nan}, {-inf, nan}, {0, nan}},
		"atanh": {{zero, zero}, {1, inf}, {-1, -inf}, {1.0000000000000002, nan}, {-inf, nan}},
		"exp":   {{zero, 1}, {inf, inf}, {-inf, 0}, {709.782712893384, 1.7976931348622732e308}, {709.7827128933841, inf}, {-745.1332191019411, 5e-324}, {-745.14, 0}, {1, math.E}},
		"expm1": {{zero, zero}, {inf, inf}, {-inf, -1}, {-800, -1}, {710, inf}, {5e-324, 5e-324}},
		"log":   {{0, -inf}, {zero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-5e-324, nan}, {-inf, nan}},
		"log1p": {{zero, zero}, {-1, -inf}, {-1.0000000000000002, nan}, {inf, inf}, {-inf, nan}, {-5e-324, -5e-324}},
		"log2":  {{0, -inf}, {zero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {8, 3}, {5e-324, -1074}, {0.125, -3}, {0x1p1023, 1023}},
		"log10": {{zero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {1000, 3}, {1e-5, -5}, {1e22, 22}, {1e300, 300}},
		"cbrt":  {{zero, zero}, {inf, inf}, {-inf, -inf}, {27, 3}, {-0.001, -0.1}, {1e300, 1e100}, {-8, -2}},
		"atan2": {
			{0, 0, 0}, {zero, 0, zero}, {0, zero, math.Pi}, {zero, zero, -math.Pi}, {0, -1, math.Pi}, {zero, -1, -math.Pi}, {0, 1, 0}, {zero, 1, zero},
			{1, 0, math.Pi / 2}, {1, zero, math.Pi / 2}, {-1, 0, -math.Pi / 2}, {-1, zero, -math.Pi / 2}, {1, 1, math.Pi / 4}, {-1, -1, -3 * math.Pi / 4},
			{inf, inf, math.Pi / 4}, {inf, -inf, 3 * math.Pi / 4}, {-inf, inf, -math.Pi / 4}, {-inf, -inf, -3 * math.Pi / 4},
			{1, inf, 0}, {-1, inf, zero}, {1, -inf, math.Pi}, {-1, -inf, -math.Pi}, {inf, 1, math.Pi / 2}, {-inf, -1, -math.Pi / 2},
			{nan, 1, nan}, {1, nan, nan}, {1e-300, 1e300, 0}, {-1e-300, 1e300, zero}, {1e-300, -1e300, math.Pi},
		},
		"pow": {
			{nan, 0, 1}, {nan, zero, 1}, {0, 0, 1}, {inf, zero, 1}, {1, nan, nan}, {nan, 1, nan}, {1, inf, nan}, {-1, inf, nan}, {1, -inf, nan}, {-1, -inf, nan},
			{2, inf, inf}, {-2, inf, inf}, {2, -inf, 0}, {0.5, inf, 0}, {-0.5, -inf, inf}, {0, inf, 0}, {zero, -inf, inf},
			{inf, 2, inf}, {inf, -0.5, 0}, {-inf, 3, -inf}, {-inf, 2, inf}, {-inf, 0.5, inf}, {-inf, -3, zero}, {-inf, -2, 0},
			{0, 3, 0}, {zero, 3, zero}, {zero, 2, 0}, {zero, 0.5, 0}, {zero, -3, -inf}, {zero, -2, inf}, {0, -0.5, inf}, {zero, -0.5, inf},
			{-8, 1.0 / 3, nan}, {-8, 3, -512}, {-2, 1023, -0x1p1023}, {-2, 1024, inf}, {-2, 1025, -inf}, {2, -1074, 5e-324}, {2, -1076, 0}, {-2, -1077, zero},
			{10, 22, 1e22}, {10, 2, 100}, {3, 3, 27}, {5, -1, 0.2}, {9, 0.5, 3}, {1e-320, 2, 0}, {-1, 1e300, 1}, {-1, 9007199254740991, -1}, {1, 1e300, 1}, {7, 1, 7},
		},
		"hypot":  {{inf, nan, inf}, {nan, -inf, inf}, {nan, 1, nan}, {0, zero, 0}, {zero, zero, 0}, {3, 4, 5}, {-3, 4, 5}, {5e-324, 0, 5e-324}, {3e-320, 4e-320, 5e-320}, {3e300, 4e300, 5e300}, {math.MaxFloat64, math.MaxFloat64, inf}},
		"hypot3": {{inf, nan, 1, inf}, {nan, nan, -inf, inf}, {nan, 1, 2, nan}, {0, zero, 0, 0}, {1, 2, 2, 3}, {2, 3, 6, 7}, {2e-320, 3e-320, 6e-320, 7e-320}, {0x2p1020, 0x3p1020, 0x6p1020, 0x7p1020}, {math.MaxFloat64, math.MaxFloat64, 1, inf}},
		"fmod": {
			{5, 3, 2}, {-5, 3, -2}, {5, -3, 2}, {6, 3, 0}, {-6, 3, zero}, {0, 3, 0}, {zero, 3, zero}, {1, 0, nan}, {1, zero, nan}, {inf, 1, nan}, {-inf, inf, nan}, {nan, 1, nan}, {1, nan, nan},
			{1, inf, 1}, {-5, -inf, -5}, {5.5, 1.25, 0.5}, {1e308, 3, 2}, {math.MaxFloat64, 5e-324, 0}, {3e-323, 1e-323, 0}, {0.3, 0.1, 0.09999999999999998},
		},
		"round":  {{0.5, 1}, {-0.5, zero}, {2.5, 3}, {-2.5, -2}, {-3.5, -3}, {0.49999999999999994, 0}, {-0.1, zero}, {zero, zero}, {inf, inf}, {-inf, -inf}, {4503599627370497, 4503599627370497}, {4503599627370495.5, 4503599627370496}},
		"trunc":  {{0.9, 0}, {-0.9, zero}, {zero, zero}, {-inf, -inf}, {-4.7, -4}},
		"sign":   {{-3, -1}, {zero, zero}, {0, 0}, {5e-324, 1}, {-inf, -1}},
		"fround": {{5.5, 5.5}, {5.05, 5.050000190734863}, {1e40, inf}, {-1e40, -inf}, {zero, zero}, {1e-50, 0}},
		"imul":   {{2, 4, 8}, {-1, 8, -8}, {4294967295, 5, -5}, {4294967294, 5, -10}, {inf, 3, 0}, {nan, 3, 0}, {1e20, 1, 1661992960}},
		"clz32":  {{1, 31}, {0, 32}, {zero, 32}, {-1, 0}, {0.9, 32}, {4294967296, 32}, {inf, 32}, {nan, 32}, {2147483648, 0}},
		"min3":   {{1, 2, 3, 1}, {0, zero, 1, zero}, {inf, nan, -inf, nan}, {inf, inf, inf, inf}},
		"max3":   {{1, 2, 3, 3}, {zero, 0, -1, 0}, {zero, zero, -1, zero}, {inf, nan, 1, nan}},
	} {
		f := tested(name)
		for _, c := range cases {
			a, want := c[:f.args], c[f.args]
			if got := m.run(t, f, a)[0]; !same(got, want) {
				t.Errorf("%s(%v) = %v, want %v", name, a, got, want)
			}
		}
	}
	for _, f := range functionsTested {
		if f.name == "clz32" || f.name == "imul" {
			continue
		}
		if got := m.run(t, f, []float64{nan, nan, nan}[:f.args])[0]; got == got {
			t.Errorf("%s of NaN is %v", f.name, got)
		}
	}
}

var declared = regexp.MustCompile(`(?m)^(?:export )?(?:function|const) (\w+)`)

// TestNames makes sure that the files' texts can stand in one scope, as they do
// in Script.
func TestNames(t *testing.T) {
	all, err := functions()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for file, text := range sources() {
		for _, name := range declared.FindAllSubmatch(text, -1) {
			if other := seen[string(name[1])]; other != "" {
				t.Errorf("%s and %s both declare %s", file, other, name[1])
			}
			seen[string(name[1])] = file
		}
	}
	for _, f := range functionsTested {
		if seen[f.name] != "" && all[f.name] == nil {
			t.Errorf("%s is not exported", f.name)
		}
	}
}
