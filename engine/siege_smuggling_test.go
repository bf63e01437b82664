package engine_test

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"

	"gamehoster/engine"
)

// statusLine is where an answer begins, on a connection that is read to its end.
var statusLine = regexp.MustCompile(`HTTP/1\.1 (\d\d\d) `)

// TestSmuggledRequests has requests whose end a box and a proxy in front of it may see at
// different places, with another request in what may be a body. Each is refused with one
// answer and the connection's end, or its body is a body for all.
func TestSmuggledRequests(t *testing.T) {
	s := serve(t, engine.Config{Root: domains(t, "a.example"), Transport: transport})
	const (
		hidden = "GET /dots/gamehoster.js HTTP/1.1\r\nHost: a.example\r\n\r\n" // answered with 200
		post   = "POST /x HTTP/1.1\r\nHost: a.example\r\n"
		get    = "GET /x HTTP/1.1\r\nHost: a.example\r\n"
		socket = "GET /dots HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
	)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(hidden))
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden)
	for _, c := range []struct {
		name, request string
		want          string // the answers' statuses
		kept          string // the same where net/http has the connection, if they are others
	}{
		{"a body of a length", post + length + "\r\n" + hidden, "404", ""},
		{"a body in chunks", post + "Transfer-Encoding: chunked\r\n\r\n" + chunks, "404", ""},
		{"another request", get + "\r\n" + hidden, "404 200", ""},

		{"length and chunks", post + length + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, "400", "404"},
		{"chunks and length", post + "Transfer-Encoding: chunked\r\n" + length + "\r\n0\r\n\r\n" + hidden, "400", "404"},
		{"two lengths", post + "Content-Length: 0\r\n" + length + "\r\n" + hidden, "400", ""},
		{"the same length twice", post + length + length + "\r\n" + hidden, "400", "404"},
		{"a list of lengths", post + "Content-Length: 0, 0\r\n\r\n" + hidden, "400", ""},
		{"a length with a sign", post + "Content-Length: +0\r\n\r\n" + hidden, "400", ""},
		{"a negative length", post + "Content-Length: -1\r\n\r\n" + hidden, "400", ""},
		{"a length in hex", post + "Content-Length: 0x0\r\n\r\n" + hidden, "400", ""},
		{"a length beyond numbers", post + "Content-Length: 99999999999999999999\r\n\r\n" + hidden, "400", ""},
		{"a length and a space before the colon", post + "Content-Length : 0\r\n\r\n" + hidden, "400", ""},
		{"a folded length", post + "X: y\r\n Content-Length: 0\r\n\r\n" + hidden, "400", "404 200"},
		{"a coding that is no coding", post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden, "501", ""},
		{"two codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + hidden, "501", ""},
		{"a coding twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, "400", "501"},
		{"a coding and a control character", post + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n" + hidden, "400", ""},
		{"a line that ends in LF", "GET /x HTTP/1.1\nHost: a.example\n\n" + hidden, "400", "404 200"},
		{"a line with a CR", get + "X: a\rb\r\n\r\n" + hidden, "400", ""},
		{"a NUL", get + "X: a\x00b\r\n\r\n" + hidden, "400", ""},
		{"a chunk without a size", post + "Transfer-Encoding: chunked\r\n\r\n\r\n" + hidden, "404", ""},
		{"a chunk of a size beyond numbers", post + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n" + hidden, "404", ""},
		{"a chunk of a negative size", post + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + hidden, "404", ""},
		{"a version of long ago", "GET /x\r\n" + hidden, "400", ""},
		{"a version to come", "GET /x HTTP/2.0\r\nHost: a.example\r\n\r\n" + hidden, "505", ""},
		{"HTTP/2 from the start", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + hidden, "505", "404"},
		{"a method with a space", "GET  /x HTTP/1.1\r\nHost: a.example\r\n\r\n" + hidden, "400", ""},
		{"an empty line before", "\r\n" + get + "\r\n", "400", ""},

		// net/http takes lines that are folded or end in LF, as RFC 9112 allows, the same length
		// twice, and a length before the chunks that count: after those it closes.

		// Frames follow an upgrade, and no body does.
		{"an upgrade with a length", socket + length + "\r\n" + hidden, "400", ""},
		{"an upgrade in chunks", socket + "Transfer-Encoding: chunked\r\n\r\n" + chunks, "400", ""},
		{"an upgrade by POST", strings.Replace(socket, "GET", "POST", 1) + "\r\n" + hidden, "405", ""},
		{"an upgrade to HTTP/2", get + "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n" + hidden, "404 200", ""},
		{"an upgrade that is none", strings.Replace(socket, "13", "12", 1) + "\r\n" + hidden, "426", ""},
	} {
		for _, kept := range []bool{false, true} {
			request, want := c.request, c.want
			if kept {
				if c.kept != "" {
					want = c.kept
				}
				request, want = get+"\r\n"+request, "404 "+want
			}
			conn := s.stranger(t)
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			// Then it says no more, so that all ends.
			if err := conn.closeWrite(); err != nil {
				t.Fatal(err)
			}
			all, _ := io.ReadAll(conn.r) // a reset may end it
			var got []string
			for _, m := range statusLine.FindAllSubmatch(all, -1) {
				got = append(got, string(m[1]))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, kept alive %t: %v, want %s", c.name, kept, got, want)
			}
		}
	}
}

func (c *stranger) closeWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }
