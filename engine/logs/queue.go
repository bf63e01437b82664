package logs

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueLines = 8192            // that may wait; a burst of players leaving is thousands
	queueBatch = 64 << 10        // bytes from which on lines are written
	queueEnd   = 2 * time.Second // for the last lines to leave
)

// queue is the way from those who log to the one goroutine that writes.
type queue struct {
	items chan item
	lost  atomic.Int64 // lines for which there was no room, and that were not told yet
	total atomic.Int64 // the same, all of them
	stop  sync.Once
	ended chan struct{} // closed when nothing is taken any more
	over  chan struct{} // closed when the goroutine has returned
}

// item is a line, something to be done when its turn has come, or, if it is neither, the
// end.
type item struct {
	line []byte
	do   func()
}

func newQueue() *queue {
	return &queue{items: make(chan item, queueLines), ended: make(chan struct{}), over: make(chan struct{})}
}

// Write takes one line, which it copies. It never waits and never fails.
func (q *queue) Write(line []byte) (int, error) {
	select {
	case <-q.ended:
		return len(line), nil
	default:
	}
	select {
	case q.items <- item{line: bytes.Clone(line)}:
	default:
		q.lost.Add(1)
		q.total.Add(1)
	}
	return len(line), nil
}

// run hands batches of lines to write, and does what is to be done between them. lost is
// how many lines would have come before the last one of the batch.
func (q *queue) run(write func(lines [][]byte, lost int64)) {
	defer close(q.over)
	var batch [][]byte
	for last := false; !last; {
		at := <-q.items
		size := 0
		clear(batch)
		batch = batch[:0]
		for more := true; more; {
			switch {
			case at.line != nil:
				batch, size = append(batch, at.line), size+len(at.line)
			default:
				more, last = false, at.do == nil
				continue
			}
			if size >= queueBatch {
				at = item{}
				break
			}
			select {
			case at = <-q.items:
			default:
				at, more = item{}, false
			}
		}
		if lost := q.lost.Swap(0); lost > 0 || len(batch) > 0 {
			write(batch, lost)
		}
		if at.do != nil {
			at.do()
		}
	}
}

// put has f done by the goroutine after all that was written before.
func (q *queue) put(ctx context.Context, f func()) error {
	select {
	case <-q.ended:
		return ErrClosed
	default:
	}
	select {
	case q.items <- item{do: f}:
		return nil
	case <-q.ended:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close has the rest written, as far as that goes in a short while.
func (q *queue) close() {
	q.stop.Do(func() {
		close(q.ended)
		late := time.NewTimer(queueEnd)
		defer late.Stop()
		select {
		case q.items <- item{}:
		case <-late.C:
			return
		}
		select {
		case <-q.over:
		case <-late.C:
		}
	})
}

// notice is a line about lines.
func notice(text string, args ...any) []byte {
	var b bytes.Buffer
	slog.New(slog.NewJSONHandler(&b, nil)).Warn(text, args...)
	return b.Bytes()
}

func lostLines(n int64) []byte {
	return notice("log lines were lost: they could not be written", "lines", n)
}

// Spool writes lines to something that may stop taking them, as a paused terminal does or
// a pipe to a program that hangs. Whoever logs does not wait for it: lines are lost then,
// and counted.
type Spool struct{ queue *queue }

// NewSpool writes to w. lost makes the line that stands in the place of lines that were
// lost.
func NewSpool(w io.Writer, lost func(lines int64) []byte) *Spool {
	s := &Spool{newQueue()}
	var all []byte
	go s.queue.run(func(lines [][]byte, missing int64) {
		all = all[:0]
		for _, line := range lines {
			all = append(all, line...)
		}
		if missing > 0 {
			all = append(all, lost(missing)...)
		}
		// Nobody is left to be told that the log cannot be written.
		_, _ = w.Write(all)
	})
	return s
}

// Write takes one line. It never waits and never fails.
func (s *Spool) Write(line []byte) (int, error) { return s.queue.Write(line) }

// Close writes what is left, as far as that goes in a short while. What is logged after it
// is lost.
func (s *Spool) Close() { s.queue.close() }
