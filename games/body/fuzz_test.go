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

		"waiting types":      body1("let v0 = null;" + each(8000, "let v%[2]d = null;") + each(8000, "v%[1]d = v%[2]d;") + "v8000 = self;"),
		"many findings":      body1(each(20000, "a%[1]d();")),
		"narrowed":           body1("const v = self.near;" + each(4000, "let v%[1]d = null; v%[1]d = self;") + strings.Repeat("if (v) self.x++;", 9000)),
		"without values":     body1("let z" + each(8000, ", v%[1]d") + ";" + strings.Repeat("if (self.x) self.x++;", 9000)),
		"long record":        body1("const l = [self.x" + strings.Repeat(", 1", 20000) + "];" + strings.Repeat("self.x = l[19999];", 8000)),
		"many arguments":     "function f(o, p) { let s = 0; for (let i = 0; i < 3; i++) s += o.a0 + p.a299; return s; }" + body1("const l = {"+each(300, "a%[1]d: self.x,")+"}; self.x = f(l, l); self.y = f(l, l);"),
		"twins in twins":     body1("const v0 = { a: self.x, b: 1 };" + each(60, "const v%[2]d = { a: v%[1]d, b: v%[1]d };") + "self.x = v60" + strings.Repeat(".a", 61) + ";"),
		"lists of lists":     "const v0 = [1, 2];" + each(60, "const v%[2]d = [...v%[1]d, ...v%[1]d];") + body1("self.x = v60[self.x];"),
		"indices":            "const v0 = [1, 2];" + each(60, "const v%[2]d = [v%[1]d, v%[1]d];") + body1("self.x = v60"+strings.Repeat("[self.x]", 61)+";"),
		"copied objects":     "const v0 = { a: 1 };" + each(60, "const v%[2]d = { ...v%[1]d, ...v%[1]d, b%[1]d: v%[1]d };") + body1("self.x = v60.a;"),
		"members of many":    "const T = [" + strings.Repeat("{a:[1]},", 15000) + "];" + body1(strings.Repeat("self.x=T[self.x].a[0];", 5000)),
		"characters of many": "const T = [" + strings.Repeat("\"abcdefgh\",", 10000) + "];" + body1(strings.Repeat("self.big=T[self.x][1]===\"b\";", 3000)),
		"slow constant":      "const T = [" + strings.Repeat("[1],", 30000) + "]; function f() { let s = 0; for (let i = 0; i < 1e7; i++) s += T[29999 - i % 2][0]; return s; } const a = f();" + body1("self.x = a;"),
		"slow name":          "const T = {" + names(20000) + "}, N = [\"n19999\", \"n19998\"]; function f() { let s = 0; for (let i = 0; i < 1e7; i++) s += T[N[i % 2]]; return s; } const a = f();" + body1("self.x = a;"),
		"no end":             "function f() { for (;;); return 1; } const a = f();" + body1("self.x = a;"),
		"many cases":         body1("switch (self.x) {" + each(14000, "case %[1]d: break;") + "}"),
		"many shapes":        "function f(o) {" + strings.Repeat("o.x > 1 ? log(1) : log(2);", 4000) + " return o.x; }" + body1(each(3000, "self.x += f({ x: 1, y%[1]d: 2 });")),
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

// body1 is a body in one line.
func body1(text string) string { return "export function update(self) { " + text + " }\n" }

// each is a text for each number up to n, as the first argument, with the next one.
func each(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i, i+1)
	}
	return b.String()
}

// names are the parts of an object with so many.
func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "n%d: %d, ", i, i)
	}
	return b.String()
}
