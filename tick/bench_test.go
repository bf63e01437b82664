package tick

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/tick/vm"
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

// What 100 viewers of 1,000 objects cost in sends, by the part of the objects that
// moves and by what viewers have in common: the deltas of all, of those whose acks are
// at different ticks, and of those that own something that only they see.
func BenchmarkMovers(b *testing.B) {
	const objects, viewers = 1000, 100
	for _, c := range []struct {
		name   string
		moving int // of 1000
		lags   int // different acks
		owners bool
	}{
		{"still", 0, 1, false}, {"tenth", 100, 1, false}, {"all", 1000, 1, false}, {"all-acks", 1000, 4, false}, {"all-owners", 1000, 1, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			in, views := movers(b, objects, viewers, c.moving, c.owners)
			sinks := make([]counter, viewers)
			var commit, send time.Duration
			bytes := 0
			round := func() {
				in.Step()
				start := time.Now()
				in.Commit()
				commit += time.Since(start)
				start = time.Now()
				for i, v := range views {
					v.Send(&sinks[i])
				}
				send += time.Since(start)
				for i, v := range views {
					lag := uint32(1 + i%c.lags)
					if ack := sinks[i].tick - lag; in.tick > 20 {
						_ = v.Receive(wire.Ack{Tick: ack}.Append(nil), 0, &sinks[i])
					}
				}
			}
			for range 100 {
				round()
			}
			commit, send = 0, 0
			for i := range sinks {
				bytes -= sinks[i].bytes
			}
			for b.Loop() {
				round()
			}
			for i := range sinks {
				bytes += sinks[i].bytes
			}
			n := float64(b.N)
			b.ReportMetric(float64(commit)/n/objects, "commit-ns/object")
			b.ReportMetric(float64(send)/n/objects/viewers, "send-ns/object/viewer")
			b.ReportMetric(float64(bytes)/n/viewers, "bytes/viewer")
		})
	}
}

// seeing is a machine whose view bodies see everything at no cost.
type seeing struct{ *ticktest.Guest }

func (s seeing) View(_, _, _, list, count uint32, fresh bool) (uint32, vm.Fault, bool) {
	words := s.Bytes(list, int(4*count))
	for i := range count {
		words[4*i] |= 1
	}
	return count, vm.Fault{}, true
}

// What the engine's part of views costs: viewers among units that all move over a
// plane, of which each sees some 30. The time of a send to one viewer should depend
// neither on how many units there are elsewhere nor on how many viewers.
func BenchmarkViews(b *testing.B) {
	for _, c := range []struct{ units, viewers int }{{500, 100}, {2000, 100}, {8000, 100}, {2000, 25}} {
		b.Run(fmt.Sprintf("%d viewers, %d objects", c.viewers, c.units), func(b *testing.B) {
			in, views := plane(b, c.units, c.viewers, 30)
			s := in.shard
			sinks := make([]counter, c.viewers)
			var commit, send []time.Duration
			held := 0
			ack := []byte(nil)
			l := &s.layout.Types[unit]
			round := func() {
				// Two ticks, without the cost of bodies that are Go functions.
				in.tick += s.rules.perSend
				step := float32(in.tick&s.rules.perSend) - 1 // there and back
				for i := range in.count(unit) {
					row := in.row(unit, i)
					le.PutUint32(row[l.Offsets[unitX]:], math.Float32bits(math.Float32frombits(le.Uint32(row[l.Offsets[unitX]:]))+step))
					le.PutUint16(row[l.Offsets[unitHP]:], uint16(in.tick))
				}
				t0 := time.Now()
				in.Commit()
				t1 := time.Now()
				for i, v := range views {
					v.Send(&sinks[i])
				}
				commit, send = append(commit, t1.Sub(t0)), append(send, time.Since(t1))
				for i, v := range views {
					ack = wire.Ack{Tick: sinks[i].tick}.Append(ack[:0])
					_ = v.Receive(ack, 0, &sinks[i])
					for _, w := range v.view.held {
						held += bits.OnesCount64(w)
					}
				}
			}
			for range 20 {
				round()
			}
			commit, send, held = commit[:0], send[:0], 0
			for b.Loop() {
				round()
			}
			each := median(send) / float64(c.viewers)
			holds := float64(held) / float64(b.N) / float64(c.viewers)
			b.ReportMetric(median(commit)/float64(c.units), "commit-ns/object")
			b.ReportMetric(each, "send-ns/viewer")
			b.ReportMetric(each/holds, "send-ns/held")
			b.ReportMetric(holds, "held")
		})
	}
}

// plane is an instance of units, spread so that some see of them are in a viewer's
// radius, and of viewers anywhere among them, each of which holds itself beside.
func plane(t testing.TB, units, viewers int, see float64) (in *Instance, views []*Viewer) {
	t.Helper()
	d := viewDef(units, 1<<20)
	d.Types[player].Max, d.PlayersPerInstance = viewers, viewers
	g := viewGame(d)
	g.Bodies = []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			for range units {
				w.Spawn(unit, 0)
			}
		}},
		{Step: ticktest.View, Side: schema.OnServer, Type: player},
		{Step: ticktest.View, Side: schema.OnServer, Type: unit},
	}
	d.Types[player].View = d.Types[unit].View
	s, err := newShard(d, g.Program(), 0, Options{}, seeing{g.NewGuest(schema.OnServer)})
	if err != nil {
		t.Fatal(err)
	}
	if in, err = s.Create("views", 1, 2); err != nil {
		t.Fatal(err)
	}
	for range viewers {
		p, err := in.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, in.Attach(p, ViewerOptions{}))
	}
	for in.Step(); !in.SendDue(); in.Step() {
	}
	rng := rand.New(rand.NewPCG(1, 2))
	side := uint32(math.Sqrt(float64(units) / see * math.Pi * viewRadius * viewRadius))
	for typ := player; typ <= unit; typ++ {
		l := &s.layout.Types[typ]
		for i := range in.count(typ) {
			row := in.row(typ, i)
			for k := range 2 {
				le.PutUint32(row[l.Offsets[k]:], math.Float32bits(float32(rng.Uint32N(side))))
			}
		}
	}
	return in, views
}
