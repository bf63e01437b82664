package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/box"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

const (
	samples = "../games/localhost"
	anyPort = "127.0.0.1:0"
)

// logbook is a log that a test can read.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) contains(parts ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}

type server struct {
	*engine.Box
	addr    netip.AddrPort
	log     *logbook
	changes chan box.Change
}

// start runs a box until stop is called, which tells what the box ended with.
func start(t *testing.T, c engine.Config) (b *engine.Box, stop func() error) {
	t.Helper()
	c.Addr = anyPort
	if c.Transport == "" {
		c.Transport = transport
	}
	if c.Loops == 0 && !c.Workers.Pool {
		c.Workers = workers
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = time.Millisecond // the players of most tests do not leave by themselves
	}
	b, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return b, func() error {
		cancel()
		return <-done
	}
}

// serve runs a box for the length of a test.
func serve(t *testing.T, c engine.Config) *server {
	t.Helper()
	s := &server{log: &logbook{}, changes: make(chan box.Change, 100)}
	c.Log = slog.New(slog.NewTextHandler(s.log, nil))
	c.OnChange = func(ch box.Change) { s.changes <- ch }
	b, stop := start(t, c)
	s.Box, s.addr = b, b.Addr()
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("the box ended with %v", err)
		}
		if t.Failed() {
			t.Log(s.log.text.String())
		}
	})
	return s
}

func (s *server) get(t *testing.T, path string) (int, http.Header, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + s.addr.String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestTwoPlayersMeet(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples, Dev: true})
	a, b := dial(t, s.addr, "/asteroids?name=Ann"), dial(t, s.addr, "/asteroids?name=Ben")
	a.until(wire.TagSnapshot)
	b.until(wire.TagSnapshot)
	if !bytes.Equal(a.welcome.Name, b.welcome.Name) {
		t.Fatalf("seated in %s and %s", a.welcome.Name, b.welcome.Name)
	}
	if a.welcome.Player == b.welcome.Player || a.welcome.Player == 0 {
		t.Fatalf("players %d and %d", a.welcome.Player, b.welcome.Player)
	}
	before := a.tick
	a.play(10)
	if ran := a.tick - before; ran != 20 {
		t.Errorf("ten send ticks at 15 Hz advanced a game of 30 Hz by %d ticks", ran)
	}
}

func TestResumeTakesTheSeatOver(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples, Dev: true})
	a := dial(t, s.addr, "/asteroids")
	a.until(wire.TagSnapshot)
	token := fmt.Sprintf("%x", a.welcome.Token)

	b := dial(t, s.addr, "/asteroids?resume="+token)
	b.until(wire.TagSnapshot)
	if b.welcome.Player != a.welcome.Player {
		t.Errorf("resumed as player %d, was %d", b.welcome.Player, a.welcome.Player)
	}
	if code := a.closed(); code != wire.CloseTakenOver {
		t.Errorf("the old socket closed with %d", code)
	}
	b.conn.Close()
	c := dial(t, s.addr, "/asteroids?resume="+token)
	c.until(wire.TagSnapshot)
	if c.welcome.Player != a.welcome.Player {
		t.Errorf("resumed after a break as player %d, was %d", c.welcome.Player, a.welcome.Player)
	}
	d := dial(t, s.addr, "/asteroids?resume="+strings.Repeat("ab", 16))
	d.until(wire.TagSnapshot)
	if d.welcome.Player == a.welcome.Player {
		t.Error("a wrong token got another player's seat")
	}
}

func TestJoinByNameAndWatch(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples})
	a := dial(t, s.addr, "/pong")
	a.until(wire.TagSnapshot)
	name := string(a.welcome.Name)
	b := dial(t, s.addr, "/pong?instance="+name)
	b.until(wire.TagSnapshot)
	if code := dial(t, s.addr, "/pong?instance="+name).closed(); code != wire.CloseNoInstance {
		t.Errorf("a third player of two was closed with %d", code)
	}
	w := dial(t, s.addr, "/pong?watch=1&instance="+name)
	w.until(wire.TagSnapshot)
	if w.welcome.Player != 0 || string(w.welcome.Name) != name {
		t.Errorf("the spectator is player %d in %s", w.welcome.Player, w.welcome.Name)
	}
	c := dial(t, s.addr, "/pong")
	c.until(wire.TagSnapshot)
	if string(c.welcome.Name) == name {
		t.Error("a third player of two was seated in the full instance")
	}
}

