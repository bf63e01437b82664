package engine_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// domains is a games root with a game of one name on each of some domains, no two of
// them alike, so that what is served tells whose it is.
func domains(t *testing.T, names ...string) string {
	root := t.TempDir()
	for i, name := range names {
		dir := filepath.Join(root, name, "dots")
		write(t, dir, "gamehoster-game.json", fmt.Sprintf(
			`{"tickRate": 20, "sendRate": 20, "player": {"fields": {"of%d": "u8 shared"}}}`, i))
		write(t, dir, "player.server.js", "export function join(player) { player.of"+strconv.Itoa(i)+" = 1; }\n")
	}
	return root
}

// A way is one of those by which a request comes: the first on its connection, which the
// door reads, or a later one, which net/http does, and an upgrade or not.
type way struct {
	name    string
	kept    bool // behind another request on the same connection
	upgrade bool
}

var ways = []way{
	{name: "library"},
	{name: "library, kept alive", kept: true},
	{name: "upgrade", upgrade: true},
	{name: "upgrade, kept alive", kept: true, upgrade: true},
}

// stranger is a connection on which a test writes what it likes.
type stranger struct {
	net.Conn
	r *bufio.Reader
}

func (s *server) stranger(t *testing.T) *stranger {
	t.Helper()
	return strange(t, s.addr)
}

func strange(t *testing.T, addr netip.AddrPort) *stranger {
	t.Helper()
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
		t.Fatal(err)
	}
	return &stranger{c, bufio.NewReader(c)}
}

