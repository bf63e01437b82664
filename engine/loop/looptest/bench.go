package looptest

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// blocking returns the client's end of a connection as a plain descriptor, so
// that what is measured is the loop and not the net package.
func (r *rig) blocking() int {
	r.t.Helper()
	c, fd := tcpPair(r.t)
	dup, err := dup(c)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = c.Close()
	if err := unix.SetNonblock(dup, false); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = unix.Close(dup) })
	if err := r.loop.Adopt(fd, nil, 0); err != nil {
		r.t.Fatal(err)
	}
	return dup
}

func roundTrip(t testing.TB, fd int, p []byte) {
	if _, err := unix.Write(fd, p); err != nil {
		t.Fatal(err)
	}
	for got := 0; got < len(p); {
		n, err := unix.Read(fd, p[got:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			t.Fatalf("read %d bytes: %v", n, err)
		}
		got += n
	}
}

// budget measures f after a warm-up and wants no allocation anywhere in the
// process.
func budget(t *testing.T, what string, f func()) {
	t.Helper()
	for range 200 {
		f()
	}
	n := testing.AllocsPerRun(500, f)
	t.Logf("%s: %v allocations, budget 0", what, n)
	if n != 0 {
		t.Errorf("%s allocates %v times", what, n)
	}
}

// Alloc asserts that the steady state of a loop allocates nothing.
func Alloc(t *testing.T, mk Make) {
	t.Run("EchoOfThree", func(t *testing.T) {
		r := echo(t, mk, loop.Config{Gather: time.Microsecond})
		fds := []int{r.blocking(), r.blocking(), r.blocking()}
		p := make([]byte, 100)
		budget(t, "data in, send, flush", func() {
			for _, fd := range fds {
				roundTrip(t, fd, p)
			}
		})
	})
	t.Run("Post", func(t *testing.T) {
		done := make(chan struct{})
		p := &pinged{done: done}
		p.t = t
		l := mk(p, loop.Config{Gather: time.Microsecond})
		p.ran = runLoop(&p.rig, l)
		t.Cleanup(p.stop)
		m := new(ping)
		budget(t, "post", func() {
			l.Post(m)
			<-done
		})
	})
	t.Run("Tick", func(t *testing.T) {
		r := &rig{}
		done := make(chan struct{})
		r.onTick = func(now int64) int64 {
			select {
			case done <- struct{}{}:
			default:
			}
			return now + int64(50*time.Microsecond)
		}
		r.start(t, mk, loop.Config{})
		budget(t, "tick", func() { <-done })
	})
}

type ping struct{}

type pinged struct {
	rig
	done chan struct{}
}

func (p *pinged) OnPost(m loop.Message) {
	if _, ok := m.(*ping); ok {
		p.done <- struct{}{}
		return
	}
	p.rig.OnPost(m)
}

// Bench runs the benchmarks.
func Bench(b *testing.B, mk Make) {
	b.Run("Echo", func(b *testing.B) {
		r := echo(b, mk, loop.Config{Gather: time.Microsecond})
		fd := r.blocking()
		p := make([]byte, 100)
		roundTrip(b, fd, p)
		b.ReportAllocs()
		for b.Loop() {
			roundTrip(b, fd, p)
		}
	})
	b.Run("Flush100Viewers", func(b *testing.B) {
		const viewers = 100
		opened := make(chan loop.Handle, viewers)
		r := &rig{onOpen: func(h loop.Handle, _ uint64) { opened <- h }}
		r.start(b, mk, loop.Config{Gather: time.Microsecond})
		var fds []int
		var handles []loop.Handle
		for range viewers {
			fds = append(fds, r.blocking())
			handles = append(handles, await.Value(b, opened, "OnOpen"))
		}
		frame, buf := make([]byte, 102), make([]byte, 4096)
		done := make(chan struct{})
		tick := func() {
			for _, h := range handles {
				r.loop.Send(h, frame)
			}
			r.loop.Flush()
			done <- struct{}{}
		}
		b.ReportAllocs()
		for b.Loop() {
			r.loop.Post(tick)
			<-done
			b.StopTimer()
			for _, fd := range fds {
				_, _ = unix.Read(fd, buf)
			}
			b.StartTimer()
		}
	})
}
