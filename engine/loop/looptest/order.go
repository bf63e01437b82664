package looptest

import (
	"net"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// testDataBesideFlush opens connections that have data already, one after the other in
// one go, and flushes with each: the data of all is told though nothing else happens.
func testDataBesideFlush(t *testing.T, mk Make) {
	r := &rig{}
	told := make(chan string, 10)
	r.onOpen = func(h loop.Handle, _ uint64) {
		r.loop.Send(h, []byte("hello"))
		r.loop.Flush()
	}
	r.onData = func(_ loop.Handle, p []byte) { told <- string(p) }
	r.start(t, mk, loop.Config{})
	gate := make(chan struct{})
	r.loop.Post(func() { <-gate })
	for range 5 {
		c, fd := tcpPair(t)
		write(t, c, "early bird")
		if err := r.loop.Adopt(fd, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	close(gate)
	for range 5 {
		if got := await.Value(t, told, "the data"); got != "early bird" {
			t.Errorf("got %q", got)
		}
	}
}

// testPostThenAdopt wants what was posted before a connection was given to the loop to be
// known when that opens.
func testPostThenAdopt(t *testing.T, mk Make) {
	r := &rig{}
	posted, opened := 0, make(chan int, 100)
	r.onOpen = func(loop.Handle, uint64) { opened <- posted }
	r.start(t, mk, loop.Config{})
	for i := range 100 {
		_, fd := tcpPair(t)
		r.loop.Post(func() { posted++ })
		if err := r.loop.Adopt(fd, nil, 0); err != nil {
			t.Fatal(err)
		}
		if n := await.Value(t, opened, "OnOpen"); n != i+1 {
			t.Fatalf("%d posts were seen of %d", n, i+1)
		}
	}
}

// testEndBehindData has peers send and end at once while the loop is held up: the data is
// told, and so is the end, though both were there before anybody looked.
func testEndBehindData(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	data := make(chan string, 100)
	r.onData = func(_ loop.Handle, p []byte) { data <- string(p) }
	for i := range 40 {
		c := r.connect("", 0)
		h := await.Value(t, opened, "OnOpen")
		gate, held := make(chan struct{}), make(chan struct{})
		r.loop.Post(func() { close(held); <-gate })
		await.Value(t, held, "the loop to be held up")
		write(t, c, "last words")
		if i%2 == 0 {
			_ = c.SetLinger(0) // a reset; it may overtake the data, not the end
		}
		_ = c.Close()
		close(gate)
		if i%2 == 0 {
			r.untilAllAreGone(slices.Values([]loop.Handle{h}), func() bool { return len(closed) > 0 })
		}
		if err := await.Value(t, closed, "OnClose"); err == nil {
			t.Error("closed without a reason")
		}
		if i%2 != 0 {
			if got := await.Value(t, data, "the data"); got != "last words" {
				t.Errorf("got %q", got)
			}
		}
	}
}

// testPostsTakeTheirTurn wants what has arrived before a post to be told before what that
// posts again is delivered, of however many connections: who posts twice knows then up to
// when everything has been read.
func testPostsTakeTheirTurn(t *testing.T, mk Make) {
	const n = 300 // more than one look at the sockets finds
	r, opened, _ := open(t, mk, loop.Config{})
	heard := 0
	r.onData = func(loop.Handle, []byte) { heard++ }
	var all []*net.TCPConn
	for range n {
		all = append(all, r.connect("", 0))
		await.Value(t, opened, "OnOpen")
	}
	for range 5 {
		held, gate, told := make(chan struct{}), make(chan struct{}), make(chan int, 1)
		r.loop.Post(func() {
			close(held)
			<-gate
			heard = 0
			r.loop.Post(func() {
				r.loop.Post(func() { told <- heard })
			})
		})
		await.Value(t, held, "the loop to be held up")
		for _, c := range all {
			write(t, c, "here")
		}
		close(gate)
		if got := await.Value(t, told, "the second post"); got != n {
			t.Errorf("%d of %d connections were read", got, n)
		}
	}
}

// testCrowd has many connections come to a loop whose ticks are late, which has few turns:
// they wait for few of them, and none is turned away.
func testCrowd(t *testing.T, mk Make) {
	const (
		crowd = 1000
		turns = 12 // by the sixty-four in each, it would be sixteen
		work  = int64(100e6)
	)
	r := &rig{}
	held, gate := make(chan struct{}), make(chan struct{})
	opened, ticks := 0, 0
	all := make(chan int, 1)
	r.onOpen = func(loop.Handle, uint64) {
		if opened++; opened == crowd {
			all <- ticks
		}
	}
	r.onTick = func(now int64) int64 {
		if opened == crowd {
			return loop.Never
		}
		for loop.Now()-now < work { // as ticks of too many instances do
		}
		ticks++
		return now
	}
	r.start(t, mk, loop.Config{})
	r.loop.Post(func() { close(held); <-gate; ticks = 0 })
	await.Value(t, held, "the loop to be held up")
	for range crowd {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(pair[1]) })
		if err := r.loop.Adopt(pair[0], nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if r.loop.Crowded() {
		t.Errorf("%d are too many", crowd)
	}
	close(gate)
	n := await.Value(t, all, "all to be opened")
	t.Logf("%d connections were opened within %d ticks", crowd, n)
	if n > turns {
		t.Errorf("that is more than %d", turns)
	}
}
