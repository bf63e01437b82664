package loop

import (
	"math"
	"time"

	"golang.org/x/sys/unix"
)

// The runtime's monotonic clock is CLOCK_MONOTONIC with another origin. Reading
// it costs no system call, so the origins are compared once.
var (
	clockBase   = time.Now()
	clockOrigin = measureOrigin()
)

// measureOrigin returns the kernel's clock at clockBase. The closest of a few
// readings is taken, so that a preempted one does not count.
func measureOrigin() int64 {
	origin, best := int64(0), int64(math.MaxInt64)
	for range 16 {
		before := int64(time.Since(clockBase))
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			panic("reading the monotonic clock: " + err.Error())
		}
		// before is a little early, so Now runs a little ahead of the kernel:
		// a timer set by Now is then never found to have fired too soon.
		if gap := int64(time.Since(clockBase)) - before; gap < best {
			best, origin = gap, ts.Nano()-before
		}
	}
	return origin
}

// Now is the time of the loops: CLOCK_MONOTONIC in nanoseconds, the same for
// every process of the machine. It stands still while the machine is suspended.
func Now() int64 { return clockOrigin + int64(time.Since(clockBase)) }
