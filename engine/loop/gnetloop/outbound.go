package gnetloop

import "gamehoster/engine/loop"

// Send implements loop.Loop.
func (l *Loop) Send(h loop.Handle, frame []byte) {
	c := l.conns.open(h)
	if c == nil || len(frame) == 0 {
		return
	}
	held := c.piece.Len()
	if c.slow {
		held += c.g.OutboundBuffered()
	}
	if held+len(frame) > l.cfg.OutboundCap {
		l.stats.overflows.Add(1)
		l.condemn(c, loop.ErrOverflow)
		return
	}
	l.out.Add(&c.piece, c.slot, frame)
}

// flushOne writes what c has pending. It may be found dead afterwards.
func (l *Loop) flushOne(c *conn) {
	p := l.out.Take(&c.piece)
	if len(p) == 0 {
		return
	}
	l.written += len(p)
	// A failed write has closed the connection and told buried why.
	_, _ = c.g.Write(p)
	if c.state == open && c.g.OutboundBuffered() > 0 && !c.slow {
		c.slow = true
		l.stalled = append(l.stalled, c.handle())
	}
}

// flush writes everything that is pending.
func (l *Loop) flush() {
	for i := range l.out.Runs() {
		if c := l.conns.all[l.out.Owner(i)]; c.piece.StartsAt(i) {
			l.flushOne(c)
		}
	}
	l.finishFlush()
}

// finishFlush counts what was written and reuses its memory.
func (l *Loop) finishFlush() {
	l.stats.out.Add(int64(l.written))
	l.written = 0
	l.out.Reset()
}

// Flush implements loop.Loop.
func (l *Loop) Flush() []loop.Handle {
	l.flush()
	keep := l.stalled[:0]
	for _, h := range l.stalled {
		if c := l.conns.open(h); c != nil {
			if c.g.OutboundBuffered() > 0 {
				keep = append(keep, h)
			} else {
				c.slow = false
			}
		}
	}
	l.stalled = keep
	return keep
}

// Stalled implements loop.Loop.
func (l *Loop) Stalled(h loop.Handle) bool {
	c := l.conns.open(h)
	return c != nil && c.slow && c.g.OutboundBuffered() > 0
}
