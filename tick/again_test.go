package tick

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/wire"
)

// Who joins while some player's commands are always late gets its snapshot again while
// they are of before it, and never after. All the time it holds what the server does.
func TestSnapshotsUnderConstantLateness(t *testing.T) {
	const late = 4
	for _, c := range []struct {
		rate  int // of sends, of 30 ticks
		mood  mood
		start uint32
	}{{30, pure, 0}, {15, calm, 1<<32 - 300}, {10, pure, 1<<32 - 300}, {15, wild, 0}} {
		t.Run(fmt.Sprintf("%d of 30 Hz, mood %d, from tick %d", c.rate, c.mood, c.start), func(t *testing.T) {
			per := 30 / c.rate
			m := newModel(t, 7, testDef(30, c.rate, 8), c.mood, Options{StartTick: c.start})
			m.still = true
			add := m.enter
			m.hashes = c.mood == wild
			laggard := add()
			for range 50 {
				m.step()
			}
			var joiners []*end
			for n := range 1000 {
				if n < 500 && n%100 == 50 {
					joiners = append(joiners, add())
				}
				laggard.do(m.in.tick+1-late, []uint32{move, fire, smash}[n%3])
				for i, e := range joiners {
					if e.c.Ready && n%7 == i {
						e.do(m.in.tick+1, fire)
					}
				}
				m.step()
			}
			m.quiet, m.mood = true, calm
			for n := 0; n < 60*(1+2*mendSeconds) || !m.in.SendDue(); n++ {
				m.step()
			}
			x := m.shard.Stats()
			t.Logf("%d rewinds, %d joins, snapshots %v, resyncs %d", x.Rewinds, len(joiners), x.Snapshots, x.Resyncs)
			most := uint64(1 + (late+per-1)/per)
			// Where server bodies act whenever they like, clients come apart anyway.
			wilds := c.mood == wild
			if wilds && x.Snapshots[CauseLate] > most*(x.Snapshots[CauseFresh]+x.Snapshots[CauseResync]+x.Snapshots[CauseHash]) {
				t.Errorf("more snapshots than the others account for: %v", x.Snapshots)
			}
			if x.Rewinds < 300 {
				t.Error("too few rewinds to prove anything")
			}
			for _, e := range joiners {
				if n := uint64(e.c.Snapshots); !wilds && (n > most || n == 1) {
					t.Errorf("player %d got %d snapshots, not up to %d", e.player, n, most)
				}
				if err := e.c.Compare(m.shard.layout, m.in.block, nil, nil); err != nil {
					t.Errorf("player %d in the end: %v", e.player, err)
				}
			}
			if !wilds && (x.Snapshots[CauseFresh]+x.Snapshots[CauseLate] > 1+most*uint64(len(joiners)) || x.Snapshots[CauseMissed]+x.Snapshots[CauseResync]+x.Snapshots[CauseHash] > 0) {
				t.Errorf("snapshots by cause: %v", x.Snapshots)
			}
		})
	}
}

// enter lets a player join, on a line that is good.
func (m *model) enter() *end {
	p, err := m.in.Join("p")
	if err != nil {
		m.t.Fatal(err)
	}
	return m.add(p, ViewerOptions{})
}

// add attaches a client that acks at once and is checked at each send.
func (m *model) add(player uint32, o ViewerOptions) *end {
	c, err := m.module.NewClient(o.Thin)
	if err != nil {
		m.t.Fatal(err)
	}
	e := &end{m: m, c: c, player: player, waiting: map[uint32]bool{}}
	e.v = m.in.Attach(player, o)
	m.ends = append(m.ends, e)
	return e
}

// do sends a command of a tick.
func (e *end) do(tick, number uint32) {
	e.seq++
	msg := wire.CommandHeader{Tick: tick, Seq: e.seq, Number: number}.Append(nil)
	switch number {
	case move:
		msg = append(msg, 3, 0)
	case smash:
		msg = append(msg, byte(e.seq%5))
	}
	e.m.receive(e, msg)
}

// step runs a tick in which nothing happens but what the test did.
func (m *model) step() {
	quiet := m.quiet
	m.quiet = true
	m.tick()
	m.quiet = quiet
}

// The snapshot that comes again has sent fields as they were sent: what deltas of before
// start from is in it, whatever the rewind has made of it.
func TestSnapshotAgainKeepsWhatWasSent(t *testing.T) {
	for _, seed := range seeds(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			per := 1 + rng.IntN(3)
			m := newModel(t, seed, testDef(30, 30/per, 8), pure, Options{})
			m.still, m.late = true, 8
			for range 4 {
				m.enter().lag = rng.IntN(6)
			}
			for n := range 300 {
				if n%40 == 20 && len(m.ends) < 8 {
					m.enter().lag = rng.IntN(6)
				}
				m.tick()
			}
			m.run(10)
			if x := m.shard.Stats(); x.Snapshots[CauseLate] == 0 {
				t.Errorf("no snapshot came again: %v", x.Snapshots)
			}
		})
	}
}

// A rewind that brings an object of the server's back makes it enter, though the clients'
// bodies have brought it back, too. Where a later one takes it away again, in ticks of
// before that enter, it stays away: it would be in the way of what those ticks do next.
func TestEntersOfWhatBodiesBroughtBack(t *testing.T) {
	for _, seed := range seeds(80) {
		rng := rand.New(rand.NewPCG(seed, 3))
		m := newModel(t, seed, testDef(30, 30, 8), calm, Options{})
		m.still, m.late = true, 32
		for range 4 {
			m.enter().lag = rng.IntN(6)
		}
		for range 60 {
			m.tick()
		}
	}
}

// A timeline that reaches back further than deltas do changes nothing of what those start
// from: who has its snapshot for long is told of all that changes.
func TestTimelinesLongerThanTheHistory(t *testing.T) {
	for _, seed := range seeds(6) {
		rng := rand.New(rand.NewPCG(seed, 3))
		d := testDef(30, 30, 6)
		d.TimelineDepth = 256
		m := newModel(t, seed, d, calm, Options{})
		m.still = true
		for range 4 {
			m.enter().lag = 2 + rng.IntN(4)
		}
		for range 4 * historySends {
			m.tick()
		}
	}
}
