package engine

import (
	"errors"
	"net/netip"
	"time"

	"gamehoster/engine/box"
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

// Look has the box look at its games' files, as often as it takes to take a change in.
func (b *Box) Look() error {
	return errors.Join(b.catalog.Refresh(b.apply), b.catalog.Refresh(b.apply))
}

// Versions counts what is played at a place: the newest definition, of which there is one
// or none, and those that drain.
func (b *Box) Versions(place string) (newest, draining int) {
	l := b.versions.at(place)
	if l.newest != nil {
		newest = 1
	}
	return newest, len(l.draining)
}

// Seats counts what is taken and reserved at a place, in all versions.
func (b *Box) Seats(place string) (sum box.Load) {
	b.versions.each(func(v *version) {
		if v.Place.String() == place {
			l := v.Table.Load()
			sum.Instances += l.Instances
			sum.Seats += l.Seats
			sum.Pending += l.Pending
		}
	})
	return sum
}

// MostDraining is how many older definitions of one place are played at once.
const MostDraining = mostDraining
