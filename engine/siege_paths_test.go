package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gamehoster/engine"
	"gamehoster/engine/web"
)

// secrets are what lies around a served file. Each has its name in it, so that a test
// sees which one it was given.
var secrets = []string{
	"outside.txt", "a.example/domain.txt", "a.example/_shared/rules.js", "a.example/_shared/page/.hidden",
	"a.example/dots/gamehoster-game.json.bak", "a.example/dots/notes.txt", "a.example/dots/page.txt",
	"a.example/dots/page/.env", "a.example/dots/page/.git/config",
	"_private/dots/gamehoster.js", ".private/dots/gamehoster.js", "b.example/gamehoster.js",
}

const secret = "the secret of "

// treasury is a games root with a game that has a page, and secrets all around.
func treasury(t *testing.T) string {
	root := domains(t, "a.example")
	for _, name := range secrets {
		write(t, filepath.Dir(filepath.Join(root, name)), filepath.Base(name), secret+name)
	}
	page := filepath.Join(root, "a.example", "dots", web.PageFolder)
	write(t, page, "index.html", "the page")
	write(t, filepath.Join(page, "art"), "a.txt", "art")
	return root
}

// burrow puts symbolic links into the page of a treasury's game, which has to be live:
// with them it would not become so.
func burrow(t *testing.T, root string) {
	page := filepath.Join(root, "a.example", "dots", web.PageFolder)
	for link, to := range map[string]string{"link.txt": "../notes.txt", "out.txt": filepath.Join(root, "outside.txt"), "up": "..", "etc": "/etc"} {
		if err := os.Symlink(to, filepath.Join(page, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// The ways to spell a path that leads elsewhere than where it seems to.
var crookedPaths = []string{
	// up
	"/dots/../dots/gamehoster-game.json", "/dots/../../outside.txt", "/../outside.txt", "/..", "/../", "/.", "/./dots/gamehoster.js",
	"/dots/..", "/dots/.", "/dots/./gamehoster.js", "/dots/../_shared/rules.js", "/dots/page/../notes.txt",
	"/dots/%2e%2e/domain.txt", "/dots/%2e%2e%2fdomain.txt", "/dots/..%2fdomain.txt", "/dots/.%2e/domain.txt",
	"/dots/%252e%252e%252fdomain.txt", "/%2e%2e/outside.txt", "/%2e%2e%2foutside.txt",
	`/dots/..\domain.txt`, `/dots/..%5cdomain.txt`, `/dots/%5c..%5cdomain.txt`, "/dots/..;/domain.txt", "/dots/..;x=y/domain.txt",
	"/dots/%c0%ae%c0%ae/domain.txt", "/dots/%c0%ae%c0%ae%c0%afdomain.txt", "/dots/%u002e%u002e/domain.txt", "/dots/%uff0e%uff0e/domain.txt",
	"/dots/\u2025/domain.txt", "/dots/%ef%bc%8e%ef%bc%8e/domain.txt", "/dots/" + strings.Repeat("../", 60) + "etc/passwd",
	"/dots/art/../../notes.txt", "/dots/art/../.env", "/dots/up/notes.txt", "/dots/etc/passwd",
	// absolute
	"//etc/passwd", "/dots//etc/passwd", "/dots/%2fetc%2fpasswd", "/dots//gamehoster.js", "//dots/gamehoster.js", "/dots///", "/file:///etc/passwd",
	"/dots/C:%5cWindows%5cwin.ini", `/dots/\\host\share`,
	// what is there and is nobody's business
	"/dots/gamehoster-game.json", "/dots/GAMEHOSTER-GAME.JSON", "/dots/gamehoster-game.json.bak", "/dots/notes.txt", "/dots/player.server.js",
	"/dots/bodies.d.ts", "/dots/page/index.html", "/dots/page", "/dots/page.txt", "/dots/link.txt", "/dots/out.txt", "/dots/.env", "/dots/.git/config",
	"/dots/.hidden", "/dots/_shared/rules.js", "/dots/gamehoster.js/", "/dots/gamehoster.js.", "/dots/gamehoster.js%20", "/dots/gamehoster.js::$DATA",
	"/dots/Gamehoster.js", "/dots/gamehoster.js;x", "/dots/gamehoster.js%00.txt", "/dots/gamehoster.js/..", "/dots/art", "/dots/art/", "/dots/up", "/dots/up/",
	"/_private/dots/gamehoster.js", "/.private/dots/gamehoster.js", "/_private/gamehoster.js", "/a.example/dots/gamehoster.js", "/gamehoster.js",
	"/_shared/rules.js", "/_shared/page/.hidden", "/b.example/gamehoster.js",
	// names that are the server's own
	"/api", "/api/", "/api/games", "/api/logs/server", "/api/stats", "/internal", "/internal/", "/internal/allows", "/_dev/", "/_dev/stats/",
	"/metrics", "/healthz", "/debug/pprof/", "/.well-known/acme-challenge/x", "/favicon.ico/", "/robots.txt",
	// bytes
	"/%00", "/dots/%00", "/dots/%00gamehoster.js", "/dots/%0d%0aSet-Cookie:%20a=b", "/%0d%0aX: y", "/dots/%ff%fe", "/dots/%7f", "/dots%00/gamehoster.js",
	"/dots/" + strings.Repeat("a/", 3000), "/dots/" + strings.Repeat("a", 7000), "/" + strings.Repeat("%2e", 2000), "/" + strings.Repeat("/", 4000),
	"/dots/%", "/dots/%2", "/dots/%zz", "/%", "/dots?%zz/gamehoster.js", "*", "/*", "/dots/*", "/dots/gamehoster.*", "/dots/{gamehoster.js}", "/?/dots/gamehoster.js",
}

// dated is the line of an answer that differs from one to the next.
var dated = regexp.MustCompile(`(?m)^Date: .*\r\n`)

// whole asks on a connection of its own and reads all of the answer.
func (s *server) whole(t *testing.T, method, target string) string {
	t.Helper()
	c := s.stranger(t)
	defer c.Close()
	if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n", method, target); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	answer, err := io.ReadAll(c.r)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return dated.ReplaceAllString(string(answer), "")
}

// TestSocketsOfWhatIsNotThere wants an upgrade to be told what a plain request is, to a byte.
func TestSocketsOfWhatIsNotThere(t *testing.T) {
	s := serve(t, engine.Config{Root: treasury(t), Transport: transport})
	nothing := s.whole(t, "GET", "/never-there")
	for _, p := range []string{"/never-there", "/dots/gamehoster.js", "/api/games", "/internal/allow?domain=a.example"} {
		c := s.stranger(t)
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", p); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c.r)
		c.Close()
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if !dated.Match(answer) {
			t.Errorf("%s: without a date: %q", p, answer)
		}
		if got := dated.ReplaceAllString(string(answer), ""); got != nothing {
			t.Errorf("%s: %q, and %q where it is no socket", p, got, nothing)
		}
	}
}

// TestCrookedPaths wants a box to serve no more than the libraries, and all else to be
// the same to a byte as what was never there; where it is no HTTP it may say so.
func TestCrookedPaths(t *testing.T) {
	root := treasury(t)
	s := serve(t, engine.Config{Root: root, Transport: transport})
	burrow(t, root)
	nothing := s.whole(t, "GET", "/never-there")
	if nothing != "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" {
		t.Fatalf("what is not there: %q", nothing)
	}
	refused := 0
	for _, p := range crookedPaths {
		got := s.whole(t, "GET", p)
		switch {
		case got == nothing:
		case strings.HasPrefix(got, "HTTP/1.1 400 ") && !strings.Contains(got, secret):
			refused++
		default:
			t.Errorf("%.80q: %.200q", p, got)
		}
	}
	t.Logf("%d paths, %d of which are no HTTP", len(crookedPaths), refused)
	// What is refused to GET is refused to whatever else one may ask; and what is served,
	// too.
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get", "X"} {
		for _, p := range []string{"/dots/gamehoster.js", "/dots/", "/never-there"} {
			if got := s.whole(t, method, p); got != nothing {
				t.Errorf("%s %s: %.200q", method, p, got)
			}
		}
	}
	for _, p := range []string{"/dots/gamehoster.js", "/dots/gamehoster.js.map", "/dots/gamehoster.d.ts", "/dots/gamehoster.js?x=../..", "/%64ots/gamehoster.js"} {
		if got := s.whole(t, "GET", p); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%s: %.100q", p, got)
		}
	}
}

// TestCrookedPathsOfPages wants a development box to serve no more than pages, too.
func TestCrookedPathsOfPages(t *testing.T) {
	root := treasury(t)
	s := serve(t, engine.Config{Dir: filepath.Join(root, "a.example"), Dev: true, Transport: transport})
	burrow(t, root)
	for p, want := range map[string]string{"/dots/": "the page", "/dots/index.html": "the page", "/dots/art/a.txt": "art"} {
		if code, _, body := s.get(t, p); code != http.StatusOK || body != want {
			t.Fatalf("%s: %d %q", p, code, body)
		}
	}
	for _, p := range crookedPaths {
		got := s.whole(t, "GET", p)
		head, _, _ := strings.Cut(got, "\r\n\r\n")
		if strings.Contains(got, secret) || strings.Contains(got, "root:") || strings.Contains(got, "tickRate") || strings.Contains(head, "Set-Cookie") {
			t.Errorf("%.80q: %.300q", p, got)
		}
		// A redirect leads to this box.
		if _, to, ok := strings.Cut(head, "\r\nLocation: "); ok && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//")) {
			t.Errorf("%.80q leads to %.80q", p, to)
		}
	}
}

// TestCrookedPathsOfSockets wants a socket to be had where its game is, and nowhere else.
func TestCrookedPathsOfSockets(t *testing.T) {
	s := serve(t, engine.Config{Root: treasury(t), Transport: transport})
	for _, p := range append([]string{"/dots/", "/dots?", "/dots?name=../..&x=%00"}, crookedPaths...) {
		got := s.answer(t, ways[2], p, "Host: a.example\r\n")
		want := none
		if path, query, _ := strings.Cut(p, "?"); (path == "/dots" || path == "/dots/") && !strings.Contains(query, "%zz") {
			want = "a.example/dots"
		}
		if got != want && (want != none || got != bad) {
			t.Errorf("%.80q: %s, want %s", p, got, want)
		}
	}
}
