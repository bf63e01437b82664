package loop

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestNow checks that Now is CLOCK_MONOTONIC: it runs between two readings of
// it, but for the least it may be ahead.
func TestNow(t *testing.T) {
	kernel := func() int64 {
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		return ts.Nano()
	}
	const slack = 1_000_000 // ns; what the comparison of the origins may be off by on a busy machine
	last := int64(0)
	for range 10_000 {
		before, now, after := kernel(), Now(), kernel()
		if now < before || now > after+slack {
			t.Fatalf("Now %d is not between %d and %d", now, before, after)
		}
		if now < last {
			t.Fatalf("Now went back from %d to %d", last, now)
		}
		last = now
	}
}

func TestAllocNow(t *testing.T) {
	n := testing.AllocsPerRun(100, func() { Now() })
	t.Logf("Now: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("Now allocates %v times", n)
	}
}
