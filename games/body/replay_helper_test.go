package body_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/replay"
	"gamehoster/games/schema"
)

// record makes a recording of a game.
func record(def *schema.Definition, p *body.Program, ticks, every int, drive func(tick int) input) *replay.Recording {
	r := replay.New(p.Server, p.ServerLayout, 99, 1, ticks, every)
	w := &world{def: def, prog: p, layout: p.ServerLayout}
	for t := 1; t <= ticks; t++ {
		if in := drive(t); len(in.joins)+len(in.leaves)+len(in.commands) > 0 {
			r.Add(t, w.encode(in))
		}
	}
	return r
}

// first is the beginning of a recording.
func first(r *replay.Recording, ticks int) *replay.Recording {
	c := *r
	c.Ticks = min(r.Ticks, max(ticks, r.Every))
	return &c
}

// elsewhere runs recordings by a program that takes their names and prints their
// sums.
func elsewhere(t testing.TB, program []string, list ...*replay.Recording) [][]string {
	t.Helper()
	dir := t.TempDir()
	args := slices.Clone(program)
	for i, r := range list {
		b, err := r.Append(nil)
		name := filepath.Join(dir, fmt.Sprint(i))
		if err = errors.Join(err, os.WriteFile(name, b, 0o644)); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	out, err := output(args)
	if err != nil {
		// An emulator that was not up to it tells nothing about what it was to run: it
		// gets another try. Other sums would not.
		t.Log(err)
		out, err = output(args)
	}
	if err != nil {
		t.Fatal(err)
	}
	var sums [][]string
	for line := range strings.Lines(string(out)) {
		sums = append(sums, strings.Fields(line))
	}
	return sums
}

// output is what a program prints.
func output(args []string) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s is needed for this test: %w, after %q and %q", args[0], err, out, problems.String())
	}
	return out, nil
}

var inNode = []string{"node", "testdata/replay.mjs"}

var emulatedDir string // what emulated leaves behind

// emulated is the program that replays as an arm64 does.
var emulated = sync.OnceValues(func() ([]string, error) {
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		return nil, err
	}
	emulatedDir = dir
	program := []string{filepath.Join(dir, "replay")}
	cmd := exec.Command("go", "build", "-o", program[0], "./internal/replay/run")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for arm64: %w\n%s", err, out)
	}
	if runtime.GOARCH == "arm64" {
		return program, nil
	}
	for _, name := range []string{"qemu-aarch64", "qemu-aarch64-static"} {
		if path, err := exec.LookPath(name); err == nil {
			return append([]string{path}, program...), nil
		}
	}
	return nil, errors.New("qemu-aarch64 is needed for this test: make tools-qemu")
})

func onARM(t testing.TB, list ...*replay.Recording) [][]string {
	t.Helper()
	program, err := emulated()
	if err != nil {
		t.Fatal(err)
	}
	return elsewhere(t, program, list...)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if emulatedDir != "" {
		os.RemoveAll(emulatedDir)
	}
	os.Exit(code)
}

// agree checks that the states were the same as far as both ran.
func agree(t testing.TB, engine string, every int, want, got []string) {
	t.Helper()
	if err := compareSums(engine, every, want, got); err != nil {
		t.Fatal(err)
	}
}

// compareSums finds the first sum in which an engine differs.
func compareSums(engine string, every int, want, got []string) error {
	if len(got) < 2 {
		return fmt.Errorf("%s told no sums", engine)
	}
	for i, sum := range got[:len(got)-1] {
		if sum != want[i] {
			return fmt.Errorf("%s: the states differ before tick %d", engine, every*(i+1))
		}
	}
	if len(got) == len(want) && !slices.Equal(got, want) {
		return fmt.Errorf("%s: %s faults, not %s", engine, got[len(got)-1], want[len(want)-1])
	}
	return nil
}

func replayed(t testing.TB, r *replay.Recording, config wazero.RuntimeConfig) []string {
	t.Helper()
	sums, err := replay.Run(r, config)
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
