// Package uring is the loop.Loop on io_uring: the kernel is told what to receive once,
// and one system call hands over all sends of a tick.
//
//	            +------------- one turn, on one locked thread ------------+
//	            |  wait ---> completions ---> posts, adoptions ---> tick  |
//	sockets ===>|   ^     receive: OnData      OnPost, OnOpen     OnTick  |
//	            |   |                                               |     |
//	            |   +------------------ Flush: sends, submit <------+     |===> sockets
//	            +---------------------------------------------------------+
//	                ^ an event counter that the ring reads, only while the loop sleeps
//	Post, Adopt ----+
//
// # Receiving
//
// Each socket has one operation that goes on until it is cancelled and fills buffers of
// a common pool. The loop does not wake for each completion: it sleeps until the next
// tick, or until something has come and loop.Config.Gather has passed since it woke
// last. So a message that comes alone is delivered at once, and under load the number
// of wake-ups is bounded while nothing is later for a tick than it would have been.
//
// The pool may run dry, and the completion queue may overflow. Either ends the receiving
// operations it hits, which are started again when the buffers are back; the kernel
// keeps the bytes meanwhile.
//
// There are kernels that miss an end which comes right behind data (liburing's issue 1549,
// seen with unix sockets). As with a reset whose packet was lost, the next send finds it.
//
// # Waiting
//
// A wait that the next tick ends within milliseconds is not told to the runtime, which
// would take the loop's processor away and give it back each time, and watch meanwhile.
// Its signals end such a wait, so that it stops the world as soon as ever; a processor
// more than there are loops is for the other goroutines. Longer waits are system calls
// like any other.
//
// # Sending
//
// A send of a flush is told not to wait and to complete only if it falls short. When
// submit returns all of them have been done, so the tick's memory is free again, and the
// completions that are there tell whose socket did not take everything. The rest of
// those goes to a buffer of the connection's own and is sent by an operation that waits
// for room.
//
// # Closing
//
// A descriptor is closed when the kernel has no operation on it any more: before that,
// close would neither send the end of the stream nor free the socket. So the operations
// are cancelled first, and the slot is used again when they have said that they ended.
//
// # Memory
//
// In the steady state nothing is allocated. What the kernel writes to or reads from
// lies outside the Go heap or is kept alive by the connection until it is done.
package uring

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arena"
	"gamehoster/engine/loop/internal/slot"
)

// Loop is a loop.Loop. What is in mail is for any goroutine; everything else but the
// counters belongs to the loop's thread.
type Loop struct {
	handler loop.Handler
	cfg     loop.Config
	sizes   sizes
	ring    *ring
	made    func(*ring) // what tests do to it; nil otherwise

	conns   table
	out     arena.Arena
	stalled []loop.Handle
	linger  lingering
	inbox   []completion // what deliver has yet to look at
	wish    int64        // when the next tick is wanted
	prompt  bool         // and one at once
	woke    int64        // when the last wait ended
	worked  int64        // how long the last turn took, waiting and opening left out
	opening int64        // how long this one has spent on opening
	broken  error        // of the ring; the loop ends with it
	again   bool         // receives ended early in the last deliver and were started anew
	spills  int          // times that completions did not fit into the queue
	dry     int          // receives that ended because the pool was empty

	mail  mailbox
	stats slot.Tally

	started atomic.Bool
	prepare sync.Once
	ready   error         // of prepare
	begin   chan struct{} // closed by Run
	ended   chan error    // what the thread has ended with
}

var _ loop.Loop = (*Loop)(nil)

// New makes a loop that calls h. What it needs of the kernel is taken by Prepare, or by
// Run; Available tells whether there is any of that.
func New(h loop.Handler, cfg loop.Config) *Loop { return newLoop(h, cfg, defaultSizes) }

func newLoop(h loop.Handler, cfg loop.Config, s sizes) *Loop {
	l := &Loop{handler: h, cfg: cfg.Filled(), sizes: s, begin: make(chan struct{}), ended: make(chan error, 1)}
	l.linger.due = loop.Never
	l.mail.bell, l.mail.halted = -1, make(chan struct{})
	return l
}

