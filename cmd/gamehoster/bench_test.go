package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBench(t *testing.T) {
	code, out := say(t, "bench", "--list")
	if code != 0 {
		t.Errorf("code %d", code)
	}
	expect(t, out, "movers", "slow")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", "mover", "--source", "../.."}, "there are movers"},
		{[]string{"bench", "movers", "--source", t.TempDir()}, "is not the project's folder"},
		{[]string{"bench", "movers", "--source", "../..", "--part", "0"}, "--part"},
		{[]string{"bench-part", "nobody", "{}"}, "no such part"},
	} {
		if code, out := say(t, c.args...); code != 1 || !strings.Contains(out, c.want) {
			t.Errorf("%v: code %d: %s", c.args, code, out)
		}
	}
	if _, out := say(t, "--help"); strings.Contains(out, "bench-part") {
		t.Error("the processes of benchmarks are in the help")
	}
}

// A short run of a scenario leaves its report.
func TestBenchReport(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // whose lock is no other run's
	dir := filepath.Join(t.TempDir(), "report")
	code, out := say(t, "bench", "cubes", "--source", "../..", "--part", "0.01", "--out", dir)
	if code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	expect(t, out, "0 %  cubes", "bandwidth of a viewer", filepath.Join(dir, "report.html"))
	for _, name := range []string{"report.html", "report.json", "report.md"} {
		if s, err := os.Stat(filepath.Join(dir, name)); err != nil || s.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
