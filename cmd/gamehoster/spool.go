package main

import (
	"io"
	"sync/atomic"
	"time"
)

const (
	spoolLines = 8192            // that may wait; a burst of players leaving is thousands
	spoolBatch = 64 << 10        // bytes from which on lines are written
	spoolEnd   = 2 * time.Second // for the last lines to leave
)

// spool is where a log is written to without waiting. Lines are logged on the loops, and
// whoever reads the log may stop doing so: a terminal that is paused, a pipe to a
// program that hangs. Then lines are lost and counted, and the games go on.
type spool struct {
	to    io.Writer
	lost  func(lines int64) (line []byte) // what stands in their place
	lines chan []byte                     // nil asks for the end
	over  chan struct{}
	count atomic.Int64 // lines lost and not told yet
}

func newSpool(to io.Writer, lost func(lines int64) []byte) *spool {
	s := &spool{to: to, lost: lost, lines: make(chan []byte, spoolLines), over: make(chan struct{})}
	go s.run()
	return s
}

// Write takes one line. It never fails.
func (s *spool) Write(line []byte) (int, error) {
	select {
	case s.lines <- append([]byte(nil), line...):
	default:
		s.count.Add(1)
	}
	return len(line), nil
}

func (s *spool) run() {
	defer close(s.over)
	var batch []byte
	for last := false; !last; {
		line := <-s.lines
		batch, last = append(batch[:0], line...), line == nil
		for more := true; more && !last && len(batch) < spoolBatch; {
			select {
			case line = <-s.lines:
				batch, last = append(batch, line...), line == nil
			default:
				more = false
			}
		}
		if n := s.count.Swap(0); n > 0 {
			batch = append(batch, s.lost(n)...)
		}
		// Nobody is left to be told that the log cannot be written.
		_, _ = s.to.Write(batch)
	}
}

// close writes what is left, as far as that goes in a short while. What is logged after
// it is lost.
func (s *spool) close() {
	late := time.NewTimer(spoolEnd)
	defer late.Stop()
	select {
	case s.lines <- nil:
	case <-late.C:
		return
	}
	select {
	case <-s.over:
	case <-late.C:
	}
}
