package looptest

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// testHalfClose lets peers shut their sending side, which counts as their end.
func testHalfClose(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	c := r.connect("", 0)
	h := await.Value(t, opened, "OnOpen")
	r.do(func() { r.loop.Send(h, []byte("before")); r.loop.Flush() })
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := await.Value(t, closed, "OnClose"); !errors.Is(err, io.EOF) {
		t.Errorf("closed with %v", err)
	}
	r.do(func() { r.loop.Send(h, []byte("after")); r.loop.Flush() })
	if got := expectEOF(t, c, false); got != "before" {
		t.Errorf("got %q", got)
	}

	// One whose socket does not take its bytes is given up in the same way.
	c = r.connect("", 0)
	h = await.Value(t, opened, "OnOpen")
	fill(t, r, h)
	if err := c.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if err := await.Value(t, closed, "OnClose"); err == nil {
		t.Error("closed without a reason")
	}
	await.True(t, "the connection to be counted out", func() bool { return r.loop.Stats().Open == 0 })
}

// testResetsInFlight has peers vanish while the kernel holds sends and receives of
// theirs, some of which wait for room.
func testResetsInFlight(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{Grace: 50 * time.Millisecond})
	r.do(func() {}) // it has all its own descriptors
	files := await.OpenFiles(t)
	for round := range 20 {
		var clients []*net.TCPConn
		var handles []loop.Handle
		for i := range 6 {
			clients = append(clients, r.connect("", 0))
			h := await.Value(t, opened, "OnOpen")
			handles = append(handles, h)
			if i%2 == 0 {
				fill(t, r, h)
			}
			if i%3 == 0 {
				r.do(func() { r.loop.Close(h, 1) })
			}
		}
		for _, c := range clients {
			_ = c.SetLinger(0)
			if round%2 == 0 {
				_, _ = io.WriteString(c, "last words")
			}
			_ = c.Close()
		}
		r.untilAllAreGone(slices.Values(handles), func() bool { return len(closed) == len(clients) })
		for range clients {
			if err := await.Value(t, closed, "OnClose"); err == nil {
				t.Error("closed without a reason")
			}
		}
	}
	await.True(t, "the descriptors to be closed", func() bool { return await.OpenFiles(t) <= files })
}

// untilAllAreGone waits for the ends of connections, and writes to them meanwhile as a
// server does. A machine that is very busy drops packets, on loopback, too; a reset that
// was dropped is not repeated until somebody writes.
func (r *rig) untilAllAreGone(handles iter.Seq[loop.Handle], gone func() bool) {
	r.t.Helper()
	await.True(r.t, "everybody to be gone", func() bool {
		r.do(func() {
			for h := range handles {
				if !r.loop.Stalled(h) {
					r.loop.Send(h, []byte("there?"))
				}
			}
			r.loop.Flush()
		})
		return gone()
	})
}

// testStops has the runtime stop everything again and again beside a loop with ticks so
// close together that it may keep its processor while it waits.
func testStops(t *testing.T, mk Make) {
	r := &rig{}
	ticks := make(chan struct{}, 1)
	r.onTick = func(now int64) int64 {
		select {
		case ticks <- struct{}{}:
		default:
		}
		return now + int64(2*time.Millisecond)
	}
	r.start(t, mk, loop.Config{})
	for range 20 {
		await.Value(t, ticks, "a tick")
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.GC()
		}()
		await.Value(t, done, "a garbage collection")
	}
}

// testSlowReader sends a stream that a reader takes in small pieces, now and then, and
// goes on sending while some of it waits: it comes whole and in order.
func testSlowReader(t *testing.T, mk Make) {
	const length = 1 << 20
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &rig{}
	done := make(chan struct{})
	var h loop.Handle
	rnd, sent, piece := rand.New(rand.NewPCG(seed, 0)), 0, make([]byte, 30_000)
	r.onOpen = func(o loop.Handle, _ uint64) { h = o; r.loop.Wake(0) }
	r.onClose = func(_ loop.Handle, err error) {
		if sent < length {
			t.Errorf("closed with %v", err)
		}
	}
	r.onTick = func(now int64) int64 {
		if h == 0 {
			return loop.Never
		}
		// Some more is added behind what waits, as a handler may.
		for range 1 + rnd.IntN(3) {
			n := min(1+rnd.IntN(len(piece)), length-sent)
			for i := range n {
				piece[i] = streamAt(sent + i)
			}
			r.loop.Send(h, piece[:n])
			sent += n
		}
		r.loop.Flush()
		switch {
		case sent == length:
			close(done)
			return loop.Never
		case r.loop.Stalled(h):
			return now + int64(2*time.Millisecond)
		}
		return now
	}
	r.start(t, mk, loop.Config{OutboundCap: 2 * length, Unsent: 4096})
	c := r.connect("", 0)
	if err := c.SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	buf, got, pieces := make([]byte, 20_000), 0, 0
	for got < length {
		n, err := c.Read(buf)
		if err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		for i := range n {
			if buf[i] != streamAt(got+i) {
				t.Fatalf("byte %d is wrong", got+i)
			}
		}
		got += n
		if pieces++; pieces%8 == 0 {
			runtime.GC() // what the kernel reads from must not be reused
		}
	}
	await.Value(t, done, "everything to be sent")
}

