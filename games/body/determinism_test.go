package body_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
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
)

const sumTicks = 500 // between sums that are told

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
		drive := restless(g.Def)
		checkEngines(t, g.Def, sources(g), stressTicks, func(tick int) input {
			in := drive(tick)
			for i := range in.commands {
				if (tick/5+i)%3 == 0 { // numbers that are none, of a kind that JavaScript has no word for
					in.commands[i].values[0] = math.Float64frombits(0xfff4_0000_dead_beef)
					in.commands[i].values[1] = math.Float64frombits(0x7ff8_1234_5678_9abc)
				}
			}
			return in
		})
	})
	t.Run("random", enginesAgreeOnRandomGames)
	t.Run("many random", enginesAgreeOnManyRandomGames)
}
