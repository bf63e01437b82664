package body_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/body/internal/gen"
	"gamehoster/games/bundle"
)

// secret is something of a server body's that no client may get: as bytes in a
// module and as text in a script.
type secret struct {
	name string
	in   [][]byte
}

func secretText(text string) secret { return secret{text, [][]byte{[]byte(text)}} }

// secretNumber is a number, which may have become one of half the size.
func secretNumber(v float64) secret {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	return secret{text, [][]byte{
		[]byte(text),
		binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)),
		binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v))),
	}}
}

// found tells which of the secrets are in what a client gets.
func found(list []secret, public []byte) (names []string) {
	for _, s := range list {
		for _, b := range s.in {
			if bytes.Contains(public, b) {
				names = append(names, s.name)
				break
			}
		}
	}
	return names
}

// marks are the secrets of random games with marks.
func marks() (list []secret) {
	list = append(list, secretText(gen.Mark))
	for i := range gen.MarkNumbers {
		list = append(list, secretNumber(gen.MarkNumber(i)))
	}
	return list
}

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{200,}={0,2}`)

// published is all that a page loads of a game, with its module as bytes, too.
func published(g *games.Game) ([]byte, error) {
	lib, list := bundle.Build(g)
	if lib == nil {
		return nil, list
	}
	all := bytes.Join([][]byte{lib.Script, lib.Map, lib.Types}, []byte{'\n'})
	module := false
	for _, text := range base64Text.FindAll(lib.Script, -1) {
		if b, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
			module = module || bytes.Equal(b, g.Program.Client)
			all = append(all, b...)
		}
	}
	if !module {
		return nil, fmt.Errorf("the client's module is not in the script")
	}
	return all, nil
}

// TestClientHasNoSecrets looks for what is in server bodies of random games only, in
// the client's module and in some games in all that a page loads, and checks that
// the module is the same whatever server bodies do.
func TestClientHasNoSecrets(t *testing.T) {
	t.Parallel()
	list, told := seeds(scaled(1000)), 0
	for _, seed := range list {
		g := gen.New(seed, gen.Options{Marks: true})
		check := func(g *gen.Game) error {
			r, err := compileRandom(g, body.Options{BodyFuel: randomFuel})
			if err != nil {
				return err
			}
			if names := found(marks(), r.prog.Client); names != nil {
				return failed("module", "the client's module has %q", names)
			}
			if found(marks(), r.prog.Server) != nil {
				told++
			}
			if seed%20 > 0 {
				return nil
			}
			files := fstest.MapFS{games.DefinitionFile: {Data: []byte(g.Definition())}}
			for _, f := range g.Sources() {
				files[f.Path] = &fstest.MapFile{Data: f.Text}
			}
			game, list := games.LoadFS(files, "random")
			if game == nil {
				return failed("load", "%w", list)
			}
			public, err := published(game)
			if err != nil {
				return failed("bundle", "%w", err)
			}
			if names := found(marks(), public); names != nil {
				return failed("bundle", "what a page loads has %q", names)
			}
			return nil
		}
		if check(g) != nil {
			reportRandom(t, g, check)
		}
	}
	t.Logf("%d games, %d of whose server's modules have secrets", len(list), told)
	if told < len(list)/2 {
		t.Error("the search would not find what it looks for")
	}
}

var serverBody = regexp.MustCompile(`(?m)^export function \w+\([^)]*\) \{`)

// TestSamplesKeepSecrets does so with the samples, in whose server bodies secrets are
// put.
func TestSamplesKeepSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range samples(t) {
		g := sample(t, name)
		files := fstest.MapFS{}
		for _, f := range slices.Concat(g.Files, g.Shared) {
			text, _ := g.Source(f.Path)
			if strings.Contains(f.Path, ".server.") {
				text = fmt.Appendf(text, "\nfunction secret() { log(%q, game.tick * %v); }\n", gen.Mark, gen.MarkNumber(0))
				text = serverBody.ReplaceAll(text, []byte("$0 secret();"))
			}
			files[f.Path] = &fstest.MapFile{Data: text}
		}
		marked, list := games.LoadFS(files, name)
		if marked == nil {
			t.Fatal(list)
		}
		public, err := published(marked)
		if err != nil {
			t.Fatal(name, err)
		}
		if names := found(marks(), public); names != nil {
			t.Errorf("%s: what a page loads has %q", name, names)
		}
		if found(marks(), marked.Program.Server) == nil {
			t.Errorf("%s: the search would not find what it looks for", name)
		}
	}
}
