package uring

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/looptest"
)

func mk(h loop.Handler, cfg loop.Config) loop.Loop { return New(h, cfg) }

// tight makes loops that run out of everything: of room for operations and completions
// and of buffers, with far more connections than the ring has entries.
func tight(h loop.Handler, cfg loop.Config) loop.Loop {
	return newLoop(h, cfg, sizes{sq: 4, cq: 16, buffers: 16, buffer: 64})
}

// coarse makes loops that take the kernel for one that knows no minimal wait.
func coarse(h loop.Handler, cfg loop.Config) loop.Loop {
	l := newLoop(h, cfg, defaultSizes)
	l.made = func(r *ring) { r.coarse = true }
	return l
}

func TestAvailable(t *testing.T) {
	if err := Available(); err != nil {
		t.Errorf("this machine cannot do io_uring: %v", err)
	}
}

func TestLoop(t *testing.T) {
	t.Log("binding:", binding)
	looptest.Run(t, mk)
}

func TestLoopOnATightRing(t *testing.T) { looptest.Run(t, tight) }

func TestLoopOnAnOlderKernel(t *testing.T) { looptest.Run(t, coarse) }

// TestRingsFitIntoTheirShare makes rings for machines with more and more cores.
func TestRingsFitIntoTheirShare(t *testing.T) {
	for _, most := range []uint64{1 << 30, 1 << 20, 256 << 10, 64 << 10, 1} {
		runtime.LockOSThread()
		r, s, err := fit(defaultSizes, most)
		if err != nil {
			t.Fatalf("%d bytes: %v", most, err)
		}
		r.close()
		runtime.UnlockOSThread()
		t.Logf("in %d bytes: %+v, %d bytes", most, s, s.bytes())
		if s.bytes() > most && s.cq > least {
			t.Errorf("%+v takes %d bytes of %d", s, s.bytes(), most)
		}
		if 2*s.bytes() < min(most, defaultSizes.bytes()) {
			t.Errorf("%+v leaves more than half of %d bytes", s, most)
		}
	}
	if fair() == 0 {
		t.Error("nothing is fair")
	}
}

// TestNothingIsLostWhenTheRingRunsOver holds a loop up while many clients speak: their
// messages are more than there are buffers and room for completions.
func TestNothingIsLostWhenTheRingRunsOver(t *testing.T) {
	const clients, size = 60, 200
	got := map[loop.Handle]int{}
	all, opened := make(chan struct{}), make(chan struct{}, clients)
	total := 0
	h := &watcher{
		opened: func() { opened <- struct{}{} },
		closed: func(error) {},
		data: func(h loop.Handle, p []byte) {
			got[h] += len(p)
			if total += len(p); total == clients*size {
				close(all)
			}
		},
	}
	l := newLoop(h, loop.Config{}, sizes{sq: 4, cq: 16, buffers: 32, buffer: 64})
	ran := make(chan error, 1)
	go func() { ran <- l.Run() }()
	var peers []int
	for range clients {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Close(pair[1]) }()
		if err := l.Adopt(pair[0], nil, 0); err != nil {
			t.Fatal(err)
		}
		peers = append(peers, pair[1])
	}
	for range clients {
		await.Value(t, opened, "OnOpen")
	}
	held, gate := make(chan struct{}), make(chan struct{})
	l.Post(func() { close(held); <-gate })
	await.Value(t, held, "the loop to be held up")
	for _, fd := range peers {
		if n, err := unix.Write(fd, make([]byte, size)); n != size || err != nil {
			t.Fatalf("writing: %d, %v", n, err)
		}
	}
	close(gate)
	await.Value(t, all, "all data")
	l.Stop()
	if err := await.Value(t, ran, "Run to return"); err != nil {
		t.Errorf("Run: %v", err)
	}
	t.Logf("completions spilt %d times, receives ended %d times for want of buffers", l.spills, l.dry)
	if l.dry == 0 || l.spills == 0 {
		t.Error("nothing ran over")
	}
	for h, n := range got {
		if n != size {
			t.Errorf("%d bytes of connection %d", n, h)
		}
	}
}

// TestABrokenRing takes the ring away from a running loop: Run ends with the error and
// everybody is told.
func TestABrokenRing(t *testing.T) {
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(null) }()
	var l *Loop
	told := make(chan error, 1)
	h := &watcher{
		opened: func() {
			// Not closed, as the number would be free for others.
			if err := unix.Dup3(null, l.ring.number(), unix.O_CLOEXEC); err != nil {
				t.Error(err)
			}
		},
		closed: func(err error) { told <- err },
	}
	l = New(h, loop.Config{})
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(pair[1]) }()
	if err := l.Adopt(pair[0], nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.Run(); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("Run: %v", err)
	}
	if err := await.Value(t, told, "OnClose"); !errors.Is(err, unix.EOPNOTSUPP) {
		t.Errorf("closed with %v", err)
	}
	if n, err := unix.Read(pair[1], make([]byte, 1)); n != 0 || err != nil {
		t.Errorf("the peer reads %d bytes, %v", n, err)
	}
	if l.Post(nil) {
		t.Error("Post accepted after the end")
	}
}

// watcher is a handler made of functions.
type watcher struct {
	opened func()
	closed func(error)
	data   func(loop.Handle, []byte)
}

func (w *watcher) OnOpen(loop.Handle, uint64)       { w.opened() }
func (w *watcher) OnData(h loop.Handle, p []byte)   { w.data(h, p) }
func (w *watcher) OnClose(_ loop.Handle, err error) { w.closed(err) }
func (w *watcher) OnTick(int64) int64               { return loop.Never }
func (w *watcher) OnPost(m loop.Message) {
	if f, ok := m.(func()); ok {
		f()
	}
}

func TestStorm(t *testing.T) { looptest.Storm(t, mk) }

func TestAllocLoop(t *testing.T) { looptest.Alloc(t, mk) }

func BenchmarkLoop(b *testing.B) { looptest.Bench(b, mk) }
