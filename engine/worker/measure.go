package worker

import (
	"gamehoster/engine/metrics"
	"gamehoster/tick"
)

// Measure asks a loop what its games have counted since it was last asked, and what they
// are now. Reply is called on the loop and gets what it is given for good; what the loop's
// sockets have counted is in loop.Stats.
type Measure struct {
	Reply func([]metrics.Game)
}

// meter counts for one shard. What the shard's machine has counted is gone with it, and so
// is what it has told of that.
type meter struct {
	took, late, sent metrics.Histogram
	dropped          uint64     // of the schedule's, those told
	told             tick.Stats // of the machine's
	rested           tick.Stats // of machines that are gone, not told yet
}

// mostTimed is how many ticks of a slot's turn are timed: reading the clock twice takes a
// good part of the time of a small tick. Where there are more, some stand for those that
// come after them; as another one is the first in every turn, all have theirs.
const mostTimed = 16

// sample says which of n ticks are timed.
type sample struct{ at, n, stride int }

func sampleOf(n int) sample { return sample{n: n, stride: max(1, (n+mostTimed-1)/mostTimed)} }

// next is for how many ticks the next one stands; 0 if another one stands for it.
func (s *sample) next() (times int) {
	if s.at%s.stride == 0 {
		times = min(s.stride, s.n-s.at)
	}
	s.at++
	return times
}

// rest takes what a machine that is about to go has counted.
func (m *meter) rest(stats *tick.Stats) {
	m.rested.Add(stats)
	m.rested.Since(&m.told)
	m.told = tick.Stats{}
}

// measure is what a shard has counted since the last time, and what it runs.
func (sh *shard) measure() metrics.Game {
	m := &sh.meter
	g := metrics.Game{
		Name: sh.game.Name, Instances: int64(len(sh.instances)),
		Took: m.took, Late: m.late, Sent: m.sent, Dropped: sh.schedule.dropped - m.dropped, Stats: m.rested,
	}
	for _, in := range sh.instances {
		g.Players += int64(len(in.seats))
		g.Sockets += int64(len(in.sockets))
	}
	told := tick.Stats{}
	if sh.sim != nil {
		told = *sh.sim.Stats()
		g.Stats.Add(&told)
		g.Stats.Since(&m.told)
	}
	*m = meter{dropped: sh.schedule.dropped, told: told}
	return g
}

// measure is what the host's games have counted. Two definitions of one game are one game.
func (h *Host) measure() []metrics.Game {
	all := h.dropped
	h.dropped = nil
	for _, sh := range h.games {
		all = join(all, sh.measure())
	}
	return all
}

// join puts a game to the others.
func join(all []metrics.Game, g metrics.Game) []metrics.Game {
	for i := range all {
		if all[i].Name == g.Name {
			all[i].Join(&g)
			return all
		}
	}
	return append(all, g)
}

// forget keeps what a game that is about to be dropped has counted until it is told.
func (h *Host) forget(sh *shard) {
	g := sh.measure()
	g.Instances, g.Players, g.Sockets = 0, 0, 0
	h.dropped = join(h.dropped, g)
}
