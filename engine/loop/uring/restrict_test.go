//go:build !giouring

package uring

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestARingDoesNothingElse asks a ring for what a process that was taken over would want
// of it.
func TestARingDoesNothingElse(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := newRing(sizes{sq: 4, cq: 8, buffers: 2, buffer: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	name := []byte("/etc/passwd\x00")
	for _, c := range []struct {
		what   string
		opcode uint8
	}{
		{"readv", 1}, {"sendmsg", 9}, {"accept", 13}, {"connect", 16}, {"openat", 18}, {"close", 19}, {"statx", 21},
		{"write", 23}, {"openat2", 28}, {"splice", 30}, {"shutdown", 34}, {"renameat", 35}, {"unlinkat", 36},
		{"socket", 45}, {"uring_cmd", 46}, {"bind", 56}, {"listen", 57},
	} {
		e, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		e.opcode, e.fd, e.addr, e.token = c.opcode, unix.AT_FDCWD, uint64(uintptr(unsafe.Pointer(&name[0]))), token(c.opcode)
		var done []completion
		for range 3 { // a wait may be interrupted
			if err := r.wait(1, int64(1e9), 0); err != nil {
				t.Fatal(err)
			}
			if done = r.reap(done); len(done) > 0 {
				break
			}
		}
		if len(done) != 1 || done[0].token != token(c.opcode) || done[0].errno() != unix.EACCES {
			t.Errorf("%s: %+v, want one completion with EACCES", c.what, done)
		}
	}
	runtime.KeepAlive(name)
	for _, c := range []struct {
		what   string
		opcode uintptr
	}{{"buffers", 0}, {"files", 2}, {"personality", 9}, {"restrictions", 11}, {"provided buffers", registerBuffers}} {
		var arg [64]byte
		if _, _, e := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), c.opcode, uintptr(unsafe.Pointer(&arg)), 1, 0, 0); !errors.Is(e, unix.EACCES) && !errors.Is(e, unix.EBADFD) {
			t.Errorf("registering %s: %v", c.what, e)
		}
	}
}
