package logs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync/atomic"
)

// Errors of questions.
var (
	ErrClosed    = errors.New("the log is closed")
	ErrFollowers = errors.New("too many follow the log already")
)

const (
	maxFollowers  = 32
	followerLines = 1024 // that may wait for a follower
)

// store is where a Stream's lines are kept. The Stream's goroutine alone calls it.
type store interface {
	// write keeps the lines, after a note that so many were lost if there are any.
	write(lines [][]byte, lost int64)
	// open is all that is kept, to be read by another goroutine.
	open() (reader, error)
	close()
}

// reader yields lines, newest first and without their ends, then io.EOF. A line is valid
// until the next one is read.
type reader interface {
	next() ([]byte, error)
	close()
}

// Stream is one log.
type Stream struct {
	queue     *queue
	store     store       // the goroutine's
	followers []*follower // likewise
}

// follower gets the lines that are logged from now on.
type follower struct {
	lines  chan []byte
	missed atomic.Int64
	gone   atomic.Bool
}

func startStream(s store) *Stream {
	st := &Stream{queue: newQueue(), store: s}
	go func() {
		st.queue.run(st.write)
		st.store.close()
	}()
	return st
}

func (s *Stream) handler(level slog.Level) slog.Handler {
	return slog.NewJSONHandler(bounded{s.queue}, &slog.HandlerOptions{Level: level})
}

// maxLine is the most bytes of a line. Whoever reads lines has that much room for one.
const maxLine = 64 << 10

// bounded leaves lines out that are too long, and says so.
type bounded struct{ queue *queue }

func (b bounded) Write(line []byte) (int, error) {
	if n := len(line); n > maxLine {
		_, err := b.queue.Write(notice("a log line was left out: it is too long", "bytes", n, "most", maxLine))
		return n, err
	}
	return b.queue.Write(line)
}

// Lost is how many lines found no room on their way to the disk. Those that the disk did
// not take are told in the log.
func (s *Stream) Lost() int64 { return s.queue.total.Load() }

func (s *Stream) close() { s.queue.close() }

func (s *Stream) write(lines [][]byte, lost int64) {
	s.store.write(lines, lost)
	for _, f := range s.followers {
		if f.gone.Load() {
			continue // until the next question
		}
		if lost > 0 {
			f.missed.Add(lost)
		}
		for _, line := range lines {
			select {
			case f.lines <- line:
			default:
				f.missed.Add(1)
			}
		}
	}
}

// Query returns the newest lines that match, newest last, without line ends. They are the
// caller's. What was logged before the call is among them.
func (s *Stream) Query(ctx context.Context, f Filter) ([][]byte, error) {
	r, err := s.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return collect(ctx, r, f.compile())
}

// Follow hands the lines that Query would return to emit, and then those that are logged,
// as they come, until the context ends. line is valid during the call and has no line end.
// Lines that come faster than emit takes them are left out, and a line that says so stands
// in their place. It returns nil when the context has ended, ErrClosed when the log has,
// and emit's error if it returns one.
func (s *Stream) Follow(ctx context.Context, f Filter, emit func(line []byte) error) error {
	me := &follower{lines: make(chan []byte, followerLines)}
	r, err := s.open(ctx, me)
	if err != nil {
		return ended(ctx, err)
	}
	defer me.gone.Store(true)
	want := f.compile()
	old, err := collect(ctx, r, want)
	r.close()
	if err != nil {
		return ended(ctx, err)
	}
	for _, line := range old {
		if err := emit(line); err != nil {
			return err
		}
	}
	for {
		var line []byte
		select {
		case line = <-me.lines:
		case <-ctx.Done():
			return nil
		case <-s.queue.over:
			select {
			case line = <-me.lines:
			default:
				return ErrClosed
			}
		}
		if n := me.missed.Swap(0); n > 0 {
			if err := emit(trim(notice("log lines were left out: they came faster than they were read", "lines", n))); err != nil {
				return err
			}
		}
		line = trim(line)
		if want.match(line) != fits {
			continue
		}
		if err := emit(line); err != nil {
			return err
		}
	}
}

// ended makes the end of the context no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// opened is what the goroutine found when a question had its turn.
type opened struct {
	all reader
	err error
}

// open takes all that is kept, and has me follow from there on if it is not nil.
func (s *Stream) open(ctx context.Context, me *follower) (reader, error) {
	answer := make(chan opened, 1)
	var settled atomic.Bool // who is second knows that the other has given up, or has answered
	err := s.queue.put(ctx, func() {
		o := s.take(me)
		if settled.CompareAndSwap(false, true) {
			answer <- o
			return
		}
		if o.err == nil {
			o.all.close()
		}
		if me != nil {
			me.gone.Store(true)
		}
	})
	if err != nil {
		return nil, err
	}
	select {
	case o := <-answer:
		return o.all, o.err
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.queue.over:
		err = ErrClosed
	}
	if settled.CompareAndSwap(false, true) {
		return nil, err
	}
	o := <-answer
	return o.all, o.err
}

// take is the goroutine's part of open.
func (s *Stream) take(me *follower) (o opened) {
	s.followers = slices.DeleteFunc(s.followers, func(f *follower) bool { return f.gone.Load() })
	if me != nil && len(s.followers) >= maxFollowers {
		return opened{err: ErrFollowers}
	}
	if o.all, o.err = s.store.open(); o.err == nil && me != nil {
		s.followers = append(s.followers, me)
	}
	return o
}

// collect reads as far back as the filter wants.
func collect(ctx context.Context, r reader, want *matcher) ([][]byte, error) {
	var found [][]byte
	room := maxAnswer
	for read := 0; len(found) < want.limit; read++ {
		if read%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		switch want.match(line) {
		case fits:
			if room -= len(line); room < 0 {
				slices.Reverse(found)
				return found, nil
			}
			found = append(found, slices.Clone(line))
		case tooOld:
			slices.Reverse(found)
			return found, nil
		}
	}
	slices.Reverse(found)
	return found, nil
}
