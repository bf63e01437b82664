package gnetloop

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arena"
)

// state is where a connection's slot stands. Only open ones reach the handler.
type state uint8

const (
	free    state = iota // the slot waits for a connection
	open                 // the handler's
	closing              // Close was called, or it is condemned with err set
	waiting              // closed, bytes still wait for the socket
	fin                  // closed, all bytes and the FIN are out
	dead                 // gnet has closed the descriptor, OnClose is due
)

// conn is one slot of the table; slots are reused, generations are not.
type conn struct {
	g     gnet.Conn // nil when free or dead
	slot  uint32
	gen   uint32
	state state
	slow  bool   // bytes waited for the socket after the last flush
	code  uint16 // of Close
	err   error  // what OnClose is to say, if the loop decided it

	piece arena.Piece // bytes of this tick
}

func (c *conn) handle() loop.Handle { return loop.Handle(uint64(c.gen)<<32 | uint64(c.slot)) }

// table finds connections by handle.
type table struct {
	all   []*conn
	spare []*conn // free slots

	closing []*conn // for finishClosing
	dead    []*conn // for tellClosed
}

// add takes a slot for g. The generation makes the handle new.
func (t *table) add(g gnet.Conn) *conn {
	var c *conn
	if n := len(t.spare); n > 0 {
		c, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		c = &conn{slot: uint32(len(t.all))}
		t.all = append(t.all, c)
	}
	if c.gen++; c.gen == 0 { // no handle is ever zero
		c.gen = 1
	}
	c.g, c.state = g, open
	return c
}

// open returns the connection that h names if the handler may still use it.
func (t *table) open(h loop.Handle) *conn {
	slot, gen := uint32(h), uint32(h>>32)
	if uint64(slot) >= uint64(len(t.all)) {
		return nil
	}
	if c := t.all[slot]; c.gen == gen && c.state == open {
		return c
	}
	return nil
}

// opened runs on the loop for an adopted descriptor that gnet has registered.
func (l *Loop) opened(g gnet.Conn, a *adoption) {
	c := l.conns.add(g)
	g.SetContext(c)
	l.stats.open.Add(1)
	l.stats.adopted.Add(1)
	l.handler.OnOpen(c.handle(), a.Tag)
	if len(a.Early) > 0 && c.state == open {
		l.stats.in.Add(int64(len(a.Early)))
		l.handler.OnData(c.handle(), a.Early)
	}
}

// Close implements loop.Loop.
func (l *Loop) Close(h loop.Handle, code uint16) {
	if c := l.conns.open(h); c != nil {
		c.state, c.code = closing, code
		l.conns.closing = append(l.conns.closing, c)
	}
}

// condemn makes the loop cut c with err at the next settling.
func (l *Loop) condemn(c *conn, err error) {
	l.out.Drop(&c.piece)
	c.state, c.err = closing, err
	l.conns.closing = append(l.conns.closing, c)
}

// finishClosing carries out what Close and condemn asked for.
func (l *Loop) finishClosing() bool {
	if len(l.conns.closing) == 0 {
		return false
	}
	for i := 0; i < len(l.conns.closing); i++ {
		c := l.conns.closing[i]
		switch {
		case c.state != closing: // died in the meantime
		case c.err != nil:
			l.cut(c, true)
		default:
			l.flushOne(c)
			if c.state == closing { // the write has not killed it
				l.hangUp(c)
			}
		}
	}
	l.conns.closing = emptied(l.conns.closing)
	l.finishFlush() // a handler that only sends and closes need never flush
	return true
}

// cut closes the descriptor now. With reset the kernel drops what it still
// holds for the peer, which matters for one that does not read; without, it goes
// on sending.
func (l *Loop) cut(c *conn, reset bool) {
	if reset {
		_ = c.g.SetLinger(0) // only unix sockets refuse, and they hold nothing back
	}
	_ = c.g.EventLoop().Close(c.g) // calls buried; its errors are of bookkeeping
}

