package engine

import (
	"errors"
	"slices"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/loop"
	"gamehoster/wire"
)

// director is the part of a crew that has games come and go.
type director interface {
	// Start makes a game known, before players are sent to it. It adds the shards to the
	// game's table that are there from the start, of which there may be none.
	Start(g *box.Live) error
	// Raise adds a shard to the game's table, on the core cpu if it is to be chosen and that
	// is not -1. It is called by one goroutine at a time for each game. The error is
	// box.ErrBoxFull where there can be no more.
	Raise(g *box.Live, cpu int) error
	// Drain tells that a newer definition has taken over: whoever finds no place in this one
	// is outdated.
	Drain(g *box.Live)
	// EndSockets closes a game's sockets. Its instances go on and keep the seats of their
	// players for a while.
	EndSockets(g *box.Live, code uint16, reason string)
	// Drop ends what still runs of a game, whose sockets close with code. done is called,
	// once, when nothing uses the game any more.
	Drop(g *box.Live, code uint16, reason string, done func())
}

// apply brings what is played to what the catalog has found.
//
// A box that serves rolls: the new definition is there before the old one stops taking new
// players, and players of the old one play on. A development box reloads: its author wants
// to see what was saved, now.
func (b *Box) apply(c box.Change) {
	if c.New != nil || c.Old != nil {
		b.replace(c.Place.String(), c.New)
	}
	if c.Page != nil && b.cfg.Dev {
		// Pages know one reason to load anew. They find their seats where they left them.
		b.crew.EndSockets(c.Page, wire.CloseOutdated, "the page was saved")
	}
	b.logChange(c)
	if b.cfg.OnChange != nil {
		b.cfg.OnChange(c)
	}
}

// replace makes a definition the newest at a place, or none if live is nil.
func (b *Box) replace(place string, live *box.Live) {
	if live != nil {
		if name := b.cfg.FileName; name != nil {
			live.File = func(file string) string { return name(live.Place.Dir, file) }
		}
		if err := b.crew.Start(live); err != nil {
			b.log.Error("starting a game failed; its players are told that the box is full", "game", live.Name, "error", err)
		}
	}
	b.versions.changing.Lock()
	defer b.versions.changing.Unlock()
	old := b.versions.replace(place, live)
	if old == nil {
		return
	}
	old.code, old.reason = wire.CloseOutdated, "the game was reloaded"
	if live == nil {
		old.code, old.reason = wire.CloseEnded, "the game was removed"
	}
	if b.cfg.Dev {
		b.reload(old, live)
		return
	}
	old.until = loop.Now() + int64(b.cfg.RollTimeout)
	old.Table.Drain()
	b.crew.Drain(old.Live)
	load := old.Table.Load()
	b.log.Info("an older definition drains", "game", old.Name, "definition", hexHash(old.Hash), "instances", load.Instances,
		"seats", load.Seats, "limit", b.cfg.RollTimeout)
	ends := 0
	for i, v := range b.versions.at(place).draining {
		if i >= mostDraining && !v.ending {
			ends++
			b.end(v)
		}
	}
	if ends > 0 {
		b.log.Warn("older definitions were ended early: too many of them drained", "game", old.Name, "ended", ends, "most", mostDraining)
	}
}

// sweep ends the versions that nobody plays any more, and those whose time is over.
func (b *Box) sweep(now int64) {
	b.versions.changing.Lock()
	defer b.versions.changing.Unlock()
	for _, l := range *b.versions.lines.Load() {
		for _, v := range l.draining {
			if v.ending {
				continue
			}
			switch load := v.Table.Load(); {
			case load.Instances == 0:
				b.end(v)
			case now >= v.until:
				b.log.Info("an older definition was ended at the roll timeout", "game", v.Name, "definition", hexHash(v.Hash),
					"instances", load.Instances, "seats", load.Seats)
				b.end(v)
			}
		}
	}
}

