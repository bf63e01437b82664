package box

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"gamehoster/games"
	"gamehoster/games/diag"
)

// A definition that is away for one look is being saved, not removed.
func TestAGameIsDroppedAtTheSecondLook(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "game")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, games.DefinitionFile)
	text := []byte(`{"player": {"fields": {"n": "u32 shared"}}}`)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := OpenFolder(filepath.Dir(dir), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	sound := c.load
	c.load = func(string) (*games.Game, diag.List) { panic("a fault of the compiler's") }
	look := func() (changes []Change) {
		t.Helper()
		if err := c.Refresh(func(ch Change) { changes = append(changes, ch) }); err != nil {
			t.Fatal(err)
		}
		return changes
	}
	if got := look(); len(got) != 1 || got[0].New != nil || got[0].Old != nil {
		t.Fatalf("a panic over the sources came to %+v", got)
	}
	c.load = sound
	c.seen, c.looked = map[string]string{}, false
	if got := look(); len(got) != 1 || got[0].New == nil || got[0].New.Code == nil {
		t.Fatalf("the first look found %+v", got)
	}
	aside := filepath.Join(t.TempDir(), "aside")
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		move(file, aside)
		if got := look(); len(got) != 0 {
			t.Fatalf("dropped at the first look: %+v", got)
		}
		move(aside, file)
		if got := look(); len(got) != 0 {
			t.Fatalf("the saved definition is another one: %+v", got)
		}
	}
	move(file, aside)
	look()
	if got := look(); len(got) != 1 || got[0].Old == nil || got[0].New != nil {
		t.Fatalf("the second look at a removed game found %+v", got)
	}
	if len(c.Games()) != 0 {
		t.Fatal("a removed game is still live")
	}
}

// What a page's files become is the browsers' affair: the game goes on.
func TestASavedPageIsTold(t *testing.T) {
	domain := t.TempDir()
	dir := filepath.Join(domain, "game")
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(domain, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("game/"+games.DefinitionFile, `{"player": {"fields": {"n": "u32 shared"}}}`)
	write("game/page/index.html", "<p>one</p>")
	write("_shared/page/frame.css", "p { color: red }")
	c, err := OpenFolder(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	look := func() (changes []Change) {
		t.Helper()
		for range 2 { // a change counts when it was seen twice
			if err := c.Refresh(func(ch Change) { changes = append(changes, ch) }); err != nil {
				t.Fatal(err)
			}
		}
		return changes
	}
	if got := look(); len(got) != 1 || got[0].New == nil || got[0].Page != nil {
		t.Fatalf("a new game is %+v", got)
	}
	live := c.Games()[0]
	for _, file := range []string{"game/page/index.html", "_shared/page/frame.css", "game/page/new.js"} {
		write(file, "more than there was before")
		if got := look(); len(got) != 1 || got[0].Page != live || got[0].Old != nil || got[0].New != nil {
			t.Fatalf("%s was saved, which came to %+v", file, got)
		}
	}
	write("game/player.js", "// nothing but a comment\n")
	if got := look(); len(got) != 0 {
		t.Fatalf("a comment came to %+v", got)
	}
	// One that hears of an error waits to hear that it is gone.
	write("game/player.js", "export function update(player) { player.m++; }\n")
	if got := look(); len(got) != 1 || !got[0].Findings.Failed() || got[0].Kept != nil {
		t.Fatalf("an error came to %+v", got)
	}
	write("game/player.js", "// nothing but a comment, again\n")
	if got := look(); len(got) != 1 || got[0].Kept != live || got[0].Old != nil || got[0].New != nil || got[0].Page != nil {
		t.Fatalf("taking the error back came to %+v", got)
	}
	write("game/player.js", "// nothing but a comment, and another\n")
	if got := look(); len(got) != 0 {
		t.Fatalf("a comment after that came to %+v", got)
	}
	write("game/player.js", "export function update(player) { player.n++; }\n")
	write("game/page/index.html", "another")
	if got := look(); len(got) != 1 || got[0].Old != live || got[0].New == nil || got[0].Page != nil {
		t.Fatalf("a rule and the page came to %+v", got)
	}
	// A fault is shown where the rules are, not where they were before a line was
	// put above them.
	write("game/player.js", "export function update(player) { player.n++; }\n// below\n")
	if got := look(); len(got) != 0 {
		t.Fatalf("a comment below the rules came to %+v", got)
	}
	write("game/player.js", "// above\nexport function update(player) { player.n++; log(player.n); }\n")
	look()
	live = c.Games()[0]
	write("game/player.js", "// above\n// and above\nexport function update(player) { player.n++; log(player.n); }\n")
	if got := look(); len(got) != 1 || got[0].Old != live || got[0].New == nil {
		t.Fatalf("a comment above the rules came to %+v", got)
	}
}