func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	game := filepath.Join(dir, "strict")
	write(t, game, "gamehoster-game.json", `{"origins": "https://good.example", "player": {"fields": {"x": "f32 shared"}}}`)
	s := serve(t, engine.Config{Dir: dir})
	for _, c := range []struct{ name, target, origin, want string }{
		{"unknown game", "/nothing", "", "HTTP/1.1 404 Not Found"},
		{"deeper path", "/strict/more", "", "HTTP/1.1 404 Not Found"},
		{"bad origin", "/strict", "https://evil.example", "HTTP/1.1 403 Forbidden"},
		{"null origin", "/strict", "null", "HTTP/1.1 403 Forbidden"},
		{"bad query", "/strict?def=xyz", "", "HTTP/1.1 400 Bad Request"},
	} {
		if _, err := tryDial(t, s.addr, c.target, c.origin); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := tryDial(t, s.addr, "/strict", "https://good.example"); err != nil {
		t.Errorf("the good origin was refused: %v", err)
	}
	if code := dial(t, s.addr, "/strict?def=0000000000000000").closed(); code != wire.CloseOutdated {
		t.Errorf("another definition closed with %d", code)
	}
}

func TestMisbehaviourCostsItsSenderOnly(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples})
	honest := dial(t, s.addr, "/asteroids")
	honest.until(wire.TagSnapshot)
	honest.play(2)
	frame := func(m ...byte) []byte { return ws.AppendMasked(nil, ws.OpBinary, mask, m) }
	for _, c := range []struct {
		name string
		in   []byte
		code uint16
	}{
		{"text", ws.AppendMasked(nil, ws.OpText, mask, []byte("hello")), wire.CloseText},
		{"unknown tag", frame(0x77), wire.CloseMalformed},
		{"empty message", frame(), wire.CloseMalformed},
		{"short command", frame(0x01, 0, 0), wire.CloseMalformed},
		{"unknown command", frame(0x01, 0, 0, 0, 0, 1, 99), wire.CloseMalformed},
		{"seq that does not ascend", frame(0x01, 0, 0, 0, 0, 7, 0, 0, 0, 0), wire.CloseMalformed},
		{"overlong varint", frame(0x01, 0, 0, 0, 0, 0x81, 0x00, 0, 0, 0, 0), wire.CloseMalformed},
		{"trailing bytes", frame(append(wire.Ping{Nonce: 1}.Append(nil), 0)...), wire.CloseMalformed},
		{"unmasked", ws.AppendFrame(nil, ws.OpBinary, []byte{3}), wire.CloseMalformed},
		{"reserved opcode", []byte{0x83, 0x80, 0, 0, 0, 0}, wire.CloseMalformed},
		{"too big", ws.AppendMasked(nil, ws.OpBinary, mask, make([]byte, 5000)), wire.CloseTooBig},
		{"flood", bytes.Repeat(frame(wire.Ack{Tick: 1}.Append(nil)...), 5000), wire.CloseFlood},
	} {
		p := dial(t, s.addr, "/asteroids")
		p.until(wire.TagSnapshot)
		p.write(c.in)
		if code := p.closed(); code != c.code {
			t.Errorf("%s: closed with %d, want %d", c.name, code, c.code)
		}
		await.True(t, c.name+" in the log", func() bool {
			return s.log.contains("socket closed", fmt.Sprintf("code=%d", c.code), fmt.Sprintf("player=%d ", p.welcome.Player))
		})
		honest.play(1)
	}
	before := honest.tick
	honest.play(5)
	if honest.tick-before != 10 {
		t.Errorf("the honest player's stream went on by %d ticks in 5 sends", honest.tick-before)
	}
}

func TestPingPong(t *testing.T) {
	s := serve(t, engine.Config{Dir: samples})
	p := dial(t, s.addr, "/asteroids")
	p.until(wire.TagSnapshot)
	p.send(wire.Ping{Nonce: 42}.Append(nil))
	pong, err := wire.ParsePong(p.until(wire.TagPong))
	if err != nil || pong.Nonce != 42 {
		t.Fatalf("%+v, %v", pong, err)
	}
	if ahead := int32(pong.Tick - p.tick); ahead < 0 || ahead > 4 {
		t.Errorf("the pong is of tick %d, the newest send of %d", pong.Tick, p.tick)
	}
}

func TestAnEmptyInstanceEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: quick(t), Dev: true})
	p := dial(t, s.addr, "/quick")
	p.until(wire.TagSnapshot)
	name := string(p.welcome.Name)
	if _, _, stats := s.get(t, "/_dev/stats"); !strings.Contains(stats, name) {
		t.Fatalf("%s does not stand in %s", name, stats)
	}
	p.write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{3, 232}))
	p.closed()
	await.True(t, "the instance retires", func() bool {
		_, _, stats := s.get(t, "/_dev/stats")
		return !strings.Contains(stats, name)
	})
}

