package door

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/wire/ws"
)

// took is what a Target was given.
type took struct {
	conn  net.Conn
	early string
}

// lobby is a Router that switches protocols under /ws and hands the connections
// to the test.
type lobby struct {
	t     testing.TB
	taken chan took

	mu      sync.Mutex
	clients []netip.AddrPort
	paths   []string
}

func (l *lobby) Route(q *ws.Request, client netip.AddrPort) Decision {
	l.mu.Lock()
	l.clients = append(l.clients, client)
	l.paths = append(l.paths, string(q.Path))
	l.mu.Unlock()
	switch string(q.Path) {
	case "/ws":
		return Decision{Response: ws.AppendResponse(nil, q.Key, ""), Target: TargetFunc(l.take)}
	case "/silent":
		return Decision{Target: TargetFunc(l.take)}
	case "/broken":
		return Decision{Response: ws.AppendResponse(nil, q.Key, ""), Target: TargetFunc(func(int, []byte) error { return errors.New("no") })}
	case "/forbidden":
		return Decision{Response: ws.AppendError(nil, 403, "origin")}
	case "/fault":
		panic("a fault of the router's")
	}
	return Decision{}
}

func (l *lobby) take(fd int, early []byte) error {
	f := os.NewFile(uintptr(fd), "taken")
	c, err := net.FileConn(f)
	_ = f.Close()
	if err != nil {
		l.t.Errorf("a taken descriptor is no connection: %v", err)
		return nil
	}
	l.taken <- took{c, string(early)}
	return nil
}

// start opens a door with two engines; cfg's other fields are the test's.
func start(t testing.TB, cfg Config) (*Door, *lobby) {
	t.Helper()
	l := &lobby{t: t, taken: make(chan took, 10_000)}
	cfg.Router = l
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if cfg.Engines == 0 {
		cfg.Engines = 2
	}
	d, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, l
}

func dial(t testing.TB, d *Door) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(await.Patience))
	return c.(*net.TCPConn)
}

func write(t testing.TB, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

func request(path string) (*ws.Dial, string) {
	a := &ws.Dial{Host: "play.example.com", Target: path}
	return a, string(a.AppendRequest(nil))
}

// accepted reads the answer to a and returns the reader behind it.
func accepted(t testing.TB, c net.Conn, a *ws.Dial) *bufio.Reader {
	t.Helper()
	r := bufio.NewReader(c)
	var head []byte
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		line, err := r.ReadBytes('\n')
		if err != nil {
			t.Fatalf("reading the answer: %v after %q", err, head)
		}
		head = append(head, line...)
	}
	if !a.Accepted(head) {
		t.Fatalf("not accepted: %q", head)
	}
	return r
}

// talk checks that the two ends of a handed-on connection reach each other.
func talk(t testing.TB, client net.Conn, r io.Reader, server net.Conn) {
	t.Helper()
	write(t, client, "ping")
	p := make([]byte, 4)
	_ = server.SetDeadline(time.Now().Add(await.Patience))
	if _, err := io.ReadFull(server, p); err != nil || string(p) != "ping" {
		t.Fatalf("the server's end read %q, %v", p, err)
	}
	write(t, server, "pong")
	if _, err := io.ReadFull(r, p); err != nil || string(p) != "pong" {
		t.Fatalf("the client's end read %q, %v", p, err)
	}
}

func TestUpgradeIsHandedOn(t *testing.T) {
	d, l := start(t, Config{})
	for range 20 {
		a, req := request("/ws?name=x")
		c := dial(t, d)
		write(t, c, req)
		r := accepted(t, c, a)
		got := await.Value(t, l.taken, "the handover")
		if got.early != "" {
			t.Errorf("early bytes %q", got.early)
		}
		talk(t, c, r, got.conn)
		_ = got.conn.Close() // the last copy: the client sees the end
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("a copy of the descriptor is still open: %v", err)
		}
	}
	if s := d.Stats(); s.Accepted != 20 || s.Upgraded != 20 || s.Failed != 0 {
		t.Errorf("stats %+v", s)
	}
	await.True(t, "the door to forget them", func() bool { return d.Stats().Pending == 0 })
}

