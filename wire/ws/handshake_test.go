package ws

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="

// head makes a request of lines, each ended by CR LF, and the empty line.
func head(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }

// upgradeWith is a good upgrade of these further header lines.
func upgradeWith(lines ...string) string {
	return head(append([]string{"GET /pong?instance=a HTTP/1.1", "Host: play.example:8080", "Connection: keep-alive, Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + sampleKey}, lines...)...)
}

// handshake is the whole way of a request; upgrade tells a plain request from one that may be answered.
func handshake(q *Request, raw string) (upgrade bool, err error) {
	end, err := HeadEnd([]byte(raw), 0)
	if err != nil {
		return false, err
	}
	if end == 0 {
		return false, io.ErrUnexpectedEOF
	}
	if err := q.Parse([]byte(raw)[:end]); err != nil || !q.Upgrade {
		return false, err
	}
	return true, q.Handshake()
}

func TestHandshakeVerdicts(t *testing.T) {
	plain := func(line string, more ...string) string {
		return head(append([]string{line, "Host: a.example"}, more...)...)
	}
	upgradeLine := func(line string) string {
		return strings.Replace(upgradeWith(), "GET /pong?instance=a HTTP/1.1", line, 1)
	}
	without := func(name string) string {
		lines := strings.Split(upgradeWith(), "\r\n")
		return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, name+":") }), "\r\n")
	}
	const plainHTTP, accepted = false, true
	cases := []struct {
		name    string
		raw     string
		upgrade bool
		err     error
	}{
		{"good", upgradeWith(), accepted, nil},
		{"case of names and tokens", strings.NewReplacer("Connection", "CONNECTION", "Upgrade", "uPgRaDe", "websocket", "WebSocket").Replace(upgradeWith()), accepted, nil},
		{"white space around values", strings.ReplaceAll(upgradeWith("X: \t y \t"), ": websocket", ":\twebsocket \t"), accepted, nil},
		{"no white space after the colon", strings.ReplaceAll(upgradeWith(), ": ", ":"), accepted, nil},
		{"upgrade among others", strings.ReplaceAll(upgradeWith(), "Upgrade: websocket", "Upgrade: h2c , websocket"), accepted, nil},
		{"connection on two lines", strings.ReplaceAll(upgradeWith(), "Connection: keep-alive, Upgrade", "Connection: keep-alive\r\nConnection: Upgrade"), accepted, nil},
		{"extensions are passed over", upgradeWith("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"), accepted, nil},
		{"empty body", upgradeWith("Content-Length: 0"), accepted, nil},
		{"latin-1 in a value", upgradeWith("X: \xE9"), accepted, nil},
		{"empty value", upgradeWith("X:"), accepted, nil},

		{"page", plain("GET / HTTP/1.1"), plainHTTP, nil},
		{"post with a body", plain("POST /api HTTP/1.1", "Content-Length: 4"), plainHTTP, nil},
		{"HTTP/1.0 without a host", head("GET / HTTP/1.0"), plainHTTP, nil},
		{"HTTP/1.0 cannot upgrade", upgradeLine("GET / HTTP/1.0"), plainHTTP, nil},
		{"upgrade without the connection option", without("Connection"), plainHTTP, nil},
		{"connection without an upgrade", without("Upgrade"), plainHTTP, nil},
		{"another protocol", strings.ReplaceAll(upgradeWith(), "websocket", "h2c"), plainHTTP, nil},
		{"token with more to it", strings.ReplaceAll(upgradeWith(), "Upgrade: websocket", "Upgrade: websockets"), plainHTTP, nil},
		{"server-wide options", plain("OPTIONS * HTTP/1.1"), plainHTTP, nil},

		{"method", upgradeLine("POST / HTTP/1.1"), accepted, ErrMethod},
		{"lower-case method", upgradeLine("get / HTTP/1.1"), accepted, ErrMethod},
		{"body", upgradeWith("Content-Length: 5"), accepted, ErrBody},
		{"chunked body", upgradeWith("Transfer-Encoding: chunked"), accepted, ErrBody},
		{"both kinds of body", upgradeWith("Transfer-Encoding: chunked", "Content-Length: 5"), false, ErrDuplicate},
		{"version 8", strings.ReplaceAll(upgradeWith(), "Version: 13", "Version: 8"), accepted, ErrSocketVersion},
		{"two versions", strings.ReplaceAll(upgradeWith(), "Version: 13", "Version: 13, 8"), accepted, ErrSocketVersion},
		{"no version", without("Sec-WebSocket-Version"), accepted, ErrSocketVersion},
		{"no key", without("Sec-WebSocket-Key"), accepted, ErrKey},
		{"empty key", strings.ReplaceAll(upgradeWith(), sampleKey, ""), accepted, ErrKey},
		{"key of 15 bytes", strings.ReplaceAll(upgradeWith(), sampleKey, "dGhlIHNhbXBsZSBub25j"), accepted, ErrKey},
		{"key of 17 bytes", strings.ReplaceAll(upgradeWith(), sampleKey, "dGhlIHNhbXBsZSBub25jZSE="), accepted, ErrKey},
		{"key of 18 bytes", strings.ReplaceAll(upgradeWith(), sampleKey, "dGhlIHNhbXBsZSBub25jZSEh"), accepted, ErrKey},
		{"key without padding", strings.ReplaceAll(upgradeWith(), sampleKey, "dGhlIHNhbXBsZSBub25jZQ"), accepted, ErrKey},
		{"key no base64", strings.ReplaceAll(upgradeWith(), sampleKey, "dGhlIHNhbXBsZSBub25jZ!=="), accepted, ErrKey},
		{"subprotocol no token", upgradeWith("Sec-WebSocket-Protocol: a, b c"), accepted, ErrSocketProtocol},
		{"no subprotocol in the list", upgradeWith("Sec-WebSocket-Protocol: , "), accepted, ErrSocketProtocol},
		{"empty host", strings.ReplaceAll(upgradeWith(), "Host: play.example:8080", "Host:"), accepted, ErrHost},
		{"no host", without("Host"), false, ErrHost},

		{"two hosts", upgradeWith("Host: play.example:8080"), false, ErrDuplicate},
		{"two origins", upgradeWith("Origin: https://a.example", "Origin: https://a.example"), false, ErrDuplicate},
		{"two origins, one empty", upgradeWith("Origin:", "origin: https://a.example"), false, ErrDuplicate},
		{"two keys", upgradeWith("sec-websocket-key: " + sampleKey), false, ErrDuplicate},
		{"two version lines", upgradeWith("sec-websocket-version: 13"), false, ErrDuplicate},
		{"two lengths", upgradeWith("Content-Length: 0", "Content-Length: 0"), false, ErrDuplicate},
		{"two transfer encodings", upgradeWith("Transfer-Encoding: a", "Transfer-Encoding: b"), false, ErrDuplicate},
		{"five lines of forwarding", upgradeWith(slices.Repeat([]string{"X-Forwarded-For: 192.0.2.1"}, 5)...), false, ErrTooManyLines},
		{"host with a path", plain("GET / HTTP/1.1")[:22] + "a/b\r\n\r\n", false, ErrHost},
		{"host with userinfo", strings.ReplaceAll(upgradeWith(), "play.example", "user@play.example"), false, ErrHost},
		{"host not ASCII", strings.ReplaceAll(upgradeWith(), "play.example", "m\xC3\xBCnchen.example"), false, ErrHost},

		{"bare LF", strings.ReplaceAll(upgradeWith(), "websocket\r\n", "websocket\n"), false, ErrLineEnd},
		{"LF alone at the start", "\n" + upgradeWith(), false, ErrRequestLine},
		{"empty line at the start", "\r\n" + upgradeWith(), false, ErrRequestLine},
		{"bare CR in a value", upgradeWith("X: a\rb"), false, ErrHeaderValue},
		{"CR CR LF", upgradeWith("X: a\r"), false, ErrHeaderValue},
		{"NUL in a value", upgradeWith("X: a\x00b"), false, ErrHeaderValue},
		{"DEL in a value", upgradeWith("X: a\x7Fb"), false, ErrHeaderValue},
		{"NUL in a name", upgradeWith("X\x00: a"), false, ErrHeaderName},
		{"folded line", upgradeWith("X: a", " b"), false, ErrFolded},
		{"folded by tab", upgradeWith("X: a", "\tb"), false, ErrFolded},
		{"space before the colon", strings.ReplaceAll(upgradeWith(), "Host:", "Host :"), false, ErrHeaderName},
		{"no colon", upgradeWith("Nonsense"), false, ErrHeaderName},
		{"no name", upgradeWith(": a"), false, ErrHeaderName},
		{"name not ASCII", upgradeWith("X\xE9: a"), false, ErrHeaderName},
		{"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, ErrHTTPVersion},
		{"HTTP/0.9", "GET /\r\n\r\n", false, ErrRequestLine},
		{"version in lower case", plain("GET / http/1.1"), false, ErrRequestLine},
		{"two spaces", plain("GET  / HTTP/1.1"), false, ErrRequestLine},
		{"space in the target", plain("GET /a b HTTP/1.1"), false, ErrRequestLine},
		{"tab in the request line", plain("GET\t/ HTTP/1.1"), false, ErrRequestLine},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", false, ErrRequestLine},
		{"target without a slash", plain("GET a HTTP/1.1"), false, ErrTarget},
		{"target with a fragment", plain("GET /a#b HTTP/1.1"), false, ErrTarget},
		{"target not ASCII", plain("GET /\xC3\xA4 HTTP/1.1"), false, ErrTarget},
		{"target of CONNECT", plain("CONNECT a.example:443 HTTP/1.1"), false, ErrTarget},
		{"star for GET", plain("GET * HTTP/1.1"), false, ErrTarget},
		{"query alone", plain("GET ?a HTTP/1.1"), false, ErrTarget},
		{"strange scheme", plain("GET ftp://a.example/ HTTP/1.1"), false, ErrTarget},
		{"absolute without a host", plain("GET http:///a HTTP/1.1"), false, ErrHost},
		{"absolute with userinfo", plain("GET http://u@a.example/a HTTP/1.1"), false, ErrHost},
		{"head of 8192 bytes", pad(upgradeWith(), MaxHead), accepted, nil},
		{"head of 8193 bytes", pad(upgradeWith(), MaxHead+1), false, ErrHeadTooLong},
	}
	var q Request
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			upgrade, err := handshake(&q, c.raw)
			if err != c.err || upgrade != c.upgrade {
				t.Errorf("upgrade %v, error %v; want %v, %v", upgrade, err, c.upgrade, c.err)
			}
		})
	}
}

