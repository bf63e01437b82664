// Package sandbox takes from a worker process what it does not need. A worker runs code
// that was made of authors' rules, and whoever finds a way out of that code is in a
// process that can serve the players it has, and do nothing else to the machine.
//
//	backend                        worker
//	-------                        ------
//	Attr: namespaces  -- exec -->  start-up: log, loops with their rings, CPU
//	                               Apply: limits, no_new_privs, filter on all threads
//	socket of a player -- fd --->  compile the game, play
//
// # What holds
//
// The filter lets through what Go's runtime, compiled WebAssembly and the event loops use
// of descriptors that are there already, and answers everything else with EPERM. So there
// is no exec and no fork, no open and nothing else that takes a path, no socket, connect,
// bind, listen or accept, no ptrace or process_vm_writev, no mount, namespaces, keys,
// modules or bpf, and no signal to others. Where a call is needed in one form only, its
// arguments are looked at: clone makes threads, kill and tgkill mean the process itself, a
// socket pair is a stream, fcntl cannot name who is signalled, options of sockets are the
// loops' own, and sending never connects.
//
// io_uring would go around all of it, since its operations are no system calls. Rings are
// therefore made before Apply, which forbids making and registering more, and each was
// restricted when it was made to reading, sending, receiving and cancelling: package
// engine/loop/uring does so for every ring, in a sandbox or not, and the kernel keeps to it
// for the ring's life.
//
// Where the process that starts workers may (as root), each also gets namespaces without
// a network, without others' processes, and with IPC and a host name of its own. What it
// has of a network are then the descriptors that it is passed. As the filter stands without
// that, nothing fails where it is refused.
//
// Memory is not limited here: a definition's instances are counted by their capacity, and
// reserved address space is no memory. Processor time is bounded by the core that a worker
// is bound to.
//
// # Speed
//
// The kernel remembers for each call that the filter allows whatever its arguments are (5.11
// and later), so those cost a bit test: io_uring_enter, epoll, reads, writes, futexes. Only
// calls with looked-at arguments run the filter, whose hot ones come first.
//
// # What is different in a sandbox
//
// The local time zone is read before it can no longer be. Files of traces, and anything
// else that a worker would open by name, must be open before Apply or are the backend's to
// write.
package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mode is the value of --sandbox.
type Mode string

// The modes. An empty one is Auto.
const (
	Auto    Mode = "auto"    // as much as the kernel allows; a line in the log says what it does not
	Off     Mode = "off"     // nothing
	Require Mode = "require" // the filter, or an error; namespaces are as in Auto
)

// Options say how Apply goes about it.
type Options struct {
	Mode Mode
	// Files is the most descriptors that the process may have; 0 leaves the limit as it is.
	Files uint64
	// Log is told where Auto makes do with less; nil discards it.
	Log *slog.Logger
}

// ErrUnsupported is wrapped by Apply's error where the kernel or the architecture has no
// filter to offer.
var ErrUnsupported = errors.New("the system calls of this process cannot be filtered")

// Apply puts the calling process, all its threads and those to come, into the sandbox, for
// good. It is called once, when what the process opens has been opened, before it runs
// what it does not trust. In the mode Auto an error is logged and is none.
func Apply(o Options) error {
	if o.Mode == Off {
		return nil
	}
	err := apply(o)
	if err == nil || o.Mode == Require {
		return err
	}
	if o.Log != nil {
		o.Log.Warn("this worker is not in a sandbox; --sandbox=require makes that an error", "reason", err)
	}
	return nil
}

func apply(o Options) error {
	_, _ = time.Now().Zone() // reads the zone's file once
	filter, err := program(unix.Getpid())
	if err != nil {
		return err
	}
	if err := limit(o.Files); err != nil {
		return err
	}
	return install(filter)
}

// limit lowers what the process may take of the kernel. Limits of what belongs to a user
// and not to a process are left alone: the backend is the same user.
func limit(files uint64) error {
	limits := []struct {
		name string
		what int
		to   uint64
	}{
		{"core dumps", unix.RLIMIT_CORE, 0}, // which would hold the players' tokens
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"descriptors", unix.RLIMIT_NOFILE, files},
	}
	for _, l := range limits {
		if l.what == unix.RLIMIT_NOFILE && files == 0 {
			continue
		}
		var now unix.Rlimit
		if err := unix.Getrlimit(l.what, &now); err != nil {
			return fmt.Errorf("sandbox: reading the limit of %s: %w", l.name, err)
		}
		to := min(l.to, now.Max)
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: to, Max: to}); err != nil {
			return fmt.Errorf("sandbox: lowering the limit of %s to %d: %w", l.name, to, err)
		}
	}
	return nil
}

// install makes the kernel run the filter for each system call of all threads.
func install(filter []unix.SockFilter) error {
	runtime.LockOSThread() // both calls are about the thread that makes them, and the second takes the others along
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("sandbox: giving up the right to new privileges: %w", err)
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	odd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	switch {
	case e == unix.ENOSYS || e == unix.EINVAL:
		return fmt.Errorf("sandbox: %w: %w", ErrUnsupported, e)
	case e != 0:
		return fmt.Errorf("sandbox: installing the filter: %w", e)
	case odd != 0:
		return fmt.Errorf("sandbox: thread %d has a filter of its own", odd)
	}
	return nil
}

// namespaces are those that a worker gets where it can.
const namespaces = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWPID

// Attr adds to what a worker is started with. It looks once whether the process may make
// namespaces, and leaves a as it is where it may not.
func Attr(m Mode, a *syscall.SysProcAttr) {
	if m != Off && mayIsolate() {
		a.Cloneflags |= namespaces
	}
}
