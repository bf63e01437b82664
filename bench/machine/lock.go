package machine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrBusy says that benchmarks are running on this machine, which would spoil each other's
// figures.
var ErrBusy = errors.New("another run of the benchmarks is going on")

// lockFile stays where it is: who removed it could let a third one in.
func lockFile() string { return filepath.Join(os.TempDir(), "gamehoster-bench.lock") }

// Lock keeps others from benchmarking on this machine until unlock is called or the
// process ends. The error wraps ErrBusy and names the process where one is there already.
func Lock() (unlock func(), err error) {
	f, err := os.OpenFile(lockFile(), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o666)
	if err != nil {
		return nil, fmt.Errorf("opening the benchmarks' lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 32))
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: process %s", ErrBusy, strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("taking the benchmarks' lock: %w", err)
	}
	// Who holds it is a help for people alone.
	_ = f.Truncate(0)
	_, _ = fmt.Fprintln(f, os.Getpid())
	return func() { f.Close() }, nil
}
