package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/engine/logs"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// crews are those who can run the games.
var crews = map[string]engine.Workers{"inline": {}, "pool": pooled}

// webLine is a line of the web log.
type webLine struct {
	Msg, Level, Peer, Host, Method, Path, Game, Instance, Reason string
	Time                                                         time.Time
	Status, Code                                                 int
	Player                                                       uint32
	Bytes                                                        *int64
	BytesIn                                                      int64 `json:"bytes_in"`
	BytesOut                                                     int64 `json:"bytes_out"`
	Duration                                                     *int64
}

// kept opens logs for a test.
func kept(t *testing.T) *logs.Logs {
	t.Helper()
	l, err := logs.Open(logs.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// webLines are the lines of the web log that match.
func webLines(t *testing.T, l *logs.Logs, f logs.Filter) (all []webLine, text string) {
	t.Helper()
	lines, err := l.Web.Query(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		var w webLine
		if err := json.Unmarshal(line, &w); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, w)
		text += string(line) + "\n"
	}
	return all, text
}

// TestWebLog wants a line for each request and each socket, with who it was and what it
// got, and no query in any: there are tokens of seats in some.
func TestWebLog(t *testing.T) {
	for name, crew := range crews {
		t.Run(name, func(t *testing.T) {
			l := kept(t)
			s := serve(t, engine.Config{Dir: duels(t), Workers: crew, Logs: l, Loops: loopsOf(crew)})
			ask := func(target, from string) {
				c, err := net.Dial("tcp", s.addr.String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: g.example\r\nConnection: close\r\nX-Forwarded-For: %s\r\n\r\n", target, from)
				if _, err := io.ReadAll(c); err != nil {
					t.Fatal(err)
				}
			}
			ask("/duel/gamehoster.js?resume=00ff00ff", "192.0.2.9")
			ask("/nothing/here?token=00ff00ff", "192.0.2.8")
			from := netip.MustParseAddr("192.0.2.7")
			p := dialFrom(t, s, from, "/duel?name=Ann&resume=00ff00ff")
			p.until(wire.TagSnapshot)
			p.write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{0x0f, 0xa0}))
			p.closed()
			p.conn.Close()
			if _, err := tryDial(t, s.addr, "/gone?name=00ff00ff", ""); err == nil {
				t.Error("a game that is not there takes sockets")
			}
			var all []webLine
			var text string
			await.True(t, "four lines", func() bool {
				all, text = webLines(t, l, logs.Filter{})
				return len(all) >= 4
			})
			if len(all) != 4 || strings.Contains(text, "00ff00ff") || strings.Contains(text, "Ann") {
				t.Fatalf("%d lines:\n%s", len(all), text)
			}
			by := map[string]webLine{}
			for _, w := range all {
				by[w.Msg+" "+w.Path] = w
				if w.Level != "INFO" || time.Since(w.Time).Abs() > time.Hour {
					t.Errorf("%+v", w)
				}
			}
			library := by["request /duel/gamehoster.js"]
			if library.Peer != "192.0.2.9" || library.Host != "g.example" || library.Method != "GET" || library.Status != 200 ||
				library.Bytes == nil || *library.Bytes < 1000 || library.Duration == nil || *library.Duration <= 0 {
				t.Errorf("the library: %s", text)
			}
			missing := by["request /nothing/here"]
			if missing.Peer != "192.0.2.8" || missing.Status != 404 || missing.Bytes == nil || *missing.Bytes != 0 {
				t.Errorf("what is not there: %s", text)
			}
			socket := by["socket closed /duel"]
			if socket.Peer != "192.0.2.7" || socket.Host != "x" || socket.Game != "localhost/duel" || socket.Instance != string(p.welcome.Name) ||
				socket.Player != p.welcome.Player || socket.Code != 4000 || socket.BytesIn < 8 || socket.BytesOut < 50 || socket.Duration == nil {
				t.Errorf("the socket: %s", text)
			}
			if refused := by["socket refused /gone"]; refused.Status != 404 || refused.Peer != "127.0.0.1" {
				t.Errorf("the refused one: %s", text)
			}
			if all, text = webLines(t, l, logs.Filter{Game: "localhost/duel"}); len(all) != 1 || all[0].Msg != "socket closed" {
				t.Errorf("of the game: %s", text)
			}
		})
	}
}