// pad makes a head longer by a header, to size bytes.
func pad(raw string, size int) string {
	const name = "X-Padding: "
	return strings.TrimSuffix(raw, "\r\n") + name + strings.Repeat("x", size-len(raw)-len(name)-2) + "\r\n\r\n"
}

func TestRequestFields(t *testing.T) {
	type fields struct {
		method, target, path, scheme, host string
		query, origin                      any // string, or nil for absence
		forwarded, protocols               []string
	}
	read := func(raw string) (f fields) {
		var q Request
		if _, err := handshake(&q, raw); err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		f = fields{method: string(q.Method), target: string(q.Target), path: string(q.Path), scheme: string(q.Scheme), host: string(q.Host)}
		if q.Query != nil {
			f.query = string(q.Query)
		}
		if q.Origin != nil {
			f.origin = string(q.Origin)
		}
		for e := range q.ForwardedFor.All {
			f.forwarded = append(f.forwarded, string(e))
		}
		for e := range q.Protocols.All {
			f.protocols = append(f.protocols, string(e))
		}
		if n := len(f.forwarded); n > 0 && f.forwarded[n-1] != string(q.ForwardedFor.Last()) || n == 0 && q.ForwardedFor.Last() != nil {
			t.Errorf("last forwarded is %q", q.ForwardedFor.Last())
		}
		return f
	}
	cases := []struct {
		raw  string
		want fields
	}{
		{upgradeWith(), fields{method: "GET", target: "/pong?instance=a", path: "/pong", query: "instance=a", host: "play.example:8080"}},
		{upgradeWith("Origin: https://play.example"), fields{method: "GET", target: "/pong?instance=a", path: "/pong", query: "instance=a", host: "play.example:8080", origin: "https://play.example"}},
		{upgradeWith("Origin:"), fields{method: "GET", target: "/pong?instance=a", path: "/pong", query: "instance=a", host: "play.example:8080", origin: ""}},
		{upgradeWith("X-Forwarded-For: 203.0.113.9,, 198.51.100.2 ", "X-Forwarded-For: 2001:db8::1"),
			fields{method: "GET", target: "/pong?instance=a", path: "/pong", query: "instance=a", host: "play.example:8080", forwarded: []string{"203.0.113.9", "198.51.100.2", "2001:db8::1"}}},
		{upgradeWith("Sec-WebSocket-Protocol: b,a", "Sec-WebSocket-Protocol: c"),
			fields{method: "GET", target: "/pong?instance=a", path: "/pong", query: "instance=a", host: "play.example:8080", protocols: []string{"b", "a", "c"}}},
		{head("GET http://other.example:99/a?b=/ HTTP/1.1", "Host: a.example"), fields{method: "GET", target: "http://other.example:99/a?b=/", scheme: "http", path: "/a", query: "b=/", host: "other.example:99"}},
		{head("GET WSS://[2001:db8::1]?b HTTP/1.1", "Host: a.example"), fields{method: "GET", target: "WSS://[2001:db8::1]?b", scheme: "WSS", path: "/", query: "b", host: "[2001:db8::1]"}},
		{head("GET http://other.example HTTP/1.1", "Host: a.example"), fields{method: "GET", target: "http://other.example", scheme: "http", path: "/", host: "other.example"}},
		{head("DELETE /a? HTTP/1.1", "Host:"), fields{method: "DELETE", target: "/a?", path: "/a", query: ""}},
		{head("GET //a.example/b HTTP/1.1", "Host: a.example"), fields{method: "GET", target: "//a.example/b", path: "//a.example/b", host: "a.example"}},
		{head("OPTIONS * HTTP/1.1", "Host: a.example"), fields{method: "OPTIONS", target: "*", path: "*", host: "a.example"}},
	}
	for _, c := range cases {
		got := read(c.raw)
		if got.method != c.want.method || got.target != c.want.target || got.path != c.want.path || got.scheme != c.want.scheme || got.host != c.want.host ||
			got.query != c.want.query || got.origin != c.want.origin || !slices.Equal(got.forwarded, c.want.forwarded) || !slices.Equal(got.protocols, c.want.protocols) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", c.raw, got, c.want)
		}
	}
}

