package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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

// What the README shows of check is what check says: the lines that it quotes are put
// into a copy of the sample.
func TestSlipsOfTheReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(text), "$ gamehoster check games/localhost/asteroids\n")
	want, _, _ = strings.Cut(want, "```")
	copied := t.TempDir()
	const place = "games/localhost/asteroids"
	for _, folder := range []string{place, "games/localhost/_shared"} {
		if err := os.CopyFS(filepath.Join(copied, folder), os.DirFS(filepath.Join("../..", folder))); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(copied)
	slips := regexp.MustCompile(`(?m)^(\S+):(\d+):\d+: .*\n {4}(.*)$`).FindAllStringSubmatch(want, -1)
	if len(slips) != 2 {
		t.Fatalf("%d slips, want 2, in\n%s", len(slips), want)
	}
	for _, s := range slips {
		source, err := os.ReadFile(s[1])
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		n, _ := strconv.Atoi(s[2]) // it is digits
		lines[n-1] = s[3]
		if err := os.WriteFile(s[1], []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out := say(t, "check", place)
	if code != 1 || out != want {
		t.Errorf("code %d:\n%s\nwant\n%s", code, out, want)
	}
}
