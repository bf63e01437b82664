package metrics

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/tick"
)

// Snapshot is what one worker has counted since its last Snapshot, and what it runs now.
// The zero value is that of a worker that has just begun.
type Snapshot struct {
	Loop   Loop
	Pauses Histogram // of the process's garbage collector; empty where somebody else tells of them
	Games  []Game    // each once
}

// Loop is the sockets of an event loop.
type Loop struct {
	Open     int64 // now
	Adopted  uint64
	Lost     uint64 // dead before they could be opened
	Overflow uint64 // cut because too much waited for them
	Expired  uint64 // cut because the peer did not finish closing
	BytesIn  uint64
	BytesOut uint64
}

// Game is a game on one worker.
type Game struct {
	Name string // domain/game

	// How it is now.
	Instances int64
	Players   int64 // seats taken, those included that are kept for who may come back
	Sockets   int64

	// Counted.
	Took    Histogram // ticks of instances, without what is sent
	Late    Histogram // how much later than scheduled they began
	Sent    Histogram // how long it took to encode a send tick for all viewers of an instance
	Dropped uint64    // ticks left out of the schedule because the loop was held up
	Stats   tick.Stats
}

// Join adds what another shard of the same game on the same worker has, such as one of an
// older definition that plays on.
func (g *Game) Join(o *Game) {
	g.Instances += o.Instances
	g.Players += o.Players
	g.Sockets += o.Sockets
	theirs := o.counters()
	for i, n := range g.counters() {
		*n += *theirs[i]
	}
}

func (l *Loop) counters() []*uint64 {
	return []*uint64{&l.Adopted, &l.Lost, &l.Overflow, &l.Expired, &l.BytesIn, &l.BytesOut}
}

func (g *Game) counters() []*uint64 {
	all := append(g.Stats.Counters(), &g.Dropped)
	for _, h := range [...]*Histogram{&g.Took, &g.Late, &g.Sent} {
		all = append(all, h.counters()...)
	}
	return all
}

// LoopMeter makes what was counted since of what a loop has counted from its start on.
type LoopMeter struct{ told loop.Stats }

// Since is what the loop has counted since the last call.
func (m *LoopMeter) Since(now loop.Stats) Loop {
	was := m.told
	m.told = now
	return Loop{
		Open:     now.Open,
		Adopted:  uint64(now.Adopted - was.Adopted),
		Lost:     uint64(now.Lost - was.Lost),
		Overflow: uint64(now.Overflows - was.Overflows),
		Expired:  uint64(now.Expired - was.Expired),
		BytesIn:  uint64(now.BytesIn - was.BytesIn),
		BytesOut: uint64(now.BytesOut - was.BytesOut),
	}
}

// Histogram counts times. Adding one takes a few nanoseconds and no memory. It belongs to
// one goroutine.
type Histogram struct {
	Counts [Buckets]uint64 // up to Bound of each and over that before; the last: all that is longer
	Nanos  uint64          // of all together
}

// Buckets is one for each power of two from 32 us to a second, and one for what is longer.
const (
	Buckets     = 17
	bucketShift = 15 // log2 of the nanoseconds of the first
)

// Bound is the longest time that is counted in a bucket, but for the last one's.
func Bound(bucket int) time.Duration { return 1 << (bucketShift + bucket) }

// Observe counts d nanoseconds so many times; less than none are none.
func (h *Histogram) Observe(d int64, times int) {
	d = max(d, 0)
	h.Counts[bucketOf(d)] += uint64(times)
	h.Nanos += uint64(d) * uint64(times)
}

func bucketOf(d int64) int {
	return min(bits.Len64(uint64(max(d-1, 0))>>bucketShift), Buckets-1)
}

// Add adds what o has counted.
func (h *Histogram) Add(o *Histogram) {
	theirs := o.counters()
	for i, n := range h.counters() {
		*n += *theirs[i]
	}
}

func (h *Histogram) counters() []*uint64 {
	all := make([]*uint64, 0, Buckets+1)
	for i := range h.Counts {
		all = append(all, &h.Counts[i])
	}
	return append(all, &h.Nanos)
}

// The bounds of what is read.
const (
	maxGames = 64 // on one worker
	maxName  = 512
)

// ErrSnapshot is that bytes are no Snapshot.
var ErrSnapshot = errors.New("malformed snapshot of counters")

// Append writes s in a compact form: every number with as few bytes as it needs. Most are
// zero, and a game takes some hundred bytes.
func (s *Snapshot) Append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, s.Loop.Open)
	dst = appendAll(dst, s.Loop.counters())
	dst = appendAll(dst, s.Pauses.counters())
	n := min(len(s.Games), maxGames)
	dst = binary.AppendUvarint(dst, uint64(n))
	for i := range s.Games[:n] {
		g := &s.Games[i]
		name := g.Name[:min(len(g.Name), maxName)]
		dst = binary.AppendUvarint(dst, uint64(len(name)))
		dst = append(dst, name...)
		for _, v := range g.gauges() {
			dst = binary.AppendVarint(dst, *v)
		}
		dst = appendAll(dst, g.counters())
	}
	return dst
}

func (g *Game) gauges() [3]*int64 { return [3]*int64{&g.Instances, &g.Players, &g.Sockets} }

func appendAll(dst []byte, all []*uint64) []byte {
	for _, v := range all {
		dst = binary.AppendUvarint(dst, *v)
	}
	return dst
}

// ParseSnapshot reads what Append has written, and nothing else. Nothing of p is kept.
func ParseSnapshot(p []byte) (s Snapshot, err error) {
	r := reader{p: p}
	s.Loop.Open = r.signed()
	r.all(s.Loop.counters())
	r.all(s.Pauses.counters())
	n := r.number()
	if n > maxGames {
		return Snapshot{}, fmt.Errorf("%w: %d games", ErrSnapshot, n)
	}
	for range n {
		var g Game
		g.Name = r.text(maxName)
		for _, v := range g.gauges() {
			*v = r.signed()
		}
		r.all(g.counters())
		s.Games = append(s.Games, g)
	}
	if r.bad || len(r.p) > 0 {
		return Snapshot{}, ErrSnapshot
	}
	return s, nil
}

// reader takes numbers off the front of p. Past the first that is wrong all are zero.
type reader struct {
	p   []byte
	bad bool
}

func (r *reader) took(n int) {
	if n <= 0 {
		r.bad, r.p = true, nil
		return
	}
	r.p = r.p[n:]
}

func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.p)
	r.took(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.p)
	r.took(n)
	if r.bad {
		return 0
	}
	return v
}

func (r *reader) text(most int) string {
	n := r.number()
	if n > uint64(most) || n > uint64(len(r.p)) {
		r.bad, r.p = true, nil
		return ""
	}
	s := string(r.p[:n])
	r.p = r.p[n:]
	return s
}

func (r *reader) all(numbers []*uint64) {
	for _, v := range numbers {
		*v = r.number()
	}
}
