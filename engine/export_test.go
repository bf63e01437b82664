package engine

import (
	"time"

	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// Hold keeps the thread of a box's first loop busy for a while.
func (b *Box) Hold(d time.Duration) {
	b.loops[0].Post(&worker.Inspect{Reply: func([]worker.InstanceInfo) {
		for end := loop.Now() + int64(d); loop.Now() < end; {
		}
	}})
}
