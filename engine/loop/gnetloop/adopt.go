package gnetloop

import (
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
)

// maxAdoptions is how many descriptors may wait for the usher.
const maxAdoptions = 4096

// adoption is a descriptor on its way into the loop.
type adoption struct {
	fd     int
	tag    uint64
	early  []byte
	opened bool // set on the loop
}

// usher enrols adopted descriptors one after another. It is a goroutine of its
// own because gnet's Enroll waits for the loop, which Adopt's callers, other
// loops among them, must not.
type usher struct {
	mu     sync.Mutex
	queue  chan *adoption
	closed bool
}

func (u *usher) init() { u.queue = make(chan *adoption, maxAdoptions) }

func (u *usher) take(fd int, early []byte, tag uint64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return loop.ErrStopped
	}
	a := &adoption{fd: fd, tag: tag}
	if len(early) > 0 {
		a.early = append(a.early, early...)
	}
	select {
	case u.queue <- a:
		return nil
	default:
		return loop.ErrBusy
	}
}

func (u *usher) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.closed = true
		close(u.queue)
	}
}

// run enrols until the queue is closed and drops what is left in it then.
func (u *usher) run(l *Loop) {
	for a := range u.queue {
		u.mu.Lock()
		closed := u.closed
		u.mu.Unlock()
		if closed {
			_ = unix.Close(a.fd)
			l.stats.lost.Add(1)
			continue
		}
		if !enrol(l, a) {
			l.stats.lost.Add(1)
		}
	}
}

// enrol hands a's descriptor to gnet, which works on a duplicate. It reports
// whether the connection was opened; the descriptor given is closed either way.
func enrol(l *Loop, a *adoption) bool {
	// Only TCP has it, and does without on the kernels that lack it.
	_ = unix.SetsockoptInt(a.fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, l.cfg.Unsent)
	f := os.NewFile(uintptr(a.fd), "adopted")
	if f == nil {
		return false
	}
	c, err := net.FileConn(f)
	_ = f.Close()
	if err != nil {
		return false
	}
	// A peer that has gone already leaves no address, which gnet insists on.
	if c.RemoteAddr() == nil || c.LocalAddr() == nil {
		_ = c.Close()
		return false
	}
	_, err = l.client.EnrollContext(c, a) // closes c
	return err == nil && a.opened
}
