package door

import (
	"iter"
	"net/http"
	"net/netip"
	"strings"
)

// Loopback are the prefixes of the machine itself: 127.0.0.0/8 and ::1.
func Loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func (d *Door) trusts(a netip.Addr) bool {
	for _, p := range d.cfg.Trusted {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// client is the address a request came from in the end: walking X-Forwarded-For
// from its right end, which the peer wrote, as long as the speaker is trusted.
// What an untrusted one says about those before it is worth nothing. A
// malformed element ends the walk at whoever passed it on.
func (d *Door) client(peer netip.AddrPort, forwarded iter.Seq[[]byte]) netip.AddrPort {
	if !d.trusts(peer.Addr()) {
		return peer
	}
	var chain []string
	for e := range forwarded {
		chain = append(chain, string(e))
	}
	at := peer
	for i := len(chain) - 1; i >= 0; i-- {
		a, ok := parseForwarded(chain[i])
		if !ok {
			break
		}
		at = netip.AddrPortFrom(a, 0)
		if !d.trusts(a) {
			break
		}
	}
	return at
}

// parseForwarded reads an address with or without port or brackets.
func parseForwarded(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		if ap, err2 := netip.ParseAddrPort(s); err2 == nil {
			a, err = ap.Addr(), nil
		} else if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
			a, err = netip.ParseAddr(s[1 : len(s)-1])
		}
	}
	if err != nil {
		return netip.Addr{}, false
	}
	return a.Unmap().WithZone(""), true
}

// Client is the address that a request served from the HTTPListener came from,
// by the same rules as Route's. The zero value if RemoteAddr is no address.
func (d *Door) Client(r *http.Request) netip.AddrPort {
	return d.client(peerOf(r.RemoteAddr), func(yield func([]byte) bool) {
		for _, line := range r.Header.Values("X-Forwarded-For") {
			for e := range strings.SplitSeq(line, ",") {
				if e = strings.TrimSpace(e); e != "" && !yield([]byte(e)) {
					return
				}
			}
		}
	})
}
