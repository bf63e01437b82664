package tick

import (
	"slices"

	"gamehoster/wire"
)

// MaxSpectators is how many spectators an instance has at most. They cost what players
// cost and take no seat, so that without a bound strangers could slow a game down.
const MaxSpectators = 256

// ViewerOptions are what a connection asks for.
type ViewerOptions struct {
	Thin  bool                 // the client runs no bodies
	Watch bool                 // a spectator: the player is 0, it has no seat
	Token [wire.TokenSize]byte // told in the welcome
}

// Viewer is one connection's view of an instance.
type Viewer struct {
	in    *Instance // nil once detached
	seat  *seat     // nil for a spectator
	token [wire.TokenSize]byte

	player   uint32
	thin     bool
	welcomed bool
	removed  bool
	due      Cause // of a snapshot to be sent at the next send; causeNone if none is

	base      uint64 // send that deltas start from
	baseTick  uint32
	last      uint64 // the newest send that was sent
	sent      uint64 // bit k: send number last-k was sent, and no snapshot since
	snapSend  uint64 // that of the last snapshot
	relayed   uint64 // number of the next command to relay
	snapRelay uint64 // what that was at the last snapshot
	turn      uint32 // id of the object that got the last keyframe of the turn
	credit    int    // of the turn, in objects times sends of a turn
	mended    uint32 // tick of the last snapshot that a state hash caused
	mend      bool   // mended is valid

	resyncTick uint32 // of the last resync that was granted
	resynced   bool   // resyncTick is valid
	asked      bool   // another was asked for, and comes when a second has passed
	told       told
	owed       []owed     // by id
	view       *relevance // nil in games without view bodies
}

// Attach makes a viewer for a player that has a seat or, with Watch, for a
// spectator; the player is 0 then. It writes nothing: the first Send begins with
// the welcome and a snapshot, and a player that has not joined yet waits for its
// join. Attach to a player that has a viewer takes the seat over and detaches that
// one. It returns nil if the player has no seat, and for one spectator too many.
func (in *Instance) Attach(player uint32, o ViewerOptions) *Viewer {
	if in.block == nil {
		return nil
	}
	v := &Viewer{in: in, token: o.Token, thin: o.Thin, due: CauseFresh, relayed: in.relay.to}
	if o.Watch {
		if in.spectators == MaxSpectators {
			in.shard.stats.Crowded++
			return nil
		}
		in.spectators++
	} else {
		v.seat = in.seat(player)
		if v.seat == nil {
			return nil
		}
		if v.seat.viewer != nil {
			in.Detach(v.seat.viewer)
		}
		v.player = player
		v.seat.viewer = v
		if v.seat.resumed {
			v.due = CauseResumed
		}
	}
	if in.shard.rules.view {
		v.view = new(relevance)
	}
	if v.thin {
		in.thin++
	}
	in.viewers = append(in.viewers, v)
	return v
}

// Detach forgets a viewer whose connection is gone. Its player stays until Leave.
// What the viewer is asked to do after is ignored.
func (in *Instance) Detach(v *Viewer) {
	i := slices.Index(in.viewers, v)
	if i < 0 {
		return
	}
	in.viewers = slices.Delete(in.viewers, i, i+1)
	if v.thin {
		in.thin--
	}
	if v.seat != nil {
		v.seat.viewer = nil
	} else {
		in.spectators--
	}
	v.in, v.seat = nil, nil
}

// Player is the viewer's player id; 0 for a spectator.
func (v *Viewer) Player() uint32 { return v.player }

// Attached reports whether the viewer still sees its instance. One that does not
// was taken over by a resume, left, was removed by the game, or its instance was
// retired.
func (v *Viewer) Attached() bool { return v.in != nil }

// Removed reports whether the game removed the viewer's player: its connection is
// to be closed with wire.CloseRemoved.
func (v *Viewer) Removed() bool { return v.removed }

// Skip leaves a send tick out because the connection has not taken the bytes of
// older ones. What is missed comes with the next Send.
func (v *Viewer) Skip() {
	if v.in != nil {
		v.in.shard.stats.Skipped++
	}
}

// processed is the largest seq up to which all of the seat's commands have run or
// were refused.
func (v *Viewer) processed() uint32 {
	k := v.seat
	if k == nil {
		return 0
	}
	if k.filed == 0 {
		return k.received
	}
	return v.in.filing.least(k.player) - 1
}