// Run implements loop.Loop.
func (l *Loop) Run() error {
	if !l.started.CompareAndSwap(false, true) {
		return errors.New("running a loop that has run before")
	}
	defer claimProcessor()()
	_ = l.Prepare() // which the thread has ended with, if it failed
	close(l.begin)
	return <-l.ended
}

// Prepare takes from the kernel what the loop needs, so that Run does not fail for want of
// it: others may have used up the memory that may be locked, or the descriptors. Whoever
// has another choice takes that where Prepare fails; the loop is of no use then. A loop
// that is prepared and not to be run is let go of by Stop.
func (l *Loop) Prepare() error {
	l.prepare.Do(func() {
		made := make(chan error)
		// A thread of its own, which the ring is for: it ends with its goroutine, which
		// never unlocks it, and takes its binding to a core with it.
		go func() {
			runtime.LockOSThread()
			l.ended <- l.live(made)
		}()
		l.ready = <-made
	})
	return l.ready
}

// live is the life of the loop's thread.
func (l *Loop) live(made chan<- error) (err error) {
	defer l.close()
	if err = l.open(); err != nil {
		made <- err
		return err
	}
	defer l.ring.close()
	made <- nil
	if !l.mail.begins(l.begin) {
		return nil
	}
	l.pin()
	l.listen()
	for l.broken == nil {
		if l.turn() {
			l.halt()
			break
		}
	}
	if l.broken != nil {
		l.abandon()
	}
	return l.broken
}

// open makes what the loop needs of the kernel.
func (l *Loop) open() (err error) {
	if l.ring, l.sizes, err = fit(l.sizes, fair()); err != nil {
		return fmt.Errorf("making the ring: %w", err)
	}
	if l.made != nil {
		l.made(l.ring)
	}
	if err = l.mail.open(); err != nil {
		l.ring.close()
	}
	return err
}

func (l *Loop) pin() {
	if !l.cfg.Pin {
		return
	}
	var set unix.CPUSet
	set.Set(l.cfg.CPU)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		l.cfg.Log.Warn("pinning the loop's thread failed", "cpu", l.cfg.CPU, "error", err)
	}
}

// close gives back what is left when run ends; after it every call is a no-op or refused.
func (l *Loop) close() {
	for _, a := range l.mail.close() {
		_ = unix.Close(a.FD)
		l.stats.Lost.Add(1)
	}
}

// abandon is for a ring that does not work any more: everybody is told, and the
// descriptors are closed whatever the kernel has to do with them. What it may still
// read is kept.
func (l *Loop) abandon() {
	for _, c := range l.conns.all {
		if c.Alive() {
			l.bury(c, l.broken)
		}
	}
	l.settle()
	for _, c := range l.conns.all {
		if c.fd >= 0 {
			_ = unix.Close(c.fd)
			c.fd = -1
		}
	}
}

// turn waits for what comes next and does it. It reports whether it was the last.
func (l *Loop) turn() (last bool) {
	// A flush may have taken completions that deliver has yet to see.
	l.sleep(l.mail.sleep() && len(l.inbox) == 0)
	l.mail.wake()
	l.collect()
	l.deliver()
	// Those for which there was no buffer have their turn, too, before anything else has:
	// a loop whose ticks are late would never come to the last of them.
	for rest := 2 * (len(l.conns.all)/int(l.sizes.full()) + 1); l.again && rest > 0 && l.broken == nil; rest-- {
		l.look()
		l.deliver()
	}
	last = l.hear()
	l.timers()
	l.worked = loop.Now() - l.woke - l.opening
	return last
}

// sleep hands over what is queued and waits: until the next thing is due, until mail
// comes, or until received bytes have waited for long enough. Awake, it only looks.
func (l *Loop) sleep(asleep bool) {
	now := loop.Now()
	due := min(l.wish, l.linger.due)
	if l.prompt {
		due = now
	}
	timeout, gather := forever, l.woke+int64(l.cfg.Gather)-now
	if due != loop.Never {
		timeout = max(due-now, 0)
	}
	if l.conns.ending > 0 {
		gather = 0
	}
	gather = min(max(gather, 0), timeout)
	switch {
	case !asleep || timeout == 0:
		l.look()
	case l.ring.gathers():
		n := uint32(1)
		if gather >= int64(time.Microsecond) { // which is the kernel's unit
			n = l.sizes.full()
		}
		l.fail(l.ring.wait(n, timeout, gather))
	default:
		// Without a minimal time: the first to come wakes, and the others are
		// waited for.
		l.fail(l.ring.wait(1, timeout, 0))
		if gather = min(gather, due-loop.Now()); gather > 0 && l.conns.ending == 0 {
			l.fail(l.ring.wait(l.sizes.full(), gather, 0))
		}
	}
	l.woke = loop.Now()
}

