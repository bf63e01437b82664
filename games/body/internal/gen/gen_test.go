package gen_test

import (
	"strings"
	"testing"
	"time"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
)

var kinds = map[string]gen.Options{
	"plain":  {},
	"faults": {Faults: true},
	"shared": {Shared: true, Faults: true},
	"marks":  {Marks: true},
	"edges":  {Edges: true},
	"large":  {Size: 120},
}

// TestGamesCompile checks that what is made is well typed.
func TestGamesCompile(t *testing.T) {
	n := uint64(150)
	if testing.Short() {
		n = 15
	}
	for name, o := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range n {
				g := gen.New(seed, o)
				def, list := games.ParseDefinition("random", []byte(g.Definition()))
				if list.Failed() {
					t.Fatalf("seed %d: %v\n%s", seed, list, g)
				}
				p, list := body.Compile(def, g.Sources(), body.Options{})
				if p == nil {
					t.Fatalf("seed %d: %v\n%s", seed, list, g)
				}
			}
		})
	}
}

// TestGamesRepeat checks that a seed says everything.
func TestGamesRepeat(t *testing.T) {
	for name, o := range kinds {
		if a, b := gen.New(5, o).String(), gen.New(5, o).String(); a != b {
			t.Errorf("%s: two games of one seed", name)
		}
	}
}

// TestShrink looks for the smallest program with two calls in it, and checks that
// nothing but what they need is left.
func TestShrink(t *testing.T) {
	has := func(g *gen.Game) bool {
		def, list := games.ParseDefinition("random", []byte(g.Definition()))
		if list.Failed() {
			return false
		}
		p, _ := body.Compile(def, g.Sources(), body.Options{})
		return p != nil && strings.Contains(g.String(), "Math.sin(") && strings.Contains(g.String(), "random()")
	}
	for seed := range uint64(1000) {
		g := gen.New(seed, gen.Options{Size: 60})
		if !has(g) {
			continue
		}
		before := len(g.String())
		g = gen.Shrink(g, has, 3*time.Minute)
		if !has(g) {
			t.Fatal("the cut game does not fail")
		}
		text := g.String()
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%d bytes became %d, %d lines:\n%s", before, len(text), n, text)
		}
		return
	}
}
