package engine_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/wire"
)

// A dawdler is a way to hold a connection for next to nothing: it says something and
// then drips, a byte at a time, what may go on for ever.
type dawdler struct {
	name  string
	first string // has an answer, which is read
	says  string
	drips string // over and over again; none says nothing more
}

const (
	plainHead   = " HTTP/1.1\r\nHost: a.example\r\n"
	keptRequest = "GET /never-there" + plainHead + "\r\n"
	upgradeHead = "GET /asteroids" + plainHead + "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
)

var dawdlers = []dawdler{
	{name: "says nothing"},
	{name: "one letter", says: "G"},
	{name: "method without an end", drips: "G"},
	{name: "target without an end", says: "GET /", drips: "a"},
	{name: "head of a library, line by line", says: "GET /asteroids/gamehoster.js" + plainHead, drips: "X: y\r\n"},
	{name: "head of an upgrade, line by line", says: upgradeHead, drips: "X: y\r\n"},
	{name: "upgrade without a last line", says: upgradeHead + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"},
	{name: "body of a library", says: "GET /asteroids/gamehoster.js" + plainHead + "Content-Length: 1000000\r\n\r\n", drips: "a"},
	{name: "body that never comes", says: "POST /asteroids/" + plainHead + "Content-Length: 1000000\r\n\r\n"},
	{name: "body in pieces", says: "POST /asteroids/" + plainHead + "Transfer-Encoding: chunked\r\n\r\n", drips: "1\r\na\r\n"},
	{name: "piece without a size", says: "POST /asteroids/" + plainHead + "Transfer-Encoding: chunked\r\n\r\n", drips: "0"},
	{name: "body after asking whether to send it", says: "PUT /asteroids/x" + plainHead + "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n", drips: "a"},
	{name: "body of what looks like the API", says: "PUT /api/games/a.example/dots/files/a.js" + plainHead + "Authorization: Bearer x\r\nContent-Length: 1000000\r\n\r\n", drips: "a"},
	{name: "second head", first: keptRequest, drips: "G"},
	{name: "second head, line by line", first: keptRequest, says: "GET /asteroids/gamehoster.js" + plainHead, drips: "X: y\r\n"},
	{name: "upgrade behind another request", first: keptRequest, says: upgradeHead, drips: "X: y\r\n"},
	{name: "second body", first: keptRequest, says: "POST /asteroids/" + plainHead + "Content-Length: 1000000\r\n\r\n", drips: "a"},
}

// TestDawdlersAreCut has all of them come at once, and wants each to be cut while a
// player's ticks go on.
func TestDawdlersAreCut(t *testing.T) {
	t.Parallel() // it waits most of its time
	const each = 20
	var log logbook
	b := child(t, &log, childLimited+"=nofile=1024")
	p := dial(t, b.addr, "/asteroids")
	p.until(wire.TagSnapshot)
	before := b.files()
	type dripping struct {
		*dawdler
		net.Conn
	}
	var open []dripping
	type end struct {
		name string
		err  error
	}
	ends := make(chan end)
	for i := range dawdlers {
		d := &dawdlers[i]
		for range each {
			c := strange(t, b.addr)
			if d.first != "" {
				if resp := c.ask(t, d.first); resp.StatusCode != http.StatusNotFound {
					t.Fatalf("%s: %v", d.name, resp)
				}
			}
			if _, err := io.WriteString(c, d.says); err != nil {
				t.Fatalf("%s: %v", d.name, err)
			}
			open = append(open, dripping{d, c.Conn})
			go func() {
				_, err := io.Copy(io.Discard, c.r) // an answer may come before the end
				ends <- end{d.name, err}
			}()
		}
	}
	drip := time.NewTicker(200 * time.Millisecond)
	defer drip.Stop()
	began, drips := time.Now(), 0
	for left := len(open); left > 0; {
		select {
		case e := <-ends:
			left--
			if errors.Is(e.err, os.ErrDeadlineExceeded) {
				t.Errorf("%s: not cut in %v", e.name, await.Patience)
			}
		case <-drip.C:
			for _, c := range open {
				if n := len(c.drips); n > 0 {
					_, _ = io.WriteString(c, c.drips[drips%n:][:1]) // cut, perhaps: its reader tells
				}
			}
			drips++
			p.play(1)
		}
	}
	t.Logf("%d connections, the last was cut after %v", len(open), time.Since(began).Round(100*time.Millisecond))
	for _, c := range open {
		c.Close()
	}
	await.True(t, "their descriptors to be closed", func() bool { return b.files() <= before })
	log.mu.Lock()
	defer log.mu.Unlock()
	for line := range strings.Lines(log.text.String()) {
		// That the machine is busy elsewhere is no fault of theirs.
		if !strings.Contains(line, "level=INFO") && !strings.Contains(line, "ticks dropped") {
			t.Errorf("dawdlers are worth a warning: %s", line)
		}
	}
}

// TestUnreadAnswersHoldLittle has clients ask for a library again and again and read
// nothing of it.
func TestUnreadAnswersHoldLittle(t *testing.T) {
	t.Parallel()
	const clients, most = 100, 1 << 20 // of 9 MB of requests; a race detector takes its share
	b := besiege(t)
	honest := dial(t, b.addr, "/asteroids")
	honest.until(wire.TagSnapshot)
	honest.play(5)
	before := b.resident()
	requests := strings.Repeat("GET /asteroids/gamehoster.js"+plainHead+"\r\n", 100_000)
	refused := make(chan error)
	for range clients {
		c := b.connect()
		defer c.Close()
		go func() {
			// It takes what buffers hold, and then no more.
			_ = c.SetWriteDeadline(time.Now().Add(time.Second / 2)) // of an open socket
			_, err := io.WriteString(c, requests)
			refused <- err
		}()
	}
	for range clients {
		if err := await.Value(t, refused, "requests to be taken no more"); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("all requests were taken: %v", err)
		}
	}
	grown := (b.resident() - before) / clients
	t.Logf("who asks and does not read takes %d KB, at most %d", grown>>10, most>>10)
	if grown > most {
		t.Errorf("%d KB", grown>>10)
	}
	honest.play(30) // its game goes on
	resp, err := http.Get("http://" + b.addr.String() + "/asteroids/gamehoster.js")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if n, err := io.Copy(io.Discard, resp.Body); err != nil || n == 0 || resp.StatusCode != http.StatusOK {
		t.Errorf("beside them: status %d, %d bytes, %v", resp.StatusCode, n, err)
	}
}
