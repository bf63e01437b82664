package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// dots is a game as small as games get.
var dots = map[string]string{
	"gamehoster-game.json": `{
  "player": { "fields": { "x": "f32 shared" } },
  "commands": { "push": { "fields": { "by": "f32" } } }
}
`,
	"player.js":       "export function update(player) {\n  player.x *= 0.5;\n}\n",
	"commands.js":     "export function push(player, command) {\n  player.x += command.by;\n}\n",
	"page/index.html": "<!doctype html>\n",
}

// place writes a game.
func place(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// say runs a command line that ends by itself.
func say(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var b bytes.Buffer
	code = run(t.Context(), args, &b, &b)
	return code, b.String()
}

func expect(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", 0, "Usage: gamehoster <command>"},
		{"--help", 0, "Usage: gamehoster <command>"},
		{"help", 0, "Usage: gamehoster <command>"},
		{"help dev", 0, "Usage: gamehoster dev"},
		{"dev --help", 0, "$GAMEHOSTER_PORT"},
		{"version", 0, version},
		{"--version", 0, version},
		{"bogus", 2, "try: gamehoster --help"},
		{"dev --prot 1", 2, `did you mean "--port"?`},
		{"dev --prot 1", 2, "try: gamehoster dev --help"},
		{"dev --port none", 2, `got "none"`},
		{"dev --lag 2h", 2, "--lag"},
		{"dev --lag 80", 2, `--lag: want a time with its unit, as in 80ms or 1.5s, but got "80"`},
		{"dev --stall 1s --stall-every 0s", 2, "stall"},
		{"dev --bandwidth 2", 2, "500kbit"},
		{"dev --bandwidth -2Mbit", 2, "bandwidth"},
		{"dev --bandwidth 2kbit", 2, "bytes a second"},
		{"dev --transport tcp", 2, `--transport must be one of "auto","gnet","uring"`},
		{"echo --transport tcp", 2, `--transport must be one of "auto","gnet","uring"`},
		{"dev --late-tick-threshold soon", 2, "--late-tick-threshold"},
		{"dev nowhere", 1, "nowhere"},
		{"serve --root nowhere", 2, "try: gamehoster serve --help"},
	} {
		code, out := say(t, strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("%s: code %d, want %d", c.args, code, c.code)
		}
		expect(t, out, c.want)
	}
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, args := range [][]string{
		{"dev", t.TempDir(), "--bind", "127.0.0.1", "--port", port},
		{"dev", t.TempDir(), "--bind", "127.0.0.1", "--port", port, "--lag", "1ms"},
		{"echo", "--port", port},
	} {
		code, out := say(t, args...)
		if code != 1 {
			t.Errorf("code %d", code)
		}
		expect(t, out, "address already in use", "--port")
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	place(t, "all/dots", dots)
	for _, of := range []string{"all/dots", "all"} {
		code, out := say(t, "check", of)
		if code != 0 {
			t.Errorf("code %d", code)
		}
		expect(t, out, "dots is fine")
	}

	// A place is one that a terminal can make a link of, and a mistake in one game
	// does not hide what the others are.
	place(t, "all/broken", dots)
	place(t, "all/broken", map[string]string{"player.js": "export function update(player) {\n  player.y = 1;\n}\n"})
	code, out := say(t, "check", "all")
	if code != 1 {
		t.Errorf("code %d", code)
	}
	expect(t, out, "dots is fine", filepath.Join("all", "broken", "player.js")+":2:10: ")
	code, out = say(t, "check", filepath.Join(dir, "all", "broken"))
	if code != 1 {
		t.Errorf("code %d", code)
	}
	expect(t, out, "\n    "+"  player.y = 1;", filepath.Join("all", "broken", "player.js")+":2:10: ")
	if strings.HasPrefix(out, dir) {
		t.Errorf("a path below the working directory is absolute:\n%s", out)
	}

	// Where there is no game, where there may be is told.
	for of, want := range map[string]string{
		"nowhere":            "nowhere: no such file or directory",
		t.TempDir():          "there is no game in ",
		".":                  "there is no game in .: a game is a folder with a gamehoster-game.json; there are games in all\n",
		"..":                 "; there are games in " + filepath.Join("..", filepath.Base(dir), "all") + "\n",
		"all/dots/player.js": "all/dots/player.js is a file; check the folder of its game",
	} {
		code, out = say(t, "check", of)
		if code != 1 {
			t.Errorf("code %d", code)
		}
		expect(t, out, want)
	}
}

func TestSharedFilesAreShownWhereTheyAre(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "all/dots", dots)
	place(t, "all", map[string]string{"_shared/maths.js": "export const half = var;\n"})
	place(t, "all/dots", map[string]string{"player.js": "import { half } from \"./_shared/maths.js\";\nexport function update(player) {\n  player.x *= half;\n}\n"})
	code, out := say(t, "check", "all/dots")
	if code != 1 {
		t.Errorf("code %d:\n%s", code, out)
	}
	expect(t, out, filepath.Join("all", "_shared", "maths.js")+":1:")
}

