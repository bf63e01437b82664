package loop

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLateness(t *testing.T) {
	var l Lateness
	if s := l.Summary(); s != (TickTimes{}) {
		t.Errorf("empty: %+v", s)
	}
	l.Record(0, 1e9) // a tick at once
	rnd := rand.New(rand.NewPCG(1, 2))
	var all []int64
	for range 100_000 {
		d := int64(1) << rnd.IntN(36)
		d += rnd.Int64N(d)
		all = append(all, d)
		l.Record(5e9, 5e9+d)
	}
	slices.Sort(all)
	s := l.Summary()
	if s.Ticks != int64(len(all)) || s.Max != all[len(all)-1] {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		name string
		got  int64
		rank int
	}{{"p50", s.P50, 50_000}, {"p99", s.P99, 99_000}, {"p999", s.P999, 99_900}} {
		// Below a few microseconds the buckets have a fixed width.
		if want := all[c.rank-1]; c.got < want || c.got > want+want/8+1<<lateUnit {
			t.Errorf("%s is %d, want %d or up to an eighth more", c.name, c.got, want)
		}
	}
}

func TestTimesSince(t *testing.T) {
	var a Times
	for range 1000 {
		a.Add(5e6)
	}
	before := a.Summary()
	if s := a.Summary().Since(before); s.Ticks != 0 || s.P999 != 0 || s.Max != 0 {
		t.Errorf("nothing since: %+v", s)
	}
	for i := range 100 {
		a.Add(int64(i) * 1e4)
	}
	s := a.Summary().Since(before)
	if s.Ticks != 100 || s.P50 < 49e4 || s.P50 > 60e4 || s.Max < 99e4 || s.Max > 12e5 || s.At(0) > s.P50 || s.At(1) != s.Max {
		t.Errorf("%+v", s)
	}
	if s := a.Summary().Since(TickTimes{}); s.Ticks != 1100 || s.P50 != 5e6 {
		t.Errorf("since the start: %+v", s)
	}
}

func TestLatenessOfExtremes(t *testing.T) {
	var l Lateness
	l.Record(10, 5) // never early, but clocks are read twice
	l.Record(1, 1<<62)
	if s := l.Summary(); s.Ticks != 2 || s.Max != 1<<62-1 || s.P50 > 1<<lateUnit {
		t.Errorf("%+v", s)
	}
	for b := range lateBuckets - 1 {
		if lateBucket(lateBound(b)-1) != b || lateBucket(lateBound(b)) != b+1 {
			t.Errorf("bucket %d does not end at %d", b, lateBound(b))
		}
	}
}

func TestAllocLateness(t *testing.T) {
	var l Lateness
	n := testing.AllocsPerRun(1000, func() { l.Record(1, 1<<20) })
	t.Logf("recording a tick: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
