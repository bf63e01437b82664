package worker

import (
	"strings"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/diag"
	"gamehoster/tick"
)

func TestLinesOfBodiesAreBounded(t *testing.T) {
	b := newBench(t)
	sim := b.join(1, 1).in.sim
	sh := b.host.games[1]
	say := func(n int) {
		r := tick.LogReport{Tick: 7}
		for range n {
			r.Lines = append(r.Lines, body.LogLine{At: diag.Position{File: "player.js", Line: 3, Column: 2}, Actor: 5, Text: "hello"})
		}
		sh.logged(sim, r)
	}
	say(2 * bodyLinesPerSecond)
	if n := strings.Count(b.log.String(), `msg=hello game=game instance=i tick=7 actor=5 at=player.js:3:2`); n != bodyLinesPerSecond {
		t.Errorf("%d lines logged of %d, want %d", n, 2*bodyLinesPerSecond, bodyLinesPerSecond)
	}
	b.now += 1e9
	say(1)
	if want := `msg="lines of log() were left out" game=game lines=100`; strings.Count(b.log.String(), want) != 1 {
		t.Errorf("the log does not say once %s", want)
	}
	if n := strings.Count(b.log.String(), "msg=hello"); n != bodyLinesPerSecond+1 {
		t.Errorf("%d lines logged after a second", n)
	}
}
