package looptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// Run runs the suite.
func Run(t *testing.T, mk Make) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Make)
	}{
		{"Echo", testEcho},
		{"EarlyBytesFirst", testEarly},
		{"DataThatAFlushComesUpon", testDataBesideFlush},
		{"EndBehindData", testEndBehindData},
		{"SendsOfATickAreOneStream", testOrder},
		{"CloseFlushesThenEnds", testClose},
		{"CloseInOnOpenDropsEarlyBytes", testCloseInOpen},
		{"SendAndCloseWithoutFlush", testCloseWithoutFlush},
		{"GraceCutsAPeerThatStays", testGrace},
		{"GraceCutsAPeerThatDoesNotRead", testGraceUnread},
		{"PeerCloses", testPeerCloses},
		{"DeadHandles", testDeadHandles},
		{"HandlesSurviveDescriptorReuse", testReuse},
		{"StalledReader", testStalled},
		{"TheKernelHoldsLittleForOneWhoDoesNotRead", testUnsent},
		{"SlowReaderGetsEverything", testSlowReader},
		{"CloseDuringFlushIsToldLater", testCloseInFlush},
		{"HalfClose", testHalfClose},
		{"ResetsInFlight", testResetsInFlight},
		{"DeadOnArrival", testDeadOnArrival},
		{"Ticks", testTicks},
		{"WakeMovesATickForward", testWake},
		{"TheRuntimeStopsALoop", testStops},
		{"PostFromManyGoroutines", testPosts},
		{"PostBeforeRun", testPostBeforeRun},
		{"PostThenAdopt", testPostThenAdopt},
		{"PostsTakeTheirTurn", testPostsTakeTheirTurn},
		{"ACrowdComesToALoopThatIsBehind", testCrowd},
		{"StopTellsEveryone", testStop},
		{"StopLeavesNothing", testLeaks},
		{"StopBeforeRun", testStopBeforeRun},
		{"Pin", testPin},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, mk) })
	}
}

func echo(t testing.TB, mk Make, cfg loop.Config) *rig {
	r := &rig{}
	r.onData = func(h loop.Handle, p []byte) {
		r.loop.Send(h, p)
		for i := range p {
			p[i] = '?' // the handler may write into what it was given
		}
		r.loop.Flush()
	}
	r.start(t, mk, cfg)
	return r
}

func testEcho(t *testing.T, mk Make) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := echo(t, mk, loop.Config{OutboundCap: 1 << 20})
	var all sync.WaitGroup
	for i := range 200 {
		c := r.connect("", uint64(i))
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		want := make([]byte, 1+rnd.IntN(20_000))
		for i := range want {
			want[i] = byte(rnd.Uint32())
		}
		all.Go(func() {
			for rest := want; len(rest) > 0; {
				n := min(len(rest), 1+rnd.IntN(3000))
				if _, err := c.Write(rest[:n]); err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				rest = rest[n:]
			}
		})
		all.Go(func() {
			got := make([]byte, len(want))
			if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("connection %d: echo differs, error %v", i, err)
			}
		})
	}
	all.Wait()
	r.do(func() {}) // what was echoed last has been counted after it
	if s := r.loop.Stats(); s.Open != 200 || s.Adopted != 200 || s.BytesIn == 0 || s.BytesIn != s.BytesOut {
		t.Errorf("stats %+v", s)
	}
}

func testEarly(t *testing.T, mk Make) {
	r := &rig{}
	var tags []uint64
	r.onOpen = func(h loop.Handle, tag uint64) {
		if h == 0 {
			t.Error("the zero handle was given out")
		}
		tags = append(tags, tag)
		r.loop.Send(h, []byte("hello:"))
	}
	r.onData = func(h loop.Handle, p []byte) {
		r.loop.Send(h, p)
		r.loop.Flush()
	}
	r.start(t, mk, loop.Config{})
	client, fd := tcpPair(t)
	early := []byte("early")
	write(t, client, "late")
	if err := r.loop.Adopt(fd, early, 7); err != nil {
		t.Fatal(err)
	}
	copy(early, "spoil") // Adopt has copied it
	if got := readAll(t, client, 15); got != "hello:earlylate" {
		t.Errorf("got %q", got)
	}
	r.do(func() {
		if !slices.Equal(tags, []uint64{7}) {
			t.Errorf("tags %v", tags)
		}
	})
}

