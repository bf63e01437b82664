package link_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"gamehoster/games"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/ir/irtest"
	"gamehoster/games/body/internal/link"
	"gamehoster/games/body/internal/wasm"
	"gamehoster/games/schema"
)

var rewrite = flag.Bool("rewrite", false, "write what the linker makes to testdata")

// The client's rows lack the secret, so that what is behind it has other places.
const definition = `{
  "player": { "fields": { "secret": "f64", "x": "f32 shared", "n": "u8 sent" } },
  "entities": { "rock": { "max": 4, "fields": { "x": "f32 shared", "y": "f64 shared", "z": "f64 shared", "size": "u8 shared" } } }
}`

// module links functions for a side; the last of them is what the host calls.
func module(t *testing.T, side schema.Side, list []*ir.Func) (*wasm.Module, error) {
	t.Helper()
	def, found := games.ParseDefinition("test", []byte(definition))
	if found.Failed() {
		t.Fatal(found)
	}
	named := func(name string) *ir.Global { return &ir.Global{Name: name, Type: ir.I32, Export: true} }
	o := link.Options{
		Layout: schema.NewLayout(def, side), Fuel: named("fuel"), Fault: named("fault"), FaultAt: named("fault_at"), OutOfGas: 9, MaxPages: 8,
		ToInt32: &ir.Func{Name: "toint32", Params: []*ir.Local{{Name: "x", Type: ir.F64}}, Result: ir.I32, Body: []ir.Stmt{&ir.Return{X: ir.Int(0)}}},
	}
	o.Globals = []*ir.Global{o.Fault, o.FaultAt, o.Fuel}
	seen := map[*ir.Global]bool{}
	for _, f := range list {
		add := func(g *ir.Global) {
			if g.Export = true; !seen[g] {
				seen[g] = true
				o.Globals = append(o.Globals, g)
			}
		}
		ir.Each(f.Body, func(s ir.Stmt) {
			if s, ok := s.(*ir.SetGlobal); ok {
				add(s.Global)
			}
		}, func(x ir.Expr) {
			if x, ok := x.(*ir.GetGlobal); ok {
				add(x.Global)
			}
			if x, ok := x.(*ir.DataAddr); ok {
				copy(x.Data.Bytes, x.Data.Name)
			}
		})
	}
	return link.Link(o, list[len(list)-1])
}

// functions are the data and the functions of a module, as text.
func functions(t *testing.T, m *wasm.Module) string {
	t.Helper()
	text, err := wasm.Text(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if inside = inside || strings.HasPrefix(line, "  (func") || strings.HasPrefix(line, "  (data"); inside {
			b.WriteString(strings.TrimPrefix(line, "  "))
		}
		if strings.HasPrefix(line, "  )") || strings.HasPrefix(line, "  (data") {
			inside = false
		}
	}
	return b.String()
}

// TestLink compares functions in both modules with what testdata has: "### why", ir,
// "--- server" and "--- client", each with what became of it there.
func TestLink(t *testing.T) {
	const path = "testdata/link.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "### ")
	out := head
	for _, c := range strings.Split(rest, "\n### ") {
		why, rest, _ := strings.Cut(c, "\n")
		program, want, _ := strings.Cut(rest, "--- server\n")
		var got strings.Builder
		for i, side := range []schema.Side{schema.OnServer, schema.OnClient} {
			list, err := irtest.Parse(program)
			if err != nil {
				t.Fatalf("%s: %v", why, err)
			}
			if i > 0 {
				got.WriteString("--- client\n")
			}
			m, err := module(t, side, list)
			if err != nil {
				fmt.Fprintf(&got, "%v\n", err)
				continue
			}
			got.WriteString(functions(t, m))
		}
		if strings.TrimSpace(got.String()) != strings.TrimSpace(want) && !*rewrite {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", why, got.String(), want)
		}
		out += "### " + why + "\n" + program + "--- server\n" + got.String() + "\n"
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(strings.TrimSuffix(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Calls that would use up a browser's stack are refused with their path.
func TestStack(t *testing.T) {
	var text strings.Builder
	fmt.Fprintf(&text, "func f0(a i32) i32 {\n  return a\n}\n")
	const depth = 2000
	for i := 1; i <= depth; i++ {
		fmt.Fprintf(&text, "func f%d(a i32) i32 {\n  return i32.add(f%d(a), 1)\n}\n", i, i-1)
	}
	list, err := irtest.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = module(t, schema.OnClient, list)
	var stack *link.StackError
	if !errors.As(err, &stack) {
		t.Fatalf("%v", err)
	}
	if stack.Bytes <= link.MaxStack || len(stack.Path) != depth+1 || stack.Path[0].Name != fmt.Sprint("f", depth) || stack.Path[depth].Name != "f0" {
		t.Errorf("%v, by %d calls", err, len(stack.Path))
	}
	if _, err := module(t, schema.OnClient, list[:100]); err != nil {
		t.Errorf("a hundred calls are refused: %v", err)
	}
}
