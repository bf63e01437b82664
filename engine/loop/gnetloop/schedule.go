package gnetloop

import (
	"fmt"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
)

// schedule holds the time wished for and what the timer is set to, in
// nanoseconds of loop.Now. The zero value wishes for a tick at once and matches
// the timer as open sets it.
type schedule struct {
	wish, armed int64
	prompt      bool // one at once is wished for, too
}

// setTimer makes the timer fire at the absolute time at, at once if it is past.
func setTimer(fd int, at int64) error {
	var spec unix.ItimerSpec // zero disarms
	if at != loop.Never {
		spec.Value = unix.NsecToTimespec(max(at, 1))
	}
	if err := unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return fmt.Errorf("setting the tick timer: %w", err)
	}
	return nil
}

// arm sets the timer to the next thing that is due, if that has changed.
func (l *Loop) arm() {
	due := min(l.tick.wish, l.linger.due)
	if due == l.tick.armed {
		return
	}
	if err := setTimer(l.timer.fd, due); err != nil {
		l.cfg.Log.Error("setting the loop's timer failed", "error", err)
		return
	}
	l.tick.armed = due
}

// onTimer runs on the loop when the timer has fired.
func (l *Loop) onTimer() {
	l.tick.armed = loop.Never // it fires once; a fired timer is set to nothing
	now := loop.Now()
	l.inside = true
	l.runTick(now)
	if l.linger.due <= now {
		l.sweep(now)
	}
	l.settle()
}

// runTick calls the handler if its wished time has come.
func (l *Loop) runTick(now int64) {
	wish := l.tick.wish
	if wish > now && !l.tick.prompt {
		return
	}
	if wish <= now {
		l.stats.Late.Record(wish, now)
		l.cfg.Late.Check(wish, now)
	}
	l.tick.wish, l.tick.prompt = loop.Never, false
	next := l.handler.OnTick(now)
	if wish > 0 {
		l.stats.Took.Add(loop.Now() - now)
	}
	l.tick.wish = min(l.tick.wish, next)
}

// Wake implements loop.Loop.
func (l *Loop) Wake(at int64) {
	if at <= 0 {
		// Apart from the appointment, which is to be kept, and to be found late.
		l.tick.prompt = true
		return
	}
	l.tick.wish = min(l.tick.wish, at)
}
