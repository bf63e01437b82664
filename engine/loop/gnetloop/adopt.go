package gnetloop

import (
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arrivals"
)

// together is how many descriptors are enrolled at a time. gnet opens those that it has
// once a turn, and a loop that is behind with its ticks has a turn seldom: one by one, a
// crowd would wait for minutes.
const together = 256

// adoption is a descriptor that gnet has been given.
type adoption struct {
	arrivals.Arrival
	opened bool // set on the loop
}

// usher enrols adopted descriptors. It is a goroutine of its own, and one more for each
// that is under way, because gnet's Enroll waits for the loop, which Adopt's callers,
// other loops among them, must not.
type usher struct {
	mu      sync.Mutex
	waiting arrivals.Queue
	closed  bool
	came    chan struct{} // has one element when something may wait, is closed at the end
	slots   chan struct{} // an element for each that is under way
}

func (u *usher) init() {
	u.came, u.slots = make(chan struct{}, 1), make(chan struct{}, together)
}

func (u *usher) put(fd int, early []byte, tag uint64) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return loop.ErrStopped
	}
	if err := u.waiting.Put(fd, early, tag); err != nil {
		return err
	}
	select {
	case u.came <- struct{}{}:
	default: // the usher knows
	}
	return nil
}

func (u *usher) crowded() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.waiting.Crowded()
}

// next takes the next descriptor.
func (u *usher) next() (a adoption, ok, closed bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var one [1]arrivals.Arrival
	some := u.waiting.Take(one[:0], 1)
	if ok = len(some) > 0; ok {
		a.Arrival = some[0]
	}
	return a, ok, u.closed
}

func (u *usher) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.closed {
		u.closed = true
		close(u.came)
	}
}

// run enrols until the usher is closed and drops what waits then. It returns when all
// that was under way has come through.
func (u *usher) run(l *Loop) {
	var underWay sync.WaitGroup
	defer underWay.Wait()
	for range u.came {
		for {
			a, ok, closed := u.next()
			if !ok {
				break
			}
			if closed {
				_ = unix.Close(a.FD)
				l.stats.Lost.Add(1)
				continue
			}
			u.slots <- struct{}{}
			underWay.Go(func() {
				if !enrol(l, &a) {
					l.stats.Lost.Add(1)
					l.cfg.Lost(a.Tag)
				}
				<-u.slots
			})
		}
	}
	for { // what came between the last call and the end
		a, ok, _ := u.next()
		if !ok {
			return
		}
		_ = unix.Close(a.FD)
		l.stats.Lost.Add(1)
	}
}

// enrol hands a's descriptor to gnet, which works on a duplicate. It reports
// whether the connection was opened; the descriptor given is closed either way.
func enrol(l *Loop, a *adoption) bool {
	// Only TCP has it, and does without on the kernels that lack it.
	_ = unix.SetsockoptInt(a.FD, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, l.cfg.Unsent)
	f := os.NewFile(uintptr(a.FD), "adopted")
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
