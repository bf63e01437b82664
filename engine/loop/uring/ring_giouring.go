//go:build giouring

package uring

import (
	"errors"
	"unsafe"

	"github.com/pawelgaczynski/giouring"
	"golang.org/x/sys/unix"
)

// binding names the ring type of this build.
const binding = "giouring"

// ring is the same over a library, as far as that goes. What is done round it:
//
//   - An entry that is used again keeps what the library's Prepare functions do not
//     set, so each is cleared first.
//   - It writes the submission queue's index array even where there is none, over the
//     queue's head, so the ring is made with one.
//   - The size of the completion queue cannot be set. It is twice the submission
//     queue's, which is why the latter is longer than need be.
//   - Adding a provided buffer wraps at the 4096th; pool does that instead.
//   - A batch of completions larger than what is there is read beyond the end.
//   - Its waits allocate, know no minimal time and swallow errors, so that Enter2 is
//     called with an argument of our own.
//   - It links to names that the runtime keeps to itself: build with
//     -ldflags=-checklinkname=0.
type ring struct {
	lib    *giouring.Ring
	pool   pool
	coarse bool
	ts     unix.Timespec
	arg    waitArg

	events []*giouring.CompletionQueueEvent // scratch of reap
}

// newRing makes a ring for the calling thread, which must not change.
func newRing(s sizes) (_ *ring, err error) {
	r := &ring{lib: giouring.NewRing(), events: make([]*giouring.CompletionQueueEvent, 256)}
	if err = r.lib.QueueInit(max(s.sq, s.cq/2), setupDisabled|setupSubmitAll|setupSingleIssuer|setupDeferTaskrun); err != nil {
		return nil, failed("setup", err)
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	unix.CloseOnExec(r.lib.RingFd())
	if r.pool, err = newPool(s); err != nil {
		return nil, err
	}
	reg := &giouring.BufReg{RingAddr: r.pool.address(), RingEntries: uint32(s.buffers), Bgid: bufferGroup}
	if _, err = r.lib.RegisterBufferRing(reg, 0); err != nil {
		return nil, failed("register", err)
	}
	if err = restrict(r.lib.RingFd()); err != nil {
		return nil, err
	}
	r.pool.fill()
	return r, nil
}

func (r *ring) close() {
	r.lib.QueueExit()
	r.pool.release()
}

// next is a cleared entry. A full queue is handed over first.
func (r *ring) next() (*giouring.SubmissionQueueEntry, error) {
	e := r.lib.GetSQE()
	if e == nil {
		if err := r.submit(); err != nil {
			return nil, err
		}
		if e = r.lib.GetSQE(); e == nil {
			return nil, failed("enter", errNoProgress)
		}
	}
	*e = giouring.SubmissionQueueEntry{}
	return e, nil
}

func (r *ring) receive(fd int, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.PrepareRecvMultishot(fd, 0, 0, 0)
	e.Flags |= entryBufferSelect
	e.BufIG = bufferGroup
	e.UserData = uint64(t)
	return nil
}

func (r *ring) send(fd int, p []byte, t token, atOnce bool) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	flags := unix.MSG_NOSIGNAL
	if atOnce {
		flags = sendFlags
	}
	e.PrepareSend(fd, uintptr(unsafe.Pointer(&p[0])), uint32(len(p)), flags)
	if atOnce {
		e.Flags |= entrySkipSuccess
	}
	e.UserData = uint64(t)
	return nil
}

func (r *ring) cancel(target, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.PrepareCancel64(uint64(target), 0)
	e.Flags |= entrySkipSuccess
	e.UserData = uint64(t)
	return nil
}

func (r *ring) read(fd int, p *uint64, t token) error {
	e, err := r.next()
	if err != nil {
		return err
	}
	e.PrepareRead(fd, uintptr(unsafe.Pointer(p)), 8, 0)
	e.UserData = uint64(t)
	return nil
}

func (r *ring) submit() error {
	for tries := 0; r.lib.SQReady() > 0; tries++ {
		if _, err := r.lib.Submit(); err != nil && !passing(err) {
			return failed("enter", err)
		}
		if tries >= maxTries {
			return failed("enter", errNoProgress)
		}
	}
	return nil
}

// passing tells errors that end a system call and not the ring.
func passing(err error) bool {
	for _, e := range []unix.Errno{unix.ETIME, unix.EINTR, unix.EAGAIN, unix.EBUSY} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (r *ring) wait(n uint32, timeout, gather int64) error {
	if err := r.submit(); err != nil {
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
	_, err := r.lib.Enter2(0, n, enterGetEvents|enterExtArg, unsafe.Pointer(&r.arg), int(unsafe.Sizeof(r.arg)))
	switch {
	case err == nil || passing(err):
		return nil
	case errors.Is(err, unix.EINVAL) && r.arg.minWait > 0:
		r.coarse = true
		return nil
	}
	return failed("enter", err)
}

func (r *ring) number() int   { return r.lib.RingFd() }
func (r *ring) gathers() bool { return !r.coarse }

// reap asks for completions only where there are some: the library would otherwise make
// a system call of its own to look for more.
func (r *ring) reap(dst []completion) []completion {
	for ready := r.lib.CQReady(); ready > 0; ready = r.lib.CQReady() {
		n := r.lib.PeekBatchCQE(r.events[:min(int(ready), len(r.events))])
		for _, e := range r.events[:n] {
			dst = append(dst, completion{token(e.UserData), e.Res, e.Flags})
		}
		r.lib.CQAdvance(n)
	}
	return dst
}

func (r *ring) overflown() bool                { return r.lib.CQHasOverflow() }
func (r *ring) buffer(id uint16, n int) []byte { return r.pool.buffer(id, n) }
func (r *ring) recycle(id uint16)              { r.pool.recycle(id) }
func (r *ring) publish()                       { r.pool.publish() }