// quick is a folder with one small game.
func quick(t *testing.T) string {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "quick"), "gamehoster-game.json",
		`{"tickRate": 60, "sendRate": 30, "resumeSeconds": 0, "player": {"fields": {"n": "u32 shared"}}}`)
	write(t, filepath.Join(dir, "quick"), "player.js", "export function update(player) { player.n++; }\n")
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSavingReloads(t *testing.T) {
	dir := quick(t)
	s := serve(t, engine.Config{Dir: dir, Dev: true})
	if c := <-s.changes; c.New == nil {
		t.Fatalf("the game was rejected: %v", c.Findings)
	}
	p := dial(t, s.addr, "/quick")
	p.until(wire.TagSnapshot)

	write(t, filepath.Join(dir, "quick"), "player.js", "export function update(player) { player.m++; }\n")
	if c := <-s.changes; c.New != nil || !strings.Contains(c.Findings.Error(), "player.js:1:") {
		t.Fatalf("a broken body was not rejected: %+v", c)
	}
	p.play(3)

	write(t, filepath.Join(dir, "quick"), "player.js", "export function update(player) { player.n += 2; }\n")
	c := <-s.changes
	if c.New == nil || c.Old == nil {
		t.Fatalf("the mended game was not reloaded: %v", c.Findings)
	}
	if code := p.closed(); code != wire.CloseOutdated {
		t.Errorf("the old page's socket closed with %d", code)
	}
	p = dial(t, s.addr, fmt.Sprintf("/quick?def=%016x", c.New.Hash))
	p.until(wire.TagSnapshot)
}

func TestStopClosesWith1001(t *testing.T) {
	b, stop := start(t, engine.Config{Dir: samples})
	p := dial(t, b.Addr(), "/pong")
	p.until(wire.TagSnapshot)
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	if code := p.closed(); code != wire.CloseStopping {
		t.Errorf("closed with %d", code)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	run := func() {
		b, stop := start(t, engine.Config{Dir: samples})
		var peers []*peer
		for range 8 {
			p := dial(t, b.Addr(), "/asteroids")
			p.until(wire.TagSnapshot)
			peers = append(peers, p)
		}
		ended := make(chan error, 1)
		go func() { ended <- stop() }()
		for _, p := range peers {
			p.closed()
			p.conn.Close()
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	run() // the runtime's and gnet's own lazily made goroutines and descriptors
	goroutines, descriptors := runtime.NumGoroutine(), await.OpenFiles(t)
	for range 3 {
		run()
	}
	await.True(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	await.True(t, "descriptors close", func() bool { return await.OpenFiles(t) <= descriptors })
}

func TestWebSurface(t *testing.T) {
	dev := serve(t, engine.Config{Dir: samples, Dev: true})
	prod := serve(t, engine.Config{Dir: samples})
	status, head, body := prod.get(t, "/pong/gamehoster.js")
	if status != 200 || head.Get("ETag") == "" || head.Get("Cache-Control") != "no-cache" || len(body) < 1000 {
		t.Errorf("the library: %d %v, %d bytes", status, head, len(body))
	}
	req, err := http.NewRequest("GET", "http://"+prod.addr.String()+"/pong/gamehoster.js", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("If-None-Match", head.Get("ETag"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusNotModified {
		t.Errorf("asked again for the library: %d", resp.StatusCode)
	}
	for _, path := range []string{
		"/", "/pong", "/pong/", "/pong/page.js", "/nothing/gamehoster.js", "/api/games", "/_dev/stats",
		"/pong/gamehoster-game.json", "/pong/player.js", "/pong/../pong/player.js", "/pong/%2e%2e/pong/gamehoster-game.json",
	} {
		if status, head, body := prod.get(t, path); status != 404 || body != "" || len(head) != 2 {
			t.Errorf("%s: %d %q with headers %v, want the bare 404", path, status, body, head)
		}
	}
	for _, path := range []string{"/", "/pong/", "/asteroids/page.js", "/_dev/stats"} {
		if status, _, body := dev.get(t, path); status != 200 || body == "" {
			t.Errorf("dev %s: %d", path, status)
		}
	}
	for _, path := range []string{"/pong/gamehoster-game.json", "/pong/player.js", "/pong/page/index.html", "/pong/..%2fplayer.js", "/pong/.hidden"} {
		if status, _, _ := dev.get(t, path); status != 404 {
			t.Errorf("dev %s: %d, want 404", path, status)
		}
	}
}

func TestBadConfig(t *testing.T) {
	for want, c := range map[string]engine.Config{
		"listening on nowhere:0":       {Dir: samples, Addr: "nowhere:0"},
		"listening on 127.0.0.1:70000": {Dir: samples, Addr: "127.0.0.1:70000"},
		"one folder with games":        {Addr: anyPort},
		"and no more than one":         {Addr: anyPort, Dir: samples, Root: samples},
		`--transport: "tcp" is not`:    {Addr: anyPort, Dir: samples, Transport: "tcp"},
		"--max-workers: -1 is less":    {Addr: anyPort, Dir: samples, Workers: engine.Workers{Pool: true, Max: -1}},
		"--late-tick-trace: worker":    {Addr: anyPort, Dir: samples, Workers: engine.Workers{Pool: true}, LateTickTrace: t.TempDir()},
		"--late-tick-trace: making":    {Addr: anyPort, Dir: samples, LateTickTrace: "engine_test.go"},
	} {
		if _, err := engine.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := engine.New(engine.Config{Dir: samples, Addr: l.Addr().String()}); err == nil {
		t.Error("a port in use was opened")
	}
}
