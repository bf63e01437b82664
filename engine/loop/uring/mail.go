package uring

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arrivals"
)

const (
	adoptionsEach = 64   // descriptors opened before the time is looked at
	keepPosts     = 4096 // longest queue whose memory is kept for reuse

	// The time that a turn may spend on opening: a third of what it took for all else,
	// or this. A loop that is behind with its ticks has a turn seldom, and were it to open
	// a few each time, those that came in a crowd would wait for minutes.
	leastOpening = int64(2e6) // ns
	openingShare = 3
)

// mailbox is what other goroutines leave for the loop. An event counter, the bell, is
// rung only while the loop sleeps.
type mailbox struct {
	mu       sync.Mutex
	posts    []loop.Message
	spare    []loop.Message // the other half of the pair that posts alternates with
	arriving arrivals.Queue
	asleep   bool          // the loop waits and has not been rung for
	halting  bool          // Stop was called
	halted   chan struct{} // closed then
	closed   bool          // nothing is accepted any more

	bell  int
	rings uint64 // what the ring reads from the bell
}

func (m *mailbox) open() error {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("making the wake-up event: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bell = bell
	return nil
}

var one = []byte{1, 0, 0, 0, 0, 0, 0, 0} // what an event counter is counted up by

// ring wakes the loop if it sleeps; mu is held.
func (m *mailbox) ring() {
	if m.asleep {
		m.asleep = false
		_, _ = unix.Write(m.bell, one) // the counter can neither be full nor closed
	}
}

// sleep reports whether there is nothing to do; then whoever comes rings.
func (m *mailbox) sleep() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = len(m.posts) == 0 && m.arriving.Len() == 0 && !m.halting
	return m.asleep
}

func (m *mailbox) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = false
}

// begins waits for the loop to be run, and reports whether that was before it was stopped.
func (m *mailbox) begins(begin <-chan struct{}) bool {
	select {
	case <-begin:
	case <-m.halted:
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.halting
}

// take returns the posts that are there, and how many descriptors have come up to now. A
// last call closes the box.
func (m *mailbox) take() (posts []loop.Message, arrived int, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	posts, m.posts, m.spare = m.posts, m.spare[:0], nil
	m.closed = m.halting
	return posts, m.arriving.Len(), m.halting
}

// arrived appends the first n descriptors that wait to dst.
func (m *mailbox) arrived(dst []arrivals.Arrival, n int) []arrivals.Arrival {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arriving.Take(dst, n)
}

// giveBack returns the memory of a queue that take gave out.
func (m *mailbox) giveBack(posts []loop.Message) {
	if cap(posts) > keepPosts {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spare = posts[:0]
}

// close refuses everything from now on and returns the descriptors that are left over.
func (m *mailbox) close() []arrivals.Arrival {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.asleep = true, false
	m.posts, m.spare = nil, nil
	left := m.arriving.Take(nil, m.arriving.Len())
	if m.bell >= 0 {
		_ = unix.Close(m.bell)
		m.bell = -1
	}
	return left
}

// Post implements loop.Loop.
func (l *Loop) Post(p loop.Message) bool {
	m := &l.mail
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.posts = append(m.posts, p)
	m.ring()
	return true
}

// Stop implements loop.Loop.
func (l *Loop) Stop() {
	m := &l.mail
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.halting {
		m.halting = true
		close(m.halted)
	}
	m.ring()
}

// Adopt implements loop.Loop.
func (l *Loop) Adopt(fd int, early []byte, tag uint64) error {
	m := &l.mail
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.halting {
		return loop.ErrStopped
	}
	if err := m.arriving.Put(fd, early, tag); err != nil {
		return err
	}
	m.ring()
	return nil
}

// Crowded implements loop.Loop.
func (l *Loop) Crowded() bool {
	m := &l.mail
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.arriving.Crowded()
}

// listen has the ring read the bell.
func (l *Loop) listen() {
	l.fail(l.ring.read(l.mail.bell, &l.mail.rings, tokenOf(opBell, 0, 0)))
}

// hear does what was left in the mailbox until now. What is left meanwhile has to wait
// for the next turn, so that posts cannot starve the sockets. Posts come first: what was
// posted before a descriptor came is known when that opens. Descriptors that are there
// when the loop stops are lost.
func (l *Loop) hear() (last bool) {
	posts, arrived, last := l.mail.take()
	for i, p := range posts {
		posts[i] = nil
		l.handler.OnPost(p)
		l.settle()
	}
	l.mail.giveBack(posts)
	if !last {
		l.welcome(arrived)
	}
	return last
}

// welcome opens the first n descriptors that have come, as far as it may in this turn.
func (l *Loop) welcome(n int) {
	from := loop.Now()
	now, until := from, from+max(leastOpening, l.worked/openingShare)
	for n > 0 && now < until {
		some := l.mail.arrived(l.conns.arriving[:0], min(n, adoptionsEach))
		for i := range some {
			l.adopt(&some[i])
		}
		n -= len(some)
		clear(some)
		l.conns.arriving = some[:0]
		now = loop.Now()
	}
	l.opening = now - from
}
