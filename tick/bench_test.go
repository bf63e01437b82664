package tick

import (
	"strings"
	"testing"
	"time"

	"gamehoster/wire"
)

// What a send tick takes, in parts that are timed one by one while a game of
// asteroids with four players goes on, so that each finds the caches as it does in
// earnest. The time is that of the part alone, the allocations are those of all of
// the game. Wide is with a thin viewer.
func BenchmarkAsteroids(b *testing.B) {
	for _, c := range []struct {
		name string
		thin bool
		part func(s *steady) func()
	}{
		{"Step", false, func(s *steady) func() { return s.step }},
		{"Commit", false, func(s *steady) func() { return s.in.Commit }},
		{"CommitWide", true, func(s *steady) func() { return s.in.Commit }},
		{"Send", false, func(s *steady) func() { return func() { s.views[0].Send(&s.sinks[0]) } }},
		{"SendThin", true, func(s *steady) func() { return func() { s.views[3].Send(&s.sinks[3]) } }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newSteady(b, c.thin)
			part := c.part(s)
			step, send := c.name == "Step", strings.HasPrefix(c.name, "Send")
			var spent time.Duration
			objects, before := 0, s.sinks
			before = append([]counter(nil), before...)
			rounds := 0
			b.ReportAllocs()
			for b.Loop() {
				s.step() // the first of two
				if !step {
					s.step()
				}
				if send {
					s.commit()
				}
				start := time.Now()
				part()
				spent += time.Since(start)
				s.commit()
				s.send()
				s.receive(b)
				objects += len(s.in.history.objects)
				rounds++
			}
			bytes := 0
			for i := range s.sinks {
				bytes += s.sinks[i].bytes - before[i].bytes
			}
			b.ReportMetric(float64(spent)/float64(rounds), "ns/op")
			b.ReportMetric(float64(objects)/float64(rounds), "objects")
			b.ReportMetric(float64(bytes)/float64(rounds)/float64(len(s.views)), "bytes/viewer")
		})
	}
}

// What a late command costs: eight ticks of a game of asteroids that run again, in
// multiples of what one tick of the same game takes.
func BenchmarkRewind(b *testing.B) {
	s := newSteady(b, false)
	s.late = 8
	var tick, rewind time.Duration
	replayed := s.in.shard.stats.Replayed
	b.ReportAllocs()
	for b.Loop() {
		s.in.Step() // the first of two, after which a command comes that is 8 late
		start := time.Now()
		s.in.Step()
		tick += time.Since(start)
		s.commit()
		s.send()
		s.receive(b)
		start = time.Now()
		if !s.in.rewind() {
			b.Fatal("the instance is over")
		}
		rewind += time.Since(start)
	}
	replayed = s.in.shard.stats.Replayed - replayed
	b.ReportMetric(float64(tick)/float64(b.N), "ns/tick")
	b.ReportMetric(float64(rewind)/float64(b.N), "ns/op")
	b.ReportMetric(float64(replayed)/float64(b.N), "ticks")
	b.ReportMetric(float64(rewind)/float64(tick), "ticks'-time")
}

func BenchmarkReceive(b *testing.B) {
	s := newSteady(b, false)
	ack := wire.Ack{Tick: s.sinks[0].tick}.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = s.views[0].Receive(ack, 0, &s.sinks[0])
	}
}
