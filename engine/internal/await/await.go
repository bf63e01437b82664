// Package await is how the engine's tests wait: for what must happen, with a bound and
// never for a time to pass.
package await

import (
	"bytes"
	"os"
	"runtime"
	"testing"
	"time"
)

// Patience bounds every wait; it is generous, since machines are slow and busy.
const Patience = 20 * time.Second

// poll is how often a condition is looked at.
const poll = time.Millisecond

// Value is the next value of c, or the test's end with all goroutines' stacks.
func Value[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(Patience):
		buf := make([]byte, 1<<16)
		t.Fatalf("waited in vain for %s\n%s", what, buf[:runtime.Stack(buf, true)])
		panic("unreachable")
	}
}

// True waits for a condition that nothing signals.
func True(t testing.TB, what string, cond func() bool) {
	t.Helper()
	next := time.NewTicker(poll)
	defer next.Stop()
	for end := time.Now().Add(Patience); !cond(); <-next.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// OpenFiles is the number of descriptors that the process has open.
func OpenFiles(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// Mappings is the number of areas of memory that the process has mapped.
func Mappings(t testing.TB) int {
	t.Helper()
	list, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(list, []byte("\n"))
}
