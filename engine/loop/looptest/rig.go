// Package looptest holds what every loop.Loop must do, as tests over real
// sockets that an implementation's own tests call.
package looptest

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// Make is an implementation's constructor.
type Make func(h loop.Handler, cfg loop.Config) loop.Loop

// rig is a handler whose methods a test fills in, and the loop it runs on. It
// fails the test when a method is entered from inside another.
type rig struct {
	t    testing.TB
	loop loop.Loop

	onOpen  func(h loop.Handle, tag uint64)
	onData  func(h loop.Handle, p []byte)
	onClose func(h loop.Handle, err error)
	onTick  func(now int64) int64

	inside  atomic.Bool
	ran     chan error
	stopped bool
}

func (r *rig) enter() {
	if !r.inside.CompareAndSwap(false, true) {
		r.t.Error("a handler's method was entered from inside another")
	}
}

func (r *rig) leave() { r.inside.Store(false) }

func (r *rig) OnOpen(h loop.Handle, tag uint64) {
	r.enter()
	defer r.leave()
	if r.onOpen != nil {
		r.onOpen(h, tag)
	}
}

func (r *rig) OnData(h loop.Handle, p []byte) {
	r.enter()
	defer r.leave()
	if r.onData != nil {
		r.onData(h, p)
	}
}

func (r *rig) OnClose(h loop.Handle, err error) {
	r.enter()
	defer r.leave()
	if r.onClose != nil {
		r.onClose(h, err)
	}
}

func (r *rig) OnTick(now int64) int64 {
	r.enter()
	defer r.leave()
	if r.onTick != nil {
		return r.onTick(now)
	}
	return loop.Never
}

func (r *rig) OnPost(m loop.Message) {
	r.enter()
	defer r.leave()
	if f, ok := m.(func()); ok {
		f()
	}
}

// start runs the loop until the test ends.
func (r *rig) start(t testing.TB, mk Make, cfg loop.Config) {
	r.t = t
	r.ran = runLoop(r, mk(r, cfg))
	t.Cleanup(r.stop)
}

func runLoop(r *rig, l loop.Loop) chan error {
	ran := make(chan error, 1)
	r.loop = l
	go func() { ran <- l.Run() }()
	return ran
}

func (r *rig) stop() {
	if r.stopped {
		return
	}
	r.stopped = true
	r.loop.Stop()
	if err := await.Value(r.t, r.ran, "the loop to stop"); err != nil {
		r.t.Errorf("Run: %v", err)
	}
}

// do runs f on the loop and waits for it.
func (r *rig) do(f func()) {
	r.t.Helper()
	done := make(chan struct{})
	if !r.loop.Post(func() { f(); close(done) }) {
		r.t.Fatal("Post refused")
	}
	await.Value(r.t, done, "a post to run")
}

// connect adopts one end of a TCP connection and returns the other.
func (r *rig) connect(early string, tag uint64) *net.TCPConn {
	r.t.Helper()
	client, fd := tcpPair(r.t)
	if err := r.loop.Adopt(fd, []byte(early), tag); err != nil {
		r.t.Fatalf("Adopt: %v", err)
	}
	return client
}

// tcpPair connects over loopback: a client's connection and the accepted
// descriptor, which is the caller's to close or give away.
func tcpPair(t testing.TB) (*net.TCPConn, int) {
	t.Helper()
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	c, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fd, err := dup(s.(*net.TCPConn))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(await.Patience))
	return c.(*net.TCPConn), fd
}

func readAll(t testing.TB, c net.Conn, n int) string {
	t.Helper()
	p := make([]byte, n)
	if _, err := io.ReadFull(c, p); err != nil {
		t.Fatalf("reading %d bytes: %v", n, err)
	}
	return string(p)
}

func write(t testing.TB, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatalf("writing: %v", err)
	}
}

// expectEOF reads until the peer's end and returns what came before it. A reset
// is taken for an end if allowed.
func expectEOF(t testing.TB, c net.Conn, reset bool) string {
	t.Helper()
	p, err := io.ReadAll(c)
	if err != nil && !(reset && errors.Is(err, syscall.ECONNRESET)) {
		t.Fatalf("reading to the end: %v", err)
	}
	return string(p)
}
