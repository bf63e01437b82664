package engine_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/engine"
)

// call asks as the proxy does, on a connection that goes on, and gives the answer back
// whole but for its date.
func (c *stranger) call(method, target, lines string) (string, error) {
	resp, err := c.tryAsk(method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1:7350\r\n" + lines + "\r\n")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", method, target, err)
	}
	resp.Header.Del("Date")
	return fmt.Sprintf("%s %v %q", resp.Status, resp.Header, text), nil
}

// calls is call on a connection of its own.
func (s *server) calls(t *testing.T, method, target, lines string) string {
	t.Helper()
	got, err := s.stranger(t).call(method, target, lines)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestTricksAtTheCertificateGate wants a name to have a certificate if it is a domain's,
// however it is spelt, and nobody but the proxy on this machine to be told.
func TestTricksAtTheCertificateGate(t *testing.T) {
	s := serve(t, engine.Config{Root: domains(t, "a.example", "bücher.example", "localhost"), Transport: transport})
	nothing := s.calls(t, "GET", "/never-there", "")
	for _, c := range []struct {
		method, query, lines string
		yes                  bool
	}{
		{query: "domain=a.example", yes: true},
		{query: "domain=A.EXAMPLE", yes: true},
		{query: "domain=%61.example", yes: true},
		{query: "domain=xn--bcher-kva.example", yes: true},
		{query: "domain=XN--BCHER-KVA.example", yes: true},
		{query: "domain=b%C3%BCcher.example", yes: true},
		{query: "domain=localhost", yes: true}, // its folder is there

		{query: ""},
		{query: "domain"},
		{query: "domain="},
		{query: "domain=a.example."},
		{query: "domain=a.example:443"},
		{query: "domain=."},
		{query: "domain=.."},
		{query: "domain=../a.example"},
		{query: "domain=a.example/dots"},
		{query: "domain=a.example%2fdots"},
		{query: "domain=a.example%00"},
		{query: "domain=a.example%0a"},
		{query: "domain=%20a.example"},
		{query: "domain=+a.example"},
		{query: "domain=*.example"},
		{query: "domain=*"},
		{query: "domain=_shared"},
		{query: "domain=.a.example"},
		{query: "domain=a..example"},
		{query: "domain=www.a.example"},
		{query: "domain=example"},
		{query: "domain=user@a.example"},
		{query: "domain=http://a.example"},
		{query: "domain=127.0.0.1"},
		{query: "domain=[::1]"},
		{query: "domain=xn--bcher-kvb.example"},
		{query: "domain=a.example&domain=b.example"},
		{query: "domain=b.example&domain=a.example"},
		{query: "domain=a.example;domain=b.example"},
		{query: "domain=%zz"},
		{query: "DOMAIN=a.example"},
		{query: "domain[]=a.example"},
		{query: "domain=" + strings.Repeat("a", 7000)},
		{query: "domain=" + strings.Repeat("a.", 3000)},

		// It is the proxy's own question and not one that it passes on.
		{query: "domain=a.example", lines: "X-Forwarded-For: 192.0.2.1\r\n"},
		{query: "domain=a.example", lines: "X-Forwarded-For: 127.0.0.1\r\n"},
		{query: "domain=a.example", lines: "x-forwarded-for:\r\n"},
		{query: "domain=a.example", lines: "X-FORWARDED-FOR: 192.0.2.1\r\nX-Forwarded-For: 127.0.0.1\r\n"},
		{query: "domain=a.example", lines: "Forwarded: for=192.0.2.1\r\n"},
		{query: "domain=a.example", method: "POST", lines: "Content-Length: 0\r\n"},
		{query: "domain=a.example", method: "PUT", lines: "Content-Length: 0\r\n"},
		{query: "domain=a.example", method: "DELETE"},
		{query: "domain=a.example", method: "OPTIONS"},
	} {
		if c.method == "" {
			c.method = "GET"
		}
		target := "/internal/allow?" + c.query
		got := s.calls(t, c.method, target, c.lines)
		if c.yes != strings.HasPrefix(got, "200 OK ") || !c.yes && got != nothing {
			t.Errorf("%s %.80s %q: %.200s", c.method, target, c.lines, got)
		}
	}
	for _, target := range []string{"/internal/allow/?domain=a.example", "/internal//allow?domain=a.example", "/Internal/allow?domain=a.example",
		"/internal/allow;x?domain=a.example", "/internal/allow/x?domain=a.example", "/internal?domain=a.example", "//internal/allow?domain=a.example"} {
		if got := s.calls(t, "GET", target, ""); got != nothing {
			t.Errorf("%s: %.200s", target, got)
		}
	}
}

// randomName is one of the names that scanners send, never one of a.example's.
func randomName(r *rand.Rand) string {
	letters := []rune("abcdefghijklmnopqrstuvwxyz0123456789-")
	if r.IntN(4) == 0 {
		letters = []rune("aäßçéøþж漢字あ😀٣\u200d\u0301.-_%@:/[]*\x00\n ")
	}
	var b strings.Builder
	for range 1 + r.IntN(5) {
		for range 1 + r.IntN(20) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		b.WriteByte('.')
	}
	b.WriteString([]string{"example", "com", "a.example.net", "xn--p1ai", "xn--", "local"}[r.IntN(6)])
	return b.String()
}

// TestSiegeOfTheCertificateGate asks for 10,000 names, each of which would cost a
// certificate.
func TestSiegeOfTheCertificateGate(t *testing.T) {
	names := 10_000
	if testing.Short() {
		names = 1_000
	}
	s := serve(t, engine.Config{Root: domains(t, "a.example"), Transport: transport})
	nothing := s.calls(t, "GET", "/never-there", "")
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	var callers sync.WaitGroup
	const several = 7
	for n := range several {
		c := s.stranger(t)
		callers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for i := n; i < names; i += several {
				name := randomName(r)
				if got, err := c.call("GET", "/internal/allow?domain="+url.QueryEscape(name), ""); err != nil || got != nothing {
					t.Errorf("%q: %s, %v", name, got, err)
					return
				}
				if i%100 != 0 {
					continue
				}
				if got, err := c.call("GET", "/internal/allow?domain=a.example", ""); err != nil || !strings.HasPrefix(got, "200 ") {
					t.Errorf("between them, the name that is there: %s, %v", got, err)
					return
				}
			}
		})
	}
	callers.Wait()
	took := time.Since(began)
	s.log.forget()
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d names in %v, %d KB of memory more", names, took.Round(time.Millisecond), grown>>10)
	if grown > 2<<20 {
		t.Errorf("they left %d KB behind", grown>>10)
	}
}

// forget empties the log.
func (l *logbook) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Reset()
}
