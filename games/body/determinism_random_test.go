package body_test

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
	"gamehoster/games/body/internal/replay"
	"gamehoster/games/schema"
)

// thrifty is what bodies of random games may use where they run for long. What is
// endless takes all of it, at each tick: it is little, so that the interpreter and the
// emulated machine get through a million.
var thrifty = body.Options{BodyFuel: 500, TickFuel: 2000}

// randomRun is a random game's recording and what became of it in wazero's compiler.
type randomRun struct {
	*replay.Recording
	seed uint64
	sums []string
}

// enginesAgreeOnRandomGames runs a million ticks of random games on each engine: a few
// games in which something happens to the end, for long, as compiling one costs an
// emulated machine as much as thousands of its ticks. They have many numbers whose
// arithmetic is special.
func enginesAgreeOnRandomGames(t *testing.T) {
	t.Parallel()
	const probe = 1000 // ticks that tell which games go on
	n, ticks := 10, 5000
	switch {
	case raceDetector:
		n, ticks = 2, 2500
	case thorough:
		n, ticks = 40, 25_000
	}
	began := time.Now()
	var list []randomRun
	var total sight
	seed := uint64(0)
	for len(list) < n {
		seed++
		o := kindOf(seed)
		o.Edges, o.Ticks = true, ticks
		g, err := compileRandom(gen.New(seed, o), thrifty)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := record(g.def, g.prog, ticks, sumTicks, func(tick int) input { return g.inputs[tick] })
		if _, _, ok := watched(g, first(r, probe)); !ok {
			continue
		}
		if sums, seen, ok := watched(g, r); ok {
			list = append(list, randomRun{r, seed, sums})
			total.add(seen)
		}
	}
	t.Logf("%d games of seeds up to %d, %d ticks of each: %v", n, seed, ticks, &total)
	if all := n * ticks; !raceDetector && (total.nans < all/50 || total.denormals < all/50) {
		t.Errorf("there were hardly any special numbers in %d ticks: %v", all, &total)
	}
	alongside(t, list, began, map[string]int{"node": ticks, "interpreter": ticks, "arm64": ticks})
}

// enginesAgreeOnManyRandomGames is for what only some games have, at any tick.
func enginesAgreeOnManyRandomGames(t *testing.T) {
	t.Parallel()
	const ticks, every = 500, 50
	began := time.Now()
	n := scaled(200)
	var list []randomRun
	for seed := uint64(1); len(list) < n; seed++ {
		o := kindOf(seed)
		o.Ticks = ticks
		g, err := compileRandom(gen.New(seed, o), body.Options{BodyFuel: 1 << 10})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		r := record(g.def, g.prog, ticks, every, func(tick int) input { return g.inputs[tick] })
		if sums, err := replay.Run(r, wazero.NewRuntimeConfigCompiler()); err == nil { // else its start fails
			list = append(list, randomRun{r, seed, sums})
		}
	}
	t.Logf("%d games", n)
	alongside(t, list, began, map[string]int{"node": ticks, "interpreter": every, "arm64": every})
}

// alongside runs the games on other engines, for so many ticks of each, all at the same
// time: most of it is done by other programs.
func alongside(t *testing.T, list []randomRun, began time.Time, ticks map[string]int) {
	t.Helper()
	var mu sync.Mutex
	took := map[string]time.Duration{"compiler": time.Since(began).Round(100 * time.Millisecond)}
	t.Run("engines", func(t *testing.T) {
		for engine, run := range map[string]func(list ...*replay.Recording) [][]string{
			"node":  func(list ...*replay.Recording) [][]string { return elsewhere(t, inNode, list...) },
			"arm64": func(list ...*replay.Recording) [][]string { return onARM(t, list...) },
			"interpreter": func(list ...*replay.Recording) (sums [][]string) {
				for _, r := range list {
					sums = append(sums, replayed(t, r, wazero.NewRuntimeConfigInterpreter()))
				}
				return sums
			},
		} {
			t.Run(engine, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				var short []*replay.Recording
				for _, r := range list {
					short = append(short, first(r.Recording, ticks[engine]))
				}
				for i, got := range run(short...) {
					agree(t, fmt.Sprintf("seed %d: %s", list[i].seed, engine), list[i].Every, list[i].sums, got)
				}
				mu.Lock()
				defer mu.Unlock()
				took[engine] = time.Since(began).Round(100 * time.Millisecond)
			})
		}
	})
	t.Logf("ticks of each %v, in all within %v", ticks, took)
}

