package tick

import (
	"math/rand/v2"
	"testing"

	"gamehoster/wire"
)

// Where a command is filed, by the tick that its player says it acted on: the instance
// is at tick 40 after lateRoom, its timeline 8 deep, both players joined long ago.
func TestEffectiveTick(t *testing.T) {
	for _, c := range []struct {
		name    string
		number  uint32
		ticks   []int32 // that the commands say, after the tick that ran last
		filed   []int32 // that they are filed on, likewise
		payload []byte
	}{
		{"in time", move, []int32{1}, []int32{1}, []byte{1, 0}},
		{"ahead is held", move, []int32{5, 8}, []int32{5, 8}, []byte{1, 0}},
		{"too far ahead comes as late as may be", move, []int32{9, 1000, 1 << 30}, []int32{8, 8, 8}, []byte{1, 0}},
		{"late goes back", move, []int32{0, 0}, []int32{0, 0}, []byte{1, 0}},
		{"as far back as there is a past", move, []int32{-7}, []int32{-7}, []byte{1, 0}},
		{"older comes on the oldest", move, []int32{-8, -100, -1 << 30}, []int32{-7, -7, -7}, []byte{1, 0}},
		{"never before the one before", move, []int32{3, 1, -5, 4}, []int32{3, 3, 3, 4}, []byte{1, 0}},
		{"nor if that was late", move, []int32{-3, -6, -2}, []int32{-3, -3, -2}, []byte{1, 0}},
		{"the server's alone never goes back", cheat, []int32{-5, 6, 1}, []int32{1, 1, 1}, []byte{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, a, _ := lateRoom(t, Options{}, nil)
			for i, tick := range c.ticks {
				receive(t, a, command(in.tick+uint32(tick), uint32(i+1), c.number, c.payload...))
				found := false
				for k := range in.filing.list {
					if o := &in.filing.list[k]; o.player == a.player && o.seq == uint32(i+1) {
						found = true
						if got := int32(o.tick - in.tick); got != c.filed[i] {
							t.Errorf("command %d of tick %+d is filed on %+d, not on %+d", i+1, tick, got, c.filed[i])
						}
					}
				}
				if !found {
					t.Errorf("command %d is not filed", i+1)
				}
			}
			before := in.tick
			for range 10 {
				in.Step()
			}
			// Each has run on its tick and no other.
			for i := range c.filed {
				for n := in.relay.from; n < in.relay.to; n++ {
					o, _ := in.relay.at(n, in.shard.layout.CommandStride)
					if o.seq == uint32(i+1) && int32(o.tick-before) != c.filed[i] {
						t.Errorf("command %d ran on %+d, not on %+d", i+1, int32(o.tick-before), c.filed[i])
					}
				}
			}
			if a.processed() != uint32(len(c.ticks)) {
				t.Errorf("%d of %d have run", a.processed(), len(c.ticks))
			}
		})
	}
}

// Whatever ticks a player says, in whatever order: those that its commands run on never
// go backwards, and none is further back or ahead than may be. Across the wrap, too.
func TestTicksOfAPlayerNeverGoBackwards(t *testing.T) {
	for _, start := range []uint32{0, 1<<32 - 60} {
		in, a, b := lateRoom(t, Options{StartTick: start}, nil)
		rng := rand.New(rand.NewPCG(1, uint64(start)))
		last := map[*Viewer]uint32{a: in.tick - 8, b: in.tick - 8}
		seq := map[*Viewer]uint32{}
		for range 2000 {
			for _, v := range []*Viewer{a, b} {
				if rng.IntN(3) > 0 {
					continue
				}
				seq[v]++
				tick := in.tick + uint32(rng.IntN(30)) - 15
				if rng.IntN(10) == 0 {
					tick = rng.Uint32()
				}
				receive(t, v, command(tick, seq[v], move, 1, 0))
				filed := v.seat.last
				if wire.TickAfter(last[v], filed) {
					t.Fatalf("player %d: tick %d after %d", v.player, filed, last[v])
				}
				if d := wire.TickDistance(filed, in.tick); d < -7 || d > 8 {
					t.Fatalf("player %d: filed %d ticks from now", v.player, d)
				}
				last[v] = filed
			}
			in.Step()
			if in.SendDue() {
				in.Commit()
			}
		}
		if x := in.shard.Stats(); x.Rewinds < 200 || x.Refused[RefusedFull] > 0 {
			t.Errorf("%d rewinds, %v refused", x.Rewinds, x.Refused)
		}
	}
}

// A player that has been there for more than half of all ticks is late like any other.
func TestTheJoinIsLongAgo(t *testing.T) {
	for _, ago := range []uint32{100, 1<<31 - 2, 1<<31 + 100, 1<<32 - 40} {
		in, a, _ := lateRoom(t, Options{}, nil)
		a.seat.joinTick = in.tick - ago
		receive(t, a, command(in.tick-2, 1, move, 1, 0))
		if got := wire.TickDistance(a.seat.last, in.tick); got != -2 {
			t.Errorf("joined %d ticks ago: filed on %+d, not on -2", ago, got)
		}
	}
}

// So is the last snapshot: what is relayed is after it all the same.
func TestTheSnapshotIsLongAgo(t *testing.T) {
	for _, ago := range []uint64{20, 1 << 30, 1<<30 + 50, 1 << 31} {
		in, a, b := lateRoom(t, Options{}, nil)
		a.snapSend = in.sends - ago // of two ticks each
		receive(t, b, command(in.tick-2, 1, move, 1, 0))
		for range 2 {
			sendAll(in)
		}
		if x := in.shard.Stats(); x.Rewinds != 1 || x.Snapshots[CauseLate] != 0 || x.Relayed != 2 {
			t.Errorf("%d sends ago: %d rewinds, relayed %d times, snapshots %v", ago, x.Rewinds, x.Relayed, x.Snapshots)
		}
	}
}
