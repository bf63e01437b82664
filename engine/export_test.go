package engine

import (
	"net/netip"
	"time"

	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
	"gamehoster/wire/ws"
)

// Hold keeps the thread of a box's first loop busy for a while.
func (b *Box) Hold(d time.Duration) {
	b.crew.(*inline).loops[0].Post(&worker.Inspect{Reply: func([]worker.InstanceInfo) {
		for end := loop.Now() + int64(d); loop.Now() < end; {
		}
	}})
}

// crowdedLoop takes what it gets and says that it is too far behind.
type crowdedLoop struct{ loop.Loop }

func (crowdedLoop) Crowded() bool { return true }

// RouteCrowded routes a request while the first loop says that it is too far behind.
func (b *Box) RouteCrowded(req *ws.Request, client netip.AddrPort) door.Decision {
	loops := b.crew.(*inline).loops
	real := loops[0]
	loops[0] = crowdedLoop{real}
	defer func() { loops[0] = real }()
	return b.Route(req, client)
}
