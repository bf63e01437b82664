package process

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
)

// loopOfTest takes what is posted and does nothing.
type loopOfTest struct{ loop.Loop }

func (loopOfTest) Post(loop.Message) bool { return true }

// TestABackendThatCannotBeUnderstood wants it to find the worker gone, which would be sent
// players for ever otherwise.
func TestABackendThatCannotBeUnderstood(t *testing.T) {
	conn, theirs, err := control.Pair()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Twice: the copy is of the backend that does not close its end.
	raw, err := syscall.Dup(int(theirs.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(raw) }()
	backend, err := control.Attach(theirs)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	p := &process{
		conn: conn, loop: loopOfTest{}, host: &handler{}, log: slog.New(slog.DiscardHandler),
		game: &control.Game{Options: control.Options{Orphaned: time.Hour}},
	}
	p.boss = newBoss(conn, p.call)
	if _, err := syscall.Write(raw, []byte("no message")); err != nil {
		t.Fatal(os.NewSyscallError("write", err))
	}
	p.listen("")
	if _, _, err := backend.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the backend reads: %v", err)
	}
	if err := conn.Send(&control.Bye{}, -1); !errors.Is(err, control.ErrClosed) {
		t.Errorf("the worker still sends: %v", err)
	}
}
