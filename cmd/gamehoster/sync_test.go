package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// operated is a box with an API, and the folder of an author elsewhere.
func operated(t *testing.T) (url, tokenFile, root, dir string) {
	t.Helper()
	root, tokenFile = t.TempDir(), filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("correct-horse-battery-staple\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "play.example"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := start(t, "serve", "--root", root, "--token-file", tokenFile, "--workers", "inline", "--admin", "")
	url = "http://" + out.until(t, `msg=listening address=(\S+)`)[1] + "/"
	dir = filepath.Join(t.TempDir(), "dots")
	place(t, dir, dots)
	return url, tokenFile, root, dir
}

func TestSync(t *testing.T) {
	t.Parallel()
	url, tokenFile, root, dir := operated(t)
	sync := func(more ...string) (int, string) {
		t.Helper()
		return say(t, append([]string{"sync", dir, url, "--domain", "play.example", "--token-file", tokenFile}, more...)...)
	}
	code, out := sync()
	if code != 0 {
		t.Fatalf("code %d:\n%s", code, out)
	}
	expect(t, out, "  player.js  ", "play.example/dots: live (4 files uploaded; ", "definition ", url+"dots/gamehoster.js")
	if res, err := http.Get(url + "dots/gamehoster.js"); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the library: %v, %v", res, err)
	} else {
		res.Body.Close()
	}
	if code, out = sync(); code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	expect(t, out, "live (nothing had changed; ")

	// What is wrong is said as check says it, and what was live goes on.
	place(t, dir, map[string]string{"player.js": "export function update(player) {\n\tplayer.y = 1;\n}\n"})
	code, out = sync()
	if code != 1 {
		t.Errorf("code %d:\n%s", code, out)
	}
	_, checked := say(t, "check", dir)
	finding, _, _ := strings.Cut(checked, "^")
	expect(t, out, finding+"^\n", "play.example/dots: rejected by the box; what was live goes on")

	// A file that is gone here is gone there, unless it is to be kept.
	place(t, dir, map[string]string{"player.js": dots["player.js"]})
	if err := os.RemoveAll(filepath.Join(dir, "page")); err != nil {
		t.Fatal(err)
	}
	there := filepath.Join(root, "play.example", "dots", "page", "index.html")
	if code, out = sync("--keep"); code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	if _, err := os.Stat(there); err != nil {
		t.Error(err)
	}
	if code, out = sync(); code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	if _, err := os.Stat(there); err == nil {
		t.Error("the box has a file that the folder does not")
	}

	// What the game imports from beside it comes along.
	place(t, filepath.Dir(dir), map[string]string{"_shared/half.js": "export const half = 0.5;\n"})
	place(t, dir, map[string]string{"player.js": "import { half } from \"../_shared/half.js\";\nexport function update(player) {\n  player.x *= half;\n}\n"})
	if code, out = sync(); code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	expect(t, out, "  _shared/half.js  ", "live (2 files uploaded; ")
}

func TestSyncRefused(t *testing.T) {
	url, tokenFile, _, dir := operated(t)
	wrong := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(wrong, []byte("wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{dir + " " + url + " --token-file " + wrong, 1, "the token is not the box's, or its API is off"},
		{dir + " " + url + " --token-file " + empty, 2, "is empty"},
		{dir + " " + url + " --token-file nowhere", 2, "nowhere"},
		{dir + " " + url, 2, "GAMEHOSTER_TOKEN"},
		{dir, 2, "sync --help"},
		{"nowhere " + url + " --token-file " + tokenFile, 1, "nowhere"},
		{dir + " play.example --token-file " + tokenFile, 1, "https://play.example/"},
		{dir + " http://127.0.0.1:1 --token-file " + tokenFile, 1, "nothing listens at 127.0.0.1:1"},
		{dir + " " + url + " --ca-file " + wrong + " --token-file " + tokenFile, 1, "no certificate"},
		{dir + " " + url + " --domain bad..domain --token-file " + tokenFile, 1, "bad..domain"},
	} {
		code, out := say(t, append([]string{"sync"}, strings.Fields(c.args)...)...)
		if code != c.code {
			t.Errorf("%s: code %d, want %d:\n%s", c.args, code, c.code, out)
		}
		expect(t, out, c.want)
	}
	// The token may come by the environment, too.
	t.Setenv("GAMEHOSTER_TOKEN", "correct-horse-battery-staple")
	if code, out := say(t, "sync", dir, url, "--domain", "play.example"); code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	t.Setenv("GAMEHOSTER_TOKEN", "with space")
	if code, _ := say(t, "sync", dir, url); code != 2 {
		t.Errorf("code %d", code)
	}
}

func TestSyncWatches(t *testing.T) {
	t.Parallel()
	url, tokenFile, _, dir := operated(t)
	out := launch(t, "sync", "--watch", dir, url, "--domain", "play.example", "--token-file", tokenFile)
	out.until(t, `dots: live \(4 files uploaded; (?s:.*)Ctrl-C stops`)
	place(t, dir, map[string]string{"player.js": "export function update(player) {\n  player.x *= 0.25;\n}\n"})
	out.until(t, `dots: live \(1 file uploaded; `)
	place(t, dir, map[string]string{"player.js": "export function\n"})
	out.until(t, `player\.js:\d+:\d+: (?s:.*)dots: rejected by the box; what was live goes on`)
	place(t, dir, map[string]string{"player.js": dots["player.js"]})
	out.until(t, `rejected(?s:.*)dots: live \(`)
}

// The box goes away in the middle, behind a proxy that says so.
func TestSyncTellsThatItTriesAgain(t *testing.T) {
	times := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times++
		if times < 3 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(`{"verdict":{"state":"live","hash":"0123456789abcdef"}}`))
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "dots")
	place(t, dir, dots)
	t.Setenv("GAMEHOSTER_TOKEN", "x")
	code, out := say(t, "sync", dir, s.URL)
	if code != 0 {
		t.Errorf("code %d:\n%s", code, out)
	}
	expect(t, out, "not there behind its proxy (502); trying again in 250ms", "trying again in 500ms", "live (nothing had changed")
}

func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{out: &out, bar: true, now: func() time.Time { return now }}
	p.Begin(2, 3000)
	p.Sent(1500)
	if strings.Count(out.String(), "\r") != 1 {
		t.Errorf("it is drawn more often than anybody sees: %q", out.String())
	}
	now = now.Add(redraw)
	p.Sent(0)
	if want := "\r  [" + strings.Repeat("=", 15) + strings.Repeat(" ", 15) + "]  1.5 KB of 2.9 KB, 0 of 2 files\x1b[K"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q", out.String())
	}
	p.say("the connection broke")
	if !strings.HasSuffix(out.String(), "\r\x1b[K  the connection broke\n") {
		t.Errorf("%q", out.String())
	}
	p.Sent(-1500)
	p.Sent(3000)
	p.Uploaded("a", 1000)
	p.Uploaded("b", 2000)
	p.end()
	if !strings.HasSuffix(out.String(), "]  2.9 KB of 2.9 KB, 2 of 2 files\x1b[K\r\x1b[K") {
		t.Errorf("%q", out.String())
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KB", 3 << 20: "3.0 MB"} {
		if got := amount(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
