package engine_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gamehoster/engine/files"
	"gamehoster/games"
	"gamehoster/wire"
)

// Who asks the API to upgrade, with a token or without, gets what any unknown game gets.
func TestTheAPIIsNoGame(t *testing.T) {
	s, _, _ := serveAPI(t)
	const upgrade = "Host: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	exchange := func(target, line string) string {
		c := s.stranger(t)
		defer c.Close()
		if _, err := io.WriteString(c, "GET "+target+" HTTP/1.1\r\n"+upgrade+line+"\r\n"); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(c.r)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for _, line := range []string{"", "Authorization: Bearer wrong-token-of-some-length\r\n", "Authorization: Bearer " + apiToken + "\r\n"} {
		want := exchange("/never", line)
		if !strings.HasPrefix(want, "HTTP/1.1 404 ") {
			t.Fatalf("an unknown game is %.200q", want)
		}
		for _, target := range []string{"/api", "/api/", "/api/games", "/api/logs/web?follow=1", "/internal/allow?domain=a.example"} {
			if got := exchange(target, line); got != want {
				t.Errorf("%s with %q: %.200q, want %.200q", target, line, got, want)
			}
		}
	}
}

// The players of a game play on while its files are written by many at once, and what is
// live in the end is what was written last.
func TestManyDeployAtOnce(t *testing.T) {
	s, root, _ := serveAPI(t)
	rules := func(n int) string {
		return fmt.Sprintf(`{"player": {"fields": {"n": "u32 shared", "v%d": "u32 shared"}}}`, n)
	}
	const game = "/api/games/a.example/dots"
	put := func(n int) {
		code, v := s.ask(t, apiToken, "PUT", game+"/files/"+games.DefinitionFile, []byte(rules(n)))
		if code != 200 {
			t.Errorf("a file was answered %d with %v", code, v)
		}
	}
	commit := func(n int) {
		body := func(n int) string { return fmt.Sprintf("export function update(player) { player.n = %d; }\n", n) }
		texts := []string{rules(n), body(n)}
		set := fmt.Sprintf(`{"delete": true, "files": [{"path": %q, "sha256": %q}, {"path": "player.js", "sha256": %q}]}`, games.DefinitionFile, sum(texts[0]), sum(texts[1]))
		for range 8 {
			code, v := s.ask(t, apiToken, "POST", game+"/commit", []byte(set))
			if code != 200 {
				t.Errorf("a commit was answered %d with %v", code, v)
				return
			}
			if v["verdict"] != nil {
				return
			}
			for _, text := range texts {
				if code, v := s.ask(t, apiToken, "PUT", game+"/blobs/"+sum(text), []byte(text)); code != 200 {
					t.Errorf("a content was answered %d with %v", code, v)
				}
			}
		}
		t.Error("contents went missing again and again")
	}
	commit(0)
	first := s.settled(t, "a.example/dots", "live")
	player := dial(t, s.addr, "/dots")
	player.until(wire.TagSnapshot)
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for i := range 6 {
				if n := 1 + who*6 + i; who == 0 {
					put(n)
				} else {
					commit(n)
				}
				s.ask(t, apiToken, "GET", game+"/status", nil)
			}
		})
	}
	all.Wait()
	s.settled(t, "a.example/dots", "rolling")
	commit(99)
	last := s.settled(t, "a.example/dots", "rolling")
	if last["hash"] == first["hash"] {
		t.Fatal("nothing that was written is live")
	}
	live := s.Games()
	store, err := files.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.At("a.example", "dots")
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := store.Manifest(f)
	if err != nil || len(live) != 1 || len(manifest) != len(live[0].Source.Files) {
		t.Fatalf("live are %v, on the disk %v, %v", live, manifest, err)
	}
	for i, file := range live[0].Source.Files {
		if manifest[i].SHA256 != file.Sum() || manifest[i].Path != file.Path {
			t.Errorf("live is %s %s, on the disk %v", file.Path, file.Sum(), manifest[i])
		}
	}
	if left, err := filepath.Glob(filepath.Join(root, "a.example", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over are %v, %v", left, err)
	}
	// The figures tell of both definitions, and of the player on the old one.
	code, v := s.ask(t, apiToken, "GET", "/api/stats", nil)
	if code != 200 {
		t.Fatalf("the figures were answered %d with %v", code, v)
	}
	placed := v["games"].([]any)[0].(map[string]any)
	definitions := placed["definitions"].([]any)
	oldest := definitions[len(definitions)-1].(map[string]any)
	if placed["state"] != "rolling" || definitions[0].(map[string]any)["hash"] != last["hash"] || oldest["hash"] != first["hash"] || oldest["players"] != 1.0 {
		t.Errorf("the figures are %v", placed)
	}
	players := 0.0
	for _, w := range v["workers"].([]any) {
		players += w.(map[string]any)["players"].(float64)
	}
	if players != 1 {
		t.Errorf("the figures tell of %v players on workers: %v", players, v["workers"])
	}
}
