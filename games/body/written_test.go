package body_test

import (
	"os"
	"testing"

	"gamehoster/games"
)

// TestTwinWritten runs games that were written to see what an author meets: a tower
// defence, a game of cards with hands that only their players see, and a platform game
// in TypeScript. They use much of the language, and run in Node as what they are.
func TestTwinWritten(t *testing.T) {
	list, err := os.ReadDir("testdata/games")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d games, %v", len(list), err)
	}
	for _, entry := range list {
		t.Run(entry.Name(), func(t *testing.T) {
			g, list := games.Load("testdata/games/" + entry.Name())
			if g == nil || len(list) > 0 {
				t.Fatal(list)
			}
			compareTwin(t, g.Def, sources(g), max(1200, scaled(20000)), restless(g.Def))
		})
	}
}
