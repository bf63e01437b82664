package body_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

var (
	firstSeed = flag.Uint64("seed", 0, "the first random game's seed; 0 for the usual ones")
	programs  = flag.Int("programs", 0, "how many random games to run; 0 for the usual number")
)

// thorough is set where there is time: by what a change must pass.
var thorough = os.Getenv("GAMEHOSTER_THOROUGH") != ""

// scaled is how much of something to do: a twentieth if there is no time for all, and
// next to nothing under the race detector, which makes everything slow and has
// nothing to find in what a test does.
func scaled(all int) int {
	switch {
	case raceDetector:
		return max(1, all/200)
	case thorough:
		return all
	}
	return max(1, all/20)
}

// seeds are those of so many random games, or those that the flags name.
func seeds(n int) (list []uint64) {
	first := max(1, *firstSeed)
	if *programs > 0 {
		n = *programs
	}
	for seed := range uint64(n) {
		list = append(list, first+seed)
	}
	return list
}

// failure is what is wrong with a game, and at which step that showed.
type failure struct {
	step string
	err  error
}

func (f *failure) Error() string { return f.step + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func failed(step string, format string, args ...any) error {
	return &failure{step, fmt.Errorf(format, args...)}
}

// randomGame is a game of the generator, compiled.
type randomGame struct {
	*gen.Game
	def    *schema.Definition
	prog   *body.Program
	inputs []input // by tick
}

// compileRandom compiles a random game, which must be possible.
func compileRandom(g *gen.Game, o body.Options) (r *randomGame, err error) {
	def, list := games.ParseDefinition("random", []byte(g.Definition()))
	if list.Failed() {
		return nil, failed("definition", "%w", list)
	}
	defer func() {
		if fault := recover(); fault != nil {
			r, err = nil, failed("compiler", "%v", fault)
		}
	}()
	p, list := body.Compile(def, g.Sources(), o)
	if p == nil {
		return nil, failed("compile: "+firstError(list), "%w", list)
	}
	r = &randomGame{Game: g, def: def, prog: p, inputs: make([]input, g.Ticks+1)}
	for _, e := range g.Events() {
		if e.Tick > g.Ticks {
			continue
		}
		in := &r.inputs[e.Tick]
		switch e.What {
		case gen.Join:
			in.joins = append(in.joins, join{e.Player, e.Name})
		case gen.Leave:
			in.leaves = append(in.leaves, e.Player)
		case gen.Send:
			for _, c := range def.Commands {
				if c.Name == e.Command {
					in.commands = append(in.commands, sent(c, e))
				}
			}
		}
	}
	return r, nil
}

// firstError is the first error of a list, without what is different after a cut.
func firstError(list diag.List) string {
	for _, d := range list {
		if d.Severity == diag.Error {
			return strings.Map(func(c rune) rune {
				if '0' <= c && c <= '9' {
					return -1
				}
				return c
			}, d.Message)
		}
	}
	return ""
}

func sent(c *schema.Command, e *gen.Event) command {
	m := command{player: e.Player, seq: e.Seq, number: c.Index}
	for _, f := range c.Fields {
		m.values = append(m.values, e.Values[f.Name])
		m.texts = append(m.texts, e.Texts[f.Name])
	}
	return m
}

var randomSeeds = worldOptions{seed: 0xfedcba9876543210, serverSeed: 77}

// ran is what came of a game.
type ran struct {
	lines  []string // its states
	logged []string
	lost   bool // there was more to log than has room
	faults int
}

// run runs a game by wazero.
func (r *randomGame) run(o worldOptions) (*ran, error) {
	o.seed, o.serverSeed = randomSeeds.seed, randomSeeds.serverSeed
	w, err := openWorld(r.def, r.prog, o)
	if err != nil {
		return nil, failed("module", "%w", err)
	}
	defer w.close()
	got := &ran{}
	if w.startFault != nil {
		got.faults++
	} else if err := got.take(w); err != nil {
		return nil, err
	}
	for t := 0; ; t++ {
		got.lines = append(got.lines, w.line(false))
		if t == r.Ticks {
			break
		}
		skips, err := w.step(r.inputs[t+1])
		if err != nil {
			return nil, failed("run", "tick %d: %w", t+1, err)
		}
		got.faults += len(skips)
		if err := got.take(w); err != nil {
			return nil, err
		}
	}
	// What the generator makes and Node cannot answer for.
	switch {
	case w.faults[body.FaultFuel] > 0 && !r.Faults:
		return nil, failed("endless", "a body runs longer than it was made to")
	case w.faults[body.FaultName] > 0:
		return nil, failed("name", "a name that no field has")
	}
	return got, nil
}

// take adds what the last tick logged.
func (r *ran) take(w *world) error {
	if w.mod.ExportedGlobal("log") == nil {
		return nil
	}
	r.lost = r.lost || w.mod.ExportedGlobal("log_lost").Get() > 0
	area, _ := w.mod.Memory().Read(uint32(w.mod.ExportedGlobal("log").Get()), uint32(w.mod.ExportedGlobal("log_used").Get()))
	lines, err := w.prog.ReadLog(area)
	if err != nil {
		return failed("log", "%w", err)
	}
	for _, l := range lines {
		r.logged = append(r.logged, l.Text)
	}
	return nil
}

// same compares what came of a game with what should have.
func (r *ran) same(what string, want *ran) error {
	for i, line := range r.lines {
		if i >= len(want.lines) || want.lines[i] != line {
			return failed("state", "%s has another state %d", what, i)
		}
	}
	if !r.lost && !slices.Equal(r.logged, want.logged) {
		return failed("log", "%s logged\n%s\nnot\n%s", what, strings.Join(want.logged, "\n"), strings.Join(r.logged, "\n"))
	}
	if want.faults != r.faults {
		return failed("faults", "%s has %d, not %d", what, want.faults, r.faults)
	}
	return nil
}

// randomFuel is more than a body of a random game needs that does not fail.
const randomFuel = 1 << 16

// compareRandom runs a random game everywhere and finds what differs.
func compareRandom(g *gen.Game) error { return compareWith(g, plant{}) }

// compareWith is compareRandom with a difference planted.
func compareWith(g *gen.Game, d plant) error {
	r, err := compileRandom(g, body.Options{BodyFuel: randomFuel})
	if err != nil {
		return err
	}
	twins := g.Twins()
	if d.twin != nil {
		for path, text := range twins {
			twins[path] = d.twin(text)
		}
	}
	r.prog.Server, r.prog.Client = edited(r.prog.Server, d.server), edited(r.prog.Client, d.client)
	got, err := r.run(worldOptions{})
	if err != nil {
		return err
	}
	job := newTwinJob(r.def, r.prog, twins, randomSeeds)
	job.Ticks = g.Ticks
	w := &world{def: r.def, prog: r.prog, layout: r.prog.ServerLayout}
	for t := 1; t <= g.Ticks; t++ {
		job.input(t, r.inputs[t], w.encode(r.inputs[t]))
	}
	job.modules(r.prog)
	if g.Seed%4 != 0 {
		job.Server = nil // which another engine has run
	}
	reply, err := runTwin(job)
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), ":") // which engine, or which error of JavaScript
		return failed("node: "+what, "%w", err)
	}
	if err := got.same("node", &ran{lines: reply.Lines, logged: reply.Logged, faults: reply.Faults}); err != nil {
		return err
	}
	if g.Seed%8 == 0 {
		plain, err := compileRandom(g, body.Options{BodyFuel: randomFuel, Plain: true})
		if err != nil {
			return err
		}
		plain.prog.Server = edited(plain.prog.Server, d.plain)
		unoptimised, err := plain.run(worldOptions{interpreter: g.Seed%16 == 0})
		if err != nil {
			return err
		}
		return got.same("the optimiser's input", unoptimised)
	}
	return nil
}

