package engine

import (
	"log/slog"
	"sync"
	"time"
)

// refusalLines is how many refused sockets are told of one by one in a second.
const refusalLines = 20

// ration is a log's share of what strangers can cause at will: so many lines a second,
// and one that counts the rest. A flood is to be a few lines in the log and not a flood
// there, and who looks for one refusal of a page that does not work finds it. Its methods
// may be called from any goroutine.
type ration struct {
	mu    sync.Mutex
	until int64 // when the second ends, monotonic
	left  int   // of its lines
	held  int64 // back, and not yet told of
	due   int64 // when that may be told, monotonic
}

// take reports whether there is a line left in the second that now is in.
func (r *ration) take(now int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now >= r.until {
		r.until, r.left = now+int64(time.Second), refusalLines
	}
	if r.left == 0 {
		if r.held == 0 {
			r.due = r.until
		}
		r.held++
		return false
	}
	r.left--
	return true
}

// settle tells log, once a second, of what was held back. It has to be called now and
// then.
func (r *ration) settle(now int64, log *slog.Logger) {
	r.mu.Lock()
	held := r.held
	if now < r.due {
		held = 0
	}
	r.held -= held
	r.mu.Unlock()
	if held > 0 {
		log.Warn("sockets refused, too many to tell of each", "times", held)
	}
}
