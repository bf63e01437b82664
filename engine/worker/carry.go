package worker

import (
	"errors"
	"time"

	"gamehoster/tick"
)

// CarryGame ends a game on a loop as DropGame does, and lets a newer version of it, which
// the loop knows already, go on with its instances and seats: under the same names, ids
// and tokens, so that players who come back sit where they sat. The worlds go on where
// they were if the two definitions keep the same state, and begin anew if not, or if
// Fresh is set; players then join anew, in the order of their ids.
type CarryGame struct {
	From, To uint64 // numbers of games
	Code     uint16 // closes the sockets
	Reason   string
	Fresh    bool
	// Adopt tells the newer version's boss, on the loop and before any player can come
	// back, of an instance that has so many seats taken. Where it returns false the
	// instance ends.
	Adopt func(shard uint32, id InstanceID, name string, seats int, open bool) bool
	Done  func()
}

// carryGrace is how long a carried seat is kept at least: a page takes some seconds to
// come back, whatever the game says of connections that break.
const carryGrace = 30 * time.Second

// kept is an instance on its way to a newer version.
type kept struct {
	id      InstanceID
	world   *tick.Saved
	players []keptSeat
}

type keptSeat struct {
	player tick.SavedPlayer
	token  Token
}

// carry takes the instances of one game over to another.
func (h *Host) carry(m *CarryGame) {
	old, sh := h.games[m.From], h.games[m.To]
	if old == nil || sh == nil {
		h.drop(&DropGame{Number: m.From, Code: m.Code, Reason: m.Reason, Done: m.Done})
		return
	}
	var all []kept
	for _, in := range old.instances {
		if k := in.keep(); k.world != nil {
			all = append(all, k)
		}
	}
	now := h.opts.Now()
	for _, k := range all {
		if err := sh.adopt(k, m, now); err != nil {
			h.opts.Log.Error("an instance was not carried over to the newer version", "game", sh.game.Name, "instance", k.world.Name(), "error", err)
		}
	}
	// Only now: a page that is told to reload may be back before anything else happens.
	h.drop(&DropGame{Number: m.From, Code: m.Code, Reason: m.Reason, Done: m.Done})
	if at, ok := sh.schedule.next(); ok {
		h.loop.Wake(at)
	}
	h.loop.Wake(now + sweepPeriod)
}

// keep is what of an instance can go on elsewhere: nothing if it is over, or if nobody is
// there for whom it would.
func (in *instance) keep() (k kept) {
	defer in.contain("saving it")
	if in.over() || len(in.seats) == 0 && len(in.sockets) == 0 {
		return kept{}
	}
	world := in.sim.Save()
	for _, p := range world.Players() {
		for _, s := range in.seats {
			if s.player == p.ID {
				k.players = append(k.players, keptSeat{p, s.token})
			}
		}
	}
	k.id, k.world = in.id, world
	return k
}

// errNotAdopted is that the boss has no place for an instance.
var errNotAdopted = errors.New("there is no room for it")

// adopt goes on with an instance of an older version.
func (sh *shard) adopt(k kept, m *CarryGame, now int64) (err error) {
	defer contained(&err)
	if err := sh.start(); err != nil {
		return err
	}
	var sim *tick.Instance
	err = tick.ErrLayout
	if !m.Fresh {
		sim, err = sh.sim.Restore(k.world)
	}
	fresh := err != nil
	if fresh { // another state, or fewer seats
		if sim, err = sh.sim.Create(k.world.Name(), secret(), secret()); err != nil {
			return err
		}
	}
	in := &instance{shard: sh, id: k.id, name: k.world.Name(), sim: sim, open: true}
	for _, p := range k.players {
		id := p.player.ID
		if fresh {
			if id, err = sim.Join(p.player.Name); err != nil {
				continue // it has fewer seats now: who has none is seated elsewhere
			}
		}
		in.seats = append(in.seats, &seat{player: id, token: p.token, until: now + max(int64(sh.game.Def.ResumeSeconds*1e9), int64(carryGrace))})
	}
	if !m.Adopt(sh.host.opts.Number, in.id, in.name, len(in.seats), true) {
		sim.Retire()
		return errNotAdopted
	}
	in.hashes.init(sh.host.opts.Hashes)
	in.slot = sh.schedule.add(in, now)
	sh.instances[in.id] = in
	in.tellOpen()
	in.checkEmpty(now)
	return nil
}