// look takes what has come and does not wait. The kernel gives a few completions to a call
// that waits for none, twenty or so, and has to be asked until there are no more: were
// there a tick after each few, a loop whose ticks are late would read next to nothing.
func (l *Loop) look() {
	for full := int(l.sizes.full()); l.broken == nil; {
		before := len(l.inbox)
		l.fail(l.ring.wait(0, 0, 0))
		l.collect()
		if n := len(l.inbox); n == before || n >= full {
			return
		}
	}
}

// full is how many completions are not waited with.
func (s sizes) full() uint32 { return max(min(s.cq, uint32(s.buffers))/2, 1) }

// fail notes that the ring does not work any more.
func (l *Loop) fail(err error) {
	if err != nil && l.broken == nil {
		l.broken = fmt.Errorf("running the ring: %w", err)
	}
}

// collect takes the completions that are there. What became of sends is noted at once,
// as Flush must know; the rest is left to deliver. No handler is called.
func (l *Loop) collect() {
	for {
		from := len(l.inbox)
		l.inbox = l.ring.reap(l.inbox)
		keep := l.inbox[:from]
		for _, e := range l.inbox[from:] {
			switch e.token.kind() {
			case opSend:
				l.sent(&e)
			case opRest:
				l.drained(&e)
			default:
				keep = append(keep, e)
			}
		}
		l.inbox = keep
		if !l.ring.overflown() || l.broken != nil {
			return
		}
		l.spills++
		l.fail(l.ring.wait(0, 0, 0))
	}
}

// deliver tells the handler what was received.
func (l *Loop) deliver() {
	l.again = false
	l.settle() // after collect, which may have found that sends failed
	// Handlers flush, which may append to the inbox.
	for i := 0; i < len(l.inbox); i++ {
		e := l.inbox[i]
		switch e.token.kind() {
		case opReceive:
			l.received(&e)
		case opCancel:
			l.cancelled(&e)
		case opBell:
			l.listen()
		}
	}
	l.inbox = l.inbox[:0]
	l.ring.publish()
}

// settle ends a handler's call: it does what the call asked for and tells the handler
// what became of its connections, which may ask for more.
func (l *Loop) settle() {
	for l.finishClosing() || l.tellClosed() {
	}
}

// timers runs what is due.
func (l *Loop) timers() {
	now := loop.Now()
	if wish := l.wish; wish <= now || l.prompt {
		if wish <= now {
			l.stats.Late.Record(wish, now)
			l.cfg.Late.Check(wish, now)
		}
		l.wish, l.prompt = loop.Never, false
		next := l.handler.OnTick(now)
		if wish > 0 {
			l.stats.Took.Add(loop.Now() - now)
		}
		l.wish = min(l.wish, next)
		l.settle()
	}
	if l.linger.due <= now {
		l.sweep(now)
		l.settle()
	}
}

// Wake implements loop.Loop.
func (l *Loop) Wake(at int64) {
	if at <= 0 {
		// Apart from the appointment, which is to be kept, and to be found late.
		l.prompt = true
		return
	}
	l.wish = min(l.wish, at)
}

// halt closes every connection; it is the loop's last deed.
func (l *Loop) halt() {
	l.Flush()
	for _, c := range l.conns.all {
		if c.State != slot.Free && c.State != slot.Dead {
			if c.Err == nil {
				c.Err = loop.ErrStopped
			}
			l.bury(c, nil)
		}
	}
	l.settle()
	for l.conns.ending > 0 && l.broken == nil {
		l.fail(l.ring.wait(1, forever, 0))
		l.collect()
		l.deliver()
	}
}

// Stats implements loop.Loop.
func (l *Loop) Stats() loop.Stats { return l.stats.Stats() }
