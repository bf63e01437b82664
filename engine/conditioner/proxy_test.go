package conditioner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/wire/line"
)

const ms = time.Millisecond

// rig is a server behind a proxy. When the test ends, nothing of the proxy is left.
type rig struct {
	*Proxy
	accepted chan *net.TCPConn
}

func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func newRig(t *testing.T, c line.Conditions) *rig {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	goroutines, files := runtime.NumGoroutine(), await.OpenFiles(t)
	l := listen(t)
	r := &rig{Proxy: Start(listen(t), l.Addr().String(), c), accepted: make(chan *net.TCPConn, 256)}
	go func() {
		for {
			s, err := l.AcceptTCP()
			if err != nil {
				return
			}
			r.accepted <- s
		}
	}()
	t.Cleanup(func() {
		r.Close()
		r.Close()
		l.Close()
		for len(r.accepted) > 0 {
			(<-r.accepted).Close()
		}
		await.True(t, "goroutines and descriptors gone", func() bool {
			return runtime.NumGoroutine() <= goroutines && await.OpenFiles(t) <= files
		})
	})
	return r
}

// connect gives both ends of a connection through the proxy.
func (r *rig) connect(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(r.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	s := await.Value(t, r.accepted, "the server's end")
	for _, e := range []*net.TCPConn{c, s} {
		t.Cleanup(func() { e.Close() })
		if err := e.SetDeadline(time.Now().Add(await.Patience)); err != nil {
			t.Fatal(err)
		}
	}
	return c, s
}

// TestDelay: what is said is heard no sooner than the line allows, in both directions.
func TestDelay(t *testing.T) {
	const delay = 60 * ms
	r := newRig(t, line.Conditions{Delay: delay, Jitter: 10 * ms, Seed: 1})
	client, server := r.connect(t)
	for _, way := range []struct{ from, to net.Conn }{{client, server}, {server, client}} {
		sent := time.Now()
		if _, err := way.from.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 5)
		if _, err := io.ReadFull(way.to, got); err != nil || string(got) != "hello" {
			t.Fatal(string(got), err)
		}
		if took := time.Since(sent); took < delay {
			t.Errorf("heard after %v", took)
		}
	}
}

// TestHalfClose: each direction ends by itself, behind its last byte.
func TestHalfClose(t *testing.T) {
	for _, first := range []string{"client", "server"} {
		t.Run(first, func(t *testing.T) {
			r := newRig(t, line.Conditions{Delay: 20 * ms, Jitter: 20 * ms, Seed: 2})
			a, b := r.connect(t)
			if first == "server" {
				a, b = b, a
			}
			last := bytes.Repeat([]byte("last words "), 5000)
			go func() {
				_, _ = a.Write(last)
				_ = a.CloseWrite()
			}()
			if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, last) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(last), err)
			}
			// the other direction is as open as before
			for range 3 {
				if _, err := b.Write([]byte("still here")); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, 10)
				if _, err := io.ReadFull(a, got); err != nil || string(got) != "still here" {
					t.Fatal(string(got), err)
				}
			}
			_ = b.CloseWrite()
			if n, err := a.Read(make([]byte, 1)); n != 0 || err != io.EOF {
				t.Fatal(n, err)
			}
		})
	}
}

// TestBreak: an end that breaks, breaks the other one, with bytes under way or not.
func TestBreak(t *testing.T) {
	for _, first := range []string{"client", "server"} {
		t.Run(first, func(t *testing.T) {
			r := newRig(t, line.Conditions{Delay: time.Minute})
			a, b := r.connect(t)
			if first == "server" {
				a, b = b, a
			}
			_, _ = a.Write(make([]byte, 1000))
			_, _ = b.Write(make([]byte, 1000))
			_ = a.SetLinger(0)
			_ = a.Close()
			if _, err := b.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
				t.Fatal(err)
			}
		})
	}
}

// TestNoServer: where nobody answers, a client's connection breaks.
func TestNoServer(t *testing.T) {
	l := listen(t)
	nobody := l.Addr().String()
	l.Close()
	p := Start(listen(t), nobody, line.Conditions{})
	defer p.Close()
	c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(p.Addr()))
	if err == nil { // it may have broken before that
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(await.Patience))
		_, err = c.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
}

// TestCloseBreaks: the proxy's end is not held up by ends that do nothing, by bytes
// that nobody reads, or by a line that brings them in a minute.
func TestCloseBreaks(t *testing.T) {
	r := newRig(t, line.Conditions{Delay: time.Minute})
	idle, _ := r.connect(t)
	client, server := r.connect(t)
	_, _ = server.Write(make([]byte, 100_000))
	_, _ = client.Write(make([]byte, 100))
	r.Close()
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Fatal("it is still there")
	}
}

