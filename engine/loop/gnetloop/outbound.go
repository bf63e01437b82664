package gnetloop

import (
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/slot"
)

// Send implements loop.Loop.
func (l *Loop) Send(h loop.Handle, frame []byte) {
	c := l.conns.open(h)
	if c == nil || len(frame) == 0 {
		return
	}
	held := c.Piece.Len()
	if c.Slow {
		held += c.g.OutboundBuffered()
	}
	if held+len(frame) > l.cfg.OutboundCap {
		l.stats.Overflows.Add(1)
		l.condemn(c, loop.ErrOverflow)
		return
	}
	l.out.Add(&c.Piece, c.Number, frame)
}

// flushOne writes what c has pending. It may be found dead afterwards.
func (l *Loop) flushOne(c *conn) {
	p := l.out.Take(&c.Piece)
	if len(p) == 0 {
		return
	}
	l.written += len(p)
	// A failed write has closed the connection and told buried why.
	_, _ = c.g.Write(p)
	if c.State == slot.Open && c.g.OutboundBuffered() > 0 && !c.Slow {
		c.Slow = true
		l.stalled = append(l.stalled, c.Handle())
	}
}

// flush writes everything that is pending.
func (l *Loop) flush() {
	for i := range l.out.Runs() {
		if c := l.conns.all[l.out.Owner(i)]; c.Piece.StartsAt(i) {
			l.flushOne(c)
		}
	}
	l.finishFlush()
}

// finishFlush counts what was written and reuses its memory.
func (l *Loop) finishFlush() {
	l.stats.Out.Add(int64(l.written))
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
				c.Slow = false
			}
		}
	}
	l.stalled = keep
	return keep
}

// Stalled implements loop.Loop.
func (l *Loop) Stalled(h loop.Handle) bool {
	c := l.conns.open(h)
	return c != nil && c.Slow && c.g.OutboundBuffered() > 0
}
