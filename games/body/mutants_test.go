package body_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
)

var words = regexp.MustCompile(`[A-Za-z_]\w*|\d+(?:\.\d+)?|"[^"\n]*"|[^\s\w]`)

// mutant is a text of which a few words were left out, said twice or exchanged for others.
func mutant(r *rand.Rand, text string) string {
	places := words.FindAllStringIndex(text, -1)
	for range 1 + r.IntN(3) {
		a, b := places[r.IntN(len(places))], places[r.IntN(len(places))]
		if a[1] > len(text) || b[1] > len(text) {
			continue
		}
		word := text[b[0]:b[1]]
		switch r.IntN(3) {
		case 0:
			word = ""
		case 1:
			word = text[a[0]:a[1]] + " " + text[a[0]:a[1]]
		}
		text = text[:a[0]] + word + text[a[1]:]
		places = words.FindAllStringIndex(text, -1)
	}
	return text
}

// TestMutants compiles programs that use the whole language and were spoilt at random.
// Whatever comes of it, it is findings with places or a module that is one.
func TestMutants(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 0))
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	accepted, total := 0, scaled(12000)
	for i := range total {
		c := spoken[i%len(spoken)]
		types := c.types
		if !strings.Contains(types, "instance ") {
			types = "instance r0:f64 r1:f64 r2:f64 r3:f64 r4:f64 r5:f64 r6:f64 r7:f64 r8:f64 r9:f64\nplayer 1 unused:u8\n" + types
		}
		def := define(t, types)
		files := bodies(c.text)
		spoilt := &files[r.IntN(len(files))]
		spoilt.Text = []byte(mutant(r, string(spoilt.Text)))
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("%v\n%s", p, spoilt.Text)
				}
			}()
			p, list := body.Compile(def, files, body.Options{})
			if list.Failed() {
				for _, d := range list {
					if d.Pos.File == "" || strings.Contains(d.Message, "%!") || strings.Contains(d.Message, "compiler failed") {
						t.Fatalf("%v\n%s", d, spoilt.Text)
					}
				}
				return
			}
			accepted++
			for _, code := range [][]byte{p.Server, p.Client} {
				m, err := rt.CompileModule(ctx, code)
				if err != nil {
					t.Fatalf("%v\n%s", err, spoilt.Text)
				}
				m.Close(ctx)
			}
		}()
	}
	t.Logf("%d of %d are accepted", accepted, total)
}