func loopsOf(w engine.Workers) int {
	if w.Pool {
		return 0
	}
	return 1
}

// TestDevKeepsQuiet wants an author's terminal to show what is missing, and not each file
// of a page. The log that is kept has all.
func TestDevKeepsQuiet(t *testing.T) {
	var terminal logbook
	l, err := logs.Open(logs.Options{Also: slog.NewTextHandler(&terminal, nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := duels(t)
	write(t, filepath.Join(dir, "duel", "page"), "index.html", "<!doctype html>")
	s := serve(t, engine.Config{Dir: dir, Dev: true, Logs: l})
	s.get(t, "/duel/")
	s.get(t, "/duel/nothing.js")
	await.True(t, "both to be logged", func() bool {
		all, _ := webLines(t, l, logs.Filter{})
		return len(all) == 2
	})
	if !terminal.contains("path=/duel/nothing.js", "status=404") || terminal.contains("path=/duel/ ") {
		t.Error(terminal.text.String())
	}
}

// scrape asks the operator's listener.
func scrape(t *testing.T, b *engine.Box, path string) (int, string) {
	t.Helper()
	res, err := http.Get("http://" + b.Admin() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// series is the value of a series; -1 where there is none.
func series(text, name string) float64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64); err == nil {
				return v
			}
		}
	}
	return -1
}

// TestMetrics plays and looks at what is told of that. It wants the same of loops of this
// process and of worker processes.
func TestMetrics(t *testing.T) {
	for name, crew := range crews {
		t.Run(name, func(t *testing.T) {
			dir := duels(t)
			write(t, filepath.Join(dir, "duel"), "gamehoster-game.json",
				`{"tickRate": 60, "sendRate": 30, "playersPerInstance": 2, "origins": "https://a.example", "player": {"fields": {"n": "u32 shared"}}}`)
			s := serve(t, engine.Config{Dir: dir, Workers: crew, Loops: loopsOf(crew), Admin: anyPort})
			p := dial(t, s.addr, "/duel")
			p.until(wire.TagSnapshot)
			p.play(10)
			if _, err := tryDial(t, s.addr, "/duel", "https://b.example"); err == nil {
				t.Error("a page of another site was let in")
			}
			const game = `{game="localhost/duel"`
			var text string
			await.True(t, "what was played to be told", func() bool {
				_, text = scrape(t, s.Box, "/metrics")
				return series(text, `gamehoster_messages_received_total`+game+`,type="ack"}`) >= 10
			})
			ticks := 0.0
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "gamehoster_tick_duration_seconds_count"+game) {
					v, _ := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
					ticks += v
				}
			}
			if ticks < 20 {
				t.Errorf("%v ticks", ticks)
			}
			for name, least := range map[string]float64{
				`gamehoster_instances` + game + `}`:                                1,
				`gamehoster_players` + game + `}`:                                  1,
				`gamehoster_sockets` + game + `}`:                                  1,
				`gamehoster_snapshots_total{cause="fresh",game="localhost/duel"}`:  1,
				`gamehoster_messages_sent_total` + game + `,type="welcome"}`:       1,
				`gamehoster_messages_sent_total` + game + `,type="delta"}`:         9,
				`gamehoster_message_bytes_sent_total` + game + `,type="snapshot"}`: 10,
				`gamehoster_sends_skipped_total` + game + `}`:                      0,
				`gamehoster_ticks_dropped_total` + game + `}`:                      0,
				`gamehoster_rewind_depth_ticks_count` + game + `}`:                 0,
				`gamehoster_replayed_ticks_total` + game + `}`:                     0,
				`gamehoster_origin_drops_total{stage="user"}`:                      1,
				`gamehoster_handoffs_total{to="game"}`:                             1,
				`gamehoster_gc_pause_seconds_count{worker="backend"}`:              0,
				`gamehoster_door_connections_total{result="accepted"}`:             2,
			} {
				if v := series(text, name); v < least {
					t.Errorf("%s is %v", name, v)
				}
			}
			for _, word := range []string{string(p.welcome.Name), "127.0.0.1"} {
				if strings.Contains(text, word) {
					t.Errorf("%q is told, of which there is no end", word)
				}
			}
			if code, text := scrape(t, s.Box, "/healthz"); code != http.StatusOK {
				t.Errorf("healthz: %d %s", code, text)
			}
			if code, _ := scrape(t, s.Box, "/debug/pprof/goroutine?debug=1"); code != http.StatusOK {
				t.Errorf("pprof: %d", code)
			}
		})
	}
}

