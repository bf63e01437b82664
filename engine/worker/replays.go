package worker

// Commands that come late make ticks of their instances run again. How many may in one
// turn of a loop is bounded, and what is over it waits for another turn, so that it is
// late and not lost. A turn of a loop that keeps up may replay replayTicks: some
// milliseconds' worth. But ticks cost more in one game than in another, and a loop that
// is behind already sinks further with each that it runs again, for the sake of players
// whose lines are bad. So the bound follows the schedule: it halves with each turn that
// comes late and recovers step by step with those that come in time. It never goes to
// nothing: whoever is late is to see that the game goes on.
const (
	replayTicks  = 512
	leastReplays = 8
	replayStep   = replayTicks / 16 // regained in a turn
)

// replays is the bound of one shard.
type replays struct {
	short int    // what the next turn's is short of replayTicks
	turns uint64 // those with less than replayTicks
}

// allow is the number of ticks that may run again in a turn that is late by so many
// nanoseconds, of a schedule of so many ticks a second. Late is by half a tick and more:
// less comes of slots that share a wake-up.
func (r *replays) allow(late, rate int64) int {
	if late*rate >= 1e9/2 {
		r.short = replayTicks - max((replayTicks-r.short)/2, leastReplays)
	} else {
		r.short = max(r.short-replayStep, 0)
	}
	if r.short > 0 {
		r.turns++
	}
	return replayTicks - r.short
}
