package box

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gamehoster/games"
	"gamehoster/games/diag"
)

const (
	soundRules  = `{"player": {"fields": {"n": "u32 shared"}}}`
	otherRules  = `{"player": {"fields": {"n": "u32 shared", "m": "u32 shared"}}}`
	brokenRules = `{"player": {"fields": {"n": "no such kind"}}}`
)

// openRoot is the catalog of a root with one game, a.example/game, and a function that
// writes a file below the root.
func openRoot(t *testing.T) (*Catalog, func(file, text string)) {
	t.Helper()
	root := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.example/game/"+games.DefinitionFile, soundRules)
	c, err := OpenRoot(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c, write
}

func wantState(t *testing.T, c *Catalog, place string, want State) Status {
	t.Helper()
	s, ok := c.Status(place)
	if !ok || s.State != want {
		t.Fatalf("%s is %q, %v; want %q", place, s.State, ok, want)
	}
	return s
}

func TestStatusFollowsTheFolder(t *testing.T) {
	c, write := openRoot(t)
	look := func() {
		t.Helper()
		if err := c.Refresh(func(Change) {}); err != nil {
			t.Fatal(err)
		}
	}
	const game = "a.example/game"
	if _, ok := c.Status(game); ok {
		t.Fatal("there is a status before the first look")
	}
	look()
	live := wantState(t, c, game, StateLive).Live
	if live == nil || !c.HasDomain("A.EXAMPLE.") || c.HasDomain("b.example") {
		t.Fatal("the first look found another root")
	}
	write(game+"/"+games.DefinitionFile, brokenRules)
	look()
	wantState(t, c, game, StateBuilding)
	look()
	if s := wantState(t, c, game, StateRejected); s.Live != live || !s.Findings.Failed() || s.Findings[0].Pos.Line != 1 {
		t.Fatalf("a rejected definition left %+v", s)
	}
	write(game+"/"+games.DefinitionFile, otherRules)
	look()
	look()
	if s := wantState(t, c, game, StateLive); s.Live == live || s.Findings.Failed() {
		t.Fatalf("a mended definition left %+v", s)
	}
	// One that is new may be half there at the first look.
	write("b.example/new/"+games.DefinitionFile, soundRules)
	look()
	if s := wantState(t, c, "b.example/new", StateBuilding); s.Live != nil || !c.HasDomain("b.example") {
		t.Fatalf("a new game at the first look is %+v", s)
	}
	look()
	wantState(t, c, "b.example/new", StateLive)
	if all := c.Statuses(); len(all) != 2 || all[0].Place.String() != game || all[1].Place.String() != "b.example/new" {
		t.Fatalf("statuses %+v", all)
	}
	// Folders that are rejected, live, and no game yet, go.
	if err := os.RemoveAll(filepath.Dir(live.Place.Dir)); err != nil {
		t.Fatal(err)
	}
	look()
	wantState(t, c, game, StateBuilding)
	look()
	if _, ok := c.Status(game); ok || c.HasDomain("a.example") {
		t.Fatal("a removed game has a status")
	}
}

// What was written while a build read the folder is not live by halves.
func TestAWriteDuringABuildIsBuiltAgain(t *testing.T) {
	c, write := openRoot(t)
	load, during := c.load, true
	c.load = func(dir string) (*games.Game, diag.List) {
		g, list := load(dir)
		if during {
			write("a.example/game/player.js", "export function update(player) { player.n++; }\n")
			c.Poke("a.example", "game")
		}
		return g, list
	}
	var live []*Live
	look := func() {
		t.Helper()
		if err := c.Refresh(func(ch Change) { live = append(live, ch.New) }); err != nil {
			t.Fatal(err)
		}
	}
	look()
	if len(live) != 0 {
		t.Fatal("half of what was written is live")
	}
	wantState(t, c, "a.example/game", StateBuilding)
	during = false
	look()
	look()
	if len(live) != 1 || live[0] == nil || len(live[0].Source.Files) != 2 {
		t.Fatalf("the whole of what was written came to %+v", live)
	}
	wantState(t, c, "a.example/game", StateLive)
}

func TestABurstOfWritesIsOneBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, write := openRoot(t)
		builds := 0
		load := c.load
		c.load = func(dir string) (*games.Game, diag.List) { builds++; return load(dir) }
		ctx, cancel := context.WithCancel(t.Context())
		var done, verdict = make(chan struct{}), make(chan Status, 1)
		if err := c.Refresh(func(Change) {}); err != nil {
			t.Fatal(err)
		}
		go func() { defer close(done); c.Watch(ctx, 2*time.Second, func(Change) {}) }()
		for i := range 10 {
			write("a.example/game/player.js", "export function update(player) { player.n = "+string(rune('0'+i))+"; }\n")
			if err := os.Chtimes(filepath.Join(c.Games()[0].Place.Dir, "player.js"), time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
			c.Poke("a.example", "game")
			wantState(t, c, "a.example/game", StateBuilding)
			time.Sleep(Debounce - time.Millisecond)
		}
		begun := time.Now()
		go func() { s, _ := c.Settle(ctx, "a.example/game"); verdict <- s }()
		s := <-verdict
		if builds != 2 || s.State != StateLive {
			t.Fatalf("%d builds, the last of which came to %q; want one for the burst after that at the start", builds, s.State)
		}
		if took := time.Since(begun); took > Debounce+secondLook {
			t.Fatalf("the verdict took %v after the last write", took)
		}
		// Nobody pokes for what was copied into the root.
		write("a.example/game/player.js", "export function update() {}\n")
		time.Sleep(2*time.Second + secondLook + time.Millisecond)
		synctest.Wait()
		if builds != 3 {
			t.Fatalf("%d builds; want one for the file that was copied in", builds)
		}
		cancel()
		<-done
	})
}