// open starts a rig that reports handles and closes.
func open(t *testing.T, mk Make, cfg loop.Config) (*rig, chan loop.Handle, chan error) {
	opened, closed := make(chan loop.Handle, 1000), make(chan error, 1000)
	r := &rig{
		onOpen:  func(h loop.Handle, _ uint64) { opened <- h },
		onClose: func(_ loop.Handle, err error) { closed <- err },
	}
	r.start(t, mk, cfg)
	return r, opened, closed
}

func testOrder(t *testing.T, mk Make) {
	r, opened, _ := open(t, mk, loop.Config{})
	var clients []net.Conn
	var handles []loop.Handle
	for range 5 {
		clients = append(clients, r.connect("", 0))
		handles = append(handles, await.Value(t, opened, "OnOpen"))
	}
	want := make([]string, len(handles))
	r.do(func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		for tick := range 20 {
			for n := range 40 {
				i := rnd.IntN(len(handles))
				frame := fmt.Sprintf("<%d.%d>", tick, n)
				r.loop.Send(handles[i], []byte(frame))
				want[i] += frame
			}
			if stalled := r.loop.Flush(); len(stalled) != 0 {
				t.Errorf("stalled %v", stalled)
			}
		}
	})
	for i, c := range clients {
		if got := readAll(t, c, len(want[i])); got != want[i] {
			t.Errorf("connection %d got %q, want %q", i, got, want[i])
		}
	}
}

func wantCode(t *testing.T, err error, code uint16) {
	t.Helper()
	if ce := new(loop.CloseError); !errors.As(err, &ce) || ce.Code != code {
		t.Errorf("closed with %v, want code %d", err, code)
	}
}

func testClose(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	c := r.connect("", 0)
	h := await.Value(t, opened, "OnOpen")
	r.onData = func(loop.Handle, []byte) { t.Error("data after Close") }
	r.do(func() {
		r.loop.Send(h, []byte("bye"))
		r.loop.Close(h, 4321)
		r.loop.Send(h, []byte("never"))
		r.loop.Close(h, 1)
		r.loop.Flush()
	})
	write(t, c, "too late to matter")
	if got := expectEOF(t, c, false); got != "bye" {
		t.Errorf("got %q", got)
	}
	_ = c.Close()
	wantCode(t, await.Value(t, closed, "OnClose"), 4321)
}

func testCloseInOpen(t *testing.T, mk Make) {
	r := &rig{}
	closed := make(chan error, 1)
	r.onOpen = func(h loop.Handle, _ uint64) { r.loop.Close(h, 9) }
	r.onData = func(loop.Handle, []byte) { t.Error("data after Close") }
	r.onClose = func(_ loop.Handle, err error) { closed <- err }
	r.start(t, mk, loop.Config{})
	c := r.connect("early", 0)
	expectEOF(t, c, false)
	_ = c.Close()
	wantCode(t, await.Value(t, closed, "OnClose"), 9)
}

func testCloseWithoutFlush(t *testing.T, mk Make) {
	r := &rig{}
	closed := make(chan error, 1)
	r.onData = func(h loop.Handle, p []byte) {
		r.loop.Send(h, []byte("a"))
		r.loop.Send(h, p)
		r.loop.Close(h, 1)
	}
	r.onClose = func(_ loop.Handle, err error) { closed <- err }
	r.start(t, mk, loop.Config{})
	for range 20 {
		c := r.connect("", 0)
		write(t, c, "bc")
		if got := expectEOF(t, c, false); got != "abc" {
			t.Errorf("got %q", got)
		}
		_ = c.Close()
		wantCode(t, await.Value(t, closed, "OnClose"), 1)
	}
}

func testGrace(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{Grace: 30 * time.Millisecond})
	r.connect("", 0) // never closes
	h := await.Value(t, opened, "OnOpen")
	var at int64
	r.do(func() { at = loop.Now(); r.loop.Close(h, 7) })
	wantCode(t, await.Value(t, closed, "OnClose"), 7)
	if took := loop.Now() - at; took < int64(30*time.Millisecond) {
		t.Errorf("cut after %d ns", took)
	}
	if n := r.loop.Stats().Expired; n != 1 {
		t.Errorf("%d expired", n)
	}
}