// TestHeadEndByteByByte lets a head arrive in single bytes, with frames behind it.
func TestHeadEndByteByByte(t *testing.T) {
	raw := []byte(upgradeWith())
	stream := append(bytes.Clone(raw), "\x82\x80\r\n\r\n"...)
	for n := range len(stream) + 1 {
		end, err := HeadEnd(stream[:n], 0)
		if want := n / len(raw) * len(raw); err != nil || end != want {
			t.Fatalf("at once with %d of %d bytes: end %d, %v", n, len(raw), end, err)
		}
		if n > len(raw) {
			continue
		}
		if again, err := HeadEnd(stream[:n], max(n-1, 0)); err != nil || again != end {
			t.Fatalf("after %d of %d bytes: end %d, %v", n, len(raw), again, err)
		}
	}
	endless := bytes.Repeat([]byte("x"), MaxHead)
	for n := range len(endless) {
		if end, err := HeadEnd(endless[:n], max(n-1, 0)); end != 0 || err != nil {
			t.Fatalf("after %d bytes: end %d, %v", n, end, err)
		}
	}
	if _, err := HeadEnd(endless, MaxHead-1); err != error(ErrHeadTooLong) {
		t.Errorf("an endless head: %v", err)
	}
	if _, err := HeadEnd([]byte("GET / HTTP/1.1\n"), 14); err != error(ErrLineEnd) {
		t.Errorf("a bare LF: %v", err)
	}
}