// What does not become quiet is looked at all the same.
func TestAnEndlessBurstIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, write := openRoot(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		if err := c.Refresh(func(Change) {}); err != nil {
			t.Fatal(err)
		}
		write("a.example/game/"+games.DefinitionFile, brokenRules)
		go func() { defer close(done); c.Watch(ctx, time.Hour, func(Change) {}) }()
		for range 50 {
			c.Poke("a.example", "game")
			time.Sleep(Debounce / 2)
		}
		synctest.Wait()
		if s, _ := c.Status("a.example/game"); !s.Findings.Failed() {
			t.Fatalf("after %v of writes nothing was built: %+v", 50*Debounce/2, s)
		}
		cancel()
		<-done
	})
}

// A machine that cannot read its files for a while, for want of descriptors say, tells
// nothing of the games: they are neither dropped nor rejected.
func TestAMachineThatCannotReadChangesNothing(t *testing.T) {
	c, write := openRoot(t)
	changes := 0
	look := func() {
		t.Helper()
		_ = c.Refresh(func(Change) { changes++ })
	}
	look()
	const game = "a.example/game"
	live := wantState(t, c, game, StateLive).Live
	places, load := c.places, c.load
	broken := &os.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
	changes = 0
	c.places = func() ([]games.Place, error) { return nil, broken }
	look()
	look()
	c.places, c.print = places, func(...string) (string, error) { return "", broken }
	look()
	look()
	if s := wantState(t, c, game, StateLive); s.Live != live || changes != 0 {
		t.Fatalf("without descriptors came %d changes, and the game is %+v", changes, s)
	}
	// The build itself runs out of them, and so does the look after it.
	c.print = fingerprint
	write(game+"/"+games.DefinitionFile, otherRules)
	look()
	c.load = func(string) (*games.Game, diag.List) {
		c.print = func(...string) (string, error) { return "", broken }
		return nil, diag.List{{Message: broken.Error()}}
	}
	look()
	if s := wantState(t, c, game, StateBuilding); s.Live != live || changes != 0 {
		t.Fatalf("a build without descriptors came to %d changes, and the game is %+v", changes, s)
	}
	c.print, c.load = fingerprint, load
	look()
	look()
	if s := wantState(t, c, game, StateLive); s.Live == live || changes != 1 {
		t.Fatalf("with descriptors again came %d changes, and the game is %+v", changes, s)
	}
}
