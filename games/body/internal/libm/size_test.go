package libm

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"
)

// parts are the functions of a module with the size of their code, without the
// loops that the tests call them by, and the size of its tables.
func parts(t *testing.T, list ...function) (code map[string]int, tables int) {
	t.Helper()
	m := linked(t, list...)
	code = map[string]int{}
	for _, f := range m.Funcs {
		if !strings.HasPrefix(f.Name, "run_") {
			code[f.Name] += len(f.Code.B)
		}
	}
	for _, d := range m.Data {
		tables += len(d.Bytes)
	}
	return code, tables
}

// TestSize keeps the code small: what a function adds to a module that has
// nothing else of the library.
func TestSize(t *testing.T) {
	const most = 3500 // of one function with its tables
	for _, f := range functionsTested {
		code, tables := parts(t, f)
		sum := 0
		for _, n := range code {
			sum += n
		}
		t.Logf("%-7s %4d bytes of code, %4d of tables %v", f.name, sum, tables, slices.Sorted(maps.Keys(code)))
		if sum+tables > most {
			t.Errorf("%s takes %d bytes", f.name, sum+tables)
		}
	}
	code, tables := parts(t, functionsTested...)
	sum := 0
	for _, n := range code {
		sum += n
	}
	t.Logf("all     %4d bytes of code, %4d of tables", sum, tables)
}

// TestLinked makes sure that a module holds nothing of the functions that it does
// not call.
func TestLinked(t *testing.T) {
	table := encode([]float64{1.39453125, -0.3325583373000427}) // begins what log and pow look up
	if !bytes.Contains(linked(t, tested("pow")).Encode(), table) {
		t.Error("the table of logarithms is not found where it is needed")
	}
	for _, name := range []string{"sin", "exp", "atan2", "hypot", "min3", "round"} {
		m := linked(t, tested(name))
		if bytes.Contains(m.Encode(), table) {
			t.Errorf("%s brings the table of logarithms", name)
		}
		for _, f := range m.Funcs {
			if slices.Contains([]string{"pow", "power", "logOf", "withTail", "logNear", "logPart"}, f.Name) {
				t.Errorf("%s brings %s", name, f.Name)
			}
		}
	}
	for _, name := range []string{"min3", "sign", "trunc"} {
		code, tables := parts(t, tested(name))
		if len(code) != 1 || tables != 0 {
			t.Errorf("%s brings more than itself: %v", name, code)
		}
	}
}
