package worker

import (
	"gamehoster/tick"
	"gamehoster/wire"
)

// How a socket comes to its place:
//
//	sit --token of a seat--> takeOver --> attached
//	 |        \--it is gone--> reseat --(the boss)--> reseated --> settle
//	 \--> settle --> attached
//	         \--the game closed it meanwhile--> reseat, a few times
//
// While the boss looks for another place, which may be in another process, the socket
// waits: what it sends is kept, and it may end. A place that is found for a socket which
// is gone by then is given back.

// sitTries is how many instances are tried for one client. One that was open when
// the place in it was reserved may have been closed by the game meanwhile.
const sitTries = 3

// sit gives a socket that has a reservation its seat, or ends it.
func (sh *shard) sit(s *socket, now int64) {
	r := &s.reservation
	if r.Resume.IsZero() {
		sh.settle(s, sitTries, now)
		return
	}
	if in := sh.instances[r.Instance]; in != nil && !in.broken {
		if k := in.resume(r.Resume); k != nil {
			sh.takeOver(s, in, k, now)
			return
		}
	}
	// The seat is gone, so the client is seated like any other.
	sh.reseat(s, sitTries)
}

// settle seats a socket in the instance of its reservation, which is made for the first
// one. Where the game takes nobody there, tries-1 others are tried.
func (sh *shard) settle(s *socket, tries int, now int64) {
	r := &s.reservation
	host := sh.host
	in, err := sh.at(r, now)
	if err != nil {
		host.opts.Log.Error("creating an instance failed", "game", sh.game.Name, "error", err)
		sh.game.Boss.Retire(r.Instance, true)
		host.end(s, wire.CloseBoxFull, "the instance could not be started")
		return
	}
	if in.seat(s) {
		if at, ok := sh.schedule.next(); ok {
			host.loop.Wake(at)
		}
		return
	}
	if r.Watch && !in.broken && in.sim.Spectators() == tick.MaxSpectators {
		host.end(s, wire.CloseNoInstance, "the instance takes no more spectators")
		return
	}
	in.tellOpen()
	if !r.Watch {
		sh.game.Boss.Release(in.id)
	}
	if tries == 1 {
		host.end(s, wire.CloseDraining, "every instance closed as the client came")
		return
	}
	sh.reseat(s, tries-1)
}

// reseat has the boss find another place on this shard.
func (sh *shard) reseat(s *socket, tries int) {
	s.waiting = true
	sh.waiting[s] = struct{}{}
	sh.game.Boss.Reseat(sh.host.opts.Number, s.reservation, func(r Reservation, ok bool) { sh.reseated(s, r, ok, tries) })
}

// reseated goes on with a socket for which another place was found, or was not.
func (sh *shard) reseated(s *socket, r Reservation, ok bool, tries int) {
	delete(sh.waiting, s)
	s.waiting = false
	held := s.held
	s.held = nil
	switch {
	case s.ended && ok:
		sh.giveBack(r)
		return
	case s.ended:
		return
	case !ok:
		code, reason := sh.full(&s.reservation)
		sh.host.end(s, code, reason)
		return
	}
	s.reservation = r
	sh.settle(s, tries, sh.host.opts.Now())
	if s.waiting {
		s.held = held
	} else if len(held) > 0 {
		sh.host.OnData(s.handle, held)
	}
}

// giveBack returns a place that nobody came for. Its instance may have been meant for
// this client alone: then it is here only in name, and the boss is to forget it.
func (sh *shard) giveBack(r Reservation) {
	if !r.Watch {
		sh.game.Boss.Release(r.Instance)
	}
	if sh.instances[r.Instance] == nil {
		sh.game.Boss.Retire(r.Instance, false)
	}
}

// full is what a client is told for which there is no place.
func (sh *shard) full(r *Reservation) (code uint16, reason string) {
	switch {
	case r.Named:
		return wire.CloseNoInstance, "the instance gives no seat any more"
	case sh.draining:
		return wire.CloseOutdated, "the game was reloaded, and the seat is gone"
	}
	return wire.CloseBoxFull, "no instance has a seat"
}

// takeOver gives a kept or taken seat to the socket that has its token.
func (sh *shard) takeOver(s *socket, in *instance, k *seat, now int64) {
	if in.over() {
		sh.host.end(s, wire.CloseEnded, "the game is over")
		return
	}
	if old := k.socket; old != nil {
		in.detach(old)
		sh.host.end(old, wire.CloseTakenOver, "another connection took the seat over")
	}
	if !in.attach(s, k) { // the game removed the player while its socket was gone
		k.socket, k.until = nil, now
		in.giveUp(now, now)
		sh.host.end(s, wire.CloseRemoved, "removed by the game")
	}
}
