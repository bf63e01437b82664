package tick

import (
	"cmp"
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
	order   []uint32  // the slots of what it holds, by id
	self    int       // where its player was found last
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

// size is the number of objects that the viewer holds, the instance counted.
func (v *Viewer) size() int {
	if v.in.shard.rules.view {
		return len(v.in.shard.scratch.held)
	}
	return len(v.in.history.objects)
}

// object is number k of those that the viewer holds, by id.
func (v *Viewer) object(k int) *object {
	if v.in.shard.rules.view {
		k = int(v.in.shard.scratch.held[k])
	}
	return &v.in.history.objects[k]
}

// find is where, of the objects that the viewer holds, that of the id is or would be.
func (v *Viewer) find(id uint32) (at int) {
	h := &v.in.history
	if v.in.shard.rules.view {
		at, _ = slices.BinarySearchFunc(v.in.shard.scratch.held, id, func(i int32, id uint32) int { return cmp.Compare(h.objects[i].id, id) })
	} else {
		at, _ = h.find(id)
	}
	return at
}

// gather lists what the viewer holds, for size and object.
func (v *Viewer) gather() {
	b := &v.in.shard.scratch
	order := v.view.order
	b.held = slices.Grow(b.held[:0], len(order))[:len(order)]
	for k, slot := range order {
		b.held[k] = b.sight.index[slot]
	}
}

// begin prepares for a send.
func (r *relevance) begin(slots uint32) {
	r.held = r.held.room(slots)
	r.was = append(r.was[:0], r.held...)
}

// hold makes what is seen what is held.
func (v *Viewer) hold(seen set) {
	r, b := v.view, &v.in.shard.scratch
	copy(r.held, seen)
	b.held = b.sight.sorted(b.held[:0], r.held)
	r.order = r.order[:0]
	for _, i := range b.held {
		r.order = append(r.order, v.in.history.objects[i].slot)
	}
	r.lost = r.lost[:0]
	r.waiting = r.waiting[:0]
	r.came.clear()
}

// goOut appends the leave message of what is seen no more, in the world or not; nil if
// there is none.
func (v *Viewer) goOut(dst []byte, seen set) []byte {
	in, r, b := v.in, v.view, &v.in.shard.scratch
	b.ids = append(b.ids[:0], r.lost...)
	for i, w := range r.held {
		x := w &^ seen[i]
		if x == 0 {
			continue
		}
		for at := 64 * i; x != 0; x &= x - 1 {
			b.ids = append(b.ids, in.history.objects[b.sight.index[at+bits.TrailingZeros64(x)]].id)
		}
		r.held[i] &= seen[i]
	}
	if len(b.ids) > 0 {
		r.order = slices.DeleteFunc(r.order, func(slot uint32) bool { return !r.held.has(slot) })
	}
	return v.leaves(dst)
}

// enters puts objects, by index in ascending order, among what is held.
func (r *relevance) enters(g *sight, list []int32, objects []object) {
	k, n := len(r.order), len(list)
	r.order = slices.Grow(r.order, n)[:k+n]
	for to := k + n; n > 0; {
		to--
		if i := list[n-1]; k > 0 && g.index[r.order[k-1]] > i {
			k--
			r.order[to] = r.order[k]
		} else {
			n--
			r.order[to] = objects[i].slot
			r.held.add(objects[i].slot)
		}
	}
}

// comeIn appends the enter message of what is seen and not held, as far as there is
// room in the budget; nil if there is none.
func (v *Viewer) comeIn(dst []byte, seen set, budget int) []byte {
	in, r, b := v.in, v.view, &v.in.shard.scratch
	b.unheld = append(b.unheld[:0], seen...)
	for i, w := range r.held {
		b.unheld[i] &^= w
	}
	b.held = b.sight.sorted(b.held[:0], b.unheld)
	if len(b.held) == 0 {
		r.waiting = r.waiting[:0]
		return nil
	}
	b.parts, b.bytes = b.parts[:0], b.bytes[:0]
	size, at := 0, 0
	for _, i := range b.held {
		o := &in.history.objects[i]
		p := part{object: i, span: span{at: int32(len(b.bytes))}, since: in.sends, first: o.id == v.player}
		for at < len(r.waiting) && r.waiting[at].id < o.id {
			at++
		}
		if at < len(r.waiting) && r.waiting[at].id == o.id {
			p.since = r.waiting[at].since
		}
		b.bytes = in.shard.wire.AppendObject(b.bytes, int(o.typ), in.row(int(o.typ), int(o.row)), v.player)
		p.end = int32(len(b.bytes))
		size += wire.MaxUvarint + int(p.end-p.at)
		b.parts = append(b.parts, p)
	}
	if size > budget {
		v.choose(budget)
	}
	dst = wire.Enter{Tick: in.sendTick}.Append(dst)
	var w wire.ObjectWriter
	b.held = b.held[:0]
	waits := b.waiting[:0]
	owes := b.owed[:0]
	k := 0
	for i := range b.parts {
		p := &b.parts[i]
		o := &in.history.objects[p.object]
		if p.out {
			waits = append(waits, waiting{o.id, p.since})
			in.shard.stats.Waiting++
			continue
		}
		dst = w.ID(dst, o.id)
		dst = append(dst, b.bytes[p.at:p.end]...)
		b.held = append(b.held, p.object)
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
	r.enters(&b.sight, b.held, in.history.objects)
	owes = append(owes, v.owed[k:]...)
	b.owed, b.waiting = owes, waits
	v.owed = append(v.owed[:0], owes...)
	r.waiting = append(r.waiting[:0], waits...)
	return dst
}
