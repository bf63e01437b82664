//go:build !giouring

package uring

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// binding names the ring type of this build.
const binding = "own"

const (
	setupCQSize    = 1 << 3
	setupNoSQArray = 1 << 16
	recvMultishot  = 1 << 1
	overflowFlag   = 1 << 1 // of the submission queue's flags: completions wait outside

	mapSQEs = 0x10000000

	registerBuffers = 22
)

// entry is one submission queue entry, as the kernel lays it out.
type entry struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	opFlags  uint32
	token    token
	group    uint16
	persona  uint16
	fileSlot int32
	addr3    uint64
	_        uint64
}

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, _ uint32
	_                                                   uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, _ uint32
	_                                                   uint64
}

type params struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	_                                                    [3]uint32
	sq                                                   sqOffsets
	cq                                                   cqOffsets
}

// ring talks to the kernel by three system calls and shared memory.
type ring struct {
	fd     int
	shared []byte // heads, tails and the completions
	slots  []byte // the submissions

	entries []entry
	sqTail  *uint32
	sqFlags *uint32
	queued  uint32 // own tail: entries that were filled
	handed  uint32 // entries that the kernel has consumed

	done           []completion
	cqHead, cqTail *uint32

	pool   pool
	coarse bool // the kernel has no minimal wait
	ts     unix.Timespec
	arg    waitArg
}

// newRing makes a ring for the calling thread, which must not change.
func newRing(s sizes) (_ *ring, err error) {
	p := params{
		flags:     setupCQSize | setupDisabled | setupSubmitAll | setupSingleIssuer | setupDeferTaskrun | setupNoSQArray,
		cqEntries: s.cq,
	}
	r := &ring{fd: -1}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.fd, err = setup(s.sq, &p); errors.Is(err, unix.EINVAL) {
		// Kernels before 6.6 want the indirection.
		p = params{flags: p.flags &^ setupNoSQArray, cqEntries: s.cq}
		r.fd, err = setup(s.sq, &p)
	}
	if err != nil {
		return nil, failed("setup", err)
	}
	if err = r.mapShared(&p); err != nil {
		return nil, err
	}
	if r.pool, err = newPool(s); err != nil {
		return nil, err
	}
	reg := struct {
		addr       uint64
		entries    uint32
		group, _   uint16
		_, _, none uint64
	}{addr: r.pool.address(), entries: uint32(s.buffers), group: bufferGroup}
	if _, _, e := unix.Syscall6(unix.SYS_IO_URING_REGISTER, uintptr(r.fd), registerBuffers, uintptr(unsafe.Pointer(&reg)), 1, 0, 0); e != 0 {
		return nil, failed("register", e)
	}
	if err = restrict(r.fd); err != nil {
		return nil, err
	}
	r.pool.fill()
	return r, nil
}

func setup(entries uint32, p *params) (int, error) {
	fd, _, e := unix.Syscall(unix.SYS_IO_URING_SETUP, uintptr(entries), uintptr(unsafe.Pointer(p)), 0)
	if e != 0 {
		return -1, e
	}
	unix.CloseOnExec(int(fd))
	return int(fd), nil
}

// mapShared finds the queues in the memory that is shared with the kernel.
func (r *ring) mapShared(p *params) (err error) {
	const sides, how = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_POPULATE
	size := int(p.cq.cqes + p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	if p.flags&setupNoSQArray == 0 {
		size = max(size, int(p.sq.array+p.sqEntries*4))
	}
	if r.shared, err = unix.Mmap(r.fd, 0, size, sides, how); err != nil {
		return failed("setup: mapping the queues", err)
	}
	if r.slots, err = unix.Mmap(r.fd, mapSQEs, int(p.sqEntries)*int(unsafe.Sizeof(entry{})), sides, how); err != nil {
		return failed("setup: mapping the submissions", err)
	}
	word := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.shared[off])) }
	r.sqTail, r.sqFlags = word(p.sq.tail), word(p.sq.flags)
	r.cqHead, r.cqTail = word(p.cq.head), word(p.cq.tail)
	r.entries = unsafe.Slice((*entry)(unsafe.Pointer(&r.slots[0])), p.sqEntries)
	r.done = unsafe.Slice((*completion)(unsafe.Pointer(&r.shared[p.cq.cqes])), p.cqEntries)
	if p.flags&setupNoSQArray == 0 {
		for i := range p.sqEntries {
			*word(p.sq.array + i*4) = i
		}
	}
	return nil
}

func (r *ring) close() {
	if r.fd >= 0 {
		_ = unix.Close(r.fd)
		r.fd = -1
	}
	for _, m := range [][]byte{r.shared, r.slots} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	r.shared, r.slots = nil, nil
	r.pool.release()
}

// next is a cleared entry. A full queue is handed over first.
func (r *ring) next() (*entry, error) {
	if r.queued-r.handed == uint32(len(r.entries)) {
		if err := r.submit(); err != nil {
			return nil, err
		}
	}
	e := &r.entries[r.queued&uint32(len(r.entries)-1)]
	r.queued++
	*e = entry{}
	return e, nil
}

// receive delivers what comes on fd, in provided buffers, until it says that no more
// follows.
func (r *ring) receive(fd int, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.opcode, e.fd, e.flags, e.ioprio, e.group, e.token = opcodeRecv, int32(fd), entryBufferSelect, recvMultishot, bufferGroup, t
	return nil
}

