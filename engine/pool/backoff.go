package pool

import "time"

// Of a game whose workers die young, one after the other, the first is replaced at once.
const (
	backoffFirst = time.Second
	backoffMost  = 30 * time.Second
)

// backoff says when the next worker of a game may be started.
type backoff struct {
	deaths int   // young ones in a row
	until  int64 // no worker is started before
}

// died notes the death of a worker and tells for how long none is to be started.
func (b *backoff) died(started, now int64) time.Duration {
	if now-started >= youngUntil {
		*b = backoff{}
		return 0
	}
	b.deaths++
	if b.deaths == 1 {
		return 0
	}
	wait := backoffFirst
	for n := 2; n < b.deaths && wait < backoffMost; n++ {
		wait *= 2
	}
	wait = min(wait, backoffMost)
	b.until = now + int64(wait)
	return wait
}

// wait is how long no worker may be started.
func (b *backoff) wait(now int64) time.Duration { return time.Duration(max(0, b.until-now)) }

// lived notes that a worker has come of age.
func (b *backoff) lived() { *b = backoff{} }
