package body_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// samples are the games that come with the project.
func samples(t testing.TB) (names []string) {
	t.Helper()
	list, err := os.ReadDir("../localhost")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		if entry.IsDir() && games.ValidGameName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	if len(names) < 2 {
		t.Fatalf("the samples are %v", names)
	}
	return names
}

// sample loads a game that comes with the project.
func sample(t testing.TB, name string) *games.Game {
	t.Helper()
	g, list := games.Load("../localhost/" + name)
	if g == nil || list.Failed() {
		t.Fatalf("%s: %v", name, list)
	}
	return g
}

// sources are the files of a game that may be bodies.
func sources(g *games.Game) (files []body.Source) {
	for _, list := range [][]games.File{g.Files, g.Shared} {
		for _, f := range list {
			if f.Path != g.Client() && (strings.HasSuffix(f.Path, ".js") || strings.HasSuffix(f.Path, ".ts")) {
				text, _ := g.Source(f.Path)
				files = append(files, body.Source{Path: f.Path, Text: text})
			}
		}
	}
	return files
}

var pilots = [4]string{"Ada", "", "名前", "Rear Admiral Grace Murray Hopper"}

// restless is input for a game: players come and go and send every command
// with values of all sizes, in a fixed order.
func restless(def *schema.Definition) func(tick int) input {
	seats := min(def.Player().Max, 4)
	return func(tick int) (in input) {
		seat := func(i, at int) uint32 { return uint32(1 + 2*(i+seats*(at/500))) }
		if tick%500 == 1 {
			for i := range seats {
				if tick > 1 {
					in.leaves = append(in.leaves, seat(i, tick-500))
				}
				in.joins = append(in.joins, join{id: seat(i, tick), name: pilots[i]})
			}
		}
		if len(def.Commands) == 0 || tick%5 != 0 {
			return in
		}
		for i := range seats {
			k := tick*7 + i*13
			c := command{player: seat(i, tick), seq: uint32(tick), number: k % len(def.Commands)}
			for j, f := range def.Commands[c.number].Fields {
				v := float64((k*(j+3))%201) - 100
				text := pilots[(k+j)%4]
				switch f.Kind {
				case schema.Bool:
					v = float64(k >> j & 1)
				case schema.Str:
					if len(text) > f.Len {
						text = ""
					}
				default:
					v = max(min(v, f.Max), f.Min)
				}
				c.values, c.texts = append(c.values, v), append(c.texts, text)
			}
			in.commands = append(in.commands, c)
		}
		return in
	}
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
