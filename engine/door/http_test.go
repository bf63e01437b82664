package door

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
)

// serveHTTP runs net/http on the door.
func serveHTTP(t testing.TB, d *Door) {
	s := &http.Server{Handler: d.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("reading a body: %v", err)
		}
		fmt.Fprintf(w, "%s %s %q", r.Method, r.URL.Path, body)
	}))}
	done := make(chan error, 1)
	go func() { done <- s.Serve(d.HTTPListener()) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := await.Value(t, done, "the server to stop"); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestPlainHTTP(t *testing.T) {
	d, _ := start(t, Config{})
	serveHTTP(t, d)
	var dials atomic.Int32
	transport := &http.Transport{DialContext: func(_ context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return net.Dial(network, addr)
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: await.Patience}
	get := func(method, path, body string) string {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+d.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(got)
	}
	for i := range 5 {
		path := fmt.Sprintf("/file%d.js", i)
		if got := get("GET", path, ""); got != "GET "+path+` ""` {
			t.Errorf("got %q", got)
		}
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections for five requests", n)
	}
	transport.CloseIdleConnections()
	big := strings.Repeat("b", 200_000)
	if got, want := get("PUT", "/api", big), fmt.Sprintf("PUT /api %q", big); got != want {
		t.Errorf("a body of %d bytes came back as %d", len(big), len(got))
	}
	if s := d.Stats(); s.HTTP != 2 || s.Failed != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestUpgradeOnKeptAliveConnection(t *testing.T) {
	d, l := start(t, Config{})
	serveHTTP(t, d)
	c := dial(t, d)
	r := bufio.NewReader(c)
	plain := func() {
		t.Helper()
		write(t, c, "GET /a HTTP/1.1\r\nHost: play.example.com\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != `GET /a ""` {
			t.Fatalf("got %q, %v", body, err)
		}
	}
	plain()
	plain()
	a, req := request("/ws?x=y")
	write(t, c, req+"early")
	br := accepted(t, c, a)
	got := await.Value(t, l.taken, "the handover")
	rest := make([]byte, 5-len(got.early))
	_ = got.conn.SetDeadline(time.Now().Add(await.Patience))
	if _, err := io.ReadFull(got.conn, rest); err != nil || got.early+string(rest) != "early" {
		t.Fatalf("early %q, then %q, %v", got.early, rest, err)
	}
	talk(t, c, br, got.conn)

	for path, want := range map[string]int{"/nobody": 404, "/forbidden": 403} {
		c = dial(t, d)
		r = bufio.NewReader(c)
		plain()
		_, req = request(path)
		write(t, c, req)
		if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != want {
			t.Errorf("%s: %v, %v", path, resp, err)
		}
	}
	c = dial(t, d)
	r = bufio.NewReader(c)
	plain()
	_, req = request("/ws")
	write(t, c, strings.Replace(req, "Version: 13", "Version: 12", 1))
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 426 {
		t.Errorf("old version: %v, %v", resp, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.paths)
	if want := []string{"/forbidden", "/nobody", "/ws"}; !slices.Equal(l.paths, want) {
		t.Errorf("routed %v", l.paths)
	}
}

// What net/http keeps alive counts for its address until it ends, however it ends.
func TestPerAddressCapOfPlainHTTP(t *testing.T) {
	const limit = 3
	d, l := start(t, Config{MaxPerAddr: limit, Trusted: []netip.Prefix{}})
	serveHTTP(t, d)
	get := func() *net.TCPConn {
		t.Helper()
		c := dial(t, d)
		write(t, c, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
		if got := status(t, c); got != 200 {
			t.Fatalf("status %d", got)
		}
		return c
	}
	full := func() bool {
		c := dial(t, d)
		defer c.Close()
		if _, err := c.Write([]byte("GET /a HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
			return true
		}
		_, err := c.Read(make([]byte, 1))
		return err != nil
	}
	for range 3 {
		var kept []*net.TCPConn
		for range limit {
			kept = append(kept, get())
		}
		if !full() {
			t.Error("one more than the cap was served")
		}
		for _, c := range kept {
			_ = c.Close()
		}
		await.True(t, "the address to have room again", func() bool { return d.addrs.count() == 0 })
	}
	c := get()
	a, req := request("/ws")
	write(t, c, req)
	accepted(t, c, a)
	await.Value(t, l.taken, "the handover")
	await.True(t, "the upgraded one to be counted elsewhere", func() bool { return d.addrs.count() == 0 })
}

func TestHTTPBacklog(t *testing.T) {
	d, _ := start(t, Config{Engines: 1}) // nobody accepts
	req := "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	for range httpBacklog {
		write(t, dial(t, d), req)
	}
	await.True(t, "the backlog to fill", func() bool { return d.Stats().HTTP == httpBacklog })
	c := dial(t, d)
	write(t, c, req)
	if got := status(t, c); got != 503 {
		t.Errorf("status %d", got)
	}
}