// streamAt is the i-th byte of a stream without a short period.
func streamAt(i int) byte { return byte(i>>16*7 ^ i>>8*31 ^ i) }

// Storm opens and closes ten thousand connections in all the ways there are, some
// hundred at a time. Descriptors, memory and goroutines come back to where they were.
func Storm(t *testing.T, mk Make) {
	const total, width = 10_000, 200
	var opens, closes atomic.Int64
	here := map[loop.Handle]bool{} // the loop's
	r := &rig{}
	r.onOpen = func(h loop.Handle, tag uint64) {
		opens.Add(1)
		here[h] = true
		r.loop.Send(h, []byte("hello"))
		if tag%7 == 0 {
			r.loop.Close(h, uint16(tag))
		}
		r.loop.Flush()
	}
	r.onData = func(h loop.Handle, p []byte) {
		r.loop.Send(h, p)
		if p[0] == 'x' {
			r.loop.Close(h, 1)
		}
		r.loop.Flush()
	}
	r.onClose = func(h loop.Handle, _ error) {
		closes.Add(1)
		delete(here, h)
	}
	r.start(t, mk, loop.Config{Grace: 100 * time.Millisecond})

	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	go func() {
		for tag := uint64(0); ; tag++ {
			s, err := ln.Accept()
			if err != nil {
				return
			}
			fd, err := dup(s.(*net.TCPConn))
			_ = s.Close()
			if err != nil {
				t.Errorf("duplicating: %v", err)
				return
			}
			var early []byte
			if tag%5 == 0 {
				early = []byte("early")
			}
			for errors.Is(r.loop.Adopt(fd, early, tag), loop.ErrBusy) {
				runtime.Gosched()
			}
		}
	}()
	wave := func(n int) {
		var all sync.WaitGroup
		for range width {
			all.Go(func() {
				for i := range n / width {
					if err := visit(ln.Addr().String(), i); err != nil {
						t.Errorf("visit: %v", err)
						return
					}
				}
			})
		}
		all.Wait()
		r.untilAllAreGone(maps.Keys(here), func() bool { return r.loop.Stats().Open == 0 && opens.Load() == closes.Load() })
	}
	wave(total / 2)
	await.True(t, "the descriptors to be closed", func() bool { return await.OpenFiles(t) < width })
	runtime.GC()
	files, routines, memory := await.OpenFiles(t), runtime.NumGoroutine(), heap()
	wave(total / 2)
	await.True(t, "the descriptors to be closed", func() bool { return await.OpenFiles(t) <= files+2 })
	await.True(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= routines+2 })
	now := heap()
	t.Logf("%d KB of heap in use halfway, %d at the end", memory>>10, now>>10)
	if now > memory+512<<10 { // a hundred bytes for each connection
		t.Error("memory grows with the connections that there were")
	}
}

// heap is how much of it is in use. Twice, as what a pool held lives for one collection more.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// visit is one client's life, of which there are some kinds.
func visit(addr string, i int) error {
	gone := func(err error) bool {
		return err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	}
	nc, err := net.Dial("tcp4", addr)
	if err != nil {
		if gone(err) { // the listener had too many waiting
			return nil
		}
		return err
	}
	c := nc.(*net.TCPConn)
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(await.Patience))
	if i%3 != 0 {
		_ = c.SetLinger(0) // also spares the ports
	}
	switch i % 6 {
	case 0: // leaves at once
	case 1: // is closed by the server
		if _, err := io.WriteString(c, "x"); !gone(err) {
			return err
		}
		if _, err := io.Copy(io.Discard, c); !gone(err) {
			return err
		}
	case 2: // shuts its side and waits for the end
		if err := c.CloseWrite(); !gone(err) {
			return err
		}
		if _, err := io.Copy(io.Discard, c); !gone(err) {
			return err
		}
	case 3: // leaves with bytes unread
		if _, err := c.Write(make([]byte, 3000)); !gone(err) {
			return err
		}
	default: // says something, hears something
		if _, err := io.WriteString(c, "hi"); !gone(err) {
			return err
		}
		if _, err := io.ReadFull(c, make([]byte, 6)); !gone(err) {
			return err
		}
	}
	return nil
}

// dup is a descriptor of the same socket, which is the caller's.
func dup(c *net.TCPConn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	ctl := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) })
	if ctl != nil {
		return -1, fmt.Errorf("reaching the descriptor: %w", ctl)
	}
	return fd, err
}
