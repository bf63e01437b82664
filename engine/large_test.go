package engine_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
)

// A state of a megabyte is much for a game, and has to reach its players all the same.
func TestALargeStateReachesItsPlayers(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vast"), "gamehoster-game.json", `{"tickRate": 20, "sendRate": 10, "shardInstances": 2,
		"player": {"fields": {"n": "u32 shared"}},
		"entities": {"thing": {"max": 20000, "fields": {"a": "f64 sent", "b": "f64 sent", "c": "f64 sent", "d": "f64 sent", "e": "f64 sent", "f": "f64 sent"}}}}`)
	write(t, filepath.Join(dir, "vast"), "instance.server.js",
		"export function start() {\n\tfor (let i = 0; i < 20000; i++) {\n\t\tconst thing = game.things.spawn();\n\t\tif (thing) thing.a = i;\n\t}\n}\n")
	s := serve(t, engine.Config{Dir: dir})
	for _, query := range []string{"", "?thin=1", "?watch=1"} {
		p := dial(t, s.addr, "/vast"+query)
		if m := p.until(wire.TagSnapshot); len(m) < 20000*48 {
			t.Errorf("vast%s: a snapshot of %d bytes", query, len(m))
		}
		p.play(3)
	}
}

// A request whose body never comes must not keep its connection: nobody asked for one.
func TestABodyThatNeverComes(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: samples})
	var open []net.Conn
	for _, head := range []string{
		"POST /pong/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
		"POST /pong/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
		"GET /pong/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
	} {
		c, err := net.Dial("tcp", s.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if _, err := fmt.Fprint(c, head); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	for i, c := range open {
		if err := c.SetReadDeadline(time.Now().Add(await.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Errorf("connection %d: %v", i, err)
		}
	}
}
