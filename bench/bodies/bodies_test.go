package main

import (
	"testing"
	"unsafe"

	"gamehoster/bench/bodies/native"
	"gamehoster/games"
)

func sample(t testing.TB) *games.Game {
	t.Helper()
	g, list := games.Load("../../games/localhost/asteroids")
	if g == nil {
		t.Fatal(list.Error())
	}
	return g
}

// The structs of the game by hand are the canonical layout.
func TestNativeLayout(t *testing.T) {
	l := sample(t).Program.ServerLayout
	var g native.State
	var p native.Player
	var r native.Rock
	var b native.Bullet
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"size", native.Size, l.Size},
		{"instance", int(unsafe.Offsetof(g.Instance)), l.Types[0].Rows},
		{"players", int(unsafe.Offsetof(g.Players)), l.Types[1].Rows},
		{"rocks", int(unsafe.Offsetof(g.Rocks)), l.Types[2].Rows},
		{"bullets", int(unsafe.Offsetof(g.Bullets)), l.Types[3].Rows},
		{"a player", int(unsafe.Sizeof(p)), l.Types[1].Stride},
		{"a rock", int(unsafe.Sizeof(r)), l.Types[2].Stride},
		{"a bullet", int(unsafe.Sizeof(b)), l.Types[3].Stride},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, the layout has %d", c.what, c.got, c.want)
		}
	}
}

// What Go by hand and the compiled bodies leave is the same, bit for bit, after
// every tick.
func TestNativeIsTheCompiledGame(t *testing.T) {
	g := sample(t)
	compiled, err := newCompiledGame(g)
	if err != nil {
		t.Fatal(err)
	}
	byHand := &nativeGame{}
	for instance := range 8 {
		start := grown(1, 0)
		native.At(start[0]).Reset(seedOf(uint32(instance)), 0)
		for _, c := range []contestant{compiled, byHand} {
			if err := c.Load(start, instance); err != nil {
				t.Fatal(err)
			}
		}
		for range 12000 {
			for _, c := range []contestant{compiled, byHand} {
				if _, err := c.Run(1); err != nil {
					t.Fatal(err)
				}
			}
			if err := difference(g.Program.ServerLayout, compiled.blocks[0], byHand.blocks[0]); err != nil {
				t.Fatalf("compiled and by hand differ: %v", err)
			}
		}
		s := native.At(byHand.blocks[0])
		t.Logf("instance %d: level %d, %d rocks, %d bullets, best %d", instance, s.Instance.Level, s.NRocks.Rows, s.NBullets.Rows, s.Players[0].Best)
	}
	if err := compiled.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkTick(b *testing.B) {
	g := sample(b)
	states := grown(64, 1200)
	for _, c := range []struct {
		name string
		make func() (contestant, error)
	}{
		{"compiled", func() (contestant, error) { return newCompiledGame(g) }},
		{"native", func() (contestant, error) { return &nativeGame{}, nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			game, err := c.make()
			if err == nil {
				err = game.Load(states, 0)
			}
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := game.Run(1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(states)), "ns/tick")
		})
	}
}

// The bodies as plain JavaScript in Node, with the stores and numbers of the body
// language, leave the compiled game's bits too: all play the same game.
func TestNodeIsTheCompiledGame(t *testing.T) {
	g := sample(t)
	dir := t.TempDir()
	j, err := newJob("../..", g)
	if err == nil {
		err = j.write(dir + "/job.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	node, err := startProcess(dir, j.Size, "node", "--expose-gc", "../peers/node.mjs", "exact", dir+"/job.json")
	if err != nil {
		t.Fatalf("node is needed for this test: %v", err)
	}
	compiled, err := newCompiledGame(g)
	if err != nil {
		t.Fatal(err)
	}
	states := grown(16, 50)
	for _, c := range []contestant{compiled, node} {
		if err := c.Load(states, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		for _, c := range []contestant{compiled, node} {
			if _, err := c.Run(1); err != nil {
				t.Fatal(err)
			}
		}
		got, err := node.Dump()
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if err := difference(g.Program.ServerLayout, compiled.blocks[i], got[i]); err != nil {
				t.Fatalf("instance %d, compiled and Node differ: %v", i, err)
			}
		}
	}
	for _, c := range []contestant{compiled, node} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