func TestPipelinedFrameIsEarly(t *testing.T) {
	d, l := start(t, Config{})
	a, req := request("/ws")
	frame := string(ws.AppendMasked(nil, ws.OpBinary, [4]byte{1, 2, 3, 4}, []byte("first")))
	c := dial(t, d)
	write(t, c, req+frame)
	r := accepted(t, c, a)
	got := await.Value(t, l.taken, "the handover")
	if got.early != frame {
		t.Errorf("early bytes %q", got.early)
	}
	talk(t, c, r, got.conn)
}

func TestResponseMayBeLeftToTheTarget(t *testing.T) {
	d, l := start(t, Config{})
	_, req := request("/silent")
	c := dial(t, d)
	write(t, c, req)
	got := await.Value(t, l.taken, "the handover")
	talk(t, c, c, got.conn) // nothing comes before the target's own bytes
}

func TestHeadSplitAnywhere(t *testing.T) {
	d, l := start(t, Config{})
	_, req := request("/ws")
	want := req + "tail"
	for at := 1; at < len(want); at++ {
		a, req := request("/ws")
		c := dial(t, d)
		write(t, c, want[:at])
		if at < len(req) {
			await.True(t, "the first part to be read", func() bool { return unread(t, c) == 0 })
		}
		write(t, c, want[at:])
		accepted(t, c, a)
		got := await.Value(t, l.taken, "the handover")
		rest := make([]byte, 4-len(got.early))
		_ = got.conn.SetDeadline(time.Now().Add(await.Patience))
		if _, err := io.ReadFull(got.conn, rest); err != nil || got.early+string(rest) != "tail" {
			t.Fatalf("split at %d: early %q, then %q, %v", at, got.early, rest, err)
		}
		_ = got.conn.Close()
		_ = c.Close()
	}

	a, req := request("/ws")
	c := dial(t, d)
	for i := range req {
		write(t, c, req[i:i+1])
	}
	accepted(t, c, a)
	await.Value(t, l.taken, "the handover")
}

// unread is the number of bytes that c's peer has not acknowledged, which over
// loopback means not received; it is how the test sees that a write went alone.
func unread(t testing.TB, c *net.TCPConn) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// status reads an HTTP answer to the end of the connection.
func status(t testing.TB, c net.Conn) int {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("reading an answer: %v", err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatalf("reading an answer's body: %v", err)
	}
	return resp.StatusCode
}

