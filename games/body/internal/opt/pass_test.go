package opt

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/ir/irtest"
)

var rewrite = flag.Bool("rewrite", false, "write what the passes do to testdata")

// passes are what each file of testdata goes through: the last of its functions.
var passes = map[string]func(list []*ir.Func, f *ir.Func){
	"fold": func(_ []*ir.Func, f *ir.Func) { f.Body = fold(Options{}, f.Body) },
	"inline": func(list []*ir.Func, f *ir.Func) {
		for _, g := range list {
			g.Keep = strings.HasPrefix(g.Name, "kept")
		}
		inline(f, countCalls(list))
	},
	"copies": func(_ []*ir.Func, f *ir.Func) { copies(f) },
	"narrow": func(_ []*ir.Func, f *ir.Func) { narrow(Options{BodyFuel: 1 << 20}, f) },
	"loads":  func(_ []*ir.Func, f *ir.Func) { loads(f, &effects{map[*ir.Func]effect{}}) },
	"shifts": func(_ []*ir.Func, f *ir.Func) { f.Body = shifts(f.Body) },
	"all": func(_ []*ir.Func, f *ir.Func) {
		f.Keep = true
		New(Options{BodyFuel: 1 << 20, Charge: func(*ir.Func) {}}).Run(f)
	},
}

// TestPasses compares what a pass makes of functions with what testdata has:
// "### why", the functions, "--->" and the last of them behind the pass; "---> same"
// where it has to leave that as it is.
func TestPasses(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != len(passes) {
		t.Fatalf("%d files for %d passes, %v", len(files), len(passes), err)
	}
	for _, file := range files {
		pass := passes[strings.TrimSuffix(filepath.Base(file), ".txt")]
		if pass == nil {
			t.Errorf("%s is of no pass", file)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(string(text), "### ")
		out := head
		for _, c := range strings.Split("\n### "+rest, "\n### ")[1:] {
			why, program, _ := strings.Cut(c, "\n")
			before, want, _ := strings.Cut(program, "--->")
			list, err := irtest.Parse(before)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, why, err)
			}
			f := list[len(list)-1]
			original := ir.Text(f)
			pass(list, f)
			got := "\n" + strings.TrimSpace(ir.Text(f)) + "\n"
			if ir.Text(f) == original {
				got = " same\n"
			}
			if got != want+"\n" && got != want && !*rewrite {
				t.Errorf("%s: %s:\n%s--->%swant%s", file, why, before, got, want)
			}
			out += "### " + why + "\n" + before + "--->" + got + "\n"
		}
		if *rewrite {
			if err := os.WriteFile(file, []byte(strings.TrimSuffix(out, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
