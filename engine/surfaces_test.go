package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gamehoster/engine"
	"gamehoster/engine/files"
	"gamehoster/engine/internal/await"
	"gamehoster/games"
)

const apiToken = "correct-horse-battery-staple"

// serveAPI runs a box with an empty games root and an API.
func serveAPI(t *testing.T) (s *server, root, tokenFile string) {
	t.Helper()
	root, tokenFile = t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte(apiToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return serve(t, engine.Config{Root: root, TokenFile: tokenFile, Loops: 1}), root, tokenFile
}

// ask sends a request of the API with a token.
func (s *server) ask(t *testing.T, token, method, path string, body []byte) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.addr.String()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if len(text) > 0 {
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatalf("%s %s was answered %d with %q", method, path, res.StatusCode, text)
		}
	}
	return res.StatusCode, v
}

// settled asks for the status of a game when it is one.
func (s *server) settled(t *testing.T, game, state string) map[string]any {
	t.Helper()
	code, v := s.ask(t, apiToken, "GET", "/api/games/"+game+"/status?wait=30s", nil)
	if code != 200 || v["state"] != state {
		t.Fatalf("the status of %s is %d with %v; want %s", game, code, v, state)
	}
	return v
}

// A definition and a body that are put make a game live; a bad one leaves it live; the
// game goes when it is deleted.
func TestAGameComesAndGoesByTheAPI(t *testing.T) {
	s, root, _ := serveAPI(t)
	put := func(file, text string) {
		t.Helper()
		if code, v := s.ask(t, apiToken, "PUT", "/api/games/a.example/dots/files/"+file, []byte(text)); code != 200 {
			t.Fatalf("putting %s was answered %d with %v", file, code, v)
		}
	}
	put(games.DefinitionFile, `{"player": {"fields": {"n": "u32 shared"}}}`)
	put("player.js", "export function update(player) { player.n++; }\n")
	live := s.settled(t, "a.example/dots", "live")
	hash, _ := live["hash"].(string)
	if len(hash) != 16 || len(live["findings"].([]any)) != 0 {
		t.Fatalf("a live game is %v", live)
	}
	if g := s.Games(); len(g) != 1 || g[0].Place.String() != "a.example/dots" || len(g[0].Source.Files) != 2 {
		t.Fatalf("live are %+v", g)
	}
	if code, head, _ := s.get(t, "/dots/"+games.ScriptFile); code != 200 || head.Get("ETag") == "" {
		t.Fatalf("the library of a game that was put is answered %d", code)
	}
	if code, _, _ := s.get(t, "/dots/"+games.DefinitionFile); code != 404 {
		t.Fatalf("the definition is served, with %d", code)
	}
	if _, err := os.Stat(filepath.Join(root, "a.example", "dots", games.ScriptFile)); err != nil {
		t.Fatalf("the library is not beside the game: %v", err)
	}
	put("player.js", "export function update(player) { player.m++; }\n")
	bad := s.settled(t, "a.example/dots", "rejected")
	if found := bad["findings"].([]any); bad["hash"] != hash || len(found) == 0 {
		t.Fatalf("a rejected game is %v; want it to be live as %s", bad, hash)
	} else if f := found[0].(map[string]any); f["severity"] != "error" || f["file"] != "player.js" || f["line"] != 1.0 || f["message"] == "" {
		t.Fatalf("the finding is %v", f)
	}
	if code, v := s.ask(t, apiToken, "DELETE", "/api/games/a.example/dots", nil); code != 200 {
		t.Fatalf("removing a game was answered %d with %v", code, v)
	}
	await.True(t, "the game to go", func() bool { return len(s.Games()) == 0 })
	if code, v := s.ask(t, apiToken, "GET", "/api/games/a.example/dots/status?wait=30s", nil); code != 404 {
		t.Fatalf("a removed game's status is %d with %v", code, v)
	}
	if left, err := os.ReadDir(filepath.Join(root, "a.example")); err != nil || len(left) != 0 {
		t.Fatalf("a removed game left %v, %v", left, err)
	}
}

// A whole set asks for what is missing and is live at once.
func TestASetIsCommitted(t *testing.T) {
	s, _, _ := serveAPI(t)
	texts := map[string]string{
		games.DefinitionFile: `{"player": {"fields": {"n": "u32 shared"}}}`,
		"player.js":          "export function update(player) { player.n++; }\n",
	}
	commit := func() map[string]any {
		t.Helper()
		var list []string
		for p, text := range texts {
			list = append(list, fmt.Sprintf(`{"path": %q, "sha256": %q}`, p, sum(text)))
		}
		code, v := s.ask(t, apiToken, "POST", "/api/games/localhost/dots/commit", []byte(`{"delete": true, "files": [`+strings.Join(list, ",")+`]}`))
		if code != 200 {
			t.Fatalf("a commit was answered %d with %v", code, v)
		}
		return v
	}
	missing := commit()["missing"].([]any)
	if len(missing) != len(texts) {
		t.Fatalf("missing are %v", missing)
	}
	for _, text := range texts {
		if code, v := s.ask(t, apiToken, "PUT", "/api/games/localhost/dots/blobs/"+sum(text), []byte(text)); code != 200 {
			t.Fatalf("a content was answered %d with %v", code, v)
		}
	}
	if v, ok := commit()["verdict"].(map[string]any); !ok || v["state"] != "building" {
		t.Fatalf("a whole set was answered with %v", v)
	}
	first := s.settled(t, "localhost/dots", "live")
	// What changes nothing is judged already.
	if v := commit()["verdict"].(map[string]any); v["state"] != "live" || v["hash"] != first["hash"] {
		t.Fatalf("the same set again was answered with %v", v)
	}
	if code, v := s.ask(t, apiToken, "GET", "/api/games", nil); code != 200 || len(v["games"].([]any)) != 1 {
		t.Fatalf("the games are %d with %v", code, v)
	}
	if code, v := s.ask(t, apiToken, "GET", "/api/stats", nil); code != 200 || v["games"] == nil {
		t.Fatalf("the figures are %d with %v", code, v)
	}
}

// The token is read again when its file changes.
func TestAnotherTokenIsTaken(t *testing.T) {
	t.Parallel()
	s, _, file := serveAPI(t)
	const next = "another-horse-and-staple"
	if code, _ := s.ask(t, next, "GET", "/api/games", nil); code != 404 {
		t.Fatalf("a wrong token was answered %d", code)
	}
	if err := os.WriteFile(file, []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the other token to be taken", func() bool {
		code, _ := s.ask(t, next, "GET", "/api/games", nil)
		return code == 200
	})
	if code, _ := s.ask(t, apiToken, "GET", "/api/games", nil); code != 404 {
		t.Fatalf("the old token was answered %d", code)
	}
	_, err := engine.New(engine.Config{Addr: anyPort, Root: t.TempDir(), TokenFile: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "--token-file") {
		t.Fatalf("a token file that is a folder came to %v", err)
	}
}

func sum(text string) string { return files.Sum([]byte(text)) }