// TestResponsesAreHTTP lets net/http read what is answered.
func TestResponsesAreHTTP(t *testing.T) {
	parse := func(raw []byte) (*http.Response, string) {
		t.Helper()
		rd := bufio.NewReader(bytes.NewReader(raw))
		resp, err := http.ReadResponse(rd, nil)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || rd.Buffered() > 0 {
			t.Fatalf("%q: %v, %d bytes left", raw, err, rd.Buffered())
		}
		return resp, string(body)
	}
	for _, e := range []*HandshakeError{ErrHeadTooLong, ErrLineEnd, ErrHTTPVersion, ErrMethod, ErrKey, ErrSocketVersion} {
		resp, body := parse(AppendRefusal(nil, e))
		if resp.StatusCode != e.Status || body != e.Reason+"\n" || !resp.Close || resp.Status[4:] != http.StatusText(e.Status) {
			t.Errorf("%v: %v %q", e, resp, body)
		}
		if v := resp.Header.Get("Sec-WebSocket-Version"); (v == "13") != (e.Status == 426) {
			t.Errorf("%v: Sec-WebSocket-Version %q", e, v)
		}
		if v := resp.Header.Get("Allow"); (v == "GET") != (e.Status == 405) {
			t.Errorf("%v: Allow %q", e, v)
		}
	}
	if resp, body := parse(AppendRefusal(nil, io.ErrUnexpectedEOF)); resp.StatusCode != 500 || body != "Internal Server Error\n" {
		t.Errorf("foreign error: %v %q", resp, body)
	}
	for _, status := range []int{400, 403, 404, 405, 408, 426, 429, 431, 500, 503, 505} {
		if resp, _ := parse(AppendError(nil, status, "why")); resp.Status[4:] != http.StatusText(status) {
			t.Errorf("%d has the phrase %q", status, resp.Status)
		}
	}
}

