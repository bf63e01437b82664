package metrics

import (
	"reflect"
	"runtime"
	"testing"
	"time"
)

// game adds a game.
func (s *Snapshot) game(name string) *Game {
	s.Games = append(s.Games, Game{Name: name})
	return &s.Games[len(s.Games)-1]
}

// filled is a snapshot in which every number is another.
func filled(seed uint64, games ...string) *Snapshot {
	s := &Snapshot{}
	n := seed
	fill := func(all []*uint64) {
		for _, v := range all {
			n++
			*v = n
		}
	}
	s.Loop.Open = int64(seed)
	fill(s.Loop.counters())
	fill(s.Pauses.counters())
	for _, name := range games {
		g := s.game(name)
		for _, v := range g.gauges() {
			n++
			*v = int64(n)
		}
		fill(g.counters())
	}
	return s
}

func TestSnapshotKeepsAll(t *testing.T) {
	for _, s := range []*Snapshot{{}, filled(1), filled(300, "d/a"), filled(1<<40, "d/a", "d/b", "")} {
		p := s.Append(nil)
		got, err := ParseSnapshot(p)
		if err != nil || !reflect.DeepEqual(&got, s) {
			t.Errorf("%d bytes: %v", len(p), err)
		}
		for n := range len(p) {
			if _, err := ParseSnapshot(p[:n]); err == nil {
				t.Fatalf("%d of %d bytes are a snapshot, too", n, len(p))
			}
		}
		if _, err := ParseSnapshot(append(p, 0)); err == nil {
			t.Error("there may be more than a snapshot")
		}
	}
	// Every number that there is takes part.
	v := reflect.ValueOf(Game{})
	numbers := 0
	var count func(v reflect.Value)
	count = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Uint64:
			numbers++
		case reflect.Struct:
			for i := range v.NumField() {
				count(v.Field(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				count(v.Index(i))
			}
		}
	}
	count(v)
	if n := len(new(Game).counters()); n != numbers {
		t.Errorf("%d of the %d counters of a game are known", n, numbers)
	}
}

func TestSnapshotIsSmall(t *testing.T) {
	s := filled(1<<14, "game.example/arena")
	p := s.Append(nil)
	t.Logf("a game of which everything has happened: %d bytes", len(p))
	if len(p) > 1000 {
		t.Error("that is too much for a message of control")
	}
}

func TestJoin(t *testing.T) {
	a, b := &filled(10, "d/a").Games[0], &filled(1000, "d/a").Games[0]
	was := *a
	a.Join(b)
	for i, n := range a.counters() {
		if *n != *was.counters()[i]+*b.counters()[i] {
			t.Errorf("counter %d is %d", i, *n)
		}
	}
	if a.Instances != was.Instances+b.Instances || a.Players != was.Players+b.Players || a.Sockets != was.Sockets+b.Sockets {
		t.Errorf("%d instances, %d players, %d sockets", a.Instances, a.Players, a.Sockets)
	}
}

func TestHistogram(t *testing.T) {
	var h Histogram
	for i := range Buckets - 1 {
		h.Observe(int64(Bound(i)), 1)
		h.Observe(int64(Bound(i))+1, 1)
	}
	h.Observe(-5, 1)
	for i, n := range h.Counts {
		want := uint64(2)
		if i == Buckets-1 {
			want = 1
		}
		if n != want {
			t.Errorf("%d in bucket %d, want %d", n, i, want)
		}
	}
	if h.Observe(int64(time.Hour), 1); h.Counts[Buckets-1] != 2 || h.Nanos < uint64(time.Hour) {
		t.Error("an hour is not counted")
	}
}

func TestAllocObserve(t *testing.T) {
	var h Histogram
	const budget = 0
	d := int64(1)
	if n := testing.AllocsPerRun(1000, func() { h.Observe(d, 1); d = d*3 + 1 }); n > budget {
		t.Errorf("%v allocations for a time, budget %d", n, budget)
	}
	t.Logf("budget %d", budget)
}

func TestPauses(t *testing.T) {
	var m PauseMeter
	m.Since()
	runtime.GC()
	h := m.Since()
	total := uint64(0)
	for _, n := range h.Counts {
		total += n
	}
	if total == 0 || h.Nanos == 0 {
		t.Errorf("a collection is %d pauses of %d ns", total, h.Nanos)
	}
}

func FuzzParseSnapshot(f *testing.F) {
	f.Add([]byte{})
	f.Add((&Snapshot{}).Append(nil))
	f.Add(filled(1).Append(nil))
	f.Add(filled(300, "d/a").Append(nil))
	f.Add(filled(1<<40, "d/a", "d/b").Append(nil))
	f.Fuzz(func(t *testing.T, p []byte) {
		s, err := ParseSnapshot(p)
		if err != nil {
			return
		}
		if again, err := ParseSnapshot(s.Append(nil)); err != nil || !reflect.DeepEqual(s, again) {
			t.Errorf("%x: not the same again: %v", p, err)
		}
	})
}
