package uring

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arrivals"
	"gamehoster/engine/loop/internal/slot"
)

// conn is one slot of the table; slots are reused, generations are not.
type conn struct {
	slot.Slot
	fd int // -1 when free

	receiving, draining bool // what the kernel has not ended: opReceive, opRest
	told                bool // OnClose has been called

	sent []byte // what the running flush sends
	rest backlog
}

func (c *conn) token(k kind) token { return tokenOf(k, c.Number, c.Gen) }

// table finds connections by handle and by token.
type table struct {
	all   []*conn
	spare []*conn // free slots

	arriving []arrivals.Arrival // scratch of welcome
	closing  []*conn            // for finishClosing
	dead     []*conn            // for tellClosed
	ending   int                // dead and not free yet
}

const slotsAtOnce = 64 // connections that are made together, to lie together

// add takes a slot for fd. The generation makes the handle new.
func (t *table) add(fd int) *conn {
	if len(t.spare) == 0 {
		block := make([]conn, slotsAtOnce)
		for i := range block {
			c := &block[i]
			c.fd, c.Number = -1, uint32(len(t.all))
			t.all = append(t.all, c)
		}
		for i := range block {
			t.spare = append(t.spare, &block[len(block)-1-i])
		}
	}
	n := len(t.spare) - 1
	c := t.spare[n]
	t.spare = t.spare[:n]
	c.Renew()
	c.fd, c.told = fd, false
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

// of returns the connection of a completion, nil if it is gone.
func (t *table) of(k token) *conn {
	if c := t.all[k.slot()]; c.State != slot.Free && c.Gen&(1<<genBits-1) == k.gen() {
		return c
	}
	return nil
}

// adopt opens a descriptor that was given to the loop.
func (l *Loop) adopt(a *arrivals.Arrival) {
	if !ready(a.FD, l.cfg.Unsent) {
		_ = unix.Close(a.FD)
		l.stats.Lost.Add(1)
		l.cfg.Lost(a.Tag)
		return
	}
	c := l.conns.add(a.FD)
	l.stats.Opened()
	l.handler.OnOpen(c.Handle(), a.Tag)
	if len(a.Early) > 0 && c.State == slot.Open {
		l.stats.In.Add(int64(len(a.Early)))
		l.handler.OnData(c.Handle(), a.Early)
	}
	l.listenTo(c)
	l.settle()
}

// ready sets a socket up. It reports false for what is no stream socket or has lost its
// peer already.
func ready(fd, unsent int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_STREAM {
		return false
	}
	if _, err = unix.Getpeername(fd); err != nil {
		return false
	}
	// Only TCP has these, and does without the second on the kernels that lack it.
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	return true
}

// listenTo starts receiving.
func (l *Loop) listenTo(c *conn) {
	c.receiving = true
	l.fail(l.ring.receive(c.fd, c.token(opReceive)))
}

// received runs for a completion of a receiving operation.
func (l *Loop) received(e *completion) {
	c := l.conns.of(e.token)
	if c == nil {
		// Not seen, as slots wait for their operations; the buffer is not to be lost.
		if id, ok := e.buffer(); ok {
			l.ring.recycle(id)
		}
		return
	}
	c.receiving = e.more()
	id, filled := e.buffer()
	if filled && e.result > 0 {
		l.stats.In.Add(int64(e.result))
		if c.State == slot.Open { // otherwise the peer's last bytes before its own close
			l.handler.OnData(c.Handle(), l.ring.buffer(id, int(e.result)))
		}
	}
	if filled {
		l.ring.recycle(id)
	}
	switch errno := e.errno(); {
	case e.result == 0:
		l.bury(c, io.EOF)
	case errno == unix.ENOBUFS:
		l.dry++
	case e.result > 0, errno == unix.ECANCELED, errno == unix.EINTR, errno == unix.EAGAIN:
	default:
		l.bury(c, fmt.Errorf("connection failed: %w", errno))
	}
	switch {
	case c.receiving:
	case c.Alive():
		l.ring.publish() // the pool ran dry, or the queue overflowed
		l.listenTo(c)
		l.again = true
	default:
		l.release(c)
	}
	l.settle()
}

// cancelled runs for an operation that was to be ended and was not found, which is so
// where it has just ended by itself.
func (l *Loop) cancelled(e *completion) {
	if c := l.conns.of(e.token); c != nil && c.State == slot.Dead && (c.receiving || c.draining) {
		l.cancel(c)
	}
}

func (l *Loop) cancel(c *conn) {
	if c.receiving {
		l.fail(l.ring.cancel(c.token(opReceive), c.token(opCancel)))
	}
	if c.draining {
		l.fail(l.ring.cancel(c.token(opRest), c.token(opCancel)))
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
	list := l.conns.closing
	for _, c := range list {
		if c.State == slot.Closing && c.Err == nil {
			l.flushOne(c)
		}
	}
	l.finishFlush()
	// A send that failed has condemned its connection again.
	for i := 0; i < len(l.conns.closing); i++ {
		switch c := l.conns.closing[i]; {
		case c.State != slot.Closing: // died in the meantime, or is there twice
		case c.Err != nil:
			l.cut(c)
		default:
			l.hangUp(c)
		}
	}
	l.conns.closing = emptied(l.conns.closing)
	return true
}

// cut ends c now: the kernel drops what it still holds for the peer, which matters for
// one that does not read.
func (l *Loop) cut(c *conn) {
	// Only unix sockets refuse, and they hold nothing back.
	_ = unix.SetsockoptLinger(c.fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	l.bury(c, nil)
}

// bury makes c's handle dead and ends the operations on it. err is why, unless the loop
// has a reason of its own.
func (l *Loop) bury(c *conn, err error) {
	if !c.Bury(err, &l.out) {
		return
	}
	l.stats.Open.Add(-1)
	l.conns.dead = append(l.conns.dead, c)
	l.conns.ending++
	l.cancel(c)
}

// tellClosed delivers OnClose for the dead.
func (l *Loop) tellClosed() bool {
	if len(l.conns.dead) == 0 {
		return false
	}
	for i := 0; i < len(l.conns.dead); i++ {
		c := l.conns.dead[i]
		err := c.Err
		c.Err, c.told = nil, true
		l.handler.OnClose(c.Handle(), err)
		l.release(c)
	}
	l.conns.dead = emptied(l.conns.dead)
	return true
}

// release closes the descriptor of a dead connection and frees its slot, once nobody
// has to do with it any more.
func (l *Loop) release(c *conn) {
	if c.State != slot.Dead || !c.told || c.receiving || c.draining {
		return
	}
	_ = unix.Close(c.fd)
	c.fd, c.State = -1, slot.Free
	c.sent = nil
	c.rest.drop()
	l.conns.ending--
	l.conns.spare = append(l.conns.spare, c)
}

func emptied(list []*conn) []*conn {
	clear(list)
	return list[:0]
}

// hangUp shuts c's sending side, or waits for its bytes to leave first.
func (l *Loop) hangUp(c *conn) {
	c.State = slot.Waiting
	l.shut(c)
	deadline := loop.Now() + int64(l.cfg.Grace)
	l.linger.list = append(l.linger.list, lingerer{c, c.Gen, deadline})
	l.linger.due = min(l.linger.due, deadline)
}

// shut sends the FIN if all bytes are out.
func (l *Loop) shut(c *conn) {
	if c.State == slot.Waiting && c.rest.len() == 0 {
		c.State = slot.Fin
		// An error means that the peer is gone, which the next read tells.
		_ = unix.Shutdown(c.fd, unix.SHUT_WR)
	}
}

// lingering are the closed connections whose peers have yet to close, in the order of
// their deadlines.
type lingering struct {
	list []lingerer
	due  int64 // when sweep is to run next
}

type lingerer struct {
	c        *conn
	gen      uint32
	deadline int64
}

// sweepEvery is the least time between sweeps, so that many that close one after
// another are looked through together.
const sweepEvery = int64(20 * time.Millisecond)

// sweep cuts what is over its deadline and finds the next time to look.
func (l *Loop) sweep(now int64) {
	g := &l.linger
	keep := g.list[:0]
	for _, e := range g.list {
		switch {
		case e.c.Gen != e.gen || (e.c.State != slot.Waiting && e.c.State != slot.Fin):
		case now >= e.deadline:
			l.stats.Expired.Add(1)
			l.cut(e.c)
		default:
			keep = append(keep, e)
		}
	}
	clear(g.list[len(keep):])
	g.list, g.due = keep, loop.Never
	if len(keep) > 0 {
		g.due = max(keep[0].deadline, now+sweepEvery)
	}
}
