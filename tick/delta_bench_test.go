package tick

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gamehoster/wire"
)

// What a send tick costs for each entity that a viewer holds: to find out what has
// changed and to write the delta of one viewer with all 60, once nothing changed and
// once everything. Commit is there for all viewers of an instance, and so is the
// encoding where their acks are alike: with four viewers each costs a part of it.
func BenchmarkDelta(b *testing.B) {
	const objects = 60
	for _, viewers := range []int{1, 4} {
		for _, moving := range []int{0, objects} {
			b.Run(fmt.Sprintf("%d viewers, %d of %d changed", viewers, moving, objects), func(b *testing.B) {
				in, views := movers(b, objects, viewers, 0, false)
				in.shard.rules.turn = 0 // keyframes are not what is measured
				sinks := make([]counter, viewers)
				var commit, send []time.Duration
				acks := make([][]byte, viewers)
				l := &in.shard.layout.Types[rock]
				round := func() {
					// A tick, without the cost of bodies that are Go functions.
					in.tick++
					for i := range moving {
						row := in.row(rock, i)
						le.PutUint32(row[l.Offsets[0]:], in.tick*7+uint32(i)<<8)
						le.PutUint32(row[l.Offsets[1]:], in.tick*5+uint32(i)<<9)
					}
					t0 := time.Now()
					in.Commit()
					t1 := time.Now()
					for i, v := range views {
						v.Send(&sinks[i])
					}
					t2 := time.Now()
					commit, send = append(commit, t1.Sub(t0)), append(send, t2.Sub(t1))
					for i, v := range views {
						acks[i] = wire.Ack{Tick: sinks[i].tick}.Append(acks[i][:0])
						_ = v.Receive(acks[i], 0, &sinks[i])
					}
				}
				in.Step() // players join
				for range 500 {
					round()
				}
				commit, send = commit[:0], send[:0]
				for b.Loop() {
					round()
				}
				c, d := median(commit)/objects, median(send)/objects/float64(viewers)
				b.ReportMetric(c, "commit-ns/entity")
				b.ReportMetric(d, "send-ns/entity")
				b.ReportMetric(c/float64(viewers)+d, "ns/viewed-entity")
			})
		}
	}
}

// median is the median in nanoseconds, which other work of the machine hardly moves.
func median(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2])
}
