package engine

import (
	"sync/atomic"

	"gamehoster/engine/box"
	"gamehoster/engine/worker"
)

// A development box reloads a game under its players:
//
//	saved --> new version live --> loops: sockets closed with 4005, worlds and seats carried over
//	page  --> reloads itself   --> new library, resume=TOKEN --> the seat it had, in the instance it had
//
// Where the state is the same the world goes on at the tick it was at, with the new bodies;
// else it begins anew under the same name, with the same players.

// carrier is a crew that can put a newer version of a game in the place of one, and keep
// instances and seats. Both have been started; done is called as by Drop.
type carrier interface {
	Carry(old, next *box.Live, how carrying, done func())
}

// carrying is what becomes of the sockets and the worlds.
type carrying struct {
	code   uint16
	reason string
	fresh  bool // worlds begin anew in any case
}

// reload ends a version of a development box, whose players the newer one takes over. next
// is nil if the game was removed. Its caller holds versions.changing.
func (b *Box) reload(old *version, next *box.Live) {
	c, ok := b.crew.(carrier)
	if !ok || next == nil || old.ending {
		b.end(old)
		return
	}
	old.ending = true
	old.Table.Close()
	c.Carry(old.Live, next, carrying{old.code, old.reason, b.cfg.Fresh}, b.ended(old))
}

func (in *inline) Carry(old, next *box.Live, how carrying, done func()) {
	var left atomic.Int32
	left.Store(int32(len(in.loops)))
	carried := func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	for _, l := range in.loops {
		if !l.Post(&worker.CarryGame{
			From: old.Number, To: next.Number, Code: how.code, Reason: how.reason, Fresh: how.fresh,
			Adopt: next.Table.Adopt, Done: carried,
		}) {
			carried()
		}
	}
}
