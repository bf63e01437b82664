package looptest

import (
	"testing"

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
