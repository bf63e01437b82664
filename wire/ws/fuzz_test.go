package ws

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzReader compares a Reader over random pieces with one over the whole stream and with the dumb twin.
func FuzzReader(f *testing.F) {
	for _, cases := range [][]conformance{casesFraming(), casesReserved(), casesFragmentation(), casesClose(), casesText()} {
		for _, c := range cases {
			if stream := bytes.Join(c.steps, nil); len(stream) < 2000 {
				f.Add(stream, uint64(len(stream)), uint16(1000), uint8(0))
			}
		}
	}
	server := AppendClose(AppendFrame(AppendFrame(nil, OpText, []byte("text")), OpBinary, make([]byte, 200)), CloseNormal, "bye")
	f.Add(server, uint64(1), uint16(300), uint8(ClientSide))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64, limit uint16, options uint8) {
		opts := Options(options) & (BinaryOnly | ClientSide)
		size := int(limit) + 1
		want := twin(stream, size, opts)
		for name, cut := range map[string]func(int) int{"whole": whole, "random": randomly(rand.New(rand.NewPCG(seed, 3)))} {
			if got, err := read(stream, size, opts, cut); !slices.Equal(got, want) {
				t.Errorf("%s: read %v, %v\ntwin %v", name, got, err, want)
			}
		}
		r := NewReader(size, opts)
		for in := bytes.Clone(stream); ; {
			ev, rest, err := r.Next(in)
			if cap(r.buf) > 2*len(stream) {
				t.Fatalf("a buffer of %d bytes for a stream of %d", cap(r.buf), len(stream))
			}
			if err != nil || ev.Op == OpContinuation {
				break
			}
			in = rest
		}
	})
}

// FuzzHandshake looks for panics, for heads whose end depends on how they came, and for
// requests that this package and net/http understand differently.
func FuzzHandshake(f *testing.F) {
	dial := Dial{Host: "a.example", Target: "/pong?thin=1", Origin: "https://a.example", Protocol: "x"}
	f.Add(dial.AppendRequest(nil), uint64(1))
	f.Add(AppendResponse(nil, []byte(sampleKey), ""), uint64(2))
	for i, raw := range []string{upgradeWith(), upgradeWith("X-Forwarded-For: 192.0.2.1, 192.0.2.2", "Content-Length: 0", "Origin:"),
		head("GET http://b.example:1/a?b HTTP/1.1", "Host: a.example"), head("OPTIONS * HTTP/1.0"), upgradeWith("Transfer-Encoding: chunked")} {
		f.Add([]byte(raw), uint64(i))
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		end, err := HeadEnd(raw, 0)
		cut, seen := randomly(rand.New(rand.NewPCG(seed, 4))), 0
		var piecewise int
		var failed error
		for seen < len(raw) && piecewise == 0 && failed == nil {
			n := seen + cut(len(raw)-seen)
			piecewise, failed = HeadEnd(raw[:n], seen)
			seen = n
		}
		if piecewise != end || failed != err {
			t.Fatalf("in pieces the end is %d, %v; at once %d, %v", piecewise, failed, end, err)
		}
		if end == 0 {
			return
		}
		var q Request
		if err := q.Parse(raw[:end]); err != nil {
			if out := AppendRefusal(nil, err); !bytes.HasPrefix(out, []byte("HTTP/1.1 4")) && !bytes.HasPrefix(out, []byte("HTTP/1.1 505")) {
				t.Fatalf("refused with %q", out)
			}
			return
		}
		if q.Upgrade && q.Handshake() == nil {
			if answer := AppendResponse(nil, q.Key, ""); len(q.Key) != 24 || !bytes.HasSuffix(answer, []byte("=\r\n\r\n")) {
				t.Fatalf("key %q is answered with %q", q.Key, answer)
			}
		}
		other, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw[:end])))
		if err != nil {
			return // net/http is stricter about some values of headers that we do not look at
		}
		if other.Method != string(q.Method) || other.RequestURI != string(q.Target) || other.Host != string(q.Host) {
			t.Fatalf("net/http reads %q %q %q, we %q %q %q", other.Method, other.RequestURI, other.Host, q.Method, q.Target, q.Host)
		}
		if q.Query != nil && string(q.Path) != "*" && other.URL.RawQuery != string(q.Query) {
			t.Fatalf("net/http reads the query %q, we %q", other.URL.RawQuery, q.Query)
		}
		origins, present := other.Header["Origin"]
		if present != (q.Origin != nil) || present && (len(origins) != 1 || origins[0] != string(q.Origin)) {
			t.Fatalf("net/http reads the origins %q, we %q", origins, q.Origin)
		}
		if q.Upgrade && !strings.EqualFold(strings.Join(other.Header["Sec-Websocket-Key"], "|"), string(q.Key)) {
			t.Fatalf("net/http reads the keys %q, we %q", other.Header["Sec-Websocket-Key"], q.Key)
		}
	})
}