// TestHealthOfALoop holds a loop up, and wants that to be told of it and not of the other.
func TestHealthOfALoop(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: duels(t), Loops: 2, Admin: anyPort})
	s.Hold(1500 * time.Millisecond)
	await.True(t, "a loop to be silent", func() bool {
		code, text := scrape(t, s.Box, "/healthz")
		return code == http.StatusServiceUnavailable && text == `{"healthy":false,"silent":["event loop 0"]}`+"\n"
	})
	await.True(t, "it to answer again", func() bool {
		code, _ := scrape(t, s.Box, "/healthz")
		return code == http.StatusOK
	})
}

// TestHealthOfAWorker does the same to a worker process.
func TestHealthOfAWorker(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: duels(t), Workers: pooled, Admin: anyPort})
	p := dial(t, s.addr, "/duel")
	p.until(wire.TagSnapshot)
	w := workerOf(t, s, p)
	kill(t, w.PID, syscall.SIGSTOP)
	await.True(t, "the worker to be silent", func() bool {
		code, text := scrape(t, s.Box, "/healthz")
		return code == http.StatusServiceUnavailable && strings.Contains(text, fmt.Sprintf("worker %d of localhost/duel", w.Shard))
	})
	kill(t, w.PID, syscall.SIGCONT)
	await.True(t, "it to answer again", func() bool {
		code, _ := scrape(t, s.Box, "/healthz")
		return code == http.StatusOK
	})
	// What it counted stays when it dies, and what it ran does not.
	p.play(2)
	kill(t, w.PID, syscall.SIGKILL)
	await.True(t, "it to be gone", func() bool {
		_, text := scrape(t, s.Box, "/metrics")
		return series(text, `gamehoster_instances{game="localhost/duel"}`) == 0 &&
			series(text, `gamehoster_snapshots_total{cause="fresh",game="localhost/duel"}`) >= 1
	})
}

// TestAdminAddressTaken wants a second box on a machine to do without the listener that it
// was not asked for, and to refuse one that it was.
func TestAdminAddressTaken(t *testing.T) {
	taken, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	b, err := engine.New(engine.Config{Addr: anyPort, Dir: duels(t), Admin: taken.Addr().String()})
	if err == nil {
		t.Fatalf("the box listens at %s", b.Admin())
	}
	if !strings.Contains(err.Error(), "--admin") {
		t.Error(err)
	}
}

// TestDeploysAreLogged wants the server log to tell what becomes of a game's files.
func TestDeploysAreLogged(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "d.example", "g")
	save := func(rate int, player string) {
		write(t, dir, "gamehoster-game.json", fmt.Sprintf(`{"tickRate": %d, "sendRate": 10, "player": {"fields": {"n": "u32 shared"}}}`, rate))
		write(t, dir, "player.js", player)
	}
	const good = "export function update(player) { player.n++; }\n"
	save(10, good)
	s := serve(t, engine.Config{Root: root, Loops: 1})
	expect := func(text string, parts ...string) {
		t.Helper()
		if err := s.Look(); err != nil {
			t.Fatal(err)
		}
		if !s.log.contains(append(parts, `msg="`+text, "game=d.example/g")...) {
			t.Errorf("not logged: %s", text)
		}
	}
	expect("a game is live", "definition=")
	save(20, good)
	expect("a game was replaced", "before=")
	save(20, "export function update(player) { player.m++; }\n")
	expect("a game was rejected", "player.js:1:", "level=ERROR")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	expect("a game was removed")
}
