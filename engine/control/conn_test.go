package control

import (
	"errors"
	"io"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"gamehoster/engine/internal/await"
)

// pair is two ends in one process.
func pair(t *testing.T) (a, b *Conn) {
	t.Helper()
	a, file, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = Attach(file); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// pipe is a pipe whose reading end is to be given away.
func pipe(t *testing.T) (r int, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	w = os.NewFile(uintptr(fds[1]), "pipe")
	t.Cleanup(func() { w.Close() })
	return fds[0], w
}

func TestADescriptorIsHandedOver(t *testing.T) {
	a, b := pair(t)
	r, w := pipe(t)
	if err := a.Send(&Seat{Number: 4, Reservation: someone, Early: []byte("early")}, r); err != nil {
		t.Fatal(err)
	}
	if err := a.Send(&Retired{Instance: 3}, -1); err != nil {
		t.Fatal(err)
	}
	m, fd, err := b.Receive()
	if s, ok := m.(*Seat); err != nil || !ok || s.Number != 4 || string(s.Early) != "early" || s.Reservation != someone {
		t.Fatalf("%+v, %v", m, err)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v: another program would inherit it", flags, err)
	}
	got := os.NewFile(uintptr(fd), "handed over")
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if text, err := io.ReadAll(got); string(text) != "x" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	got.Close()
	if m, fd, err := b.Receive(); fd != -1 || err != nil || m.(*Retired).Instance != 3 {
		t.Errorf("%+v with %d, %v", m, fd, err)
	}
	a.Close()
	if m, fd, err := b.Receive(); m != nil || fd != -1 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %+v, %d, %v", m, fd, err)
	}
}

// TestAPeerThatDoesNotRead wants a bound on what waits for it, and all of that to come in
// order when it reads after all.
func TestAPeerThatDoesNotRead(t *testing.T) {
	before := await.OpenFiles(t)
	a, b := pair(t)
	sent := 0
	for {
		r, w := pipe(t)
		w.Close()
		err := a.Send(&Seat{Number: uint64(sent)}, r)
		if err == nil {
			sent++
			continue
		}
		unix.Close(r)
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		break
	}
	if sent < maxFiles || !a.Crowded() {
		t.Fatalf("full after %d, crowded: %t", sent, a.Crowded())
	}
	for i := range sent {
		m, fd, err := b.Receive()
		if err != nil || m.(*Seat).Number != uint64(i) || fd < 0 {
			t.Fatalf("%d: %+v, %d, %v", i, m, fd, err)
		}
		unix.Close(fd)
	}
	await.True(t, "the queue to be empty", a.Idle)
	if a.Crowded() {
		t.Error("it is crowded still")
	}
	a.Close()
	b.Close()
	await.True(t, "all descriptors to be closed", func() bool { return await.OpenFiles(t) <= before })
}

func TestBytesThatWaitAreBounded(t *testing.T) {
	a, _ := pair(t)
	m := &Inspected{Part: make([]byte, MaxReport)}
	for n := 0; ; n += MaxReport {
		if err := a.Send(m, -1); errors.Is(err, ErrFull) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		if n > 2*maxQueue {
			t.Fatal("there is no end")
		}
	}
}

// TestWhatWaitsIsLetGo closes an end whose queue holds descriptors.
func TestWhatWaitsIsLetGo(t *testing.T) {
	before, goroutines := await.OpenFiles(t), runtime.NumGoroutine()
	a, b := pair(t)
	for range maxFiles / 2 {
		r, w := pipe(t)
		w.Close()
		if err := a.Send(&Seat{Early: make([]byte, 8<<10)}, r); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	if err := a.Send(&Bye{}, -1); !errors.Is(err, ErrClosed) {
		t.Errorf("sent to a closed end: %v", err)
	}
	b.Close()
	await.True(t, "all descriptors to be closed", func() bool { return await.OpenFiles(t) <= before })
	await.True(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func TestFinishSendsWhatWaits(t *testing.T) {
	a, b := pair(t)
	const n = 2000
	for i := range n {
		if err := a.Send(&Claimed{Number: uint64(i)}, -1); err != nil {
			t.Fatal(err)
		}
	}
	a.Finish()
	for i := range n {
		if m, _, err := b.Receive(); err != nil || m.(*Claimed).Number != uint64(i) {
			t.Fatalf("%d: %+v, %v", i, m, err)
		}
	}
	a.Wait()
	if _, _, err := b.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
}

func TestGarbageIsNoMessage(t *testing.T) {
	a, b := pair(t)
	for _, p := range [][]byte{{0xff}, make([]byte, MaxMessage+100)} {
		r, _ := pipe(t)
		if err := a.writeOne(packet{p, r}); err != nil {
			t.Fatal(err)
		}
		unix.Close(r)
		if m, fd, err := b.Receive(); m != nil || fd != -1 || !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes: %+v, %d, %v", len(p), m, fd, err)
		}
	}
}

// TestAReceiverWithoutDescriptors has a process that cannot open another one: the message
// comes all the same.
func TestAReceiverWithoutDescriptors(t *testing.T) {
	a, b := pair(t)
	r, _ := pipe(t)
	if err := a.Send(&Seat{Number: 4}, r); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it to be sent", a.Idle)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	m, fd, err := b.Receive()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if s, ok := m.(*Seat); !ok || s.Number != 4 || fd != -1 || err != nil {
		t.Errorf("%+v, %d, %v", m, fd, err)
	}
}
