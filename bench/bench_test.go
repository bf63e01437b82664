package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gamehoster/bench/latency"
	"gamehoster/games"
)

func TestFind(t *testing.T) {
	all, err := Find(nil)
	if err != nil || len(all) != len(Scenarios()) {
		t.Fatal(len(all), err)
	}
	if _, err := Find([]string{"movers", "mover"}); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "movers, cubes") {
		t.Error(err)
	}
	two, err := Find([]string{"rewind", "movers"})
	if err != nil || two[0].Name != "rewind" || two[1].Name != "movers" {
		t.Error(two, err)
	}
	// Everything has to be over in ten minutes.
	minutes := 0.0
	for _, s := range all {
		minutes += s.Takes.Minutes()
	}
	if minutes > 9.5 {
		t.Errorf("all scenarios take %.1f minutes", minutes)
	}
}

// Commands that came late end in the world that they make in time.
func TestLateCommandsMakeTheSameWorld(t *testing.T) {
	var c [2]contest
	for i := range c {
		stage, err := asteroidsStage("..", 4)
		if err != nil {
			t.Fatal(err)
		}
		defer stage.Close()
		c[i] = contest{stage: stage, late: i == 1, hist: latency.New(), lines: make([]line, 4*pilots)}
		for range 600 {
			c[i].tick()
		}
	}
	if n, err := sameWorlds(&c[0], &c[1]); err != nil || n != 4 {
		t.Error(n, err)
	}
	if a, b := c[0].stage.Shard.Stats(), c[1].stage.Shard.Stats(); a.Late != 0 || b.Late < b.Commands/5 || b.Late > b.Commands/3 {
		t.Errorf("%d and %d commands of %d were late", a.Late, b.Late, b.Commands)
	}
}

func TestListening(t *testing.T) {
	for line, want := range map[string]string{
		"listening 1234":   "127.0.0.1:1234",
		"listening well":   "",
		"not listening 1":  "",
		"listening 123456": "",
	} {
		if a, ok := listening(line); ok != (want != "") || ok && a.String() != want {
			t.Errorf("%q: %v %v", line, a, ok)
		}
	}
}

func TestCollections(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"gc 7 @1.5s 0%: 0.02+1.1+0.5 ms clock, 0.02+0/1/1+0.5 ms cpu, 4->4->2 MB": 500 * time.Microsecond,
		"gc 7 @1.5s 0%: 2+1.1+0.5 ms clock":                                       2 * time.Millisecond,
		"gc 7 @1.5s 0%: 2+1.1 ms clock":                                           0,
		`{"msg":"gc 7"}`:                                                          0,
	} {
		if got, ok := collection(line); got != want || ok != (want > 0) {
			t.Errorf("%q: %v %v", line, got, ok)
		}
	}
}

func TestHostedSettings(t *testing.T) {
	h, err := host("../games/localhost/asteroids", map[string]string{"playersPerInstance": "4", "resumeSeconds": "0"})
	if err != nil {
		t.Fatal(err)
	}
	g, list := games.Load(h.game)
	if g == nil {
		text, _ := os.ReadFile(filepath.Join(h.game, games.DefinitionFile))
		t.Fatalf("%v\n%s", list, text)
	}
	if g.Def.PlayersPerInstance != 4 || g.Def.ResumeSeconds != 0 {
		t.Errorf("%d players, %v s", g.Def.PlayersPerInstance, g.Def.ResumeSeconds)
	}
	if err := h.remove(); err != nil {
		t.Error(err)
	}
}
