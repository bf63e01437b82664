package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The time of day is the whole machine's, so a test that sets it would disturb all else. In
// its place a program is told another time of day by the test:
//
//	test --ptrace--> launcher: filter, exec --> program, whose vDSO is hidden from it
//	  ^                                            | clock_gettime(CLOCK_REALTIME)
//	  +------ seccomp's listener: which time is it? +
//
// All other clocks are the kernel's.

const (
	clockLauncher = "GAMEHOSTER_TEST_CLOCK_LAUNCHER"
	listenerFile  = 9 // the descriptor that the launcher leaves the listener at
)

// init has the test binary be the launcher. It is here as the process's first thread, the one
// that is traced, has to be the one that becomes the program.
func init() {
	if os.Getenv(clockLauncher) == "" {
		return
	}
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLOCK_GETTIME, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.CLOCK_REALTIME, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		fd, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&program)))
		if e != 0 {
			err = e
		} else if err = unix.Dup3(int(fd), listenerFile, 0); err == nil {
			os.Unsetenv(clockLauncher)
			err = unix.Exec("/proc/self/exe", os.Args, os.Environ())
		}
	}
	fmt.Fprintln(os.Stderr, "launching a program with another time of day:", err)
	os.Exit(1)
}

// anotherClock starts a program and tells it the time of day with an offset in seconds.
func anotherClock(b *program, offset *atomic.Int64) error {
	runtime.LockOSThread() // which traces
	defer runtime.UnlockOSThread()
	b.cmd.Env = append(b.cmd.Env, clockLauncher+"=1")
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := b.cmd.Start(); err != nil {
		return err
	}
	pid := b.cmd.Process.Pid
	for execs := 0; ; {
		var status unix.WaitStatus
		if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
			return err
		}
		if !status.Stopped() {
			return fmt.Errorf("the launcher ended: %v", status)
		}
		signal := int(status.StopSignal())
		if status.StopSignal() == unix.SIGTRAP {
			signal = 0
			if execs++; execs == 2 { // the launcher's own, and the program's
				break
			}
		}
		if err := unix.PtraceCont(pid, signal); err != nil {
			return err
		}
	}
	if err := hideVDSO(pid); err != nil {
		return err
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pidfd)
	listener, err := unix.PidfdGetfd(pidfd, listenerFile, 0)
	if err != nil {
		return err
	}
	go func() {
		defer unix.Close(listener)
		for {
			err := tellTime(listener, offset)
			// A signal may have ended a question before it was heard, or it was the last.
			if err != nil && (err != unix.ENOENT || unix.Kill(pid, 0) != nil) {
				return
			}
		}
	}()
	return unix.PtraceDetach(pid)
}

// hideVDSO takes the address of the kernel's code, which tells the time without a system
// call, from what a process that has just begun finds on its stack.
func hideVDSO(pid int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	at := uintptr(regs.Rsp)
	word := func() (w uint64, err error) {
		_, err = unix.PtracePeekData(pid, at, (*[8]byte)(unsafe.Pointer(&w))[:])
		at += 8
		return w, err
	}
	// The number of arguments, arguments, 0, environment, 0, pairs of a kind and a value, 0.
	if _, err := word(); err != nil {
		return err
	}
	for range 2 {
		for {
			w, err := word()
			if err != nil {
				return err
			}
			if w == 0 {
				break
			}
		}
	}
	const ignore, vdso = 1, 33
	for {
		kind, err := word()
		if err != nil || kind == 0 {
			return errors.Join(err, errors.New("the program has no vDSO"))
		}
		if kind == vdso {
			_, err := unix.PtracePokeData(pid, at-8, []byte{ignore, 0, 0, 0, 0, 0, 0, 0})
			return err
		}
		at += 8
	}
}

// tellTime answers one question for the time of day.
func tellTime(listener int, offset *atomic.Int64) error {
	var ask struct {
		id         uint64
		pid, flags uint32
		call, arch uint32
		at         uint64
		args       [6]uint64
	}
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&ask))); e != 0 {
		if e == unix.EINTR {
			return nil
		}
		return e
	}
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
		return err
	}
	now.Sec += offset.Load()
	var answer struct {
		id    uint64
		value int64
		err   int32
		flags uint32
	}
	answer.id = ask.id
	local := []unix.Iovec{{Base: (*byte)(unsafe.Pointer(&now)), Len: 16}}
	if _, err := unix.ProcessVMWritev(int(ask.pid), local, []unix.RemoteIovec{{Base: uintptr(ask.args[1]), Len: 16}}, 0); err != nil {
		answer.err = -int32(unix.EFAULT)
	}
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer))); e != 0 && e != unix.ENOENT {
		return e
	}
	return nil
}

// TestTheTimeOfDayJumps sets the clock that a server sees by years, forth and back. Games,
// seats and time limits must not notice.
func TestTheTimeOfDayJumps(t *testing.T) {
	var offset atomic.Int64
	b := prepares(root(t, 16, "one"), nil, "--port", "0", "--workers", "inline")
	b.starts(t, func() error { return anotherClock(b, &offset) })
	p := joins(t, b, "/one")
	const year = 365 * 24 * 3600
	for _, years := range []int64{3, -3, 0} {
		offset.Store(years * year)
		from, tick := time.Now(), p.tick
		p.must(t, 20)
		if ran, due := float64(p.tick-tick), 60*time.Since(from).Seconds(); ran < due*.5-20 || ran > due*1.5+20 {
			t.Errorf("%v years away: %v ticks where about %.0f are due", years, ran, due)
		}
		// A socket that breaks now finds its seat, which is kept for two seconds.
		p.conn.Close()
		again := joins(t, b, "/one?resume="+p.token)
		if again.id != p.id {
			t.Errorf("%v years away: player %d is now %d", years, p.id, again.id)
		}
		p = again
		q := joins(t, b, "/one")
		q.leave()
		b.out.until(t, fmt.Sprintf(`"time":"%d-[^\n]*"msg":"socket closed"`, time.Now().AddDate(int(years), 0, -1).Year()))
	}
}
