package worker

import (
	"gamehoster/engine/loop"
	"gamehoster/tick"
)

// The messages that a Host takes from other goroutines, by loop.Post.

// AddGame makes a game known to a loop. Its shard starts with the first player.
type AddGame struct{ Game *Game }

// DropGame ends a game on a loop: its sockets close with Code. Done is called on the
// loop when that is under way.
type DropGame struct {
	Number uint64
	Code   uint16
	Reason string
	Done   func()
}

// DrainGame tells a loop that a newer definition of a game takes the new players: whoever
// finds no place in this one is outdated.
type DrainGame struct{ Number uint64 }

// EndSockets closes the sockets of a game. Its instances go on and keep the seats of
// their players for a while.
type EndSockets struct {
	Number uint64
	Code   uint16
	Reason string
}

// Inspect asks a loop what it is running. Reply is called on the loop, after Faults if
// that is there.
type Inspect struct {
	Reply  func([]InstanceInfo)
	Faults func([]FaultInfo)
}

// FaultInfo tells of one way in which a body fails.
type FaultInfo struct {
	Game     uint64 // its number
	Instance string // the last that was logged, and
	Error    string // what was: place, body, reason, actor, tick
	Times    uint64 // since the game was loaded
}

// InstanceInfo describes one running instance.
type InstanceInfo struct {
	Game    uint64 // its number
	Name    string
	Tick    uint32
	Players int // seats taken, kept ones included
	Sockets int
	Missed  uint64      // ticks that its shard has dropped because its loop was held up
	Short   uint64      // turns in which its shard might replay less for late commands because of that
	Hashes  []StateHash // newest last; none unless the Host keeps them
}

// StateHash is the hash of the state after a tick, as clients report it.
type StateHash struct {
	Tick uint32
	Hash uint64
}

// OnPost takes a message.
func (h *Host) OnPost(m loop.Message) {
	switch m := m.(type) {
	case *probe:
		h.hop(m.hops - 1)
	case *AddGame:
		h.games[m.Game.Number] = newShard(h, m.Game)
	case *DropGame:
		h.drop(m)
	case *CarryGame:
		h.carry(m)
	case *DrainGame:
		if sh := h.games[m.Number]; sh != nil {
			sh.draining = true
		}
	case *EndSockets:
		if sh := h.games[m.Number]; sh != nil {
			for s := range sh.waiting {
				h.end(s, m.Code, m.Reason)
			}
			for _, in := range sh.instances {
				for _, s := range in.sockets {
					h.end(s, m.Code, m.Reason)
				}
			}
			h.loop.Flush()
		}
	case *Measure:
		m.Reply(h.measure())
	case *Inspect:
		var all []InstanceInfo
		for number, sh := range h.games {
			for _, in := range sh.instances {
				all = append(all, InstanceInfo{
					Game: number, Name: in.sim.Name(), Tick: in.sim.Tick(),
					Players: in.sim.Players(), Sockets: len(in.sockets), Missed: sh.schedule.missed, Short: sh.replays.turns, Hashes: in.hashes.list(),
				})
			}
		}
		if m.Faults != nil {
			var faults []FaultInfo
			for _, sh := range h.games {
				for _, c := range sh.faults {
					f := c.last
					f.Times = c.total
					faults = append(faults, f)
				}
			}
			m.Faults(faults)
		}
		m.Reply(all)
	}
}

// drop ends a game.
func (h *Host) drop(m *DropGame) {
	if sh := h.games[m.Number]; sh != nil {
		h.forget(sh)
		if err := sh.close(m.Code, m.Reason); err != nil {
			h.opts.Log.Error("closing a shard failed", "error", err)
		}
		delete(h.games, m.Number)
		h.loop.Flush()
	}
	if m.Done != nil {
		m.Done()
	}
}

// hashRing keeps the state hashes of the newest send ticks.
type hashRing struct {
	ring []StateHash
	next int
	full bool
}

func (r *hashRing) init(n int) { r.ring = make([]StateHash, n) }

func (r *hashRing) note(sim *tick.Instance) {
	if len(r.ring) == 0 {
		return
	}
	r.ring[r.next] = StateHash{sim.Tick(), sim.StateHash()}
	if r.next++; r.next == len(r.ring) {
		r.next, r.full = 0, true
	}
}

func (r *hashRing) list() []StateHash {
	if !r.full {
		return append([]StateHash(nil), r.ring[:r.next]...)
	}
	return append(append([]StateHash(nil), r.ring[r.next:]...), r.ring[:r.next]...)
}