// TestDialAgainstServer brings both halves of the handshake together.
func TestDialAgainstServer(t *testing.T) {
	dial := Dial{Host: "a.example", Target: "/pong?thin=1", Origin: "https://a.example", Protocol: "x", Nonce: [16]byte{1, 2, 3}}
	var q Request
	upgrade, err := handshake(&q, string(dial.AppendRequest(nil)))
	if !upgrade || err != nil || string(q.Query) != "thin=1" || string(q.Origin) != dial.Origin || !q.Offers("x") {
		t.Fatalf("upgrade %v, %v: %+v", upgrade, err, q)
	}
	answer := AppendResponse(nil, q.Key, "x")
	if end, err := HeadEnd(answer, 0); err != nil || end != len(answer) || !dial.Accepted(answer) {
		t.Errorf("answer of %d bytes ends at %d, %v, and is not accepted: %q", len(answer), end, err, answer)
	}
	for _, wrong := range [][]byte{AppendError(nil, 404, "no"), AppendResponse(nil, []byte(sampleKey), ""), []byte("HTTP/1.1 101 x\r\n\r\n"), []byte("HTTP/1.1 101 x\r\nA: b"), nil} {
		if dial.Accepted(wrong) {
			t.Errorf("accepted %q", wrong)
		}
	}
}