// ask writes a request and reads the head of the answer to it.
func (c *stranger) ask(t *testing.T, request string) *http.Response {
	t.Helper()
	resp, err := c.tryAsk(request)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (c *stranger) tryAsk(request string) (*http.Response, error) {
	if _, err := c.Write([]byte(request)); err != nil {
		return nil, fmt.Errorf("%q: %w", request, err)
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", request, err)
	}
	return resp, nil
}

// answer sends a request line's target and the lines about hosts by a way, and tells
// whose game answers or with what status it is refused.
func (s *server) answer(t *testing.T, w way, target, lines string) string {
	t.Helper()
	c := s.stranger(t)
	if w.kept {
		if resp := c.ask(t, "GET /nothing HTTP/1.1\r\nHost: a.example\r\n\r\n"); resp.StatusCode != http.StatusNotFound || resp.ContentLength != 0 {
			t.Fatalf("the request before it: %v", resp)
		}
	}
	request := "GET " + target + " HTTP/1.1\r\n" + lines
	if w.upgrade {
		request += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	}
	resp := c.ask(t, request+"\r\n")
	switch resp.StatusCode {
	case http.StatusSwitchingProtocols:
		p := &peer{t: t, conn: c, reader: ws.NewReader(4<<20, ws.ClientSide), buf: make([]byte, 64<<10)}
		var err error
		if p.in, err = c.r.Peek(c.r.Buffered()); err != nil {
			t.Fatal(err)
		}
		p.in = bytes.Clone(p.in)
		p.until(wire.TagWelcome)
		for _, g := range s.Games() {
			if g.Hash == p.welcome.Hash {
				return g.Place.String()
			}
		}
		return "a game that is not live"
	case http.StatusOK:
		script, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range s.Games() {
			if bytes.Equal(script, g.Library.Script) {
				return g.Place.String()
			}
		}
		return "a file that is no game's library"
	}
	return strconv.Itoa(resp.StatusCode)
}

// What a request's lines about its host are judged to mean, whichever way it comes.
const (
	none = "404" // a host as good as any, which has no game here
	bad  = "400" // no host at all; the 404 of a host without games is as good an answer
)

// TestHostTricks wants all ways in to take a host for the same domain, or for none.
func TestHostTricks(t *testing.T) {
	s := serve(t, engine.Config{Root: domains(t, "a.example", "b.example", "bücher.example"), Transport: transport})
	const a, b, read = "a.example/dots", "b.example/dots", "xn--bcher-kva.example/dots"
	long := strings.Repeat("a", 63)
	for _, c := range []struct{ host, want string }{
		{"a.example", a},
		{"A.eXaMpLe", a},
		{"a.example.", a},
		{"A.EXAMPLE.:443", a},
		{"a.example:80", a},
		{"a.example:65535", a},
		{"  b.example\t", b},
		{"a.example:", a}, // RFC 3986 allows a port of no digits

		// Machines and no domains: the first game of the name.
		{"localhost", a},
		{"LOCALHOST.:7350", a},
		{"127.0.0.1", a},
		{"192.0.2.1:7350", a},
		{"[::1]", a},
		{"[2001:db8::1]:80", a},
		{"[::ffff:127.0.0.1]", a},

		// Other spellings of addresses are names that nobody has.
		{"127.1", none},
		{"0x7f000001", none},
		{"2130706433", none},
		{"0177.0.0.1", none},
		{"127.0.0.1.nip.example", none},

		// International names.
		{"xn--bcher-kva.example", read},
		{"XN--BCHER-KVA.Example.:1", read},
		{"xn--bcher-kvb.example", none},
		{"xn--.example", none},
		{"xn--a.example", none},
		{"b%C3%BCcher.example", none},

		// Near a domain, and not it.
		{"example", none},
		{"a.example.b.example", none},
		{"www.a.example", none},
		{"aa.example", none},
		{"a.example..", none},
		{".a.example", none},
		{"a..example", none},
		{"-a.example", none},
		{"_shared", none},
		{"a.example:80:80", none},
		{"a.example:http", none},
		{"a.example:-80", none},
		{"a.example:000080", none},
		{"a.example%00", none},
		{"a.example%2edots", none},
		{"*", none},
		{"*.example", none},
		{"..", none},
		{".", none},
		{long + "." + long + "." + long + "." + long + ".a.example", none},
		{strings.Repeat("a.", 2000) + "a.example", none},
		{"[::1", none},
		{"::1]", none},
		{"[[::1]]", none},
		{"[127.0.0.1]", none},
		{"[a.example]", none},
		{"[]", none},

		// What is no host: nothing of it may pass for one.
		{"user@a.example", bad},
		{"a.example@b.example", bad},
		{"user:password@a.example", bad},
		{"a.example/dots", bad},
		{"a.example\\b.example", bad},
		{"a.example?x", bad},
		{"a.example#x", bad},
		{"a.example b.example", bad},
		{"a.example,b.example", none},
		{"http://a.example", bad},
		{"a.example\x00", bad},
		{"a.ex\x7fample", bad},
		{"<a.example>", bad},
	} {
		for _, w := range ways {
			target := "/dots"
			if !w.upgrade {
				target += "/gamehoster.js"
			}
			got := s.answer(t, w, target, "Host: "+c.host+"\r\n")
			if got != c.want && (c.want != bad || got != none) {
				t.Errorf("%s, host %.80q: %s, want %s", w.name, c.host, got, c.want)
			}
		}
	}
}

// TestHostsInTargets wants the absolute form's host to be the one that counts, as RFC
// 9112 has it, and two hosts to be none.
func TestHostsInTargets(t *testing.T) {
	s := serve(t, engine.Config{Root: domains(t, "a.example", "b.example"), Transport: transport})
	const a, b = "a.example/dots", "b.example/dots"
	const host = "Host: a.example\r\n"
	for _, c := range []struct{ origin, lines, want string }{
		{"", host, a},
		{"http://b.example", host, b},
		{"HTTP://B.Example.:80", host, b},
		{"https://b.example", host, b},
		{"http://c.example", host, none},
		{"http://127.0.0.1", "Host: b.example\r\n", a},
		{"/", host, none}, // a path of an empty segment, and no host
		{"//b.example", host, none},
		{"/http://b.example", host, none},
		{"http://user@b.example", host, bad},
		{"http://a.example@b.example", host, bad},
		{"http://b.example#", host, bad},
		{"http:/b.example", host, bad},
		{"http://", host, bad},
		{"http:", host, bad},
		{"b.example", host, bad},
		{"b.example:80", host, bad},
		{"ftp://b.example", host, bad},
		{"file://", host, bad},
		{"javascript:", host, bad},
		{"http://b.example", "", bad},
		{"", "", bad},
		{"", host + host, bad},
		{"", host + "Host: b.example\r\n", bad},
		{"", "Host:\r\n", bad},
		{"", "Host : a.example\r\n", bad},
		{"", "Host: a.example\r\n b.example\r\n", bad},
		{"", "X-Forwarded-Host: b.example\r\n" + host, a},
		{"", "Forwarded: host=b.example\r\n" + host, a},
		{"", "X-Host: b.example\r\nX-Original-Url: /nothing\r\n" + host, a},
	} {
		for _, w := range ways {
			target := c.origin + "/dots"
			if !w.upgrade {
				target += "/gamehoster.js"
			}
			got := s.answer(t, w, target, c.lines)
			if got != c.want && (c.want != bad || got != none) {
				t.Errorf("%s, %q with %q: %s, want %s", w.name, target, c.lines, got, c.want)
			}
		}
	}
}
