package uring

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Available tries everything that a loop needs of the kernel on a small ring of its own:
// the set-up with its flags, provided buffers, an operation, a wait. nil means that loops
// will work; otherwise the error says what was refused, which may be by an old kernel, by
// the sysctl kernel.io_uring_disabled or by a seccomp profile.
func Available() error {
	tried := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		tried <- try()
	}()
	return <-tried
}

func try() error {
	r, err := newRing(sizes{sq: 4, cq: 8, buffers: 2, buffer: 16})
	if err != nil {
		return err
	}
	defer r.close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("making a socket pair: %w", err)
	}
	defer func() { _, _ = unix.Close(pair[0]), unix.Close(pair[1]) }()
	tokens := [...]token{tokenOf(opReceive, 0, 0), tokenOf(opSend, 0, 0)}
	err = errors.Join(r.receive(pair[0], tokens[0]), r.send(pair[1], []byte("try"), tokens[1], true))
	if err != nil {
		return err
	}
	var done []completion
	for range 3 { // a wait may be interrupted
		if err = r.wait(1, int64(1e9), 0); err != nil {
			return err
		}
		if done = r.reap(done); len(done) > 0 {
			break
		}
	}
	if len(done) != 1 || done[0].token != tokens[0] || done[0].result != 3 || !done[0].more() {
		return fmt.Errorf("receiving into provided buffers does not work: %+v", done)
	}
	return nil
}
