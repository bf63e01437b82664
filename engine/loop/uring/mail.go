package uring

import (
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
)

const (
	maxAdoptions  = 4096 // descriptors that may wait for the loop
	adoptionsEach = 64   // of them, opened in one turn
	keepPosts     = 4096 // longest queue whose memory is kept for reuse
)

// adoption is a descriptor on its way into the loop.
type adoption struct {
	fd    int
	tag   uint64
	early []byte
}

// mailbox is what other goroutines leave for the loop. An event counter, the bell, is
// rung only while the loop sleeps.
type mailbox struct {
	mu        sync.Mutex
	posts     []loop.Message
	spare     []loop.Message // the other half of the pair that posts alternates with
	adoptions []adoption
	asleep    bool // the loop waits and has not been rung for
	halting   bool // Stop was called
	closed    bool // nothing is accepted any more

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
	m.asleep = len(m.posts) == 0 && len(m.adoptions) == 0 && !m.halting
	return m.asleep
}

func (m *mailbox) wake() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asleep = false
}

func (m *mailbox) stopped() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.halting
}

// take returns what is there, of adoptions some. A last call closes the box.
func (m *mailbox) take(dst []adoption) (posts []loop.Message, adoptions []adoption, last bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	posts, m.posts, m.spare = m.posts, m.spare[:0], nil
	n := min(len(m.adoptions), adoptionsEach)
	adoptions = append(dst, m.adoptions[:n]...)
	left := copy(m.adoptions, m.adoptions[n:])
	clear(m.adoptions[left:])
	m.adoptions = m.adoptions[:left]
	m.closed = m.halting
	return posts, adoptions, m.halting
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

// close refuses everything from now on and returns the adoptions that are left over.
func (m *mailbox) close() []adoption {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.asleep = true, false
	m.posts, m.spare = nil, nil
	left := m.adoptions
	m.adoptions = nil
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
	m.halting = true
	m.ring()
}

// Adopt implements loop.Loop.
func (l *Loop) Adopt(fd int, early []byte, tag uint64) error {
	a := adoption{fd: fd, tag: tag}
	if len(early) > 0 {
		a.early = append(a.early, early...)
	}
	m := &l.mail
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed || m.halting:
		return loop.ErrStopped
	case len(m.adoptions) >= maxAdoptions:
		return loop.ErrBusy
	}
	m.adoptions = append(m.adoptions, a)
	m.ring()
	return nil
}

// listen has the ring read the bell.
func (l *Loop) listen() {
	l.fail(l.ring.read(l.mail.bell, &l.mail.rings, tokenOf(opBell, 0, 0)))
}

// hear does what was left in the mailbox until now. What is left meanwhile has to wait
// for the next turn, so that posts cannot starve the sockets. Posts come first: what was
// posted before an adoption is known when that opens. Adoptions that are there when the
// loop stops are lost.
func (l *Loop) hear() (last bool) {
	posts, adoptions, last := l.mail.take(l.conns.arriving[:0])
	for i, p := range posts {
		posts[i] = nil
		l.handler.OnPost(p)
		l.settle()
	}
	l.mail.giveBack(posts)
	for i := range adoptions {
		if last {
			_ = unix.Close(adoptions[i].fd)
			l.stats.lost.Add(1)
		} else {
			l.adopt(&adoptions[i])
		}
	}
	clear(adoptions)
	l.conns.arriving = adoptions[:0]
	return last
}
