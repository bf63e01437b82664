package libm

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
)

// nodeScript runs, for each function, the module, the library's text and V8's own
// Math on the arguments in NAME.in, and writes the results behind one another to
// NAME.out. The text's functions are called by the name they have in Math.
const nodeScript = `
const { readFileSync, writeFileSync } = require("node:fs");
const [dir, heap] = [process.argv[2], Number(process.argv[3])];
const { memory, ...run } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(dir + "/module.wasm"))).exports;
const library = new Function(readFileSync(dir + "/library.js", "utf8"))();
const ours = Object.create(Math, Object.fromEntries(Object.entries(library).map(([k, value]) => [k, { value }])));
for (const [name, args, expression] of JSON.parse(readFileSync(dir + "/functions.json"))) {
  const bytes = readFileSync(dir + "/" + name + ".in");
  const n = bytes.length / 8 / args;
  new Uint8Array(memory.buffer).set(bytes, heap);
  const input = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  run["run_" + name](heap, heap + bytes.length, n);
  const results = [new Float64Array(memory.buffer.slice(heap + bytes.length, heap + bytes.length + 8 * n))];
  for (const [maths, text] of [[ours, expression.replace("x ** y", "Math.pow(x, y)")], [Math, expression]]) {
    const f = new Function("Math", "x", "y", "z", "return " + text);
    const out = new Float64Array(n);
    for (let i = 0; i < n; i++) out[i] = f(maths, input[i * args], input[i * args + 1], input[i * args + 2]);
    results.push(out);
  }
  writeFileSync(dir + "/" + name + ".out", Buffer.concat(results.map((r) => new Uint8Array(r.buffer))));
}
`

// runNode gives what Node makes of the functions' arguments: by the module, by
// the library's text, and by its own Math.
func runNode(t *testing.T, c compiled, list []function, args map[string][]float64) (module, text, own map[string][]float64) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, f := range list {
		names = append(names, fmt.Sprintf("[%q,%d,%q]", f.name, f.args, f.text))
		write(f.name+".in", encode(args[f.name]))
	}
	write("functions.json", []byte("["+strings.Join(names, ",")+"]"))
	write("module.wasm", c.bytes)
	write("library.js", []byte(Script()))
	write("run.cjs", []byte(nodeScript))
	cmd := exec.Command("node", filepath.Join(dir, "run.cjs"), dir, fmt.Sprint(c.heap))
	var problems bytes.Buffer
	cmd.Stderr = &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("node is needed for this test: %v\n%s", err, problems.String())
	}
	module, text, own = map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for _, f := range list {
		b, err := os.ReadFile(filepath.Join(dir, f.name+".out"))
		if err != nil {
			t.Fatal(err)
		}
		all := decode(b)
		n := len(all) / 3
		module[f.name], text[f.name], own[f.name] = all[:n], all[n:2*n], all[2*n:]
	}
	return module, text, own
}

// TestEngines demands equal bits of wazero's compiler, its interpreter, the
// module in Node, and the library's text in Node, and of Node's own Math the same
// special values.
func TestEngines(t *testing.T) {
	c := compile(t, functionsTested...)
	compiler := start(t, c, wazero.NewRuntimeConfig())
	interpreter := start(t, c, wazero.NewRuntimeConfigInterpreter())
	args := map[string][]float64{}
	r, n := rand.New(rand.NewPCG(7, 8)), scaled(100000)
	for _, f := range functionsTested {
		list := arguments(f, r, n)
		args[f.name] = list[:n*f.args]
	}
	module, text, own := runNode(t, c, functionsTested, args)
	for _, f := range functionsTested {
		want := compiler.run(t, f, args[f.name])
		for _, other := range []struct {
			name string
			got  []float64
		}{{"interpreter", interpreter.run(t, f, args[f.name])}, {"module in node", module[f.name]}, {"text in node", text[f.name]}} {
			for i, v := range other.got {
				if a := args[f.name][i*f.args:][:f.args]; !same(v, want[i]) {
					t.Fatalf("%s(%v): compiler %v, %s %v", f.name, a, want[i], other.name, v)
				}
			}
		}
		failed := 0
		for i, v := range own[f.name] {
			a := args[f.name][i*f.args:][:f.args]
			if !alike(want[i], v) {
				if failed++; failed <= 5 {
					t.Errorf("%s(%v) = %v, node has %v", f.name, a, want[i], v)
				}
			}
		}
		t.Logf("%s: the same bits at %d arguments", f.name, len(want))
	}
}

// alike tells whether two results are the same NaN, zero or infinity, or close.
func alike(x, y float64) bool {
	if x != x || y != y || x == 0 && y == 0 {
		return same(x, y)
	}
	return x == y || math.Abs(x-y) <= 1e-13*math.Abs(x) || math.Abs(x-y) < 1e-300 ||
		math.IsInf(x-y, 0) && math.Min(math.Abs(x), math.Abs(y)) > math.MaxFloat64*0.999999
}
