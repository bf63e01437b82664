package gnetloop

import (
	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/slot"
)

// keepPosts is the longest queue whose memory is kept for reuse.
const keepPosts = 4096

var one = []byte{1, 0, 0, 0, 0, 0, 0, 0} // what an event counter is counted up by

// Post implements loop.Loop.
func (l *Loop) Post(m loop.Message) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.posts = append(l.posts, m)
	l.ring()
	return true
}

// ring wakes the loop unless it is going to wake anyway; mu is held. Before Run
// there is no bell yet, and open rings for what was posted.
func (l *Loop) ring() {
	if l.rung || l.bell.fd <= 0 {
		return
	}
	l.rung = true
	if _, err := unix.Write(l.bell.fd, one); err != nil {
		l.rung = false
		l.cfg.Log.Error("waking the loop failed", "error", err)
	}
}

// onBell runs on the loop after the bell: it delivers the queue as it is now.
// What is posted meanwhile rings again, so that posts cannot starve the sockets.
func (l *Loop) onBell() {
	l.mu.Lock()
	l.rung = false
	last := l.halting
	if last {
		l.closed = true
	}
	l.mu.Unlock()
	l.hearPosts()
	if last {
		l.halt()
	}
}

// hearPosts delivers what has been posted until now.
func (l *Loop) hearPosts() {
	l.mu.Lock()
	queue := l.posts
	l.posts, l.spare = l.spare[:0], nil
	l.mu.Unlock()
	for i, m := range queue {
		queue[i] = nil
		l.inside = true
		l.handler.OnPost(m)
		l.settle()
	}
	if cap(queue) <= keepPosts {
		l.mu.Lock()
		l.spare = queue[:0]
		l.mu.Unlock()
	}
}

// halt closes every connection; it is the loop's last deed.
func (l *Loop) halt() {
	select {
	case <-l.halted:
		return
	default:
	}
	l.inside = true
	l.flush()
	for _, c := range l.conns.all {
		if c.State != slot.Free && c.State != slot.Dead {
			if c.Err == nil {
				c.Err = loop.ErrStopped
			}
			l.cut(c, false)
		}
	}
	l.settle()
	close(l.halted)
}
