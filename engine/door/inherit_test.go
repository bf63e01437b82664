package door

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
)

// kept is a listening socket that somebody else than the door keeps.
func kept(t testing.TB, address string) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener)
}

// again is another listener on the same socket, as the next process has it.
func again(t testing.TB, l *net.TCPListener) *net.TCPListener {
	t.Helper()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	twin, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	return twin.(*net.TCPListener)
}

// at puts descriptors where a process that was started with them has them, from a number
// on that nothing else has reached.
func at(t testing.TB, fds ...int) (first int) {
	t.Helper()
	first = 900
	for i, fd := range fds {
		if err := unix.Dup3(fd, first+i, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(first + i) }) // EBADF where it has been taken
	}
	return first
}

func descriptor(t testing.TB, l *net.TCPListener) int {
	t.Helper()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	if err := raw.Control(func(s uintptr) { fd = int(s) }); err != nil {
		t.Fatal(err)
	}
	return fd
}

func TestInheritedSockets(t *testing.T) {
	a, b := kept(t, "127.0.0.1:0"), kept(t, "127.0.0.1:0")
	for _, c := range []struct {
		name            string
		fds, pid, names string
		want            string // the names of the sockets; what the error says after "!"
	}{
		{"one", "1", "77", "door", "door"},
		{"two", "2", "77", "door:admin", "door admin"},
		{"names are missing", "2", "77", "", "unknown unknown"},
		{"a name is missing", "2", "77", ":admin", "unknown admin"},
		{"none", "0", "77", "", ""},
		{"nothing is said", "", "", "", ""},
		{"another process is meant", "2", "78", "door:admin", ""},
		{"nobody is meant", "2", "", "door:admin", ""},
		{"no number", "two", "77", "", "!no number"},
		{"less than none", "-1", "77", "", "!no number"},
		{"too many to be true", "1000000", "77", "", "!no number"},
		{"more than there are", "3", "77", "a:b:c", "!c: it is no listening TCP socket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := at(t, descriptor(t, a), descriptor(t, b))
			env := map[string]string{"LISTEN_FDS": c.fds, "LISTEN_PID": c.pid, "LISTEN_FDNAMES": c.names}
			all, err := inherited(func(name string) string { return env[name] }, 77, first)
			if bad, ok := strings.CutPrefix(c.want, "!"); ok {
				if err == nil || !strings.Contains(err.Error(), bad) {
					t.Fatalf("error %v, want %q in it", err, bad)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for i, s := range all {
				names = append(names, s.Name)
				if want := []*net.TCPListener{a, b}[i]; s.Listener.Addr().String() != want.Addr().String() {
					t.Errorf("socket %d is at %v, want %v", i, s.Listener.Addr(), want.Addr())
				}
				_ = s.Listener.Close()
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("sockets %q, want %q", got, c.want)
			}
		})
	}
}

// What is no listening TCP socket is refused with what to do about it.
func TestInheritedDescriptorThatIsNoListener(t *testing.T) {
	for _, c := range []struct {
		name         string
		domain, kind int
		listen       bool
	}{
		{"a datagram socket", unix.AF_INET, unix.SOCK_DGRAM, false},
		{"a socket that does not listen", unix.AF_INET, unix.SOCK_STREAM, false},
		{"a unix socket", unix.AF_UNIX, unix.SOCK_STREAM, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			fd, err := unix.Socket(c.domain, c.kind|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = unix.Close(fd) }()
			if c.listen {
				if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "@gamehoster-" + strconv.Itoa(unix.Getpid())}); err != nil {
					t.Fatal(err)
				}
				if err := unix.Listen(fd, 1); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"LISTEN_FDS": "1", "LISTEN_PID": "77"}
			first := at(t, fd)
			if _, err := inherited(func(name string) string { return env[name] }, 77, first); err == nil || !strings.Contains(err.Error(), "ListenStream=") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestDoorOnAnInheritedSocket(t *testing.T) {
	for _, sockets := range []int{1, 3} {
		t.Run(fmt.Sprint(sockets), func(t *testing.T) {
			var listeners []*net.TCPListener
			for range sockets {
				listeners = append(listeners, again(t, kept(t, "127.0.0.1:0")))
			}
			addresses := make([]string, 0, sockets)
			for _, l := range listeners {
				addresses = append(addresses, l.Addr().String())
			}
			d, l := start(t, Config{Listeners: listeners})
			serveHTTP(t, d)
			if d.Addr().String() != addresses[0] {
				t.Errorf("the door is at %v, want %v", d.Addr(), addresses[0])
			}
			for _, to := range addresses {
				a, req := request("/ws")
				c, err := net.Dial("tcp", to)
				if err != nil {
					t.Fatal(err)
				}
				_ = c.SetDeadline(time.Now().Add(await.Patience))
				write(t, c, req+"early")
				r := accepted(t, c, a)
				got := await.Value(t, l.taken, "the handover")
				if got.early != "early" {
					t.Errorf("early bytes %q", got.early)
				}
				talk(t, c, r, got.conn)
				_ = got.conn.Close()
				_ = c.Close()
				if n := ask(t, to); n != http.StatusOK {
					t.Errorf("a plain request is answered with %d", n)
				}
			}
		})
	}
}

// ask is one plain request, and its answer's status; 0 where there was none.
func ask(t testing.TB, to string) int {
	t.Helper()
	c, err := net.Dial("tcp", to)
	if err != nil {
		t.Errorf("refused: %v", err)
		return 0
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(await.Patience))
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		t.Errorf("asking: %v", err)
		return 0
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Errorf("no answer: %v", err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Doors come and go on one socket, and none of those who ask all the time finds nobody.
func TestNobodyIsRefusedBetweenTwoDoors(t *testing.T) {
	socket := kept(t, "127.0.0.1:0")
	to := socket.Addr().String()
	var asking sync.WaitGroup
	stop := make(chan struct{})
	counts := make([]int, 4)
	for i := range counts {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if ask(t, to) == http.StatusOK {
					counts[i]++
				}
			}
		})
	}
	for range 8 {
		d, err := Open(Config{Listeners: []*net.TCPListener{again(t, socket)}, Router: &lobby{t: t}, Engines: 2})
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		done := make(chan error, 1)
		go func() { done <- s.Serve(d.HTTPListener()) }()
		await.True(t, "a hundred to be served", func() bool { return d.Stats().HTTP >= 100 })
		_ = d.Close()
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		await.Value(t, done, "the server to stop")
	}
	// Who asks now waits in the backlog. It is the last door's to let all of them go.
	close(stop)
	d, _ := start(t, Config{Listeners: []*net.TCPListener{again(t, socket)}})
	serveHTTP(t, d)
	asking.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	t.Logf("%d requests over nine doors", sum)
}

func TestCloseLeavesNothingOfInheritedSockets(t *testing.T) {
	socket := kept(t, "127.0.0.1:0")
	once := func() {
		d, err := Open(Config{Listeners: []*net.TCPListener{again(t, socket)}, Router: &lobby{t: t}, Engines: 3})
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, d)
		write(t, c, "GET")
		await.True(t, "it to be accepted", func() bool { return d.Stats().Accepted == 1 })
		_ = c.Close()
		_ = d.Close()
		_ = d.Close()
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
	if c, err := net.Dial("tcp", socket.Addr().String()); err != nil {
		t.Errorf("the socket that the door did not own is closed: %v", err)
	} else {
		_ = c.Close()
	}
}

// BenchmarkConnections is what a connection costs both sides until it is handed on, on a
// listener of gnet's and on an inherited one.
func BenchmarkConnections(b *testing.B) {
	for _, c := range []struct {
		name   string
		config func() Config
	}{
		{"own", func() Config { return Config{} }},
		{"inherited", func() Config { return Config{Listeners: []*net.TCPListener{again(b, kept(b, "127.0.0.1:0"))}} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, l := start(b, c.config())
			to := d.Addr().String()
			a, req := request("/ws")
			b.ReportAllocs()
			for b.Loop() {
				conn, err := net.Dial("tcp", to)
				if err != nil {
					b.Fatal(err)
				}
				write(b, conn, req)
				accepted(b, conn, a)
				_ = (<-l.taken).conn.Close()
				_ = conn.Close()
			}
		})
	}
}