// terminal collects what a server prints and lets a test wait for it.
type terminal struct {
	mu      sync.Mutex
	text    string
	changed chan struct{} // closed and replaced at each write
}

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text += string(p)
	close(w.changed)
	w.changed = make(chan struct{})
	return len(p), nil
}

// until waits for a match and returns its groups.
func (w *terminal) until(t *testing.T, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(30 * time.Second)
	for {
		w.mu.Lock()
		text, changed := w.text, w.changed
		w.mu.Unlock()
		if m := re.FindStringSubmatch(text); m != nil {
			return m
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s does not match\n%s", pattern, text)
		}
	}
}

// start runs a server for as long as the test lasts.
func start(t *testing.T, args ...string) *terminal {
	t.Helper()
	return launch(t, append(args, "--bind", "127.0.0.1", "--port", "0", "--loops", "1")...)
}

// launch runs a command for as long as the test lasts.
func launch(t *testing.T, args ...string) *terminal {
	t.Helper()
	out := &terminal{changed: make(chan struct{})}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, out, out) }()
	t.Cleanup(func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("%s ended with %d", args[0], code)
		}
	})
	return out
}

func TestDev(t *testing.T) {
	dir := t.TempDir()
	out := start(t, "dev", dir)
	address := out.until(t, `Play at  (http://localhost:\d+/)\n(?s:.*)There is no game in \S+ yet\.(?s:.*)Ctrl-C stops`)[1]

	broken := map[string]string{"player.js": "export function update(player) {\n  player.y = 1;\n}\n"}
	wary := "export function update(player) {\n  game.players.find(1).x = 2;\n}\n"
	both := map[string]string{}
	for name, text := range dots {
		both[name] = text
	}
	both["player.js"] = broken["player.js"]
	// The definition last: a folder without one is no game yet.
	definition := map[string]string{"gamehoster-game.json": both["gamehoster-game.json"]}
	delete(both, "gamehoster-game.json")
	place(t, filepath.Join(dir, "dots"), both)
	place(t, filepath.Join(dir, "dots"), definition)
	out.until(t, `dots/player\.js:2:10: .*\n.*\n.*\^\ndots: rejected; it is not served\n`)

	place(t, filepath.Join(dir, "dots"), map[string]string{"player.js": dots["player.js"]})
	out.until(t, `dots: live at `+regexp.QuoteMeta(address)+`dots/, `)
	place(t, filepath.Join(dir, "dots"), broken)
	out.until(t, `dots: rejected; what was live goes on\n`)
	place(t, filepath.Join(dir, "dots"), map[string]string{"player.js": dots["player.js"]})
	out.until(t, `dots: fine again; it is what was live all along\n`)
	place(t, filepath.Join(dir, "dots"), map[string]string{"player.js": "export function update(player) {\n  player.x *= 0.25;\n}\n"})
	out.until(t, `dots: reloaded, .*; open pages are told to reload; games go on where they were\n`)
	place(t, filepath.Join(dir, "dots"), map[string]string{"page/index.html": "<!doctype html><title>Dots</title>\n"})
	out.until(t, `dots: page saved; open pages are told to reload\n`)
	place(t, filepath.Join(dir, "dots"), map[string]string{"player.js": wary})
	out.until(t, `warning: (?s:.*)dots: reloaded, .*\n`)
	place(t, filepath.Join(dir, "dots"), map[string]string{"page/index.html": "<!doctype html><title>More dots</title>\n"})
	out.until(t, `warning: (?s:.*)dots: reloaded, .*\ndots: page saved; `) // without the warning again
	if err := os.RemoveAll(filepath.Join(dir, "dots")); err != nil {
		t.Fatal(err)
	}
	out.until(t, `dots: removed\n`)
}

func TestDevAboveTheGamesSaysWhereTheyAre(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "games", "example.org", "dots"), dots)
	place(t, filepath.Join(dir, "more", "dots"), dots)
	place(t, filepath.Join(dir, ".git", "games", "dots"), dots)
	out := start(t, "dev", dir)
	out.until(t, "There are games in "+regexp.QuoteMeta(filepath.Join(dir, "more")+", "+filepath.Join(dir, "games", "example.org"))+`\.\n`)
}

func TestDevOnABadLine(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "dots"), dots)
	out := start(t, "dev", dir, "--lag", "150ms", "--jitter", "50ms", "--bandwidth", "1.5Mbit")
	address := out.until(t, `Play at  (http://localhost:\d+/)\n(?s:.*)The line is bad, as you asked: 150ms each way, up to 50ms more, 1500 kbit/s, seed 1\.\n`)[1]
	began := time.Now()
	answer, err := http.Get(address + "dots/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if took := time.Since(began); answer.StatusCode != http.StatusOK || took < 300*time.Millisecond {
		t.Errorf("status %d after %v", answer.StatusCode, took)
	}
}

