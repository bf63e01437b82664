package tick

import (
	"math/bits"
	"slices"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// waiting is an object that a viewer may see and that there was no room for yet. Until
// it has entered it counts as out of view.
type waiting struct {
	id    uint32
	since uint64 // send
}

// relevance is what a viewer of a game with view bodies holds.
type relevance struct {
	held    set
	was     set       // held, before the send that is being made
	lost    []uint32  // ids of what it held and the world has no more
	waiting []waiting // by id
	came    told      // players that entered
}

// gone takes note that an object of the world is no more.
func (r *relevance) gone(o *object) {
	if r.held.has(o.slot) {
		r.held.drop(o.slot)
		r.lost = append(r.lost, o.id)
	}
}

// holds reports whether the viewer holds an object after this send.
func (v *Viewer) holds(o *object) bool { return !v.in.shard.rules.view || v.view.held.has(o.slot) }

// held reports whether the viewer holds an object since before this send.
func (v *Viewer) heldBefore(o *object) bool {
	if v.in.shard.rules.view {
		return v.view.was.has(o.slot)
	}
	return !v.entering(o)
}

// canRun reports whether the viewer is told of a command, because it holds its player,
// and whether it can run it, because it did in the command's tick.
func (v *Viewer) canRun(o *relayed) (told, runs bool) {
	in := v.in
	h := &in.history
	if in.shard.rules.view {
		if i, ok := h.find(o.player); ok {
			told = v.view.was.has(h.objects[i].slot)
		} else {
			told = slices.Contains(v.view.lost, o.player)
		}
		return told, told && !v.view.came.since(o.player, in.sendFrom(o.tick))
	}
	born, ok := h.born(o.player, v.last)
	if !ok {
		return false, false
	}
	// It came with the first send since it was born, or with a snapshot; that is the
	// oldest one known of where it was long ago.
	if back := v.last - born; born > v.snapSend && back > 0 {
		mask := v.sent
		if back < historySends-1 {
			mask &= 1<<(back+1) - 1
		}
		if came := v.last - uint64(bits.Len64(mask)-1); came > born && !wire.TickAfter(o.tick, in.tickOf(came)) {
			return true, false
		}
	}
	return true, true
}

// tickOf is the tick of a send.
func (in *Instance) tickOf(send uint64) uint32 {
	return in.sendTick - uint32(in.sends-send)*in.shard.rules.perSend
}

// sendFrom is the first send that is not before a tick that has run.
func (in *Instance) sendFrom(tick uint32) uint64 {
	back := max(0, wire.TickDistance(in.sendTick, tick))
	return in.sends - min(in.sends, uint64(back)/uint64(in.shard.rules.perSend))
}

// holding is the number of objects that the viewer holds.
func (v *Viewer) holding() (n int) {
	if !v.in.shard.rules.view {
		return len(v.in.history.objects)
	}
	for _, w := range v.view.held {
		n += bits.OnesCount64(w)
	}
	return n
}

// begin prepares for a send.
func (r *relevance) begin(slots uint32) {
	r.held = r.held.room(slots)
	r.was = append(r.was[:0], r.held...)
}

// hold makes what is seen what is held.
func (r *relevance) hold(seen set) {
	copy(r.held, seen)
	r.lost = r.lost[:0]
	r.waiting = r.waiting[:0]
	r.came.clear()
}

// goOut appends the leave message of what is seen no more, in the world or not; nil if
// there is none.
func (v *Viewer) goOut(dst []byte, seen set) []byte {
	in, r, b := v.in, v.view, &v.in.shard.scratch
	b.ids = append(b.ids[:0], r.lost...)
	some := false
	for i, w := range r.held {
		some = some || w&^seen[i] != 0
	}
	if some {
		for i := range in.history.objects {
			if o := &in.history.objects[i]; r.held.has(o.slot) && !seen.has(o.slot) {
				r.held.drop(o.slot)
				b.ids = append(b.ids, o.id)
			}
		}
	}
	return v.leaves(dst)
}

// comeIn appends the enter message of what is seen and not held, those first that have
// waited longest and all that have room in the budget; nil if there is none.
func (v *Viewer) comeIn(dst []byte, seen set, budget int) []byte {
	in, r, b := v.in, v.view, &v.in.shard.scratch
	some := false
	for i, w := range r.held {
		some = some || seen[i]&^w != 0
	}
	if !some {
		r.waiting = r.waiting[:0]
		return nil
	}
	b.parts, b.bytes = b.parts[:0], b.bytes[:0]
	size, at := 0, 0
	for i := range in.history.objects {
		o := &in.history.objects[i]
		if !seen.has(o.slot) || r.held.has(o.slot) {
			continue
		}
		p := part{object: int32(i), at: int32(len(b.bytes)), class: partFresh}
		for at < len(r.waiting) && r.waiting[at].id < o.id {
			at++
		}
		if at < len(r.waiting) && r.waiting[at].id == o.id {
			p.class = partWaiting + int32(min(in.sends-r.waiting[at].since, partClasses-partWaiting-2))
		}
		if o.id == v.player {
			p.class = partClasses - 1
		}
		b.bytes = in.shard.wire.AppendObject(b.bytes, int(o.typ), in.row(int(o.typ), int(o.row)), v.player)
		p.end = int32(len(b.bytes))
		size += wire.MaxUvarint + int(p.end-p.at)
		b.parts = append(b.parts, p)
	}
	if size > budget {
		b.choose(budget)
	}
	dst = wire.Enter{Tick: in.sendTick}.Append(dst)
	var w wire.ObjectWriter
	waits := b.waiting[:0]
	owes := b.owed[:0]
	k := 0
	for i := range b.parts {
		p := &b.parts[i]
		o := &in.history.objects[p.object]
		if p.out {
			since := in.sends
			if p.class >= partWaiting {
				since = in.sends - uint64(p.class-partWaiting)
			}
			waits = append(waits, waiting{o.id, since})
			in.shard.stats.Waiting++
			continue
		}
		dst = w.ID(dst, o.id)
		dst = append(dst, b.bytes[p.at:p.end]...)
		r.held.add(o.slot)
		if in.shard.rules.rewinds && !v.thin {
			v.told.note(o.id, false, in.sends)
			if o.typ == schema.PlayerType {
				r.came.note(o.id, false, in.sends)
			}
		}
		for ; k < len(v.owed) && v.owed[k].id < o.id; k++ {
			owes = append(owes, v.owed[k])
		}
		if k < len(v.owed) && v.owed[k].id == o.id {
			k++
		}
		owes = append(owes, owed{id: o.id, full: in.sends, told: in.sends})
	}
	owes = append(owes, v.owed[k:]...)
	b.owed, b.waiting = owes, waits
	v.owed = append(v.owed[:0], owes...)
	r.waiting = append(r.waiting[:0], waits...)
	return dst
}