// TestSlowReader: what a client does not read stops the server's writing after a
// bounded number of bytes, and nothing is lost of it.
func TestSlowReader(t *testing.T) {
	c := line.Conditions{Delay: ms, Bandwidth: 4 << 20}
	r := newRig(t, c)
	client, server := r.connect(t)
	_ = client.SetReadBuffer(narrowBuffer)
	_ = server.SetWriteBuffer(narrowBuffer)
	var written atomic.Int64
	done := make(chan error, 1)
	const total = 8 << 20
	go func() {
		b := make([]byte, 1<<10)
		for i := range total / len(b) {
			b[0], b[1] = byte(i), byte(i>>8)
			if _, err := server.Write(b); err != nil {
				done <- err
				return
			}
			written.Add(int64(len(b)))
		}
		done <- server.CloseWrite()
	}()
	var before int64
	still := 0
	await.True(t, "a writer that waits", func() bool {
		now := written.Load()
		if now == before && now > 0 {
			still++
		} else {
			still = 0
		}
		before = now
		return still > 100
	})
	// the window, what reader and writer have in hand, and the buffers of four sockets,
	// which the system makes more than twice as large
	if most := int64(c.Window() + 2*chunk + 12*narrowBuffer); before > most {
		t.Errorf("%d bytes written that nobody reads, want at most %d", before, most)
	}
	got, err := io.ReadAll(client)
	if err != nil || len(got) != total {
		t.Fatalf("%d bytes of %d, %v", len(got), total, err)
	}
	for i := range total >> 10 {
		if p := got[i<<10:]; p[0] != byte(i) || p[1] != byte(i>>8) {
			t.Fatalf("block %d is another one", i)
		}
	}
	if err := await.Value(t, done, "the writer's end"); err != nil {
		t.Fatal(err)
	}
}

// TestBandwidth: bytes take as long as the line needs for them.
func TestBandwidth(t *testing.T) {
	const rate = 200_000
	r := newRig(t, line.Conditions{Bandwidth: rate})
	client, server := r.connect(t)
	began := time.Now()
	go func() {
		_, _ = client.Write(make([]byte, rate/4))
		_ = client.CloseWrite()
	}()
	n, err := io.Copy(io.Discard, server)
	if took := time.Since(began); err != nil || n != rate/4 || took < 245*ms {
		t.Fatalf("%d bytes in %v, %v", n, took, err)
	}
}

// TestMany: a hundred clients talk at once over bad lines, each hears its own words
// echoed, and all leave in one of three ways.
func TestMany(t *testing.T) {
	r := newRig(t, line.Conditions{Delay: 5 * ms, Jitter: 20 * ms, Stall: 50 * ms, StallEvery: 200 * ms, Bandwidth: 1 << 20, Seed: 9})
	var servers sync.WaitGroup
	servers.Go(func() {
		for range 100 {
			s := <-r.accepted
			servers.Go(func() {
				_, _ = io.Copy(s, s)
				_ = s.Close()
			})
		}
	})
	errs := make(chan error, 100)
	for i := range 100 {
		go func() {
			errs <- func() error {
				c, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(r.Addr()))
				if err != nil {
					return err
				}
				defer c.Close()
				if err := c.SetDeadline(time.Now().Add(await.Patience)); err != nil {
					return err
				}
				rnd := rand.New(rand.NewPCG(uint64(i), 4))
				for range 20 {
					said := make([]byte, 1+rnd.IntN(2000))
					for k := range said {
						said[k] = byte(rnd.Uint32())
					}
					if _, err := c.Write(said); err != nil {
						return fmt.Errorf("client %d: saying: %w", i, err)
					}
					heard := make([]byte, len(said))
					if _, err := io.ReadFull(c, heard); err != nil {
						return fmt.Errorf("client %d: hearing: %w", i, err)
					}
					if !bytes.Equal(said, heard) {
						return fmt.Errorf("client %d hears other words", i)
					}
				}
				switch i % 3 {
				case 0:
					return c.SetLinger(0)
				case 1:
					if err := c.CloseWrite(); err != nil {
						return err
					}
					rest, err := io.ReadAll(c)
					if len(rest) > 0 {
						return fmt.Errorf("client %d hears %d bytes more", i, len(rest))
					}
					return err
				}
				return nil
			}()
		}()
	}
	for range 100 {
		if err := await.Value(t, errs, "a client's end"); err != nil {
			t.Error(err)
		}
	}
	servers.Wait()
}
