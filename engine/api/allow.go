package api

import (
	"net/http"
	"net/netip"

	"gamehoster/engine/web"
	"gamehoster/games"
)

// allow tells a proxy on this machine whether a name is a domain of the games root, before
// it gets a certificate for it. It is asked whenever a stranger sends a name that has none
// yet, so the answer is in memory. Who is not the proxy itself gets the bare 404: what the
// proxy passes on carries the address of whom it is for.
func (a *api) allow(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !local(r) || !a.asksFor(r) {
		web.NotFound(w)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// asksFor reports whether a request names a domain that is there.
func (a *api) asksFor(r *http.Request) bool {
	v, err := parameters(r, "domain")
	if err != nil {
		return false
	}
	domain, ok := games.Domain(v["domain"])
	return ok && a.Catalog.HasDomain(domain)
}

// local reports whether a request comes from this machine and was not passed on.
func local(r *http.Request) bool {
	for _, name := range []string{"X-Forwarded-For", "Forwarded"} {
		if _, passed := r.Header[name]; passed {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}
