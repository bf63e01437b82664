package engine_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"gamehoster/engine"
	"gamehoster/engine/box"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
)

// author is a development box with one game whose files change.
type author struct {
	*server
	t    *testing.T
	game string
}

func newAuthor(t *testing.T, c engine.Config) *author {
	t.Helper()
	dir := quick(t)
	c.Dir, c.Dev = dir, true
	if c.Loops == 0 {
		c.Loops = 2 // authors' boxes are one process
	}
	a := &author{server: serve(t, c), t: t, game: filepath.Join(dir, "quick")}
	if ch := <-a.changes; ch.New == nil {
		t.Fatalf("the game was rejected: %v", ch.Findings)
	}
	return a
}

// save writes a file and waits for the reload.
func (a *author) save(name, text string) box.Change {
	a.t.Helper()
	write(a.t, a.game, name, text)
	c := <-a.changes
	if c.New == nil || c.Old == nil {
		a.t.Fatalf("no reload: %v", c.Findings)
	}
	return c
}

// back is what a page does that was told to load anew.
func (a *author) back(p *peer, c box.Change) *peer {
	a.t.Helper()
	if code := p.closed(); code != wire.CloseOutdated {
		a.t.Errorf("a page was closed with %d", code)
	}
	again := dial(a.t, a.addr, fmt.Sprintf("/quick?def=%016x&resume=%x", c.New.Hash, p.welcome.Token))
	again.until(wire.TagSnapshot)
	return again
}

func (a *author) enter(query string) *peer {
	a.t.Helper()
	p := dial(a.t, a.addr, "/quick?"+query)
	p.until(wire.TagSnapshot)
	p.play(2)
	return p
}

func TestAReloadKeepsSeats(t *testing.T) {
	t.Parallel()
	const state = `{"tickRate": 60, "sendRate": 30, "resumeSeconds": 0, "playersPerInstance": %d, "player": {"fields": {%s}}}`
	rules := "export function update(player) { player.n += 2; }\n"
	for name, c := range map[string]struct {
		config     engine.Config
		file, text string
		goesOn     bool // and players keep their ids
		seats      int  // of three players that are there after it
	}{
		"rules":       {engine.Config{}, "player.js", rules, true, 3},
		"server only": {engine.Config{}, "instance.server.js", "export function update() { game.open = true; }\n", true, 3},
		"rates":       {engine.Config{}, "gamehoster-game.json", `{"tickRate": 40, "sendRate": 20, "player": {"fields": {"n": "u32 shared"}}}`, true, 3},
		"state":       {engine.Config{}, "gamehoster-game.json", fmt.Sprintf(state, 8, `"n": "u32 shared", "m": "u32 shared"`), false, 3},
		"fewer seats": {engine.Config{}, "gamehoster-game.json", fmt.Sprintf(state, 2, `"n": "u32 shared"`), false, 2},
		"fresh":       {engine.Config{Fresh: true}, "player.js", rules, false, 3},
		"one loop":    {engine.Config{Loops: 1}, "player.js", rules, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthor(t, c.config)
			players := []*peer{a.enter("name=Ann"), a.enter("name=Ben"), a.enter("name=Cay")}
			instance := string(players[0].welcome.Name)
			watcher := a.enter("watch=1&instance=" + instance)
			players[0].play(30)
			before := players[0].tick
			ch := a.save(c.file, c.text)
			in := 0
			for i, p := range players {
				again := a.back(p, ch)
				players[i] = again
				if string(again.welcome.Name) != instance {
					continue
				}
				in++
				if goesOn := again.tick >= before; goesOn != c.goesOn {
					t.Errorf("player %d is at tick %d, and was at %d", i, again.tick, before)
				}
				if same := again.welcome.Player == p.welcome.Player; c.goesOn && !same {
					t.Errorf("player %d is %d, and was %d", i, again.welcome.Player, p.welcome.Player)
				}
				if again.welcome.Token != p.welcome.Token {
					t.Errorf("player %d has another token", i)
				}
				again.play(3)
			}
			if in != c.seats {
				t.Errorf("%d players are back in %s", in, instance)
			}
			watcher.closed()
			a.enter("watch=1&instance=" + instance).leave()
			// Nobody is counted twice, and a second reload finds the same.
			if l := a.Seats("localhost/quick"); l.Seats != 3 {
				t.Errorf("%d seats are counted", l.Seats)
			}
			ch = a.save("player.js", "export function update(player) { player.n += 3; }\n")
			again := a.back(players[0], ch)
			if string(again.welcome.Name) != string(players[0].welcome.Name) {
				t.Errorf("in %s after a second reload", again.welcome.Name)
			}
		})
	}
}

// What is kept for players who do not come back is given up.
func TestAReloadKeepsNothingForEver(t *testing.T) {
	t.Parallel()
	a := newAuthor(t, engine.Config{})
	p := a.enter("")
	c := a.save("player.js", "export function update(player) { player.n += 2; }\n")
	again := a.back(p, c)
	again.leave()
	await.True(t, "the table is empty", func() bool { return a.Seats("localhost/quick") == (box.Load{}) })
}
