package body_test

import (
	"os"
	"strings"
	"testing"

	"gamehoster/games/body"
)

// TestIR compares the optimised representation of small programs with what
// testdata/ir.txt has: "### name", "-- types --", files, "-- ir --".
func TestIR(t *testing.T) {
	const path = "testdata/ir.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, c := range strings.Split(string(text), "### ")[1:] {
		name, rest, _ := strings.Cut(c, "\n")
		program, want, _ := strings.Cut(rest, "-- ir --\n")
		files := bodies(program)
		def := define(t, string(files[0].Text))
		got, list := body.Text(def, files[1:], body.Options{})
		if list.Failed() {
			t.Errorf("%s: %v", name, list)
			continue
		}
		if got != want && !*rewrite {
			t.Errorf("%s:\ngot\n%swant\n%s", name, got, want)
		}
		out.WriteString("### " + name + "\n" + program + "-- ir --\n" + got)
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