// send writes p, which is not empty. At once: it writes what fits before submit returns
// and completes only if that was not all; p must stay till then. Otherwise it waits
// until something fits, completes in any case, and p must stay till then.
func (r *ring) send(fd int, p []byte, t token, atOnce bool) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.opcode, e.fd, e.token = opcodeSend, int32(fd), t
	e.addr, e.len = uint64(uintptr(unsafe.Pointer(&p[0]))), uint32(len(p))
	e.opFlags = unix.MSG_NOSIGNAL
	if atOnce {
		e.opFlags, e.flags = sendFlags, entrySkipSuccess
	}
	return nil
}

// cancel ends the operation of a token, which then completes. It completes itself only
// where there was none.
func (r *ring) cancel(target, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.opcode, e.fd, e.addr, e.token, e.flags = opcodeCancel, -1, uint64(target), t, entrySkipSuccess
	return nil
}

// read reads an event counter into p.
func (r *ring) read(fd int, p *uint64, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.opcode, e.fd, e.addr, e.len, e.token = opcodeRead, int32(fd), uint64(uintptr(unsafe.Pointer(p))), 8, t
	return nil
}

// submit hands over what is queued. Sends at once are done when it returns.
func (r *ring) submit() error {
	for tries := 0; r.queued != r.handed; tries++ {
		if err := r.enter(0, 0, nil, 0); err != nil {
			return err
		}
		if tries >= maxTries {
			return failed("enter", errNoProgress)
		}
	}
	return nil
}

// wait hands over what is queued and waits for n completions or for the timeout to pass,
// in nanoseconds. Once the time gather has passed one completion is enough; 0 is for
// not at all. It may return earlier.
func (r *ring) wait(n uint32, timeout, gather int64) error {
	if err := r.submitAllBut(uint32(len(r.entries))); err != nil {
		return err
	}
	r.arg = waitArg{}
	if timeout != forever {
		r.ts = unix.NsecToTimespec(timeout)
		r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.ts)))
	}
	if !r.coarse {
		r.arg.minWait = uint32(gather / 1000)
	}
	var err error
	if timeout <= brief {
		err = r.enterBriefly(n, enterGetEvents|enterExtArg, unsafe.Pointer(&r.arg), unsafe.Sizeof(r.arg))
	} else {
		err = r.enter(n, enterGetEvents|enterExtArg, unsafe.Pointer(&r.arg), unsafe.Sizeof(r.arg))
	}
	if errors.Is(err, unix.EINVAL) && r.arg.minWait > 0 {
		r.coarse, err = true, nil
	}
	return err
}

// number is the ring's descriptor.
func (r *ring) number() int { return r.fd }

// gathers reports whether wait knows what gather means.
func (r *ring) gathers() bool { return !r.coarse }

// submitAllBut leaves no more queued than wait's own system call hands over.
func (r *ring) submitAllBut(n uint32) error {
	if r.queued-r.handed <= n {
		return nil
	}
	return r.submit()
}

// enter is the system call. The ordinary way of making it is right, though it costs a
// few dozen nanoseconds more than the raw one: the runtime may stop the world and run
// other goroutines while a batch of sends takes its milliseconds, or while it waits.
func (r *ring) enter(n uint32, flags uintptr, arg unsafe.Pointer, size uintptr) error {
	atomic.StoreUint32(r.sqTail, r.queued)
	taken, _, e := syscall.Syscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(r.queued-r.handed), uintptr(n), flags, uintptr(arg), size)
	return r.entered(taken, e)
}

// brief is the longest wait, in nanoseconds, that the runtime need not know of. The loop's
// processor is idle for that long even when other goroutines want one.
const brief = int64(5e6)

// enterBriefly is enter past the runtime's knowledge, for waits of no more than brief. To
// the runtime this thread then runs all the time. Told of each wait it takes the
// thread's processor away and gives it back, and its monitor, which otherwise sleeps,
// looks for that every 20 microseconds: a twentieth of the time of a loop with
// thousands of sockets. When the runtime wants the thread to stop it sends a signal,
// which ends the wait; what is asked for then happens in Gosched.
func (r *ring) enterBriefly(n uint32, flags uintptr, arg unsafe.Pointer, size uintptr) error {
	atomic.StoreUint32(r.sqTail, r.queued)
	taken, _, e := syscall.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(r.fd), uintptr(r.queued-r.handed), uintptr(n), flags, uintptr(arg), size)
	if e == unix.EINTR {
		runtime.Gosched()
	}
	return r.entered(taken, e)
}

// entered takes note of what a system call has done.
func (r *ring) entered(taken uintptr, e syscall.Errno) error {
	switch e {
	case 0:
		r.handed += uint32(taken)
	case unix.ETIME, unix.EINTR, unix.EAGAIN, unix.EBUSY:
	default:
		return failed("enter", e)
	}
	return nil
}

// reap appends the completions that are there to dst.
func (r *ring) reap(dst []completion) []completion {
	head, tail := *r.cqHead, atomic.LoadUint32(r.cqTail)
	for ; head != tail; head++ {
		dst = append(dst, r.done[head&uint32(len(r.done)-1)])
	}
	atomic.StoreUint32(r.cqHead, head)
	return dst
}

// overflown reports whether completions did not fit into the queue. The next wait brings
// them.
func (r *ring) overflown() bool { return atomic.LoadUint32(r.sqFlags)&overflowFlag != 0 }

func (r *ring) buffer(id uint16, n int) []byte { return r.pool.buffer(id, n) }
func (r *ring) recycle(id uint16)              { r.pool.recycle(id) }
func (r *ring) publish()                       { r.pool.publish() }