// buried runs on the loop when gnet has given up the descriptor, possibly inside
// a write. From here on the handle is dead.
func (l *Loop) buried(c *conn, err error) {
	if c.state == free || c.state == dead {
		return
	}
	switch {
	case c.err != nil:
	case c.state != open:
		c.err = &loop.CloseError{Code: c.code}
	case err == nil:
		c.err = loop.ErrStopped
	case errors.Is(err, io.EOF):
		c.err = io.EOF
	default:
		c.err = fmt.Errorf("connection failed: %w", err)
	}
	l.out.Drop(&c.piece)
	c.g.SetContext(nil)
	c.g, c.state, c.slow = nil, dead, false
	l.stats.open.Add(-1)
	l.conns.dead = append(l.conns.dead, c)
}

// tellClosed delivers OnClose for the dead and frees their slots.
func (l *Loop) tellClosed() bool {
	if len(l.conns.dead) == 0 {
		return false
	}
	for i := 0; i < len(l.conns.dead); i++ {
		c := l.conns.dead[i]
		h, err := c.handle(), c.err
		c.state, c.err, c.code = free, nil, 0
		l.conns.spare = append(l.conns.spare, c)
		l.handler.OnClose(h, err)
	}
	l.conns.dead = emptied(l.conns.dead)
	return true
}

// emptied clears a list for reuse.
func emptied(list []*conn) []*conn {
	for i := range list {
		list[i] = nil
	}
	return list[:0]
}

// hangUp shuts c's sending side, or waits for its bytes to leave first.
func (l *Loop) hangUp(c *conn) {
	c.state = waiting
	l.shut(c)
	now := loop.Now()
	e := lingerer{c, c.gen, now + int64(l.cfg.Grace)}
	l.linger.list = append(l.linger.list, e)
	l.linger.due = min(l.linger.due, e.next(now))
}

// shut sends the FIN if all bytes are out.
func (l *Loop) shut(c *conn) {
	if c.state == waiting && c.g.OutboundBuffered() == 0 {
		c.state = fin
		// An error means that the peer is gone, which the next read tells.
		_ = unix.Shutdown(c.g.Fd(), unix.SHUT_WR)
	}
}

// lingering are the closed connections whose peers have yet to close.
type lingering struct {
	list []lingerer
	due  int64 // when sweep is to run next
}

type lingerer struct {
	c        *conn
	gen      uint32
	deadline int64
}

// drainPoll is how often a closed connection is looked at whose bytes the socket
// does not take. gnet does not tell when they have left.
const drainPoll = int64(20 * time.Millisecond)

// next is when the connection is to be looked at again.
func (e lingerer) next(now int64) int64 {
	if e.c.state == waiting {
		return min(e.deadline, now+drainPoll)
	}
	return e.deadline
}

// sweep cuts what is over its deadline, shuts what has drained, and finds the
// next time to look.
func (l *Loop) sweep(now int64) {
	g := &l.linger
	keep := g.list[:0]
	g.due = loop.Never
	for _, e := range g.list {
		if e.c.gen != e.gen || (e.c.state != waiting && e.c.state != fin) {
			continue
		}
		if now >= e.deadline {
			l.stats.expired.Add(1)
			l.cut(e.c, true)
			continue
		}
		l.shut(e.c)
		g.due = min(g.due, e.next(now))
		keep = append(keep, e)
	}
	for i := len(keep); i < len(g.list); i++ {
		g.list[i] = lingerer{}
	}
	g.list = keep
}

// counters are loop.Stats as they are counted.
type counters struct {
	open, adopted, lost, overflows, expired, in, out atomic.Int64
}

// Stats implements loop.Loop.
func (l *Loop) Stats() loop.Stats {
	return loop.Stats{
		Open:      l.stats.open.Load(),
		Adopted:   l.stats.adopted.Load(),
		Lost:      l.stats.lost.Load(),
		Overflows: l.stats.overflows.Load(),
		Expired:   l.stats.expired.Load(),
		BytesIn:   l.stats.in.Load(),
		BytesOut:  l.stats.out.Load(),
		Late:      l.late.Summary(),
		Took:      l.took.Summary(),
	}
}
