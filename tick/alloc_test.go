package tick

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"gamehoster/wire"
)

// counter is a sink that keeps what it is shown of the newest send tick.
type counter struct {
	tick            uint32
	messages, bytes int
}

func (c *counter) Message(m []byte) {
	c.messages++
	c.bytes += len(m)
	if t := wire.TagOf(m); t == wire.TagDelta || t == wire.TagSnapshot {
		c.tick = le.Uint32(m[1:])
	}
}

// steady is an instance of asteroids with four players who steer and fire, one of
// them thin if asked for, one always late, and a spectator, long after its start.
type steady struct {
	in    *Instance
	views []*Viewer
	sinks []counter
	seq   uint32
	buf   []byte
	late  uint32 // ticks that the commands of one player are late
}

func newSteady(t testing.TB, thin bool) *steady {
	t.Helper()
	g := newSession(t, "asteroids", 0)
	s := &steady{in: g.in}
	for i := range 4 {
		p, err := s.in.Join("pilot")
		if err != nil {
			t.Fatal(err)
		}
		s.views = append(s.views, s.in.Attach(p, ViewerOptions{Thin: thin && i == 3}))
	}
	s.views = append(s.views, s.in.Attach(0, ViewerOptions{Watch: true}))
	s.sinks = make([]counter, len(s.views))
	for range 8000 {
		s.step()
		s.commit()
		s.send()
		s.receive(t)
	}
	return s
}

func (s *steady) step() { s.in.Step() }

func (s *steady) commit() {
	if s.in.SendDue() {
		s.in.Commit()
	}
}

func (s *steady) send() {
	if s.in.SendDue() {
		for i, v := range s.views {
			v.Send(&s.sinks[i])
		}
	}
}

// receive lets each player steer, ack, and ping.
func (s *steady) receive(t testing.TB) {
	if !s.in.SendDue() || s.sinks[0].tick == 0 {
		return
	}
	s.seq++
	for i, v := range s.views {
		tick := s.in.Tick() + 2
		if i == 2 && s.late > 0 {
			tick = s.in.Tick() + 1 - s.late
		}
		s.buf = wire.CommandHeader{Tick: tick, Seq: s.seq, Number: 0}.Append(s.buf[:0])
		s.buf = append(s.buf, byte(int8(s.seq>>3%3)-1), byte(s.seq>>4&1), byte(s.seq>>2&1))
		err := v.Receive(s.buf, 0, &s.sinks[i])
		if s.seq%3 == 0 && err == nil {
			s.buf = wire.Ack{Tick: s.sinks[i].tick}.Append(s.buf[:0])
			err = v.Receive(s.buf, 0, &s.sinks[i])
		}
		if err == nil {
			s.buf = wire.Ping{Nonce: s.seq}.Append(s.buf[:0])
			err = v.Receive(s.buf, 0, &s.sinks[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// parts are what goes on in one tick, in order.
func (s *steady) parts(t testing.TB) []timed {
	return []timed{
		{"a tick with its commands and, every other time, a rewind of six", s.step},
		{"the commit of a send tick", s.commit},
		{"the sends to five viewers", s.send},
		{"a command, an ack and a ping of each", func() { s.receive(t) }},
	}
}

type timed struct {
	name string
	run  func()
}

func TestAllocTicks(t *testing.T) {
	s := newSteady(t, true)
	s.late = 5
	for range 100 {
		s.step()
		s.commit()
		s.send()
		s.receive(t)
	}
	parts := s.parts(t)
	start := s.in.shard.stats
	const ticks = 600
	counts := leastAllocs(func() []uint64 { return countAllocs(parts, ticks) })
	for i, n := range counts {
		t.Logf("%s: %d allocations in %d ticks, budget 0", parts[i].name, n, ticks)
		if n > 0 {
			t.Fail()
		}
	}
	end := s.in.shard.stats
	if end.Commands == start.Commands || end.Rewinds == start.Rewinds || end.Sent(wire.TagKeyframe) == start.Sent(wire.TagKeyframe) || end.Faults > 0 {
		t.Errorf("that was no game: %d commands, %d faults", end.Commands-start.Commands, end.Faults)
	}
}

// countAllocs runs ticks and counts the allocations of each of their parts.
func countAllocs(parts []timed, ticks int) []uint64 {
	counts := make([]uint64, len(parts))
	var before, after runtime.MemStats
	for range ticks {
		for i := range parts {
			runtime.ReadMemStats(&before)
			parts[i].run()
			runtime.ReadMemStats(&after)
			counts[i] += after.Mallocs - before.Mallocs
		}
	}
	return counts
}

// leastAllocs measures until nothing is counted, ten times at most, and gives the least
// of each part: the runtime's own allocations come now and then, more often on a busy
// machine, while those of the code that is measured come every time.
func leastAllocs(measure func() []uint64) []uint64 {
	least := measure()
	for range 9 {
		if slices.Max(least) == 0 {
			break
		}
		for i, n := range measure() {
			least[i] = min(least[i], n)
		}
	}
	return least
}

// What one viewer costs beside the socket.
func TestViewerIsSmall(t *testing.T) {
	g := newSession(t, "asteroids", 0)
	const instances, n = 20, 20 * MaxSpectators
	var all []*Instance
	for range instances {
		in, err := g.shard.Create("room", 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what has finalizers goes with the second
	runtime.ReadMemStats(&before)
	for i := range n {
		all[i%instances].Attach(0, ViewerOptions{Watch: true})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := (after.HeapAlloc - before.HeapAlloc) / n
	t.Logf("a viewer takes %d bytes, %d measured with its place in the instance; a seat takes %d", unsafe.Sizeof(Viewer{}), per, unsafe.Sizeof(seat{}))
	if per > 256 {
		t.Errorf("%d bytes a viewer", per)
	}
	runtime.KeepAlive(g)
	runtime.KeepAlive(all)
}

// What an instance takes beside its block.
func TestInstanceIsSmall(t *testing.T) {
	g := newSession(t, "asteroids", 0)
	const n = 100
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []*Instance
	for range n {
		in, err := g.shard.Create("room", 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			p, err := in.Join("pilot")
			if err != nil {
				t.Fatal(err)
			}
			in.Attach(p, ViewerOptions{})
		}
		all = append(all, in)
	}
	sink := new(counter)
	for range 300 {
		for _, in := range all {
			in.Step()
			if in.SendDue() {
				in.Commit()
				for _, v := range in.viewers {
					v.Send(sink)
				}
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("an instance with 4 players and %d objects takes %d bytes on the heap and a block of %d outside",
		len(all[0].history.objects)-1, (after.HeapAlloc-before.HeapAlloc)/n, g.shard.layout.Size)
	runtime.KeepAlive(all)
}
