package body_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body/internal/gen"
	"gamehoster/games/body/internal/wasm"
)

// plant is a difference that is put into one of the ways in which a random game is
// run. The zero value is none.
type plant struct {
	twin           func(text string) string // of a file for Node
	server, client func(instruction []byte) // of the modules; its length must stay
	plain          func(instruction []byte) // of the server's module without the optimiser
}

// instead has one operator in place of another one.
func instead(of, op byte) func(instruction []byte) {
	return func(i []byte) {
		if i[0] == of {
			i[0] = op
		}
	}
}

// edited is a module whose instructions f has changed.
func edited(module []byte, f func(instruction []byte)) []byte {
	if f == nil {
		return module
	}
	module = slices.Clone(module)
	uint := func(b []byte) (v, n int) {
		u, n := binary.Uvarint(b)
		return int(u), n
	}
	const code = 10
	for b := module[8:]; len(b) > 0; {
		id := b[0]
		size, n := uint(b[1:])
		section := b[1+n:][:size]
		b = b[1+n+size:]
		if id != code {
			continue
		}
		_, n = uint(section)
		for section = section[n:]; len(section) > 0; {
			size, n := uint(section)
			body := section[n:][:size]
			section = section[n+size:]
			groups, n := uint(body)
			body = body[n:]
			for range groups {
				_, n := uint(body)
				body = body[n+1:]
			}
			for len(body) > 0 {
				n := instructionSize(body)
				f(body[:n])
				body = body[n:]
			}
		}
	}
	return module
}

// instructionSize is how long the instruction is that b begins with.
func instructionSize(b []byte) int {
	number := func(at int) int {
		for b[at]&0x80 != 0 {
			at++
		}
		return at + 1
	}
	switch op := b[0]; {
	case op == wasm.OpBlock || op == wasm.OpLoop || op == wasm.OpIf:
		return 2
	case op == wasm.OpBr || op == wasm.OpBrIf || op == wasm.OpCall || op >= wasm.OpLocalGet && op <= wasm.OpGlobalSet,
		op == wasm.OpI32Const || op == wasm.OpI64Const:
		return number(1)
	case op == wasm.OpF32Const:
		return 5
	case op == wasm.OpF64Const:
		return 9
	case op >= 0x28 && op <= 0x3e: // loads and stores
		return number(number(1))
	case op == wasm.OpPrefix && b[1] == 10: // copy
		return 4
	case op == wasm.OpPrefix && b[1] == 11: // fill
		return 3
	case op == wasm.OpPrefix:
		return number(1)
	}
	return 1
}

var plants = []struct {
	name   string
	plant  plant
	faults bool   // in games that fail
	shows  string // in what is left of a game that it was found in
	told   string // a pattern of what the finding says
}{
	{name: "max is min in JavaScript", plant: plant{twin: replacer("Math.max(", "Math.min(")}, shows: "Math.max(", told: "node has another state"},
	{name: "a number is another one in JavaScript", plant: plant{twin: replacer("255", "254")}, shows: "255", told: "node has another state"},
	{name: "the server's random numbers are the clients' in JavaScript", plant: plant{twin: replacer("serverRandom()", "random()")}, shows: "serverRandom()", told: "node has another state"},
	{name: "a line of the log is another one in JavaScript", plant: plant{twin: replacer(`"text"`, `"test"`)}, shows: "log(", told: "node logged"},
	{name: "JavaScript does not fail", plant: plant{twin: replacer("throw fault;", "")}, faults: true, shows: "game.tick %", told: "node has (0, not|another state)"},
	{name: "less is less or equal in the server's module", plant: plant{server: instead(0x63, 0x65)}, told: "node has another state"},
	{name: "shifts are signed in the server's module", plant: plant{server: instead(0x76, 0x75)}, shows: ">>", told: "node has another state"},
	{name: "a bit of a number in the client's module", plant: plant{client: func(i []byte) {
		if i[0] == wasm.OpF64Const {
			i[1] ^= 1
		}
	}}, told: "the client's module in node: state [0-9]+ differs"},
	{name: "exclusive or is or in the client's module", plant: plant{client: instead(0x73, 0x72)}, told: "the client's module in node: state [0-9]+ differs"},
	{name: "plus is minus without the optimiser", plant: plant{plain: instead(0xa0, 0xa1)}, told: "the optimiser's input has another state"},
	{name: "the server's module in Node", plant: plant{server: instead(0xa2, 0xa3)}, told: "the server's module in node: state [0-9]+ differs"},
}

func replacer(old, new string) func(string) string {
	return func(text string) string { return strings.ReplaceAll(text, old, new) }
}

// TestPlantedDifferences puts a difference into what random games are run as and
// demands that it is found within some games, and that what is left of the game is
// small and about it.
func TestPlantedDifferences(t *testing.T) {
	const most, lines = 200, 60
	for i, c := range plants {
		if i%4 > 0 && !thorough || i > 0 && raceDetector {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			told := regexp.MustCompile(c.told)
			check := func(g *gen.Game) error { return compareWith(g, c.plant) }
			for seed := range uint64(most) {
				g := gen.New(seed, gen.Options{Faults: c.faults, Ticks: 12})
				var f *failure
				if !errors.As(check(g), &f) || !told.MatchString(f.Error()) {
					continue
				}
				g = gen.Shrink(g, failsAt(f.step, check), 3*time.Minute)
				text := g.String()
				n := strings.Count(text, "\n") - strings.Count(text, "function tower") // one statement, in the end
				if err := check(g); err == nil || n > lines || !strings.Contains(text, c.shows) {
					t.Errorf("%d lines are left of the game, which fails with %v:\n%s", n, err, text)
				}
				if err := compareRandom(g); err != nil {
					t.Errorf("what is left fails without the difference, too: %v", err)
				}
				t.Logf("seed %d shows it, %d lines are left", seed, n)
				return
			}
			t.Errorf("none of %d games shows it", most)
		})
	}
}

// failsAt is what a game is shrunk by that fails at a step.
func failsAt(step string, check func(g *gen.Game) error) func(g *gen.Game) bool {
	return func(g *gen.Game) bool {
		var f *failure
		return errors.As(check(g), &f) && f.step == step
	}
}

// TestEnginesDisagree gives one engine another module than the others and demands
// that the sums tell from which tick on it matters.
func TestEnginesDisagree(t *testing.T) {
	def := define(t, "instance n:u32 x:f64\nplayer 1 y:f32\n")
	p := compile(t, def, "-- instance.js --\nexport function update() { game.n++; if (game.n === 37) game.x = Math.max(game.n, 2); }\n")
	r := record(def, p, 60, 10, idle)
	want := replayed(t, r, wazero.NewRuntimeConfigCompiler())
	r.Code = edited(r.Code, instead(0xa5, 0xa4))
	for engine, got := range map[string][]string{
		"compiler":    replayed(t, r, wazero.NewRuntimeConfigCompiler()),
		"interpreter": replayed(t, r, wazero.NewRuntimeConfigInterpreter()),
		"node":        elsewhere(t, inNode, r)[0],
		"arm64":       onARM(t, r)[0],
	} {
		err := compareSums(engine, r.Every, want, got)
		if told := fmt.Sprintf("%s: the states differ before tick 40", engine); err == nil || err.Error() != told {
			t.Errorf("got %v, not %s", err, told)
		}
	}
}