// end ends a version with its code, once. Its caller holds versions.changing.
func (b *Box) end(v *version) {
	if v.ending {
		return
	}
	v.ending = true
	v.Table.Close()
	b.crew.Drop(v.Live, v.code, v.reason, b.ended(v))
}

// ended is to be called when nothing runs a version any more.
func (b *Box) ended(v *version) func() {
	return func() {
		if err := v.Code.Close(); err != nil {
			b.log.Error("freeing a game's code failed", "game", v.Name, "error", err)
		}
		// It may be called at once, under the lock.
		b.running.Go(func() { b.versions.forget(v) })
	}
}

// placeTries is how many times a client is placed that finds a version which ended under
// it. Each time there is a newer one.
const placeTries = 3

// errOutdated: no version at the place is that of the client's library.
var errOutdated = errors.New("the client's library is of another definition")

// place finds a seat for a client at a place.
func (b *Box) place(where string, q *query) (v *version, at box.Placement, err error) {
	for range placeTries {
		if v = b.versions.at(where).choose(q); v == nil {
			return nil, at, errOutdated
		}
		if at, err = b.placeIn(v, q.Request); !errors.Is(err, box.ErrClosed) {
			break
		}
	}
	return v, at, err
}

// placeIn places a client in a version, and raises a shard for it if there is need.
func (b *Box) placeIn(v *version, r box.Request) (at box.Placement, err error) {
	if at, err = v.Table.Place(r, loop.Now()); !errors.Is(err, box.ErrNoShard) {
		return at, err
	}
	// One at a time: a crowd that comes at once wants one shard, not one each.
	v.raising.Lock()
	defer v.raising.Unlock()
	if at, err = v.Table.Place(r, loop.Now()); !errors.Is(err, box.ErrNoShard) {
		return at, err
	}
	if err := b.crew.Raise(v.Live, r.CPU); err != nil {
		if errors.Is(err, box.ErrBoxFull) {
			b.makeRoom(v.Place.String())
		}
		return at, err
	}
	return v.Table.Place(r, loop.Now())
}

// makeRoom ends the oldest definition that drains at a place, where what it runs on is
// wanted for new players: they come to the newest, who are told to try again, before the
// old one's time is over. It ends one, and the next only when that is gone.
func (b *Box) makeRoom(place string) {
	b.versions.changing.Lock()
	defer b.versions.changing.Unlock()
	old := b.versions.at(place).draining
	if len(old) == 0 || slices.ContainsFunc(old, func(v *version) bool { return v.ending }) {
		return
	}
	v := old[len(old)-1]
	b.log.Warn("an older definition was ended early: its workers are needed for new players", "game", v.Name, "definition", hexHash(v.Hash))
	b.end(v)
}

// stopPoll is how often a box that stops looks whether its players are gone.
const stopPoll = 20 * time.Millisecond

// playOut lets the games go on until the last player has gone, at most until the deadline.
func (b *Box) playOut(deadline int64) {
	every := time.NewTicker(stopPoll)
	defer every.Stop()
	// Who has just come is for a moment neither waited for nor there: it takes two looks.
	for left := 2; left > 0 && loop.Now() < deadline; <-every.C {
		b.expire(loop.Now())
		if left--; b.played() {
			left = 2
		}
	}
}

// played reports whether somebody plays, or is about to.
func (b *Box) played() (yes bool) {
	yes = b.open.Load() > 0
	b.versions.each(func(v *version) { yes = yes || v.Table.Load().Pending > 0 })
	return yes
}

// endAll ends every version and waits until nothing runs any of them.
func (b *Box) endAll(code uint16, reason string) {
	var all []*version
	b.versions.changing.Lock()
	b.versions.each(func(v *version) {
		all = append(all, v)
		v.code, v.reason = code, reason
		b.end(v)
	})
	b.versions.changing.Unlock()
	for _, v := range all {
		<-v.gone
	}
}
