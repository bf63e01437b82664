package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's first game is the first thing that a newcomer types: it has to be a
// game without a word of complaint, as it is printed.
func TestFirstGameOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Your first game")
	section, _, _ = strings.Cut(section, "\n### ")
	blocks := regexp.MustCompile("(?s)```[a-z]+\n(.*?)```").FindAllStringSubmatch(section, -1)
	names := []string{"gamehoster-game.json", "player.js", "commands.js", "page/index.html", "page/page.js"}
	if len(blocks) != len(names) {
		t.Fatalf("%d blocks, want those of %v", len(blocks), names)
	}
	files := map[string]string{}
	for i, name := range names {
		files[name] = blocks[i][1]
	}
	dir := filepath.Join(t.TempDir(), "dots")
	place(t, dir, files)
	code, out := say(t, "check", dir)
	if code != 0 || !strings.HasPrefix(out, "dots is fine") {
		t.Errorf("code %d:\n%s", code, out)
	}
	for _, command := range regexp.MustCompile(`game\.send\.(\w+)`).FindAllStringSubmatch(files["page/page.js"], -1) {
		if !strings.Contains(files["commands.js"], "function "+command[1]+"(") {
			t.Errorf("the page sends %s, which is no command", command[1])
		}
	}
}