// fill sends until h's socket does not take everything.
func fill(t testing.TB, r *rig, h loop.Handle) {
	t.Helper()
	block := make([]byte, 64<<10)
	full := false
	r.do(func() {
		for range 1000 {
			r.loop.Send(h, block)
			if full = slices.Contains(r.loop.Flush(), h); full {
				break
			}
		}
		if full != r.loop.Stalled(h) {
			t.Error("Stalled contradicts Flush")
		}
	})
	if !full {
		t.Fatal("the socket took everything")
	}
}

func testGraceUnread(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{Grace: 300 * time.Millisecond})
	r.connect("", 0) // never reads
	h := await.Value(t, opened, "OnOpen")
	fill(t, r, h)
	r.do(func() { r.loop.Close(h, 8) })
	wantCode(t, await.Value(t, closed, "OnClose"), 8)

	// One that reads at last gets everything and the end.
	c := r.connect("", 0)
	h = await.Value(t, opened, "OnOpen")
	fill(t, r, h)
	r.do(func() { r.loop.Send(h, []byte("last words")); r.loop.Close(h, 8) })
	if got := expectEOF(t, c, false); len(got) < 10 || got[len(got)-10:] != "last words" {
		t.Errorf("%d bytes without the last words", len(got))
	}
}

func testPeerCloses(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	c := r.connect("", 0)
	await.Value(t, opened, "OnOpen")
	_ = c.Close()
	if err := await.Value(t, closed, "OnClose"); !errors.Is(err, io.EOF) {
		t.Errorf("closed with %v", err)
	}
	c = r.connect("", 0)
	await.Value(t, opened, "OnOpen")
	_ = c.SetLinger(0)
	_ = c.Close() // a reset
	if err := await.Value(t, closed, "OnClose"); err == nil {
		t.Error("closed without a reason")
	}
}

func testDeadHandles(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	c := r.connect("", 0)
	old := await.Value(t, opened, "OnOpen")
	_ = c.Close()
	await.Value(t, closed, "OnClose")
	c = r.connect("", 0)
	h := await.Value(t, opened, "OnOpen")
	if h == old {
		t.Fatal("a handle was reused")
	}
	r.do(func() {
		for _, h := range []loop.Handle{0, old, h + 1<<40, h + 5, ^loop.Handle(0)} {
			r.loop.Send(h, []byte("lost"))
			r.loop.Close(h, 1)
			if r.loop.Stalled(h) {
				t.Error("a dead handle is stalled")
			}
		}
		r.loop.Send(h, []byte("found"))
		r.loop.Flush()
	})
	if got := readAll(t, c, 5); got != "found" {
		t.Errorf("got %q", got)
	}
}