// kindOf varies what games are like.
func kindOf(seed uint64) gen.Options {
	switch {
	case seed%64 == 5:
		return gen.Options{Size: 80, Faults: seed%128 == 5}
	case seed%8 == 1:
		return gen.Options{Size: 24}
	case seed%4 == 2:
		return gen.Options{Faults: true}
	case seed%8 == 4:
		return gen.Options{Shared: true}
	}
	return gen.Options{}
}

// TestRandomGames runs random games as wasm by wazero and by Node, and as the
// JavaScript they are, and demands equal bits of every field after every tick, for
// the server's module and for the client's. The seeds are always the same, so that who
// breaks something is told and nobody else; make fuzz looks further, with new ones.
func TestRandomGames(t *testing.T) {
	list := seeds(scaled(10000))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what a game leaves behind is dead at once
	began := time.Now()
	var next atomic.Int64
	var found atomic.Pointer[gen.Game]
	var group sync.WaitGroup
	// One more than there are cores: half of the work is Node's, for which one waits.
	for range runtime.GOMAXPROCS(0) + 1 {
		group.Go(func() {
			for found.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				g := gen.New(list[i], kindOf(list[i]))
				if compareRandom(g) != nil {
					found.CompareAndSwap(nil, g)
				}
			}
		})
	}
	group.Wait()
	if g := found.Load(); g != nil {
		reportRandom(t, g, compareRandom)
	}
	t.Logf("%d games from seed %d on in %v", len(list), list[0], time.Since(began).Round(time.Second))
}

// reportRandom shrinks a game that fails and shows what is left of it.
func reportRandom(t *testing.T, g *gen.Game, check func(g *gen.Game) error) {
	t.Helper()
	first := check(g)
	var f *failure
	if !errors.As(first, &f) {
		t.Fatalf("seed %d fails only now and then", g.Seed)
	}
	again := fmt.Sprintf("go test ./games/body -run '%s$' -seed %d -programs 1", t.Name(), g.Seed)
	g = gen.Shrink(g, failsAt(f.step, check), time.Minute)
	t.Fatalf("%s\nthe whole of it: %v\nagain: %s\n\nwhat is left of it, which fails with %v:\n%s", f.step, first, again, check(g), g)
}
