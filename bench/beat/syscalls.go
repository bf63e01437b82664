package beat

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of the driver's inner loop do not wait, so the scheduler of the runtime
// need not be told about them.

// pollNow asks what is ready, without waiting.
func pollNow(epoll int, events []unix.EpollEvent) (int, error) {
	n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if e == unix.EINTR {
		return 0, nil
	}
	if e != 0 {
		return 0, fmt.Errorf("polling: %w", e)
	}
	return int(n), nil
}

func readNow(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func writeNow(fd int, p []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// sleep waits for ns nanoseconds, or less where a signal comes. time.Sleep would hand the
// thread to the runtime's poller and come back late.
func sleep(ns int64) {
	if ns <= 0 {
		return
	}
	t := unix.NsecToTimespec(min(ns, int64(time.Second)))
	_ = unix.Nanosleep(&t, nil)
}