// testReuse closes and opens connections while a handler goes on writing to
// every handle it ever had: each client may only see bytes meant for it.
func testReuse(t *testing.T, mk Make) {
	r := &rig{}
	type viewer struct {
		h   loop.Handle
		tag byte
	}
	var everyone []viewer
	r.onOpen = func(h loop.Handle, tag uint64) { everyone = append(everyone, viewer{h, byte(tag)}) }
	r.onTick = func(now int64) int64 {
		for _, v := range everyone {
			r.loop.Send(v.h, []byte{v.tag, v.tag, v.tag})
		}
		r.loop.Flush()
		return now + int64(200*time.Microsecond)
	}
	r.start(t, mk, loop.Config{})
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 60 {
				tag := byte(1 + g*60 + i)
				c, fd := tcpPair(t)
				if err := r.loop.Adopt(fd, nil, uint64(tag)); err != nil {
					t.Errorf("Adopt: %v", err)
					return
				}
				p := make([]byte, 30)
				if _, err := io.ReadFull(c, p); err != nil {
					t.Errorf("reading: %v", err)
				}
				for _, b := range p {
					if b != tag {
						t.Errorf("connection %d got bytes of %d", tag, b)
						break
					}
				}
				if i%2 == 0 {
					_ = c.SetLinger(0)
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
}

func testStalled(t *testing.T, mk Make) {
	const limit = 128 << 10
	r, opened, closed := open(t, mk, loop.Config{OutboundCap: limit})
	slow := r.connect("", 0)
	h := await.Value(t, opened, "OnOpen")
	good := r.connect("", 0)
	other := await.Value(t, opened, "OnOpen")
	fill(t, r, h)
	r.do(func() {
		r.loop.Send(other, []byte("unharmed"))
		if s := r.loop.Flush(); !slices.Equal(s, []loop.Handle{h}) {
			t.Errorf("stalled %v", s)
		}
	})
	if got := readAll(t, good, 8); got != "unharmed" {
		t.Errorf("got %q", got)
	}

	// Skipping it while it does not drain costs nothing; reading drains it.
	go func() { _, _ = io.Copy(io.Discard, slow) }()
	await.True(t, "the stalled connection to drain", func() (ok bool) {
		r.do(func() { ok = !r.loop.Stalled(h) })
		return ok
	})
	r.do(func() {
		if s := r.loop.Flush(); len(s) != 0 {
			t.Errorf("stalled %v", s)
		}
	})

	// Writing on regardless ends at the cap.
	r.connect("", 0)
	h = await.Value(t, opened, "OnOpen")
	fill(t, r, h)
	sent := 0
	r.do(func() {
		for ; sent < 10*limit; sent += 1000 {
			r.loop.Send(h, make([]byte, 1000))
			r.loop.Flush()
		}
	})
	if err := await.Value(t, closed, "OnClose"); !errors.Is(err, loop.ErrOverflow) {
		t.Errorf("closed with %v", err)
	}
	if n := r.loop.Stats().Overflows; n != 1 {
		t.Errorf("%d overflows", n)
	}

	// So does a single frame over it.
	c := r.connect("", 0)
	h = await.Value(t, opened, "OnOpen")
	r.do(func() { r.loop.Send(h, make([]byte, limit+1)); r.loop.Flush() })
	if err := await.Value(t, closed, "OnClose"); !errors.Is(err, loop.ErrOverflow) {
		t.Errorf("closed with %v", err)
	}
	if got := expectEOF(t, c, true); got != "" {
		t.Errorf("%d bytes of the frame arrived", len(got))
	}
}

// testUnsent sends small pieces, as ticks do, to a peer that reads nothing: it is
// found stalled before the kernel has taken much more than what is on the way.
func testUnsent(t *testing.T, mk Make) {
	r, opened, _ := open(t, mk, loop.Config{})
	c := r.connect("", 0)
	if err := c.SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	h := await.Value(t, opened, "OnOpen")
	taken := 0
	await.True(t, "the connection to stall", func() (stalled bool) {
		r.do(func() {
			r.loop.Send(h, make([]byte, 1<<10))
			stalled = len(r.loop.Flush()) > 0
		})
		taken += 1 << 10
		return stalled
	})
	// The window that the peer opened at first is on the way already.
	if limit := 256<<10 + loop.DefaultUnsent; taken > limit {
		t.Errorf("%d KB were taken for a peer that does not read, want at most %d", taken>>10, limit>>10)
	}
}

// testCloseInFlush lets writes fail: OnClose must wait for the handler's return,
// which the rig checks, and come once for each.
func testCloseInFlush(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	const n = 20
	var clients []*net.TCPConn
	var handles []loop.Handle
	for range n {
		clients = append(clients, r.connect("", 0))
		handles = append(handles, await.Value(t, opened, "OnOpen"))
	}
	r.do(func() {
		for _, c := range clients {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
		for range 3 {
			for _, h := range handles {
				r.loop.Send(h, []byte("into the void"))
			}
			r.loop.Flush()
		}
	})
	for range n {
		if err := await.Value(t, closed, "OnClose"); err == nil {
			t.Error("closed without a reason")
		}
	}
	r.stop()
	if len(closed) != 0 {
		t.Errorf("%d closes too many", len(closed))
	}
}

func testDeadOnArrival(t *testing.T, mk Make) {
	var told atomic.Int64
	r, opened, closed := open(t, mk, loop.Config{Lost: func(tag uint64) {
		if tag != 7 {
			t.Errorf("tag %d was lost", tag)
		}
		told.Add(1)
	}})
	for range 10 {
		c, fd := tcpPair(t)
		_ = c.SetLinger(0)
		_ = c.Close()
		if err := r.loop.Adopt(fd, nil, 7); err != nil {
			t.Fatal(err)
		}
	}
	await.True(t, "ten ends", func() bool {
		return int(r.loop.Stats().Lost)+len(closed) == 10 && len(opened) == len(closed)
	})
	// A descriptor that is no socket is refused in the same way.
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(p[1]) }()
	lost := r.loop.Stats().Lost
	if err := r.loop.Adopt(p[0], nil, 7); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the pipe to be refused", func() bool { return r.loop.Stats().Lost == lost+1 })
	await.True(t, "who was lost to be told", func() bool { return told.Load() == r.loop.Stats().Lost })
}
