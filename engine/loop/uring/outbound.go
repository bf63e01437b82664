package uring

import (
	"fmt"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/slot"
)

// backlog are the bytes that a socket has not taken.
type backlog struct {
	buf    []byte
	off    int    // what has been taken of buf
	flying []byte // what the kernel reads; add may have moved buf since
}

func (b *backlog) len() int     { return len(b.buf) - b.off }
func (b *backlog) add(p []byte) { b.buf = append(b.buf, p...) }
func (b *backlog) drop()        { *b = backlog{} }

// take is what the kernel is to send; took says that it is done, and how much it sent.
func (b *backlog) take() []byte {
	b.flying = b.buf[b.off:]
	return b.flying
}

func (b *backlog) took(n int) {
	b.flying = nil
	b.off += n
	switch {
	case b.off == len(b.buf):
		b.drop() // most connections never need one again
	case b.off > len(b.buf)/2:
		b.buf = b.buf[:copy(b.buf, b.buf[b.off:])]
		b.off = 0
	}
}

// Send implements loop.Loop.
func (l *Loop) Send(h loop.Handle, frame []byte) {
	c := l.conns.open(h)
	if c == nil || len(frame) == 0 {
		return
	}
	if c.Piece.Len()+c.rest.len()+len(frame) > l.cfg.OutboundCap {
		l.stats.Overflows.Add(1)
		l.condemn(c, loop.ErrOverflow)
		return
	}
	l.out.Add(&c.Piece, c.Number, frame)
}

// flushOne queues what c has pending, behind what waits for its socket if there is any.
func (l *Loop) flushOne(c *conn) {
	p := l.out.Take(&c.Piece)
	if len(p) == 0 {
		return
	}
	l.stats.Out.Add(int64(len(p)))
	if c.rest.len() > 0 {
		c.rest.add(p)
		return
	}
	c.sent = p
	l.fail(l.ring.send(c.fd, p, c.token(opSend), true))
}

// finishFlush hands over what flushOne queued, and learns what became of it.
func (l *Loop) finishFlush() {
	l.fail(l.ring.submit())
	l.collect()
	l.out.Reset()
}

// Flush implements loop.Loop.
func (l *Loop) Flush() []loop.Handle {
	if n := l.out.Runs(); n > 0 {
		for i := range n {
			if c := l.conns.all[l.out.Owner(i)]; c.Piece.StartsAt(i) {
				l.flushOne(c)
			}
		}
		l.finishFlush()
	}
	keep := l.stalled[:0]
	for _, h := range l.stalled {
		if c := l.conns.open(h); c != nil {
			if c.Slow = c.rest.len() > 0; c.Slow {
				keep = append(keep, h)
			}
		}
	}
	l.stalled = keep
	return keep
}

// sent runs for a send of a flush that did not take everything.
func (l *Loop) sent(e *completion) {
	c := l.conns.of(e.token)
	if c == nil || !c.Alive() {
		return
	}
	n := int(max(e.result, 0))
	switch errno := e.errno(); errno {
	case 0, unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
	default:
		l.broke(c, errno)
		return
	}
	c.rest.add(c.sent[n:])
	c.sent = nil
	if c.rest.len() == 0 {
		return
	}
	if c.State == slot.Open && !c.Slow {
		c.Slow = true
		l.stalled = append(l.stalled, c.Handle())
	}
	l.drain(c)
}

// drain sends what waits for c's socket when that takes some of it.
func (l *Loop) drain(c *conn) {
	c.draining = true
	l.fail(l.ring.send(c.fd, c.rest.take(), c.token(opRest), false))
}

// drained runs when a socket took some of what waited for it.
func (l *Loop) drained(e *completion) {
	c := l.conns.of(e.token)
	if c == nil {
		return
	}
	c.draining = false
	if !c.Alive() {
		l.release(c)
		return
	}
	switch errno := e.errno(); errno {
	case 0, unix.EAGAIN, unix.EINTR, unix.ENOBUFS, unix.ENOMEM:
	default:
		l.broke(c, errno)
		return
	}
	if c.rest.took(int(max(e.result, 0))); c.rest.len() > 0 {
		l.drain(c)
		return
	}
	l.shut(c)
}

// broke condemns a connection that a send failed on. One that is being closed already
// keeps its reason.
func (l *Loop) broke(c *conn, errno unix.Errno) {
	l.condemn(c, c.Reason(fmt.Errorf("connection failed: %w", errno)))
}

// Stalled implements loop.Loop.
func (l *Loop) Stalled(h loop.Handle) bool {
	c := l.conns.open(h)
	return c != nil && c.rest.len() > 0
}
