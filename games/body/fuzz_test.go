package body_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
)

// FuzzCompile compiles whatever it is given: that must not panic, must not take
// long, and what comes out must be a module that a runtime accepts.
func FuzzCompile(f *testing.F) {
	text, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range strings.Split(string(text), "### ")[1:] {
		_, rest, _ := strings.Cut(c, "\n")
		program, _, _ := strings.Cut(rest, "-- findings --\n")
		for _, file := range bodies(program) {
			f.Add(string(file.Text), false)
		}
	}
	for _, c := range constructs {
		for _, file := range bodies(c.text) {
			f.Add(string(file.Text), true)
		}
	}
	for seed := range uint64(3) {
		for _, file := range gen.New(seed, gen.Options{Size: 24}).Sources() {
			f.Add(string(file.Text), strings.HasSuffix(file.Path, ".ts"))
		}
	}
	f.Add("import type { A } from \"./a\";\ninterface B<T extends A> { x: T }\nexport function update(self: B<A>, o?: <T>(x: T) => x is T): void { let a: number[] = <any>self!.x as unknown satisfies A; }\n", true)
	def := define(f, errorTypes)
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { runtime.Close(ctx) })
	f.Fuzz(func(t *testing.T, text string, typed bool) {
		name := "asteroid.js"
		if typed {
			name = "asteroid.ts"
		}
		files := append(bodies(errorBase),
			body.Source{Path: name, Text: []byte(text)},
			body.Source{Path: "player.server.js", Text: []byte(text)},
			body.Source{Path: "geometry.js", Text: []byte("export function wrap(e) { e.x = 0; }\n")})
		began := time.Now()
		p, list := body.Compile(def, files, body.Options{})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("compiling took %v", took)
		}
		if p == nil {
			if !list.Failed() {
				t.Error("no program and no error")
			}
			return
		}
		for _, code := range [][]byte{p.Server, p.Client} {
			m, err := runtime.CompileModule(ctx, code)
			if err != nil {
				t.Fatalf("module: %v", err)
			}
			m.Close(ctx)
		}
	})
}

// TestHostileFiles compiles files that are made to cost much.
func TestHostileFiles(t *testing.T) {
	def := define(t, errorTypes)
	repeat := func(a string, n int, b string) string { return strings.Repeat(a, n) + "1" + strings.Repeat(b, n) }
	wrap := func(x string) string { return "export function update(self) {\n  self.x = " + x + ";\n}\n" }
	chain := "export function update(self) {\n"
	for range 5000 {
		chain += "if (self.x > 1) self.x = 2; else "
	}
	for name, text := range map[string]string{
		"brackets":     wrap(repeat("(", 100000, ")")),
		"lists":        wrap(repeat("[", 100000, "]")),
		"blocks":       strings.Repeat("{", 200000),
		"minus":        wrap(strings.Repeat("- ", 100000) + "1"),
		"not":          wrap(strings.Repeat("!", 200000) + "1"),
		"sum":          wrap(strings.Repeat("1+", 100000) + "1"),
		"power":        wrap(strings.Repeat("1**", 60000) + "1"),
		"conditions":   wrap(strings.Repeat("1?2:", 50000) + "1"),
		"assignments":  wrap(strings.Repeat("self.x=", 30000) + "1"),
		"ands":         wrap(strings.Repeat("self.x&&", 30000) + "1"),
		"bool ands":    wrap(strings.Repeat("self.x>1&&", 25000) + "1"),
		"arrows":       wrap(strings.Repeat("a=>", 60000) + "1"),
		"inner arrows": wrap(repeat("(a=", 30, ")=>1")),
		"news":         wrap(strings.Repeat("new ", 60000) + "1"),
		"templates":    wrap(strings.Repeat("`${", 60000)),
		"else if":      chain + ";\n}\n",
		"members":      wrap("self" + strings.Repeat(".near", 40000) + ".x"),
		"optional":     wrap("self" + strings.Repeat("?.near", 40000) + "?.x ?? 1"),
		"commas":       wrap("(" + strings.Repeat("self.x++,", 28000) + "1)"),
		"nothing":      "",
		"zeros":        strings.Repeat("\x00", 1000),
		"not text":     "\xff\xfe\xfd export function update() { \xff }",
		"too large":    strings.Repeat(" ", 1<<20),
		"tower":        tower(60) + "export function update(self) { f0(); }",
		"wide tower":   strings.ReplaceAll(tower(12), "(); f", "(); f0x(); f") + "function f0x() { return; }\nexport function update(self) { f0(); }",
		"statements":   "export function update(self) {\n" + strings.Repeat("self.x++;\n", 20000) + "}\n",
		"loops":        "export function update(self) {\n" + strings.Repeat("for (;;) ", 20000) + ";}\n",
		"lets":         "export function update(self) {\n" + strings.Repeat("{ let a = self.x; let b = a; a = b + 1; }\n", 5000) + "}\n",
		"big table":    "const T = [" + strings.Repeat("1,", 120000) + "];\n" + wrap("T[self.x]"),
		"deep table":   "const T = " + repeat("[", 110, "]") + ";\n" + wrap("T"+strings.Repeat("[self.x]", 110)),
		"wide tables":  "const T = [" + strings.Repeat("[1,2],", 30000) + "];\n" + wrap("T[self.x][self.y]"+strings.Repeat("+T[self.x][self.y]", 100)),
		"names":        "const T = {" + names(8000) + "};\nconst N = [\"n1\", \"n2\"];\n" + wrap("T[N[self.x]]"),
		"texts":        wrap("1;\n" + strings.Repeat("{ const s = \""+strings.Repeat("x", 200)+"\"; if (s < s) return; }\n", 1000)),
		"logs":         wrap("1;\n" + strings.Repeat("log(self.x, `${self.y} is`, true);\n", 6000)),
		"types":        "export function update(self: " + strings.Repeat("A<", 80000) + "1" + strings.Repeat(">", 80000) + ") {}\n",
		"casts":        wrap("1" + strings.Repeat(" as number", 20000)),
		"assertions":   wrap("self" + strings.Repeat("!", 200000)),
		"unions":       "export function update(self: A" + strings.Repeat(" | A", 60000) + ") {}\n",
		"labels":       "export function update(self) {\n" + strings.Repeat("a: ", 80000) + ";\n}\n",
	} {
		for _, file := range []string{"asteroid.js", "asteroid.ts"} {
			t.Run(name+" "+file, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				p, list := body.Compile(def, append(bodies(errorBase), body.Source{Path: file, Text: []byte(text)}), body.Options{})
				// Alone each takes a second or two; what grows with the square of its
				// input takes minutes, on any machine.
				if took := time.Since(began); took > time.Minute {
					t.Errorf("compiling took %v", took)
				} else {
					t.Logf("%v, %d findings", took, len(list))
				}
				if p == nil && len(list) > 0 && len(list) < 3 {
					t.Log(list.Error())
				}
			})
		}
	}
}

// names are the parts of an object with so many.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "n%d: %d, ", i, i)
	}
	return b.String()
}
