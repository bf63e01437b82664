package loop

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Lateness counts how much later than wished ticks ran. Record belongs to one
// goroutine, Summary to any. The zero value is empty. It is a fixed set of counters:
// each power of two from a microsecond on is split into eight, so that a percentile is
// at most an eighth too high.
type Lateness struct {
	counts [lateBuckets]atomic.Uint64
	worst  atomic.Int64
}

const (
	lateUnit    = 10 // shift; a bucket of the lowest eight is 1.024 us wide
	lateSplit   = 3  // log2 of the parts of a power of two
	lateOctaves = 26 // up to a minute and more
	lateBuckets = lateOctaves << lateSplit
)

// LateTicks sums a Lateness up. The times are nanoseconds; each percentile is an upper
// bound, at most an eighth too high.
type LateTicks struct {
	Ticks int64 // that were wished for at a time
	P50   int64
	P99   int64
	P999  int64
	Max   int64
}

// lateBucket is the number of the bucket of a lateness.
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
	if wish <= 0 {
		return
	}
	d := max(now-wish, 0)
	// Only this goroutine writes, so that no atomic addition is needed.
	c := &l.counts[lateBucket(d)]
	c.Store(c.Load() + 1)
	if d > l.worst.Load() {
		l.worst.Store(d)
	}
}

// Summary is the state now.
func (l *Lateness) Summary() LateTicks {
	var counts [lateBuckets]uint64
	total := uint64(0)
	for i := range counts {
		counts[i] = l.counts[i].Load()
		total += counts[i]
	}
	s := LateTicks{Ticks: int64(total), Max: l.worst.Load()}
	at := func(per1000 uint64) int64 {
		left := (total*per1000 + 999) / 1000
		for i, n := range counts {
			if n >= left {
				return min(lateBound(i), s.Max)
			}
			left -= n
		}
		return s.Max
	}
	if total > 0 {
		s.P50, s.P99, s.P999 = at(500), at(990), at(999)
	}
	return s
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
