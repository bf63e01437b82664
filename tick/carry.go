package tick

import (
	"errors"
	"fmt"
	"slices"

	"gamehoster/games/schema"
)

// Saved is a world between two ticks, apart from any machine: what its objects are and
// who sits in it. It can go on in a shard of other bodies, as long as they keep the same
// state. It does not change and is safe for concurrent use.
//
// What was sent and what may be run again stays behind: every viewer begins with a
// snapshot, and commands that have not run are lost with the connections they came from.
type Saved struct {
	def     *schema.Definition
	name    string
	state   []byte // packed, as in a timeline
	next    uint32 // player's id
	players []SavedPlayer
	leaves  []uint32 // filed and not run
}

// SavedPlayer is a player that had a seat.
type SavedPlayer struct {
	ID   uint32 // in the saved world
	Name string

	joined   bool
	joinTick uint32
	received uint32
}

// ErrLayout is that a saved world is not one of the shard's definition.
var ErrLayout = errors.New("the definition keeps another state")

// Save copies what is needed to go on elsewhere. It is not to be called of an instance
// that has been retired.
func (in *Instance) Save() *Saved {
	s := in.shard
	v := &Saved{def: s.def, name: in.name, next: in.nextPlayer, leaves: slices.Clone(in.filing.leaves), state: make([]byte, s.liveSize(in.block))}
	s.pack(v.state, in.block)
	for i := range in.seats {
		if k := &in.seats[i]; k.player != 0 {
			v.players = append(v.players, SavedPlayer{k.player, string(k.name), k.joined, k.joinTick, k.received})
		}
	}
	return v
}

// Name is the instance's.
func (v *Saved) Name() string { return v.name }

// Players are those that had a seat, of whom some may not have joined yet. The slice is
// the Saved's.
func (v *Saved) Players() []SavedPlayer { return v.players }

// Restore makes an instance that goes on where a saved one was: with its name, state,
// tick, random seeds and players, who keep their ids and have no viewer. start does not
// run. It fails with ErrLayout where the two definitions do not have the same state
// (schema.SameState), and with ErrFull where there is no block or there are too few seats.
func (s *Shard) Restore(v *Saved) (*Instance, error) {
	switch {
	case !schema.SameState(v.def, s.def):
		return nil, fmt.Errorf("restoring %s: %w", v.name, ErrLayout)
	case len(v.players) > s.rules.seats:
		return nil, fmt.Errorf("restoring %s, which has %d players: %w", v.name, len(v.players), ErrFull)
	}
	base, err := s.slots.Get()
	if err != nil {
		return nil, fmt.Errorf("restoring %s: %w: %w", v.name, ErrFull, err)
	}
	in := &Instance{
		shard: s, name: v.name, base: base, block: s.slots.Bytes(base), nextPlayer: v.next,
		until: s.rules.perSend, seats: make([]seat, s.rules.seats), taken: len(v.players),
	}
	s.unpack(in.block, v.state)
	in.tick = le.Uint32(in.block[schema.HeaderTick:])
	in.seed = le.Uint64(in.block[schema.HeaderSeed:])
	in.rows = in.count(schema.PlayerType)
	for i, p := range v.players {
		k := &in.seats[i]
		*k = seat{player: p.ID, name: []byte(p.Name), joined: p.joined, joinTick: p.joinTick, received: p.received, resumed: true}
		k.resetRates(s.def)
	}
	in.filing.leaves = slices.Clone(v.leaves)
	in.history.init(s)
	in.history.given = le.Uint32(in.block[schema.HeaderNextShared:])
	in.history.nextShare = in.history.given
	in.timeline.init(&s.rules)
	in.timeline.count(in.tick, in.counters(), false)
	s.instances++
	return in, nil
}
