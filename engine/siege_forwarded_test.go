package engine_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
)

// TestForwardedAddresses wants the log to name who a trusted proxy speaks for, and to
// believe nobody else. The gate and the caps of an address go by the same.
func TestForwardedAddresses(t *testing.T) {
	root := domains(t, "a.example")
	behind := serve(t, engine.Config{Root: root, Transport: transport})
	alone := serve(t, engine.Config{Root: root, Transport: transport, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}})
	const local, client, liar = "127.0.0.1", "192.0.2.1", "203.0.113.9"
	for n, c := range []struct{ lines, want string }{
		{"", local},
		{"X-Forwarded-For: 192.0.2.1", client},
		{"x-forwarded-for:192.0.2.1", client},
		{"X-Forwarded-For: 192.0.2.1:1234", client},
		{"X-Forwarded-For: ::ffff:192.0.2.1", client},
		{"X-Forwarded-For: 2001:db8::1", "2001:db8::1"},
		{"X-Forwarded-For: [2001:db8::1]:80", "2001:db8::1"},
		{"X-Forwarded-For: [2001:db8::1]", "2001:db8::1"},
		{"X-Forwarded-For: 2001:db8::1%eth0", "2001:db8::1"},

		// What a client has put there comes before what its proxy adds.
		{"X-Forwarded-For: 203.0.113.9, 192.0.2.1", client},
		{"X-Forwarded-For: 127.0.0.1, 192.0.2.1", client},
		{"X-Forwarded-For: " + strings.Repeat("203.0.113.9,", 500) + "192.0.2.1", client},
		{"X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 192.0.2.1", client},
		{"X-Forwarded-For: unknown, 192.0.2.1", client},
		{"X-Forwarded-For: 203.0.113.9, 192.0.2.1, 127.0.0.1", client}, // two proxies here

		// Whoever passed on what is no address is who asks.
		{"X-Forwarded-For:", local},
		{"X-Forwarded-For: ,,,", local},
		{"X-Forwarded-For: unknown", local},
		{"X-Forwarded-For: _hidden", local},
		{"X-Forwarded-For: 192.0.2.1, unknown", local},
		{"X-Forwarded-For: 192.0.2.1 203.0.113.9", local},
		{"X-Forwarded-For: 192.0.2.300", local},
		{"X-Forwarded-For: 0xC0000201", local},
		{"X-Forwarded-For: 3221225985", local},
		{"X-Forwarded-For: 192.0.2.1\t", client},
		{"X-Forwarded-For: \"192.0.2.1\"", local},
		{"X-Forwarded-For: 192.0.2.1; x", local},

		// Proxies here say it in one way.
		{"Forwarded: for=203.0.113.9", local},
		{"X-Real-Ip: 203.0.113.9", local},
		{"True-Client-Ip: 203.0.113.9", local},
		{"X-Client-Ip: 203.0.113.9\r\nX-Forwarded: 203.0.113.9", local},
		{"Via: 1.1 203.0.113.9", local},
		{"X_Forwarded_For: 203.0.113.9", local},
	} {
		for _, w := range ways[:2] {
			kept := fmt.Sprintf("%d-%t", n, w.kept)
			lines := "Host: a.example\r\n"
			if c.lines != "" {
				lines += c.lines + "\r\n"
			}
			for _, s := range []*server{behind, alone} {
				want := c.want
				if s == alone {
					want = local
				}
				if got := s.answer(t, w, "/row-"+kept, lines); got != none {
					t.Errorf("%.80q: %s", c.lines, got)
				}
				await.True(t, "the request to be logged", func() bool { return s.log.contains("path=/row-" + kept + " ") })
				if !s.log.contains("path=/row-"+kept+" ", "peer="+want+" ") || s.log.contains("path=/row-"+kept+" ", "peer="+liar) {
					t.Errorf("%.80q, kept alive %t, proxy trusted %t: not from %s", c.lines, w.kept, s == behind, want)
				}
			}
		}
	}
}
