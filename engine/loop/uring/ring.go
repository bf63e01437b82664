package uring

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is one io_uring with its provided buffers. There are two of the type, of which
// a build has one: over plain system calls, and over giouring under the build tag
// giouring. Both have these methods, all for the thread that made the ring:
//
//	newRing, close
//	receive, send, cancel, read    queue an operation
//	submit                         hand over what is queued, without waiting
//	wait                           the same, then wait for completions or a time
//	reap, overflown                take completions
//	buffer, recycle, publish       received bytes, and giving their memory back
//
// What an operation is about comes back with its completions as a token.

// sizes are the dimensions of a ring, powers of two.
type sizes struct {
	sq      uint32 // operations that are handed over at once
	cq      uint32 // completions that wait in the ring
	buffers int    // provided for receiving, at most 32768
	buffer  int    // bytes of each
}

// defaultSizes are for thousands of sockets with small messages. The submission queue
// is short on purpose: a tick's sends that go in batches of it stay in the cache.
var defaultSizes = sizes{sq: 1024, cq: 16384, buffers: 16384, buffer: 256}

// least is the smallest completion queue that a loop makes do with.
const least = 1024

// bytes is what a ring takes of the memory that its user may have locked.
func (s sizes) bytes() uint64 { return uint64(s.sq)*64 + uint64(s.cq)*16 + uint64(s.buffers)*16 }

// half is about half of s.
func (s sizes) half() sizes {
	s.cq /= 2
	s.sq, s.buffers = max(min(s.sq, s.cq/4), 4), min(s.buffers, int(s.cq))
	return s
}

// fair is the part of the locked memory, 8 MB of a user's on most systems, that a loop may
// take so that there is enough for one on each core, and as many again while workers
// are replaced.
func fair() uint64 {
	var limit unix.Rlimit
	if unlimited() || unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil {
		return math.MaxUint64
	}
	return limit.Cur / uint64(2*runtime.NumCPU())
}

// unlimited reports whether the process may lock what it likes, as root may unless it is a
// container's.
func unlimited() bool {
	var data [2]unix.CapUserData
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	return unix.Capget(&h, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}

// fit makes a ring of s, or of less where that is more than is fair or than there is. A
// smaller ring overflows sooner, which costs time and nothing else.
func fit(s sizes, most uint64) (*ring, sizes, error) {
	for s.bytes() > most && s.cq > least {
		s = s.half()
	}
	for {
		r, err := newRing(s)
		if err == nil || !errors.Is(err, unix.ENOMEM) || s.cq <= least {
			return r, s, err
		}
		s = s.half()
	}
}

// kind is what an operation does.
type kind uint8

const (
	opReceive kind = iota + 1
	opSend         // of a flush: what the socket takes at once
	opRest         // the rest of one, when the socket takes it
	opCancel
	opBell
)

// token names an operation: its kind, and the connection that it is for. The generation
// tells apart what is said of an earlier connection in the same slot.
type token uint64

const genBits = 28

func tokenOf(k kind, slot, gen uint32) token {
	return token(k)<<60 | token(gen&(1<<genBits-1))<<32 | token(slot)
}

func (t token) kind() kind   { return kind(t >> 60) }
func (t token) slot() uint32 { return uint32(t) }
func (t token) gen() uint32  { return uint32(t>>32) & (1<<genBits - 1) }

// completion is what the kernel says of an operation, laid out as the kernel does.
type completion struct {
	token  token
	result int32
	flags  uint32
}

const (
	flagBuffer = 1 << 0 // a provided buffer was filled, whose number is in the upper half
	flagMore   = 1 << 1 // more completions of the operation follow
)

// buffer is the number of the provided buffer that was filled.
func (c *completion) buffer() (uint16, bool) { return uint16(c.flags >> 16), c.flags&flagBuffer != 0 }

// more reports whether the operation goes on.
func (c *completion) more() bool { return c.flags&flagMore != 0 }

// errno is the error of a failed operation, 0 of others.
func (c *completion) errno() unix.Errno {
	if c.result < 0 {
		return unix.Errno(-c.result)
	}
	return 0
}

// What the kernel's interface consists of, where both bindings need it.
const (
	opcodeCancel = 14
	opcodeRead   = 22
	opcodeSend   = 26
	opcodeRecv   = 27

	setupDisabled     = 1 << 6 // the ring takes no operation before its restrictions stand
	setupSubmitAll    = 1 << 7
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	entryBufferSelect = 1 << 5
	entrySkipSuccess  = 1 << 6

	bufferGroup = 1
)

// sendFlags of a flush: take what fits now, say how much that was, raise no signal.
// Where everything fits there is no completion at all.
const sendFlags = unix.MSG_DONTWAIT | unix.MSG_WAITALL | unix.MSG_NOSIGNAL

// waitArg is what a wait passes to the kernel.
type waitArg struct {
	sigmask   uint64
	sigmaskSz uint32
	minWait   uint32 // microseconds
	ts        uint64
}

// forever as a timeout of wait means none.
const forever = int64(1<<63 - 1)

// providedBuf is one entry of the ring of provided buffers. The last field of the
// first one is the ring's tail.
type providedBuf struct {
	addr uint64
	len  uint32
	id   uint16
	tail uint16
}

// failed wraps an error of one of the three system calls.
func failed(call string, err error) error { return fmt.Errorf("io_uring_%s: %w", call, err) }

// restrict bounds for good what a ring, made with setupDisabled, can be made to do, and
// enables it. The ring's memory is the process's own to write to, and what is written
// there is done without a system call that a sandbox's filter could look at: a process
// that was taken over must not open files or make connections through it. A ring that is
// restricted receives, sends, cancels and reads from what is open already, and takes no
// other memory or descriptors.
func restrict(fd int) error {
	const (
		registerRestrictions = 11
		registerEnable       = 12
	)
	// restriction is laid out as the kernel has it.
	type restriction struct {
		what  uint16
		value uint8
		_     uint8
		_     [3]uint32
	}
	const operation, entryFlags = 1, 2
	allowed := [...]restriction{
		{what: operation, value: opcodeRead},
		{what: operation, value: opcodeCancel},
		{what: operation, value: opcodeSend},
		{what: operation, value: opcodeRecv},
		{what: entryFlags, value: entryBufferSelect | entrySkipSuccess},
	}
	_, _, e := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(fd), registerRestrictions,
		uintptr(unsafe.Pointer(&allowed)), uintptr(len(allowed)), 0, 0)
	if e == 0 {
		_, _, e = unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(fd), registerEnable, 0, 0, 0, 0)
	}
	if e != 0 {
		return failed("register: restricting the ring", e)
	}
	return nil
}

// maxTries is how often the kernel may take nothing, because it is out of memory.
const maxTries = 1000

var errNoProgress = errors.New("the kernel does not take any operation")
