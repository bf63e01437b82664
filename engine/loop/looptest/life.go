package looptest

import (
	"errors"
	"net"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

func testStop(t *testing.T, mk Make) {
	r, opened, closed := open(t, mk, loop.Config{})
	var clients []net.Conn
	for range 10 {
		clients = append(clients, r.connect("", 0))
		h := await.Value(t, opened, "OnOpen")
		r.do(func() { r.loop.Send(h, []byte("unflushed")) })
	}
	last := make(chan struct{})
	r.do(func() {
		r.loop.Stop()
		r.loop.Stop()
		r.loop.Post(func() { close(last) })
	})
	if err := await.Value(t, r.ran, "Run to return"); err != nil {
		t.Errorf("Run: %v", err)
	}
	r.stopped = true
	await.Value(t, last, "the last post")
	for _, c := range clients {
		if err := await.Value(t, closed, "OnClose"); !errors.Is(err, loop.ErrStopped) {
			t.Errorf("closed with %v", err)
		}
		if got := expectEOF(t, c, false); got != "unflushed" {
			t.Errorf("got %q", got)
		}
	}
	if r.loop.Post(func() { t.Error("a post after the end") }) {
		t.Error("Post accepted after the end")
	}
	_, fd := tcpPair(t)
	if err := r.loop.Adopt(fd, nil, 0); !errors.Is(err, loop.ErrStopped) {
		t.Errorf("Adopt after the end: %v", err)
	}
	if err := unix.Close(fd); err != nil {
		t.Errorf("the refused descriptor is not ours any more: %v", err)
	}
	if err := r.loop.Run(); err == nil {
		t.Error("a loop ran twice")
	}
}

func testLeaks(t *testing.T, mk Make) {
	once := func() {
		r, opened, _ := open(t, mk, loop.Config{})
		for range 5 {
			r.connect("early", 0)
			await.Value(t, opened, "OnOpen")
		}
		dead, fd := tcpPair(t)
		_ = dead.Close()
		if err := r.loop.Adopt(fd, nil, 0); err != nil {
			t.Fatal(err)
		}
		client, fd := tcpPair(t)
		if err := r.loop.Adopt(fd, nil, 0); err != nil { // may still be queued at the stop
			t.Fatal(err)
		}
		r.stop()
		expectEOF(t, client, true)
	}
	t.Run("warm", func(*testing.T) { once() })
	runtime.GC()
	files, routines := await.OpenFiles(t)-6, runtime.NumGoroutine() // six clients stay open until the end of the test
	for range 5 {
		once()
	}
	await.True(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= routines })
	if now := await.OpenFiles(t) - 6*6; now > files {
		t.Errorf("%d descriptors, %d before", now, files)
	}
}

func testStopBeforeRun(t *testing.T, mk Make) {
	r := &rig{t: t}
	l := mk(r, loop.Config{})
	l.Stop()
	if err := l.Run(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if l.Post(nil) {
		t.Error("Post accepted after the end")
	}
}

func testPin(t *testing.T, mk Make) {
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !before.IsSet(cpu) {
		cpu++
	}
	r := &rig{}
	r.start(t, mk, loop.Config{Pin: true, CPU: cpu})
	r.do(func() {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 || !set.IsSet(cpu) {
			t.Errorf("the loop's thread may run on %v (%v)", set, err)
		}
	})
	r.stop()
}
