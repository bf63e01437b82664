package body_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
)

// chain is n functions, each of which calls the next one while it has so many
// variables that it needs afterwards.
func chain(n, vars int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "-- part%d.js --\nimport { f%d } from \"./part%d.js\";\nexport function f%d(a) {\n", i, i+1, i+1, i)
		for v := range vars {
			fmt.Fprintf(&b, "let v%d = a * %d + game.a;\n", v, v+2)
		}
		fmt.Fprintf(&b, "let r = f%d(a + 1);\n", i+1)
		for v := range vars {
			fmt.Fprintf(&b, "r += v%d;\n", v)
		}
		b.WriteString("for (let i = 0; i < 2; i++) r += i;\nreturn r;\n}\n")
	}
	fmt.Fprintf(&b, "-- part%d.js --\nexport function f%d(a) { game.a += a; return a; }\n", n, n)
	b.WriteString("-- instance.js --\nimport { f0 } from \"./part0.js\";\nexport function update() { game.a = f0(1); }\n")
	return b.String()
}

// TestDeepCalls checks that calls which are nested as deeply as is accepted, with as
// many variables, use up no machine's stack, and that deeper ones are refused.
func TestDeepCalls(t *testing.T) {
	def := define(t, "instance a:f64\nplayer 1 x:f64\n")
	for _, c := range []struct {
		calls, vars int
		accepted    bool
	}{
		{200, 120, true}, {800, 1, true}, {20, 1400, true},
		{300, 120, false}, {1900, 12, false}, {20, 2000, false},
	} {
		t.Run(fmt.Sprintf("%d with %d", c.calls, c.vars), func(t *testing.T) {
			t.Parallel()
			p, list := body.Compile(def, bodies(chain(c.calls, c.vars)), body.Options{})
			if !c.accepted {
				if p != nil || len(list) != 1 || !strings.HasPrefix(list[0].Pos.File, "part") || !strings.Contains(list[0].Message, "a browser's stack") {
					t.Fatalf("got %v, %v", p != nil, list)
				}
				return
			}
			if p == nil {
				t.Fatal(list)
			}
			for side, code := range map[string][]byte{"server": p.Server, "client": p.Client} {
				r := record(def, p, 2, 1, idle)
				r.Code, r.CodeSize = code, len(code)
				want := replayed(t, r, wazero.NewRuntimeConfigCompiler())
				for engine, got := range map[string][]string{
					"interpreter": replayed(t, r, wazero.NewRuntimeConfigInterpreter()),
					"node":        elsewhere(t, inNode, r)[0],
				} {
					if !slices.Equal(got, want) {
						t.Errorf("the %s's module, %s: %v, not %v", side, engine, got, want)
					}
				}
			}
		})
	}
}

// TestDeepExpressions checks that expressions which are nested as deeply as is
// accepted are computed, and that deeper ones are refused.
func TestDeepExpressions(t *testing.T) {
	nest := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	def := define(t, "instance a:f64 b:f64 i:i32 on:bool\nplayer 1 x:f64\n")
	for name, write := range map[string]func(n int) string{
		"brackets":    func(n int) string { return nest(n, "(game.b + ", "1", ")") },
		"functions":   func(n int) string { return nest(n, "Math.min(1e9, 1 + ", "random()", ")") },
		"conditions":  func(n int) string { return nest(n, "(game.a > 3 ? 2 : ", "game.b", ")") },
		"ands":        func(n int) string { return nest(n, "(game.on && ", "game.a > 1", " || game.b < 3)") + " ? 1 : 2" },
		"helpers":     func(n int) string { return nest(n, "add(1, ", "random()", ")") },
		"assignments": func(n int) string { return nest(n, "(game.i = 1 + ", "game.i", ")") },
		"sum":         func(n int) string { return "1" + strings.Repeat(" + game.b", 4*n) },
		"minus":       func(n int) string { return strings.Repeat("- ", 4*n) + "game.b" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := func(n int) []body.Source {
				return bodies("-- instance.js --\nfunction add(x, y) { game.i++; return x + y; }\nexport function update() {\n  game.a = " + write(n) + ";\n  game.b = game.a * 0.7;\n  game.on = !game.on;\n}\n")
			}
			compareTwin(t, def, program(110), 20, idle)
			if p, list := body.Compile(def, program(1500), body.Options{}); p != nil || !strings.Contains(list[0].Message, "nested too deeply") {
				t.Errorf("fifteen hundred: %v, %v", p != nil, list)
			}
		})
	}
}
