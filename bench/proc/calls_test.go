package proc

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCountCalls(t *testing.T) {
	c, err := CountCalls(os.Getpid())
	if err != nil {
		// The kernel's word is taken for it, if it is one about permission.
		if !errors.Is(err, ErrNoCalls) {
			t.Fatal(err)
		}
		t.Logf("nothing to count: %v", err)
		return
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	before, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	const n = 10_000
	for range n {
		unix.Getppid()
	}
	after, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	if got := after - before; got < n || got > 2*n {
		t.Errorf("%d of %d calls were counted", got, n)
	}
	all, err := CountAll([]int{os.Getpid(), os.Getpid()}, func() error { unix.Getppid(); return nil })
	if err != nil || len(all) != 2 || all[0] < 1 || all[1] < 1 {
		t.Errorf("%v calls, %v", all, err)
	}
	other, err := CountCalls(1 << 22) // no process has it
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	unix.Getppid()
	if got, err := other.Read(); err != nil || got != 0 {
		t.Errorf("%d calls of no process, %v", got, err)
	}
}
