// Package latetrace answers what the process did when a tick ran late. A flight recorder
// keeps the last seconds of the runtime's execution trace in memory; a late tick makes
// it write them to a file, which `go tool trace` shows.
//
//	runtime --> | ... last seconds ... | --> late-tick-20260102T030405.678901Z-33ms.trace
//	                                    ^
//	           loop: tick is late ------+  at most one file a minute
package latetrace

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// window is how much of the past is kept at least, while it fits into bufferBytes.
	window      = 5 * time.Second
	bufferBytes = 16 << 20
	// spacing is the least time between files.
	spacing = time.Minute
)

// Recorder keeps the trace. A process can have one at a time.
type Recorder struct {
	dir  string
	log  *slog.Logger
	now  func() int64 // monotonic nanoseconds
	next atomic.Int64 // when the next file may be written

	flight *trace.FlightRecorder
	late   chan time.Duration
	done   chan struct{}
	once   sync.Once
}

// Start begins to record; files go to dir, which is made if it is not there. now is a
// monotonic clock in nanoseconds.
func Start(dir string, log *slog.Logger, now func() int64) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for traces: %w", err)
	}
	r := &Recorder{
		dir: dir, log: log, now: now,
		flight: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: window, MaxBytes: bufferBytes}),
		late:   make(chan time.Duration, 1),
		done:   make(chan struct{}),
	}
	r.next.Store(now())
	if err := r.flight.Start(); err != nil {
		return nil, fmt.Errorf("starting the flight recorder: %w", err)
	}
	go r.run()
	return r, nil
}

// Late asks for a file because a tick ran late. It does not block, may be called from
// any goroutine, and does nothing for a minute after a file.
func (r *Recorder) Late(by time.Duration) {
	now, next := r.now(), r.next.Load()
	if now < next || !r.next.CompareAndSwap(next, now+int64(spacing)) {
		return
	}
	select {
	case r.late <- by:
	default: // the last one is still being written, after a minute
	}
}

func (r *Recorder) run() {
	defer close(r.done)
	for by := range r.late {
		name, err := r.write(by)
		if err != nil {
			r.log.Error("writing the trace of a late tick failed", "error", err)
			continue
		}
		r.log.Warn("a tick ran late", "late", by, "trace", name)
	}
}

// write puts the trace under its name once it is complete.
func (r *Recorder) write(by time.Duration) (name string, err error) {
	f, err := os.CreateTemp(r.dir, ".late-tick-*")
	if err != nil {
		return "", fmt.Errorf("making the file: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if _, err = r.flight.WriteTo(f); err != nil {
		f.Close()
		return "", fmt.Errorf("writing the trace: %w", err)
	}
	if err = f.Chmod(0o644); err != nil {
		f.Close()
		return "", fmt.Errorf("opening the file to others: %w", err)
	}
	if err = f.Close(); err != nil {
		return "", fmt.Errorf("writing the trace: %w", err)
	}
	stamp := time.Now().UTC().Format("20060102T150405.000000Z")
	name = filepath.Join(r.dir, fmt.Sprintf("late-tick-%s-%dms.trace", stamp, by.Milliseconds()))
	if err = os.Rename(f.Name(), name); err != nil {
		return "", fmt.Errorf("naming the trace: %w", err)
	}
	return name, nil
}

// Close stops recording, after a file that is being written. Late must not be called
// any more.
func (r *Recorder) Close() {
	r.once.Do(func() {
		close(r.late)
		<-r.done
		r.flight.Stop()
	})
}