// watched runs a recording of a random game and looks at every state. It is not ok if
// the start fails, a tick uses up its fuel, which ends an instance, most ticks are run
// again because of what failed in them, or little goes on in the end.
func watched(g *randomGame, r *replay.Recording) (sums []string, seen *sight, ok bool) {
	seen = &sight{def: g.def, layout: g.prog.ServerLayout, late: r.Ticks - r.Ticks/4}
	part := *r
	part.Look = seen.look
	sums, err := replay.Run(&part, wazero.NewRuntimeConfigCompiler())
	if err != nil {
		return nil, nil, false
	}
	faults, err := strconv.Atoi(sums[len(sums)-1])
	return sums, seen, err == nil && faults <= r.Ticks/2 && seen.moved >= r.Ticks/4*3/4
}

// sight is what was seen in the states of a game, or of some.
type sight struct {
	def    *schema.Definition
	layout *schema.Layout
	late   int // from which tick on it counts that something moves
	before []byte

	ticks, moved    int // moved: something but the tick changed
	nans, denormals int // in fields that had something else in the tick before
	nanGames        int // games that had some
	denormalGames   int
}

func (s *sight) String() string {
	return fmt.Sprintf("something moves in %d of the last %d ticks, %d times a field becomes no number, in %d games, %d times a denormal, in %d",
		s.moved, s.ticks-s.late, s.nans, s.nanGames, s.denormals, s.denormalGames)
}

func (s *sight) add(game *sight) {
	s.late += game.late
	s.ticks += game.ticks
	s.moved += game.moved
	s.nans += game.nans
	s.denormals += game.denormals
	if game.nans > 0 {
		s.nanGames++
	}
	if game.denormals > 0 {
		s.denormalGames++
	}
}

// look looks at the state after a tick.
func (s *sight) look(block []byte) {
	s.ticks++
	if s.before == nil {
		s.before = make([]byte, len(block))
	}
	// What was removed stays behind the rows, so a change there is one of a tick, too.
	if from := schema.HeaderCounts; s.ticks > s.late && !bytes.Equal(block[from:], s.before[from:]) {
		s.moved++
	}
	for _, ty := range s.def.Types {
		l := s.layout.Types[ty.Index]
		n := 1
		if l.Counts >= 0 {
			n = int(le.Uint32(block[l.Counts:]))
		}
		for i := range n {
			for _, f := range ty.Fields {
				s.field(f.Kind, block, l.Rows+i*l.Stride+l.Offsets[f.Index])
			}
		}
	}
	copy(s.before, block)
}

func (s *sight) field(kind schema.Kind, block []byte, at int) {
	var v float64
	var denormal bool
	switch kind {
	case schema.F32:
		bits := le.Uint32(block[at:])
		if bits == le.Uint32(s.before[at:]) {
			return
		}
		v, denormal = float64(math.Float32frombits(bits)), bits&0x7f80_0000 == 0 && bits<<1 != 0
	case schema.F64:
		bits := le.Uint64(block[at:])
		if bits == le.Uint64(s.before[at:]) {
			return
		}
		v, denormal = math.Float64frombits(bits), bits&0x7ff0_0000_0000_0000 == 0 && bits<<1 != 0
	}
	if v != v {
		s.nans++
	}
	if denormal {
		s.denormals++
	}
}
