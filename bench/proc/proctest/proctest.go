// Package proctest is what tests of benchmarks' programs share: something that runs beside the test,
// and what this process may not be left with.
package proctest

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"
)

// Patience bounds every wait; it is generous, since machines are slow and busy.
const Patience = 20 * time.Second

// Beside runs something until stop, which says whether it ended without an error.
func Beside(t testing.TB, run func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("it ended with %v", err)
		}
	}
}

// Left is what a process has at a time.
type Left struct{ goroutines, files int }

// Now is what there is.
func Now(t testing.TB) Left {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return Left{runtime.NumGoroutine(), len(list)}
}

// NoMore waits until there is no more than before.
func NoMore(t testing.TB, before Left) {
	t.Helper()
	next := time.NewTicker(time.Millisecond)
	defer next.Stop()
	for end := time.Now().Add(Patience); ; <-next.C {
		now := Now(t)
		if now.goroutines <= before.goroutines && now.files <= before.files {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("there were %d goroutines and %d descriptors, and stay %d and %d", before.goroutines, before.files, now.goroutines, now.files)
		}
	}
}
