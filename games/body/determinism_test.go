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
	"testing/fstest"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
	"gamehoster/games/body/internal/replay"
	"gamehoster/games/schema"
)

// lengths are the ticks that each engine runs of a game where there is time for all.
// The interpreter takes sixty times as long for a tick as machine code, what an
// emulated machine runs takes ten times as long.
type lengths struct{ compiled, interpreted, emulated, plain int }

var (
	sampleTicks = lengths{1_000_000, 1_000_000, 1_000_000, 20_000}
	probeTicks  = lengths{200_000, 20_000, 100_000, 20_000}
	stressTicks = lengths{1_000_000, 50_000, 500_000, 20_000}
	randomTicks = lengths{2500, 50, 500, 0} // of each game
)

const (
	sumTicks    = 500 // between sums that are told
	randomSums  = 50
	randomGames = 400
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
	cmd := exec.Command(program[0], program[1:]...)
	for i, r := range list {
		b, err := r.Append(nil)
		name := filepath.Join(dir, fmt.Sprint(i))
		if err = errors.Join(err, os.WriteFile(name, b, 0o644)); err != nil {
			t.Fatal(err)
		}
		cmd.Args = append(cmd.Args, name)
	}
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s is needed for this test: %v\n%s", program[0], err, problems.String())
	}
	var sums [][]string
	for line := range strings.Lines(string(out)) {
		sums = append(sums, strings.Fields(line))
	}
	return sums
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

// checkEngines demands the same states of wazero's compiler and interpreter, of Node's
// engine, of an arm64, and without the optimiser.
func checkEngines(t *testing.T, def *schema.Definition, files []body.Source, ticks lengths, drive func(tick int) input) {
	t.Helper()
	t.Parallel()
	p, list := body.Compile(def, files, body.Options{})
	plain, _ := body.Compile(def, files, body.Options{Plain: true})
	if p == nil || plain == nil {
		t.Fatal(list)
	}
	r := record(def, p, max(sumTicks, scaled(ticks.compiled)), sumTicks, drive)
	took := map[string]string{}
	var want []string
	for _, e := range []struct {
		name  string
		ticks int
		run   func(r *replay.Recording) []string
	}{
		{"compiler", ticks.compiled, func(r *replay.Recording) []string { return replayed(t, r, wazero.NewRuntimeConfigCompiler()) }},
		{"node", ticks.compiled, func(r *replay.Recording) []string { return elsewhere(t, inNode, r)[0] }},
		{"interpreter", ticks.interpreted, func(r *replay.Recording) []string { return replayed(t, r, wazero.NewRuntimeConfigInterpreter()) }},
		{"arm64", ticks.emulated, func(r *replay.Recording) []string { return onARM(t, r)[0] }},
		{"without the optimiser", ticks.plain, func(r *replay.Recording) []string {
			r.Code, r.CodeSize = plain.Server, len(plain.Server)
			return replayed(t, r, wazero.NewRuntimeConfigCompiler())
		}},
	} {
		began := time.Now()
		r := first(r, scaled(e.ticks))
		sums := e.run(r)
		took[e.name] = fmt.Sprintf("%d in %v", r.Ticks, time.Since(began).Round(10*time.Millisecond))
		if want == nil {
			want = sums
		}
		agree(t, e.name, r.Every, want, sums)
	}
	t.Logf("ticks: %v", took)
}

// TestEnginesAgree runs the samples, a game that is nothing but what engines may
// disagree about, and random games on every engine.
func TestEnginesAgree(t *testing.T) {
	for _, name := range samples(t) {
		t.Run(name, func(t *testing.T) {
			g := sample(t, name)
			checkEngines(t, g.Def, sources(g), sampleTicks, restless(g.Def))
		})
	}
	t.Run("probe", func(t *testing.T) {
		checkEngines(t, define(t, asteroidsTypes), bodies(asteroidsText), probeTicks, driveAsteroids)
	})
	t.Run("stress", func(t *testing.T) {
		g := stress(t)
		checkEngines(t, g.Def, sources(g), stressTicks, restless(g.Def))
	})
	t.Run("random", enginesAgreeOnRandomGames)
}

// stress is a game of denormals, numbers that are none and the ends of ranges.
func stress(t testing.TB) *games.Game {
	t.Helper()
	text, err := os.ReadFile("testdata/stress.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, f := range bodies(string(text)) {
		files[f.Path] = &fstest.MapFile{Data: f.Text}
	}
	g, list := games.LoadFS(files, "stress")
	if g == nil {
		t.Fatal(list)
	}
	return g
}

func enginesAgreeOnRandomGames(t *testing.T) {
	t.Parallel()
	n := scaled(randomGames)
	var list []*replay.Recording
	var want [][]string
	var seeds []uint64
	for seed := uint64(1); len(list) < n; seed++ {
		r, err := compileRandom(gen.New(seed, gen.Options{Faults: seed%8 == 0, Ticks: randomTicks.compiled}), body.Options{BodyFuel: randomFuel})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		rec := record(r.def, r.prog, randomTicks.compiled, randomSums, func(tick int) input { return r.inputs[tick] })
		sums, err := replay.Run(rec, wazero.NewRuntimeConfigCompiler())
		if err != nil {
			continue // its start fails
		}
		list, want, seeds = append(list, rec), append(want, sums), append(seeds, seed)
	}
	begin := func(ticks int) (short []*replay.Recording) {
		for _, r := range list {
			short = append(short, first(r, ticks))
		}
		return short
	}
	took := map[string]time.Duration{}
	for engine, run := range map[string]func() [][]string{
		"node":  func() [][]string { return elsewhere(t, inNode, list...) },
		"arm64": func() [][]string { return onARM(t, begin(randomTicks.emulated)...) },
		"interpreter": func() (sums [][]string) {
			for _, r := range begin(randomTicks.interpreted) {
				sums = append(sums, replayed(t, r, wazero.NewRuntimeConfigInterpreter()))
			}
			return sums
		},
	} {
		began := time.Now()
		for i, got := range run() {
			agree(t, fmt.Sprintf("seed %d: %s", seeds[i], engine), randomSums, want[i], got)
		}
		took[engine] = time.Since(began).Round(time.Second)
	}
	t.Logf("%d games of %+v ticks each, on the other engines in %v", n, randomTicks, took)
}

// TestTwinSamples runs the samples and the stress game as JavaScript.
func TestTwinSamples(t *testing.T) {
	for _, name := range samples(t) {
		g := sample(t, name)
		compareTwin(t, g.Def, sources(g), 3000, restless(g.Def))
	}
	g := stress(t)
	compareTwin(t, g.Def, sources(g), 3000, restless(g.Def))
}