func TestRefusals(t *testing.T) {
	d, _ := start(t, Config{})
	_, good := request("/ws")
	for _, c := range []struct {
		name, send string
		want       int
	}{
		{"garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		{"words", "hello world\r\n\r\n", 400},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"huge head", "GET /ws HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 100_000), 431},
		{"many headers", "GET /ws HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 10_000), 431},
		{"old version", strings.Replace(good, "Sec-WebSocket-Version: 13", "Sec-WebSocket-Version: 8", 1), 426},
		{"bad key", strings.Replace(good, "Sec-WebSocket-Key: A", "Sec-WebSocket-Key: !", 1), 400},
		{"post", strings.Replace(good, "GET", "POST", 1), 405},
		{"http 2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		{"unknown path", strings.Replace(good, "/ws", "/nobody", 1), 404},
		{"forbidden", strings.Replace(good, "/ws", "/forbidden", 1), 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := dial(t, d)
			// The door may answer and stop listening before all has been written.
			go func() { _, _ = io.WriteString(conn, c.send) }()
			if got := status(t, conn); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
	s := d.Stats()
	if s.TooLong != 2 || s.Refused != 2 || s.Malformed != 7 || s.Upgraded != 0 {
		t.Errorf("stats %+v", s)
	}
	await.True(t, "the refused to be gone", func() bool { return d.Stats().Pending == 0 })
}

func TestTargetThatFails(t *testing.T) {
	d, _ := start(t, Config{})
	a, req := request("/broken")
	c := dial(t, d)
	write(t, c, req)
	if _, err := accepted(t, c, a).ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection lives on: %v", err)
	}
	await.True(t, "the failure to be counted", func() bool { return d.Stats().Failed == 1 })
}

// Thousands whose handover fails are a line in the log each second.
func TestFailuresDoNotFillTheLog(t *testing.T) {
	var c clock
	var log bytes.Buffer
	d := &Door{cfg: Config{Now: c.now, Log: slog.New(slog.NewTextHandler(&log, nil))}}
	for range 3000 {
		c.Add(1e6)
		d.handed(&d.stats.upgraded, io.EOF)
	}
	if n := strings.Count(log.String(), "\n"); n != 3 || !strings.Contains(log.String(), "times=1000") {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

// clock is a time that a test moves.
type clock struct{ atomic.Int64 }

func (c *clock) now() int64 { return c.Load() }

// sweepNow has every engine sweep at the clock's time and waits for it.
func sweepNow(t testing.TB, d *Door) {
	t.Helper()
	for _, e := range d.engines {
		done := make(chan struct{})
		if e.requestSweep(func() { close(done) }) {
			await.Value(t, done, "a sweep")
		}
	}
}

func TestSlowHeadTimesOut(t *testing.T) {
	var now clock
	d, l := start(t, Config{Now: now.now, HeadTimeout: 5 * time.Second})
	_, req := request("/ws")
	var slow []*net.TCPConn
	for range 50 {
		slow = append(slow, dial(t, d))
	}
	await.True(t, "all to be accepted", func() bool { return d.Stats().Pending == 50 })
	for second := 1; second <= 4; second++ {
		now.Add(int64(time.Second))
		for _, c := range slow {
			write(t, c, req[second-1:second])
		}
		sweepNow(t, d)
	}
	if s := d.Stats(); s.Pending != 50 || s.TimedOut != 0 {
		t.Fatalf("stats after 4 s: %+v", s)
	}
	fresh := dial(t, d)
	await.True(t, "one more to be accepted", func() bool { return d.Stats().Pending == 51 })
	now.Add(int64(time.Second))
	sweepNow(t, d)
	if s := d.Stats(); s.Pending != 1 || s.TimedOut != 50 {
		t.Fatalf("stats after 5 s: %+v", s)
	}
	for _, c := range slow {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("a timed-out connection yields a byte")
		}
	}
	a, req := request("/ws")
	write(t, fresh, req)
	accepted(t, fresh, a)
	await.Value(t, l.taken, "the handover")
}

func TestRefusedPeerThatStays(t *testing.T) {
	var now clock
	d, _ := start(t, Config{Now: now.now})
	c := dial(t, d)
	write(t, c, "\x00")
	if got := status(t, c); got != 400 {
		t.Errorf("status %d", got)
	}
	sweepNow(t, d) // after what the engine was doing, so its deadline is set
	if s := d.Stats(); s.Pending != 1 {
		t.Errorf("stats %+v", s)
	}
	now.Add(partingTime)
	sweepNow(t, d)
	if s := d.Stats(); s.Pending != 0 || s.TimedOut != 0 {
		t.Errorf("stats %+v", s)
	}

	c = dial(t, d) // one that floods instead
	write(t, c, "\x00")
	_, err := io.Copy(c, io.LimitReader(zeros{}, 64<<20))
	if err == nil {
		t.Error("64 MiB were read from a refused peer")
	}
	await.True(t, "it to be cut", func() bool { return d.Stats().Pending == 0 })
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestHalfOpenFlood(t *testing.T) {
	const n, room = 2000, 500
	d, l := start(t, Config{MaxPending: room, Engines: 1})
	_, req := request("/ws")
	for range n {
		write(t, dial(t, d), req[:len(req)/2])
	}
	await.True(t, "the oldest to be evicted", func() bool {
		s := d.Stats()
		return s.Accepted == n && s.Pending == room && s.Evicted == n-room
	})
	// Those who come with a whole head are served all the same.
	a, req := request("/ws")
	c := dial(t, d)
	write(t, c, req)
	r := accepted(t, c, a)
	talk(t, c, r, await.Value(t, l.taken, "the handover").conn)
}

// TestPendingBytesAreBounded fills many heads as far as they go and measures.
func TestPendingBytesAreBounded(t *testing.T) {
	const n = 400
	d, _ := start(t, Config{Engines: 1})
	before := heap()
	head := "GET /ws HTTP/1.1\r\nHost: a\r\nX: "
	head += strings.Repeat("x", ws.MaxHead-1-len(head))
	for range n {
		write(t, dial(t, d), head)
	}
	await.True(t, "all heads to be read", func() bool {
		total := make(chan int, 1)
		d.engines[0].requestSweep(func() {
			sum := 0
			for p := d.engines[0].waiting.first; p != nil; p = p.next {
				sum += p.seen
			}
			total <- sum
		})
		return await.Value(t, total, "a sweep") == n*len(head)
	})
	each := (heap() - before) / n
	t.Logf("%d bytes of heap a connection, %d of them its head", each, len(head))
	if each > 32<<10 {
		t.Errorf("%d bytes of heap for a pending connection", each)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestPerAddressCap(t *testing.T) {
	d, _ := start(t, Config{MaxPerAddr: 10, Trusted: []netip.Prefix{}})
	var kept []*net.TCPConn
	for range 10 {
		kept = append(kept, dial(t, d))
	}
	await.True(t, "ten to be accepted", func() bool { return d.Stats().Pending == 10 })
	c := dial(t, d)
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the eleventh was not closed: %v", err)
	}
	if s := d.Stats(); s.PerAddr != 1 || s.Pending != 10 {
		t.Errorf("stats %+v", s)
	}
	_ = kept[0].Close()
	await.True(t, "one to be gone", func() bool { return d.Stats().Pending == 9 })
	a, req := request("/ws")
	c = dial(t, d)
	write(t, c, req)
	accepted(t, c, a)
}

func TestAFaultOfTheRouterCostsOneRequest(t *testing.T) {
	d, l := start(t, Config{})
	_, req := request("/fault")
	c := dial(t, d)
	write(t, c, req)
	if got := status(t, c); got != 500 {
		t.Errorf("status %d", got)
	}
	a, req := request("/ws")
	c = dial(t, d)
	write(t, c, req)
	accepted(t, c, a)
	await.Value(t, l.taken, "the handover")
}

// count is the number of connections that are counted for any address.
func (a *addrCounts) count() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.n {
		n += k
	}
	return n
}

func TestDescriptorsToSpare(t *testing.T) {
	for limit, want := range map[uint64]int{16: 12, 64: 48, 256: 192, 1024: 960, 1 << 20: 1<<20 - spareFiles, 1 << 40: 1<<30 - spareFiles} {
		if got := maxFiles(limit); got != want {
			t.Errorf("of %d descriptors the door takes %d, want %d", limit, got, want)
		}
	}
}

func TestShortOfDescriptors(t *testing.T) {
	d, _ := start(t, Config{MaxFiles: 3}) // every descriptor is one too many
	if got := status(t, dial(t, d)); got != 503 {
		t.Errorf("status %d", got)
	}
	if s := d.Stats(); s.Full != 1 || s.Pending != 0 {
		t.Errorf("stats %+v", s)
	}
}

func TestClientAddress(t *testing.T) {
	d, l := start(t, Config{Trusted: append(Loopback(), netip.MustParsePrefix("10.0.0.0/8"))})
	for _, c := range []struct{ header, want string }{
		{"", ""},
		{"X-Forwarded-For: 203.0.113.7\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: 203.0.113.7:4711\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: ::ffff:203.0.113.7\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: [2001:db8::1]:80\r\n", "[2001:db8::1]:0"},
		{"X-Forwarded-For: [2001:db8::1]\r\n", "[2001:db8::1]:0"},
		{"X-Forwarded-For: 1.1.1.1, 203.0.113.7\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: 1.1.1.1, 203.0.113.7, 10.2.3.4\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-For: 10.2.3.4\r\n", "203.0.113.7:0"},
		{"X-Forwarded-For: 10.1.1.1\r\n", "10.1.1.1:0"},
		{"X-Forwarded-For: 203.0.113.7, rubbish, 10.2.3.4\r\n", "10.2.3.4:0"},
		{"X-Forwarded-For: rubbish\r\n", ""},
	} {
		_, req := request("/nobody")
		conn := dial(t, d)
		write(t, conn, strings.Replace(req, "\r\n\r\n", "\r\n"+c.header+"\r\n", 1))
		if got := status(t, conn); got != 404 {
			t.Fatalf("%q: status %d", c.header, got)
		}
		want := c.want
		if want == "" {
			want = conn.LocalAddr().String()
		}
		l.mu.Lock()
		got := l.clients[len(l.clients)-1].String()
		l.mu.Unlock()
		if got != want {
			t.Errorf("%q: client %s, want %s", c.header, got, want)
		}
		r := &http.Request{RemoteAddr: conn.LocalAddr().String(), Header: http.Header{}}
		for line := range strings.SplitSeq(strings.TrimSuffix(c.header, "\r\n"), "\r\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		if got := d.Client(r).String(); got != want {
			t.Errorf("%q: client over net/http %s, want %s", c.header, got, want)
		}
	}

	d, l = start(t, Config{Trusted: []netip.Prefix{}})
	_, req := request("/nobody")
	conn := dial(t, d)
	write(t, conn, strings.Replace(req, "\r\n\r\n", "\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n", 1))
	status(t, conn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if got, want := l.clients[0].String(), conn.LocalAddr().String(); got != want {
		t.Errorf("an untrusted peer speaks for %s", got)
	}
}

func TestPortIsOurs(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0", ":0"} {
		t.Run(addr, func(t *testing.T) {
			if strings.Contains(addr, "::") && !hasIPv6() {
				addr = "0.0.0.0:0"
			}
			d, _ := start(t, Config{Addr: addr})
			port := d.Addr().Port()
			if port == 0 {
				t.Fatal("port 0 was not resolved")
			}
			if two, err := Open(Config{Addr: d.Addr().String(), Router: &lobby{}}); !errors.Is(err, syscall.EADDRINUSE) {
				t.Errorf("a second door on %s: %v", d.Addr(), err)
				if err == nil {
					_ = two.Close()
				}
			}
			_ = d.Close()
			again, err := Open(Config{Addr: d.Addr().String(), Router: &lobby{}})
			if err != nil {
				t.Fatalf("opening again: %v", err)
			}
			_ = again.Close()
		})
	}
	if _, err := Open(Config{Addr: "nonsense", Router: &lobby{}}); err == nil {
		t.Error("a nonsense address was accepted")
	}
	if _, err := Open(Config{Addr: "127.0.0.1:0"}); err == nil {
		t.Error("a door without a router was accepted")
	}
}

func hasIPv6() bool {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		_ = ln.Close()
	}
	return err == nil
}

func TestEveryEngineAccepts(t *testing.T) {
	d, _ := start(t, Config{Engines: 3})
	await.True(t, "every engine to have a connection", func() bool {
		_ = dial(t, d)
		for _, e := range d.engines {
			if !e.requestSweep(nil) {
				return false
			}
		}
		return true
	})
}

// TestEngineComesBack ends an engine the way a failing accept does.
func TestEngineComesBack(t *testing.T) {
	d, l := start(t, Config{Engines: 1})
	old := dial(t, d)
	await.True(t, "it to be accepted", func() bool { return d.Stats().Pending == 1 })
	d.engines[0].stop()
	if _, err := old.Read(make([]byte, 1)); err == nil {
		t.Error("a connection of the ended engine lives on")
	}
	await.True(t, "the engine to be started anew", func() bool {
		if d.Stats().Restarts == 0 { // the old one's listener may still be there
			return false
		}
		c, err := net.Dial("tcp", d.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	a, req := request("/ws")
	c := dial(t, d)
	write(t, c, req)
	r := accepted(t, c, a)
	talk(t, c, r, await.Value(t, l.taken, "the handover").conn)
}

func TestCloseLeavesNothing(t *testing.T) {
	once := func() {
		l := &lobby{t: t, taken: make(chan took, 10)}
		d, err := Open(Config{Addr: "127.0.0.1:0", Router: l, Engines: 3})
		if err != nil {
			t.Fatal(err)
		}
		var clients []*net.TCPConn
		for _, send := range []string{"", "GET", "\x00", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
			c := dial(t, d)
			write(t, c, send)
			clients = append(clients, c)
		}
		a, req := request("/ws")
		c := dial(t, d)
		write(t, c, req)
		r := accepted(t, c, a)
		got := await.Value(t, l.taken, "the handover")
		_ = d.Close()
		_ = d.Close()
		talk(t, c, r, got.conn) // what was handed on lives on
		_ = got.conn.Close()
		_ = c.Close()
		for _, c := range clients {
			_ = c.Close()
		}
		if _, err := d.HTTPListener().Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept after Close: %v", err)
		}
		if c, err := net.Dial("tcp", d.Addr().String()); err == nil {
			_ = c.Close()
			t.Error("somebody still accepts")
		}
	}
	once()
	files, routines := await.OpenFiles(t), runtime.NumGoroutine()
	for range 5 {
		once()
	}
	await.True(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= routines })
	if now := await.OpenFiles(t); now > files {
		t.Errorf("%d descriptors, %d before", now, files)
	}
}
