package control

import (
	"os"
	"reflect"
	"testing"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// TestASealedGame cannot be changed, and is read whole by whoever has it.
func TestASealedGame(t *testing.T) {
	g := &Game{Number: 3, Name: "a/b", Hash: 9, Def: &schema.Definition{TickRate: 30}, Program: &body.Program{Server: []byte("code")}}
	f, err := g.Seal()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 0); err == nil {
		t.Error("it was written to")
	}
	if err := f.Truncate(0); err == nil {
		t.Error("it was cut")
	}
	for range 2 {
		if got, err := ReadGame(f); err != nil || !reflect.DeepEqual(got, g) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	if _, err := ReadGame(empty); err == nil {
		t.Error("nothing is a game")
	}
}

// TestTheSamplesTravelWhole wants a worker's game to lack nothing of the backend's.
func TestTheSamplesTravelWhole(t *testing.T) {
	for _, name := range []string{"pong", "asteroids"} {
		src, findings := games.Load("../../games/localhost/" + name)
		if src == nil {
			t.Fatal(findings)
		}
		g := &Game{Number: 1, Name: name, Hash: src.Hash, Def: src.Def, Program: src.Program}
		f, err := g.Seal()
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadGame(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Def, g.Def) {
			t.Errorf("%s: the definition came as\n%+v\nwant\n%+v", name, got.Def, g.Def)
		}
		if !reflect.DeepEqual(got.Program, g.Program) {
			t.Errorf("%s: the program came as another one", name)
		}
	}
}
