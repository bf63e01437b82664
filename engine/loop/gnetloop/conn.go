package gnetloop

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/slot"
)

// conn is one slot of the table; slots are reused, generations are not. gnet has closed
// the descriptor of a dead one.
type conn struct {
	slot.Slot
	g gnet.Conn // nil when free or dead
}

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
		c = &conn{Slot: slot.Slot{Number: uint32(len(t.all))}}
		t.all = append(t.all, c)
	}
	c.Renew()
	c.g = g
	return c
}

// open returns the connection that h names if the handler may still use it.
func (t *table) open(h loop.Handle) *conn {
	at := slot.Place(h)
	if uint64(at) >= uint64(len(t.all)) {
		return nil
	}
	if c := t.all[at]; c.Is(h) {
		return c
	}
	return nil
}

// opened runs on the loop for an adopted descriptor that gnet has registered.
func (l *Loop) opened(g gnet.Conn, a *adoption) {
	c := l.conns.add(g)
	g.SetContext(c)
	l.stats.Opened()
	l.handler.OnOpen(c.Handle(), a.Tag)
	if len(a.Early) > 0 && c.State == slot.Open {
		l.stats.In.Add(int64(len(a.Early)))
		l.handler.OnData(c.Handle(), a.Early)
	}
}

// Close implements loop.Loop.
func (l *Loop) Close(h loop.Handle, code uint16) {
	if c := l.conns.open(h); c != nil {
		c.Close(code)
		l.conns.closing = append(l.conns.closing, c)
	}
}

// condemn makes the loop cut c with err at the next settling.
func (l *Loop) condemn(c *conn, err error) {
	c.Condemn(err, &l.out)
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
		case c.State != slot.Closing: // died in the meantime
		case c.Err != nil:
			l.cut(c, true)
		default:
			l.flushOne(c)
			if c.State == slot.Closing { // the write has not killed it
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
	switch {
	case err == nil:
		err = loop.ErrStopped
	case errors.Is(err, io.EOF):
		err = io.EOF
	default:
		err = fmt.Errorf("connection failed: %w", err)
	}
	if !c.Bury(err, &l.out) {
		return
	}
	c.g.SetContext(nil)
	c.g = nil
	l.stats.Open.Add(-1)
	l.conns.dead = append(l.conns.dead, c)
}

// tellClosed delivers OnClose for the dead and frees their slots.
func (l *Loop) tellClosed() bool {
	if len(l.conns.dead) == 0 {
		return false
	}
	for i := 0; i < len(l.conns.dead); i++ {
		c := l.conns.dead[i]
		h, err := c.Handle(), c.Err
		c.State, c.Err = slot.Free, nil
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
	c.State = slot.Waiting
	l.shut(c)
	now := loop.Now()
	e := lingerer{c, c.Gen, now + int64(l.cfg.Grace)}
	l.linger.list = append(l.linger.list, e)
	l.linger.due = min(l.linger.due, e.next(now))
}

// shut sends the FIN if all bytes are out.
func (l *Loop) shut(c *conn) {
	if c.State == slot.Waiting && c.g.OutboundBuffered() == 0 {
		c.State = slot.Fin
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
	if e.c.State == slot.Waiting {
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
		if e.c.Gen != e.gen || (e.c.State != slot.Waiting && e.c.State != slot.Fin) {
			continue
		}
		if now >= e.deadline {
			l.stats.Expired.Add(1)
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

// Stats implements loop.Loop.
func (l *Loop) Stats() loop.Stats { return l.stats.Stats() }
