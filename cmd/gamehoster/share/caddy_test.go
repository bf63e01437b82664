package share_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gamehoster/cmd/gamehoster/share"
)

// proxy is a real Caddy with the Caddyfile of this package in front of a box.
type proxy struct {
	t       testing.TB
	address string // of https
	plain   string // of http
	admin   string // of its own interface
	config  string // path of the Caddyfile
	env     []string
	caddy   string // path of the program
	roots   *x509.CertPool
	*process
}

// front starts a Caddy. Its Caddyfile differs from the one of this package in what two
// tests on one machine would fight for: ports, and where things are kept.
func front(t testing.TB, root, backend string) *proxy {
	t.Helper()
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Fatal("there is no caddy; make tools-caddy installs it")
	}
	text, err := share.Files.ReadFile("Caddyfile")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := &proxy{
		t: t, caddy: caddy, config: filepath.Join(dir, "Caddyfile"),
		address: freePort(t), plain: freePort(t), admin: freePort(t),
	}
	_, https, _ := net.SplitHostPort(p.address)
	_, plain, _ := net.SplitHostPort(p.plain)
	own := fmt.Sprintf("{\n\thttps_port %s\n\thttp_port %s\n\tadmin %s\n\tskip_install_trust\n", https, plain, p.admin)
	before, after, found := bytes.Cut(text, []byte("\n{\n"))
	if !found {
		t.Fatal("the Caddyfile has no global options")
	}
	if err := os.WriteFile(p.config, slices.Concat(before, []byte("\n"+own), after), 0o600); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir,
		"GAMEHOSTER_ROOT="+root, "GAMEHOSTER_BACKEND="+backend, "GAMEHOSTER_ISSUER=internal")
	cmd := exec.Command(caddy, "run", "--adapter", "caddyfile", "--config", p.config)
	cmd.Env = p.env
	p.process = run(t, cmd)
	authority := filepath.Join(dir, "caddy/pki/authorities/local/root.crt")
	p.roots = x509.NewCertPool()
	await(t, "Caddy to run", func() bool {
		pem, err := os.ReadFile(authority)
		if err != nil || !p.roots.AppendCertsFromPEM(pem) {
			return false
		}
		c, err := net.Dial("tcp", p.address)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	return p
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// dial opens a connection with the certificate of a name, from an address of this machine.
func (p *proxy) dial(name, from string) (*tls.Conn, error) {
	d := &net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	// HTTP/1.1, as browsers open sockets.
	return tls.DialWithDialer(d, "tcp", p.address, &tls.Config{ServerName: name, RootCAs: p.roots, NextProtos: []string{"http/1.1"}})
}

// join opens a game's socket by way of Caddy.
func (p *proxy) join(t testing.TB, query, from string, lines ...string) *player {
	t.Helper()
	c, err := p.dial(domain, from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	j, err := join(c, query, lines...)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// answer is what came back, in a form to compare.
type answer struct {
	status int
	header http.Header
	body   string
}

// get asks for a path as it is written.
func (p *proxy) get(t testing.TB, method, path string, lines ...string) answer {
	t.Helper()
	c, err := p.dial(domain, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return ask(t, c, method, path, append([]string{"Host: " + domain}, lines...)...)
}

// ask asks for a path on a connection.
func ask(t testing.TB, c net.Conn, method, path string, lines ...string) answer {
	t.Helper()
	_ = c.SetDeadline(time.Now().Add(patience))
	head := fmt.Sprintf("%s %s HTTP/1.1\r\n%s\r\n\r\n", method, path, strings.Join(append(lines, "Connection: close"), "\r\n"))
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%s %s: %v after %q", method, path, err, whole)
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(whole)), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, whole)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// TestCaddy has the Caddyfile in a real Caddy, in front of a real box.
func TestCaddy(t *testing.T) {
	root := gamesRoot(t)
	box := supervise(t, root)
	// A token, so that what is under /api is there.
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a-long-secret-word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// 127.0.0.1, which Caddy comes from, is a proxy; 127.0.0.2 and on are anybody.
	backend := box.start("--token-file", token, "--trusted-proxies", "127.0.0.1/32", "--log-format", "json", "--drain-timeout", "1ms")
	p := front(t, root, box.address())

	t.Run("certificates", func(t *testing.T) {
		c, err := p.dial(domain, "127.0.0.1")
		if err != nil {
			t.Fatalf("a domain of the root: %v", err)
		}
		defer c.Close()
		if names := c.ConnectionState().PeerCertificates[0].DNSNames; !slices.Equal(names, []string{domain}) {
			t.Errorf("the certificate is for %v", names)
		}
		for _, name := range []string{
			"other.example.test", "example.test", "sub." + domain, "play.example.testing", "localhost",
			"_shared", game, "api", "internal", domain + ".evil.example",
		} {
			if c, err := p.dial(name, "127.0.0.1"); err == nil {
				t.Errorf("%s has a certificate", name)
				_ = c.Close()
			}
		}
	})

	t.Run("the gate is shut from outside", func(t *testing.T) {
		if a := p.get(t, "GET", "/internal/allow?domain="+domain); a.status != http.StatusNotFound {
			t.Errorf("status %d", a.status)
		}
		c, err := net.Dial("tcp", box.address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if a := ask(t, c, "GET", "/internal/allow?domain="+domain, "Host: localhost"); a.status != http.StatusOK {
			t.Errorf("status %d for Caddy itself", a.status)
		}
	})

	t.Run("library", func(t *testing.T) {
		for name, kind := range map[string]string{
			"gamehoster.js":     "text/javascript; charset=utf-8",
			"gamehoster.js.map": "application/json",
			"gamehoster.d.ts":   "text/plain; charset=utf-8",
		} {
			want, err := os.ReadFile(filepath.Join(root, domain, game, name))
			if err != nil {
				t.Fatal(err)
			}
			path := "/" + game + "/" + name
			a := p.get(t, "GET", path)
			if a.status != http.StatusOK || a.body != string(want) {
				t.Errorf("%s: status %d, %d bytes, want %d", name, a.status, len(a.body), len(want))
			}
			tag := a.header.Get("Etag")
			for header, want := range map[string]string{
				"Content-Type": kind, "Cache-Control": "no-cache", "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff",
			} {
				if got := a.header.Values(header); len(got) != 1 || got[0] != want {
					t.Errorf("%s: %s is %q, want %q", name, header, got, want)
				}
			}
			if a.header["Server"] != nil {
				t.Errorf("%s: it says who serves it: %v", name, a.header["Server"])
			}
			if a := p.get(t, "HEAD", path); a.status != http.StatusOK || a.body != "" || a.header.Get("Etag") != tag {
				t.Errorf("%s: HEAD has status %d, %d bytes, tag %s", name, a.status, len(a.body), a.header.Get("Etag"))
			}
			if a := p.get(t, "GET", path, "If-None-Match: "+tag); tag == "" || a.status != http.StatusNotModified {
				t.Errorf("%s: status %d for one who has %q", name, a.status, tag)
			}
			if a := p.get(t, "GET", path, `If-None-Match: "another"`); a.status != http.StatusOK {
				t.Errorf("%s: status %d for one who has another", name, a.status)
			}
			if a := p.get(t, "GET", path, "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" && len(want) > 1<<10 && kind != "text/plain; charset=utf-8" {
				t.Errorf("%s: it is not compressed: %v", name, a.header)
			}
		}
	})

	// All that is not there or not to be had is one answer, whoever gives it.
	t.Run("404", func(t *testing.T) {
		bare := p.get(t, "GET", "/nothing")
		delete(bare.header, "Date")
		if bare.status != http.StatusNotFound || bare.body != "" {
			t.Errorf("status %d, %q", bare.status, bare.body)
		}
		for _, ask := range []string{
			"GET /" + game + "/gamehoster-game.json", "GET /" + game + "/player.js", "GET /" + game + "/player.server.js",
			"GET /" + game + "/commands.js", "GET /" + game + "/page/index.html", "GET /" + game + "/bodies.d.ts",
			"GET /" + game, "GET /" + game + "/", "GET /", "GET /_shared/maths.js", "GET /_shared/gamehoster.js",
			"GET /nothing/gamehoster.js", "GET /" + game + "/gamehoster.js/",
			"GET /" + game + "/GAMEHOSTER.JS", "GET /" + game + "/gamehoster.js.map.map", "GET /" + game + "/gamehoster.js%00",
			"GET /" + game + "/..%2f" + game + "%2fgamehoster-game.json", "GET /.%2e/" + domain + "/" + game + "/player.js",
			"GET /" + game + "/%2e%2e/_shared/maths.js", "GET /" + game + "/gamehoster.js%2f..%2fplayer.js",
			"GET /" + game + "/../" + game + "/player.js", "GET /" + game + "/.gamehoster-1",
			"POST /" + game + "/gamehoster.js", "DELETE /" + game + "/gamehoster.js", "OPTIONS /" + game + "/gamehoster.js",
			"GET /internal/allow?domain=" + domain, "GET /internal/", "GET /api/games", "GET /api/", "GET /api/nothing",
			"GET /metrics", "GET /healthz", "GET /debug/pprof/", "GET /_dev/stats", "GET /favicon.ico",
		} {
			method, path, _ := strings.Cut(ask, " ")
			a := p.get(t, method, path)
			delete(a.header, "Date")
			if a.status != bare.status || a.body != bare.body || fmt.Sprint(a.header) != fmt.Sprint(bare.header) {
				t.Errorf("%s: %+v, want %+v", ask, a, bare)
			}
		}
	})

	// A spelling of the domain that is no folder's name is the backend's to read.
	t.Run("hosts", func(t *testing.T) {
		for host, status := range map[string]int{
			domain: http.StatusOK, strings.ToUpper(domain): http.StatusOK, domain + ".": http.StatusOK,
			domain + ":443": http.StatusOK, strings.ToUpper(domain) + ".:443": http.StatusOK,
			"other.example.test": http.StatusNotFound, "_shared": http.StatusNotFound, ".": http.StatusNotFound, "..": http.StatusNotFound,
			"..:443": http.StatusNotFound, domain + "..": http.StatusNotFound, "." + domain: http.StatusNotFound, "a@" + domain: http.StatusBadRequest,
			domain + "/" + game: http.StatusBadRequest, domain + "%2f..": http.StatusNotFound,
		} {
			c, err := p.dial(domain, "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			a := ask(t, c, "GET", "/"+game+"/gamehoster.js", "Host: "+host)
			_ = c.Close()
			if a.status != status {
				t.Errorf("%s: status %d, want %d", host, a.status, status)
			}
		}
	})

	t.Run("http leads to https", func(t *testing.T) {
		c, err := net.Dial("tcp", p.plain)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		path := "/" + game + "/gamehoster.js"
		if a := ask(t, c, "GET", path, "Host: "+domain); a.status != http.StatusPermanentRedirect || a.header.Get("Location") != "https://"+domain+path {
			t.Errorf("status %d to %q", a.status, a.header.Get("Location"))
		}
	})

	t.Run("the API", func(t *testing.T) {
		a := p.get(t, "GET", "/api/games", "Authorization: Bearer a-long-secret-word")
		if a.status != http.StatusOK || !strings.Contains(a.body, domain) {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		if a := p.get(t, "GET", "/api/games", "Authorization: Bearer another"); a.status != http.StatusNotFound {
			t.Errorf("status %d with another word", a.status)
		}
	})

	t.Run("players' addresses", func(t *testing.T) {
		const lie = "203.0.113.7"
		for i, lines := range [][]string{
			nil,
			{"X-Forwarded-For: " + lie},
			{"X-Forwarded-For: " + lie, "X-Forwarded-For: 127.0.0.1"},
			{"X-Forwarded-For: " + lie + ", 127.0.0.1"},
			{"x-forwarded-for: " + lie, "Forwarded: for=" + lie, "X-Real-IP: " + lie},
		} {
			from := fmt.Sprintf("127.0.1.%d", i+1)
			j := p.join(t, "", from, lines...)
			j.play(t, 3)
			_ = j.conn.Close()
			await(t, "the socket of "+from+" to be logged", func() bool { return backend.log.has(`"socket closed"`, `"peer":"`+from+`"`) })
		}
		// Somebody on the machine who goes past Caddy is no proxy.
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.2.1")}}
		c, err := d.DialContext(t.Context(), "tcp", box.address())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		j, err := join(c, "", "X-Forwarded-For: "+lie)
		if err != nil {
			t.Fatal(err)
		}
		j.play(t, 1)
		_ = c.Close()
		await(t, "the socket to be logged", func() bool { return backend.log.has(`"socket closed"`, `"peer":"127.0.2.1"`) })
		if backend.log.has(`"peer":"` + lie) {
			t.Error("a player has chosen an address")
		}
	})

	// Caddy before 2.7 closes the sockets of a configuration that is replaced. The seat
	// is kept, and what the library does at once gets it back.
	t.Run("a configuration is loaded anew", func(t *testing.T) {
		j := p.join(t, "?name=Ann", "127.0.0.1")
		j.play(t, 5)
		p.reload(t)
		if _, err := j.next(); err == nil {
			for err == nil {
				_, err = j.next()
			}
			t.Logf("the socket ended with: %v", err)
		}
		again := p.join(t, fmt.Sprintf("?resume=%x", j.welcome.Token), "127.0.0.1")
		if again.welcome.Player != j.welcome.Player || string(again.welcome.Name) != string(j.welcome.Name) {
			t.Errorf("player %d of %s came back as %d of %s", j.welcome.Player, j.welcome.Name, again.welcome.Player, again.welcome.Name)
		}
		again.play(t, 3)
	})

	// A box that is started anew is waited for, and libraries do not need it.
	t.Run("the box is started anew", func(t *testing.T) {
		backend.stop(t)
		if a := p.get(t, "GET", "/"+game+"/gamehoster.js"); a.status != http.StatusOK {
			t.Errorf("the library: status %d", a.status)
		}
		c, err := p.dial(domain, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		type joined struct {
			*player
			err error
		}
		came := make(chan joined, 1)
		go func() {
			j, err := join(c, "")
			came <- joined{j, err}
		}()
		box.start("--trusted-proxies", "127.0.0.1/32")
		j := <-came
		if j.err != nil {
			t.Fatalf("who came meanwhile: %v", j.err)
		}
		j.play(t, 3)
	})
}

// reload has Caddy take its configuration anew, as its unit's reload does.
func (p *proxy) reload(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.caddy, "reload", "--force", "--adapter", "caddyfile", "--config", p.config, "--address", p.admin)
	cmd.Env = p.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("loading the configuration anew: %v\n%s", err, out)
	}
}