// A body that fails, and one that logs, say where in words that a terminal makes a
// link of, and so does what the server tells about itself.
func TestDevShowsWhereBodiesFail(t *testing.T) {
	t.Chdir(t.TempDir())
	place(t, "all/dots", dots)
	place(t, "all", map[string]string{"_shared/maths.js": "const T = [1, 2];\nexport function pick(i) {\n  return T[i];\n}\n"})
	place(t, "all/dots", map[string]string{
		"player.js":          "import { pick } from \"./_shared/maths.js\";\nexport function update(player) {\n  player.x = pick(player.id + 7);\n}\n",
		"player.server.js":   "export function join(player) {\n  log(\"hello\");\n}\n",
		"instance.server.js": "export function update() {\n  let n = 1;\n  while (n > 0) n += game.tick;\n}\n",
	})
	out := start(t, "dev", "all")
	host := out.until(t, `Play at  http://(localhost:\d+)/\n(?s:.*)Ctrl-C stops`)[1]
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /dots HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n", host)
	shared := filepath.Join("all", "_shared", "maths.js") + ":3:10"
	own := filepath.Join("all", "dots", "instance.server.js") + ":3:3"
	out.until(t, `level=ERROR msg="a body failed.*error="`+regexp.QuoteMeta(shared)+`: player\.update: a table was read out of range \(actor 1, tick \d+\)" times=1`)
	out.until(t, `level=ERROR msg="a body failed.*error="`+regexp.QuoteMeta(own)+`: instance\.server\.update: ran too long: an endless loop \(actor 0, tick \d+\)" times=1`)
	out.until(t, `msg=hello .*at=`+regexp.QuoteMeta(filepath.Join("all", "dots", "player.server.js")+":2:3"))

	resp, err := http.Get("http://" + host + "/_dev/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var stats struct {
		Games map[string]struct {
			Faults []struct {
				Error string
				Times int
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&stats); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{shared, own} {
		n := 0
		for _, f := range stats.Games["dots"].Faults {
			if strings.HasPrefix(f.Error, at+": ") && f.Times > 0 {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the stats tell %d times of %s: %+v", n, at, stats)
		}
	}
}

func TestDevOfAGameThatIsWrong(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "dots"), dots)
	place(t, filepath.Join(dir, "dots"), map[string]string{"gamehoster-game.json": "{"})
	start(t, "dev", dir).until(t, `dots: rejected; it is not served\n(?s:.*)No game is live yet`)
}

func TestAFolderWhoseNameNoGameCanHave(t *testing.T) {
	dir := t.TempDir()
	place(t, filepath.Join(dir, "my dots"), dots)
	for _, of := range []string{dir, filepath.Join(dir, "my dots")} {
		code, out := say(t, "check", of)
		if code != 1 {
			t.Errorf("code %d", code)
		}
		expect(t, out, `the folder "my dots" cannot be a game`)
		start(t, "dev", of).until(t, `the folder "my dots" cannot be a game(?s:.*)No game is live yet`)
	}
}

func TestServe(t *testing.T) {
	root := t.TempDir()
	place(t, filepath.Join(root, "a.example", "dots"), dots)
	start(t, "serve", "--root", root).until(t, `a\.example/dots: live, (?s:.*)msg=listening address=127\.0\.0\.1:\d+`)
	start(t, "serve", "--root", t.TempDir()).until(t, `no game is live.*DOMAIN/GAME/gamehoster-game\.json`)
}

func TestCheckEmits(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dots")
	place(t, dir, dots)
	code, out := say(t, "check", "--emit=ir", dir)
	if code != 0 {
		t.Errorf("code %d", code)
	}
	expect(t, out, "func player.update(base i32, player i32) {", "func commands.push(base i32, player i32, command i32) {", "f32[player + player.x]")
	code, out = say(t, "check", "--emit=wat", dir)
	if code != 0 {
		t.Errorf("code %d", code)
	}
	expect(t, out, ";; dots, in the server\n(module\n", ";; dots, in the browser\n(module\n", `(func $tick (export "tick") (param $base i32) (param $input i32)`, "local.get $base", "(global $fuel (mut i32)", "f64.const 0.5")
	if code, out = say(t, "check", "--emit=exe", dir); code != 2 {
		t.Errorf("code %d: %s", code, out)
	}
	expect(t, out, `--emit must be ir or wat but is "exe"`, "try: gamehoster check --help")
}

func TestCheckWritesTypes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dots")
	place(t, dir, dots)
	if code, out := say(t, "check", dir); code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	if entries, _ := filepath.Glob(dir + "/*.ts"); len(entries) > 0 {
		t.Errorf("check wrote %v", entries)
	}
	if code, out := say(t, "check", "--types", dir); code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	for name, want := range map[string]string{"bodies.d.ts": "interface PushCommand {", "gamehoster.d.ts": "interface Send {"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		expect(t, string(text), want)
	}
	// What was written is no source.
	if code, out := say(t, "check", dir); code != 0 || !strings.HasPrefix(out, "dots is fine") {
		t.Errorf("code %d: %s", code, out)
	}
}
