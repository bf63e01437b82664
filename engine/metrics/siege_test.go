package metrics

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
)

func nobody(time.Duration) []string { return nil }

// say opens a connection to the listener and writes what it is told.
func say(t *testing.T, base, what string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, what); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestHostTricks wants the listener of a machine's own address to answer to the machine's
// own names alone: a page whose name was made to lead here is from elsewhere.
func TestHostTricks(t *testing.T) {
	base := listen(t, New(func(string) bool { return false }), nobody)
	for _, c := range []struct {
		target, lines string
		want          int
	}{
		{"/healthz", "Host: localhost\r\n", 200},
		{"/healthz", "Host: localhost:7351\r\n", 200},
		{"/healthz", "Host: 127.0.0.1:7351\r\n", 200},
		{"/healthz", "Host: 127.9.9.9\r\n", 200},
		{"/healthz", "Host: [::1]:7351\r\n", 200},
		{"http://127.0.0.1:7351/healthz", "Host: evil.example\r\n", 200}, // the target's counts

		{"http://evil.example/healthz", "Host: localhost\r\n", 403},
		{"/healthz", "Host: evil.example\r\n", 403},
		{"/healthz", "Host: evil.example:7351\r\n", 403},
		{"/healthz", "Host: localhost.evil.example\r\n", 403},
		{"/healthz", "Host: 127.0.0.1.evil.example\r\n", 403},
		{"/healthz", "Host: localhost@evil.example\r\n", 400},
		{"/healthz", "Host: 192.0.2.1\r\n", 403},
		{"/healthz", "Host: 0.0.0.0\r\n", 403},
		{"/healthz", "Host: [::]:7351\r\n", 403},
		{"/healthz", "Host: 127.1\r\n", 403},
		{"/healthz", "Host: 2130706433\r\n", 403},
		{"/healthz", "Host: 0x7f000001:7351\r\n", 403},
		{"/healthz", "Host: localhost:7351:7351\r\n", 403},
		{"/healthz", "Host:\r\n", 403},
		{"/healthz", "", 400},
		{"/healthz", "Host: localhost\r\nHost: evil.example\r\n", 400},
		{"/healthz", "Host: localhost\r\nOrigin: http://localhost\r\n", 403},
		{"/healthz", "Host: localhost\r\nOrigin: null\r\n", 403},
		{"/healthz", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403},
		{"/healthz", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403},
		{"/debug/pprof/cmdline", "Host: evil.example\r\n", 403},
		{"/metrics", "Host: evil.example\r\n", 403},
		{"/", "Host: localhost\r\n", 404},
		{"/debug/pprof/../../../etc/passwd", "Host: localhost\r\n", 307}, // to /etc/passwd, which is
		{"/etc/passwd", "Host: localhost\r\n", 404},
		{"/debug/pprof/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "Host: localhost\r\n", 404},
		{"/metrics/../debug", "Host: localhost\r\n", 307},
	} {
		conn := say(t, base, "GET "+c.target+" HTTP/1.1\r\n"+c.lines+"Connection: close\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s with %q: %v", c.target, c.lines, err)
		}
		if resp.StatusCode != c.want {
			t.Errorf("%s with %q: %d, want %d", c.target, c.lines, resp.StatusCode, c.want)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDawdlersAreCut wants who holds a connection for next to nothing to lose it.
func TestDawdlersAreCut(t *testing.T) {
	base := listen(t, New(func(string) bool { return false }), nobody)
	const head = " HTTP/1.1\r\nHost: localhost\r\n"
	const kept = "GET /" + head + "\r\n"
	type end struct {
		name string
		err  error
	}
	ends := make(chan end)
	type dripping struct {
		net.Conn
		drips string
	}
	var open []dripping
	for _, d := range []struct{ name, says, drips string }{
		{"nothing", "", ""},
		{"a method without an end", "", "G"},
		{"a head, line by line", "GET /metrics" + head, "X: y\r\n"},
		{"a body", "POST /metrics" + head + "Content-Length: 1000000\r\n\r\n", "a"},
		{"a body that never comes", "GET /healthz" + head + "Content-Length: 1000000\r\n\r\n", ""},
		{"a body in pieces", "GET /healthz" + head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n"},
		{"a second head", kept + "GET /heal", "t"},
		{"a second body", kept + "POST /metrics" + head + "Content-Length: 1000000\r\n\r\n", "a"},
		{"a profile of one function", "POST /debug/pprof/symbol" + head + "Content-Length: 1000000\r\n\r\n", "0"},
	} {
		c := say(t, base, d.says)
		open = append(open, dripping{c, d.drips})
		go func() {
			_, err := io.Copy(io.Discard, c)
			ends <- end{d.name, err}
		}()
	}
	drip := time.NewTicker(200 * time.Millisecond)
	defer drip.Stop()
	for drips, left := 0, len(open); left > 0; {
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
		}
	}
}
