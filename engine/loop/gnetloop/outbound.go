package gnetloop

import "gamehoster/engine/loop"

// outbound collects the bytes of a tick. Frames lie one after another in one
// arena; a run is a stretch that belongs to one connection. A handler that does
// its viewers one by one makes one run of each, which is written as it lies. Runs
// of a connection that was returned to are chained and gathered first.
//
//	arena  | A A A | B | C C | B |
//	runs     A       B     C   B'     B -> B'
type outbound struct {
	arena  []byte
	runs   []run
	gather []byte

	stalled []loop.Handle

	pending int // bytes of all connections
	written int // bytes written and not yet counted
	peak    int // longest arena since the last trim
	flushes int
}

type run struct {
	c    *conn
	gen  uint32
	off  int
	len  int
	next int // the connection's next run, 0 for none: run 0 is never a next
}

const (
	trimEvery = 1024     // flushes between looks at the arena's size
	trimAbove = 64 << 10 // bytes of arena that are always kept
)

// Send implements loop.Loop.
func (l *Loop) Send(h loop.Handle, frame []byte) {
	c := l.conns.open(h)
	if c == nil || len(frame) == 0 {
		return
	}
	held := c.pending
	if c.slow {
		held += c.g.OutboundBuffered()
	}
	if held+len(frame) > l.cfg.OutboundCap {
		l.stats.overflows.Add(1)
		l.condemn(c, loop.ErrOverflow)
		return
	}
	l.out.add(c, frame)
}

func (o *outbound) add(c *conn, frame []byte) {
	off, n := len(o.arena), len(o.runs)
	o.pending += len(frame)
	o.arena = append(o.arena, frame...)
	switch {
	case c.pending == 0:
		c.first, c.last = n, n
	case c.last == n-1: // its run is the newest: make it longer
		o.runs[c.last].len += len(frame)
		c.pending += len(frame)
		return
	default:
		o.runs[c.last].next = n
		c.last = n
	}
	o.runs = append(o.runs, run{c: c, gen: c.gen, off: off, len: len(frame)})
	c.pending += len(frame)
}

// flushOne writes what c has pending. It may be found dead afterwards.
func (o *outbound) flushOne(c *conn) {
	if c.pending == 0 {
		return
	}
	r := &o.runs[c.first]
	p := o.arena[r.off : r.off+r.len]
	if r.next != 0 {
		o.gather = append(o.gather[:0], p...)
		for i := r.next; i != 0; i = o.runs[i].next {
			r = &o.runs[i]
			o.gather = append(o.gather, o.arena[r.off:r.off+r.len]...)
		}
		p = o.gather
	}
	o.drop(c)
	o.written += len(p)
	// A failed write has closed the connection and told buried why.
	_, _ = c.g.Write(p)
	if c.state == open && c.g.OutboundBuffered() > 0 && !c.slow {
		c.slow = true
		o.stalled = append(o.stalled, c.handle())
	}
}

// flush writes everything that is pending.
func (l *Loop) flush() {
	o := &l.out
	for i := range o.runs {
		if r := &o.runs[i]; r.c.gen == r.gen && r.c.pending > 0 {
			o.flushOne(r.c)
		}
	}
	l.countOut()
	o.resetIfEmpty()
	if o.flushes++; o.flushes == trimEvery {
		o.trim()
	}
}

func (l *Loop) countOut() {
	l.stats.out.Add(int64(l.out.written))
	l.out.written = 0
}

// drop forgets what c has pending.
func (o *outbound) drop(c *conn) {
	o.pending -= c.pending
	c.pending = 0
}

// resetIfEmpty reuses the arena once no connection has bytes in it.
func (o *outbound) resetIfEmpty() {
	if o.pending > 0 || len(o.runs) == 0 {
		return
	}
	for i := range o.runs {
		o.runs[i].c = nil
	}
	o.peak = max(o.peak, len(o.arena))
	o.arena, o.runs = o.arena[:0], o.runs[:0]
}

// trim lets go of memory that one large tick left behind.
func (o *outbound) trim() {
	if cap(o.arena) > trimAbove && o.peak < cap(o.arena)/4 {
		o.arena = nil
	}
	if cap(o.gather) > trimAbove {
		o.gather = nil
	}
	o.flushes, o.peak = 0, 0
}

// Flush implements loop.Loop.
func (l *Loop) Flush() []loop.Handle {
	l.flush()
	keep := l.out.stalled[:0]
	for _, h := range l.out.stalled {
		if c := l.conns.open(h); c != nil {
			if c.g.OutboundBuffered() > 0 {
				keep = append(keep, h)
			} else {
				c.slow = false
			}
		}
	}
	l.out.stalled = keep
	return keep
}

// Stalled implements loop.Loop.
func (l *Loop) Stalled(h loop.Handle) bool {
	c := l.conns.open(h)
	return c != nil && c.slow && c.g.OutboundBuffered() > 0
}
