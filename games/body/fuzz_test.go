package body_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
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
			f.Add(string(file.Text))
		}
	}
	for _, c := range constructs {
		for _, file := range bodies(c.text) {
			f.Add(string(file.Text))
		}
	}
	for _, file := range bodies(program(1, 3)) {
		f.Add(string(file.Text))
	}
	def := define(f, errorTypes)
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { runtime.Close(ctx) })
	f.Fuzz(func(t *testing.T, text string) {
		files := append(bodies(errorBase),
			body.Source{Path: "asteroid.js", Text: []byte(text)},
			body.Source{Path: "player.server.js", Text: []byte(text)},
			body.Source{Path: "geometry.js", Text: []byte("export function wrap(e) { e.x = 0; }\n")})
		began := time.Now()
		p, list := body.Compile(def, files, body.Options{})
		if took := time.Since(began); took > 2*time.Second {
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			p, list := body.Compile(def, append(bodies(errorBase), body.Source{Path: "asteroid.js", Text: []byte(text)}), body.Options{})
			if took := time.Since(began); took > 10*time.Second {
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
