package api

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gamehoster/engine/web"
)

func TestAllow(t *testing.T) {
	b := newBench(t)
	h := b.Config.Handler
	for _, c := range []struct {
		what, method, query, peer string
		head                      []string
		code                      int
	}{
		{"a domain that is there", "GET", "domain=a.example", "127.0.0.1:5", nil, 200}, {"by IPv6", "GET", "domain=a.example", "[::1]:5", nil, 200},
		{"by IPv4 in IPv6", "GET", "domain=a.example", "[::ffff:127.0.0.9]:5", nil, 200}, {"capitals", "GET", "domain=A.Example", "127.0.0.1:5", nil, 200},
		{"punycode", "GET", "domain=xn--bcher-kva.example", "127.0.0.1:5", nil, 200}, {"as it is written", "GET", "domain=b%C3%BCcher.example", "127.0.0.1:5", nil, 200},
		{"another domain", "GET", "domain=b.example", "127.0.0.1:5", nil, 404}, {"a subdomain", "GET", "domain=www.a.example", "127.0.0.1:5", nil, 404},
		{"a domain above", "GET", "domain=example", "127.0.0.1:5", nil, 404}, {"a suffix", "GET", "domain=a.example.evil.example", "127.0.0.1:5", nil, 404},
		{"a dot behind", "GET", "domain=a.example.", "127.0.0.1:5", nil, 404}, {"a port", "GET", "domain=a.example:443", "127.0.0.1:5", nil, 404},
		{"userinfo", "GET", "domain=me@a.example", "127.0.0.1:5", nil, 404}, {"a scheme", "GET", "domain=https://a.example", "127.0.0.1:5", nil, 404},
		{"a wildcard", "GET", "domain=*.example", "127.0.0.1:5", nil, 404}, {"an address", "GET", "domain=127.0.0.1", "127.0.0.1:5", nil, 404}, {"localhost", "GET", "domain=localhost", "127.0.0.1:5", nil, 404},
		{"NUL", "GET", "domain=a.example%00", "127.0.0.1:5", nil, 404}, {"traversal", "GET", "domain=../a.example", "127.0.0.1:5", nil, 404}, {"a path", "GET", "domain=a.example/dots", "127.0.0.1:5", nil, 404},
		{"bad punycode", "GET", "domain=xn--a", "127.0.0.1:5", nil, 404}, {"nothing", "GET", "domain=", "127.0.0.1:5", nil, 404}, {"no parameter", "GET", "", "127.0.0.1:5", nil, 404},
		{"two domains", "GET", "domain=a.example&domain=b.example", "127.0.0.1:5", nil, 404}, {"another parameter", "GET", "domain=a.example&x=1", "127.0.0.1:5", nil, 404},
		{"a long name", "GET", "domain=" + strings.Repeat("a.", 2000) + "example", "127.0.0.1:5", nil, 404}, {"a bad escape", "GET", "domain=%zz", "127.0.0.1:5", nil, 404},
		{"another method", "POST", "domain=a.example", "127.0.0.1:5", nil, 404}, {"and another", "HEAD", "domain=a.example", "127.0.0.1:5", nil, 404},
		{"another machine", "GET", "domain=a.example", "10.0.0.9:5", nil, 404}, {"this network", "GET", "domain=a.example", "192.168.0.2:5", nil, 404}, {"nobody", "GET", "domain=a.example", "", nil, 404},
		{"passed on", "GET", "domain=a.example", "127.0.0.1:5", []string{"X-Forwarded-For", "10.0.0.9"}, 404}, {"passed on for this machine", "GET", "domain=a.example", "127.0.0.1:5", []string{"X-Forwarded-For", "127.0.0.1"}, 404},
		{"passed on for nobody", "GET", "domain=a.example", "127.0.0.1:5", []string{"X-Forwarded-For", ""}, 404}, {"passed on in another way", "GET", "domain=a.example", "127.0.0.1:5", []string{"Forwarded", "for=10.0.0.9"}, 404},
	} {
		r := httptest.NewRequest(c.method, "/internal/allow", nil)
		r.URL.RawQuery, r.RemoteAddr = c.query, c.peer
		for i := 0; i < len(c.head); i += 2 {
			r.Header.Set(c.head[i], c.head[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		bare := httptest.NewRecorder()
		web.NotFound(bare)
		if w.Code != c.code || w.Body.Len() > 0 || c.code == 404 && fmt.Sprint(w.Header()) != fmt.Sprint(bare.Header()) {
			t.Errorf("%s was answered %d %v %q, want %d", c.what, w.Code, w.Header(), w.Body, c.code)
		}
	}
}

// Names that strangers make up cost no look at the disk, nor is any of them remembered.
func TestTenThousandNamesAreAskedFor(t *testing.T) {
	b := newBench(t)
	if err := os.RemoveAll(b.root); err != nil { // a look at it would show
		t.Fatal(err)
	}
	h := b.Config.Handler
	for i := range 10_000 {
		name, want := fmt.Sprintf("n%d-%x.example", i, i*2654435761), 404
		if i%100 == 0 {
			name, want = "a.example", 200
		}
		r := httptest.NewRequest("GET", "/internal/allow?domain="+name, nil)
		r.RemoteAddr = "127.0.0.1:5"
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != want {
			t.Fatalf("%s was answered %d", name, w.Code)
		}
	}
	if n := len(b.catalog.poked) + len(b.catalog.games); n > 0 {
		t.Fatalf("%d of the names are remembered", n)
	}
}
