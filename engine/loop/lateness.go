package loop

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// Times counts how long something took. Add belongs to one goroutine, Summary to any.
// The zero value is empty. It is a fixed set of counters: each power of two from a
// microsecond on is split into eight, so that a percentile is at most an eighth too high.
type Times struct {
	counts [lateBuckets]atomic.Uint64
	worst  atomic.Int64
}

// Lateness counts how much later than wished ticks ran.
type Lateness struct{ Times }

const (
	lateUnit    = 10 // shift; a bucket of the lowest eight is 1.024 us wide
	lateSplit   = 3  // log2 of the parts of a power of two
	lateOctaves = 26 // up to a minute and more
	lateBuckets = lateOctaves << lateSplit
)

// TickTimes sums Times up. The times are nanoseconds; each percentile is an upper bound,
// at most an eighth too high.
type TickTimes struct {
	Ticks int64
	P50   int64
	P99   int64
	P999  int64
	Max   int64

	counts *[lateBuckets]uint64 // nil for none
}

// lateBucket is the number of the bucket of a time.
func lateBucket(d int64) int {
	u := uint64(d) >> lateUnit
	if u < 1<<lateSplit {
		return int(u)
	}
	octave := bits.Len64(u) - lateSplit // 1 for the first that is split
	return min(octave<<lateSplit+int(u>>(octave-1)&(1<<lateSplit-1)), lateBuckets-1)
}

// lateBound is what all of a bucket are below.
func lateBound(bucket int) int64 {
	octave, part := bucket>>lateSplit, int64(bucket&(1<<lateSplit-1))
	if octave == 0 {
		return (part + 1) << lateUnit
	}
	return (1<<lateSplit + part + 1) << (octave - 1 + lateUnit)
}

// Record counts a tick that was wished for at wish and ran at now, both in nanoseconds of
// Now. A wish for a tick at once, at zero or before, is no appointment and not counted.
func (l *Lateness) Record(wish, now int64) {
	if wish > 0 {
		l.Add(now - wish)
	}
}

// Add counts d nanoseconds; less than none are none.
func (t *Times) Add(d int64) {
	d = max(d, 0)
	// Only this goroutine writes, so that no atomic addition is needed.
	c := &t.counts[lateBucket(d)]
	c.Store(c.Load() + 1)
	if d > t.worst.Load() {
		t.worst.Store(d)
	}
}

// Summary is the state now.
func (t *Times) Summary() TickTimes {
	counts := new([lateBuckets]uint64)
	for i := range counts {
		counts[i] = t.counts[i].Load()
	}
	return sumUp(counts, t.worst.Load())
}

func sumUp(counts *[lateBuckets]uint64, worst int64) TickTimes {
	s := TickTimes{Max: worst}
	for _, n := range counts {
		s.Ticks += int64(n)
	}
	if s.Ticks > 0 {
		s.counts = counts
		s.P50, s.P99, s.P999 = s.At(.5), s.At(.99), s.At(.999)
	}
	return s
}

// At is the time that a part of all, 0 to 1, was not longer than; 0 of none.
func (s TickTimes) At(part float64) int64 {
	if s.counts == nil {
		return 0
	}
	left := max(1, uint64(math.Ceil(float64(s.Ticks)*part-1e-6)))
	for i, n := range s.counts {
		if n >= left {
			return min(lateBound(i), s.Max)
		}
		left -= n
	}
	return s.Max
}

// Since is what was counted from summary b to summary s of the same Times. Its Max is
// an upper bound, too.
func (s TickTimes) Since(b TickTimes) TickTimes {
	counts, worst := new([lateBuckets]uint64), int64(0)
	if s.counts != nil {
		*counts = *s.counts
	}
	for i := range counts {
		if b.counts != nil {
			counts[i] -= b.counts[i]
		}
		if counts[i] > 0 {
			worst = min(lateBound(i), s.Max)
		}
	}
	return sumUp(counts, worst)
}

// LateTick is told of ticks that ran late.
type LateTick struct {
	// After is what counts as late. Zero means that nothing does.
	After time.Duration
	// Tell is called on the loop's thread before the tick, and must not block.
	Tell func(late time.Duration)
}

// Check tells if a tick that was wished for at wish runs late at now.
func (t LateTick) Check(wish, now int64) {
	if t.After > 0 && wish > 0 && now-wish > int64(t.After) {
		t.Tell(time.Duration(now - wish))
	}
}
