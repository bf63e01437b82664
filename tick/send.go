package tick

import (
	"slices"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// Send writes what this send tick has for the viewer, after Commit: the welcome if
// it is the first, then a snapshot alone, or leave, enter, commands and keyframe as
// far as there is any, and a delta. A viewer is sent to once per send tick.
func (v *Viewer) Send(sink Sink) {
	in := v.in
	if in == nil || in.sends == 0 || v.last == in.sends || v.seat != nil && !v.seat.joined {
		return
	}
	if !v.welcomed {
		v.sendWelcome(sink)
	}
	if in.shard.rules.view {
		v.view.begin(in.history.slots)
	}
	cause, b := v.cause(), &in.shard.scratch
	b.again = cause == CauseLate && v.sendAgain(sink)
	if cause != causeNone && !b.again {
		v.sendSnapshot(sink, cause)
	} else {
		v.sendChanges(sink)
		v.sent = v.sent<<(in.sends-v.last) | 1
	}
	v.last = in.sends
	v.relayed = in.relay.to
}

// out counts a message, hands it over and keeps its memory.
func (v *Viewer) out(sink Sink, m []byte) {
	s := v.in.shard
	s.stats.Out[slotOf(wire.TagOf(m))].add(len(m))
	s.scratch.out = m
	sink.Message(m)
}

func (v *Viewer) sendWelcome(sink Sink) {
	in, s := v.in, v.in.shard
	v.welcomed = true
	w := wire.Welcome{
		Tick: in.sendTick, Hash: s.hash, Player: v.player, Token: v.token,
		TickRate: uint16(s.def.TickRate), SendRate: uint16(s.def.SendRate), TimelineDepth: uint16(s.def.TimelineDepth),
	}
	s.scratch.name = append(s.scratch.name[:0], in.name...)
	w.Name = s.scratch.name
	if v.seat != nil {
		v.seat.resumed = true
		w.Received = v.seat.received
	}
	v.out(sink, w.Append(s.scratch.out[:0]))
}

// cause is why the viewer needs a snapshot in place of a delta; causeNone if it
// needs none.
func (v *Viewer) cause() Cause {
	in := v.in
	if v.asked && !v.resyncedLately() {
		v.grantResync()
	}
	switch {
	case v.due != causeNone:
		return v.due
	case in.sends-v.base >= historySends:
		return CauseBase
	case v.thin:
		return causeNone
	case v.relayed < in.relay.from:
		return CauseCommands
	}
	// Whatever is still kept is young enough for the client to go back to, but it
	// may have run before a snapshot, in the past of which no client can go. And what
	// players did that the viewer did not hold it cannot run, so that it would lack
	// what they made; unless it is told of all that there is anyway.
	if in.shard.rules.view {
		return causeNone
	}
	stride := in.shard.layout.CommandStride
	cause := causeNone
	for i := v.relayed; i < in.relay.to; i++ {
		o, _ := in.relay.at(i, stride)
		switch told, runs := v.canRun(o); {
		case told && v.snapped(o):
			cause = CauseLate
		case !runs:
			return CauseMissed
		}
	}
	return cause
}

// snapped reports whether a command is of a tick that the viewer's last snapshot ended
// the past of.
func (v *Viewer) snapped(o *relayed) bool {
	in := v.in
	// Counted by sends, as ticks that are long ago seem to be yet to come.
	return uint64(in.sendTick-o.tick) >= (in.sends-v.snapSend)*uint64(in.shard.rules.perSend)
}

// sendSnapshot sends all there is, and makes it the base.
func (v *Viewer) sendSnapshot(sink Sink, cause Cause) {
	in, s := v.in, v.in.shard
	s.stats.Snapshots[cause]++
	dst := wire.Snapshot{
		Tick:      in.sendTick,
		Seed:      in.seed,
		Next:      le.Uint32(in.block[schema.HeaderNextShared:]),
		Processed: v.processed(),
	}.Append(s.scratch.out[:0])
	dst = s.wire.Fields(schema.InstanceType, wire.Whole, false).AppendAll(dst, in.row(schema.InstanceType, 0))
	var w wire.ObjectWriter
	if s.rules.view {
		v.hold(in.sight().look(v))
		v.gather()
	}
	for k := 1; k < v.size(); k++ {
		o := v.object(k)
		dst = w.Whole(dst, s.wire, int(o.typ), in.row(int(o.typ), int(o.row)), v.player)
	}
	v.out(sink, dst)
	v.due, v.asked = causeNone, false
	v.base, v.baseTick = in.sends, in.sendTick
	v.snapSend, v.snapRelay = in.sends, in.relay.to
	v.fresh()
}

// fresh forgets what was told, as the client does with a snapshot.
func (v *Viewer) fresh() {
	v.sent = 1
	v.told.clear()
	v.owed = v.owed[:0]
}

// sendChanges sends everything but a snapshot. What has to go out goes out; deltas
// have what is left of the budget, a quarter at least, and the turn of keyframes has
// what they leave.
func (v *Viewer) sendChanges(sink Sink) {
	s := v.in.shard
	left := s.rules.budget
	send := func(m []byte) {
		if m == nil {
			return
		}
		left -= len(m)
		v.out(sink, m)
	}
	if s.rules.view {
		seen := v.in.sight().look(v)
		send(v.goOut(s.scratch.out[:0], seen))
		send(v.comeIn(s.scratch.out[:0], seen, max(left/2, s.rules.budget/4)))
		v.gather()
	} else {
		send(v.leave(s.scratch.out[:0]))
		send(v.enter(s.scratch.out[:0]))
	}
	if !v.thin {
		send(v.commands(s.scratch.out[:0]))
	}
	s.scratch.delta = v.delta(s.scratch.delta[:0], max(left, s.rules.budget/4))
	left -= len(s.scratch.delta)
	if !v.thin {
		send(v.keyframe(s.scratch.out[:0], left))
	}
	s.stats.Out[slotOf(wire.TagDelta)].add(len(s.scratch.delta))
	sink.Message(s.scratch.delta)
	if s.rules.view {
		v.view.lost = v.view.lost[:0]
	}
}

// entering reports whether the viewer gets an object by enter in this send tick, in a
// game without view bodies.
func (v *Viewer) entering(o *object) bool {
	return o.born > v.last && (v.thin || o.enters)
}

// leave appends the leave message; nil if there is none.
func (v *Viewer) leave(dst []byte) []byte {
	in, b := v.in, &v.in.shard.scratch
	b.ids = b.ids[:0]
	for i := len(in.history.gone) - 1; i >= 0; i-- {
		g := &in.history.gone[i]
		if g.send <= v.last {
			break
		}
		switch unknown := g.born > v.last; {
		case v.thin || in.announced(g.id):
			// One that came and went since was never told of, unless a rewind has
			// put it into the snapshot that was just sent again.
			if unknown && !b.again {
				continue
			}
		case !in.shard.rules.removes[g.typ] && g.typ != 0:
			continue
		default:
			// What a rewind brought back enters, or clients have it back themselves.
			if _, there := in.history.find(g.id); there {
				continue
			}
		}
		b.ids = append(b.ids, g.id)
	}
	return v.leaves(dst)
}

// leaves appends the leave message for the ids in the scratch; nil if there is none.
func (v *Viewer) leaves(dst []byte) []byte {
	b := &v.in.shard.scratch
	if len(b.ids) == 0 {
		return nil
	}
	slices.Sort(b.ids)
	b.ids = slices.Compact(b.ids)
	dst = wire.Leave{Tick: v.in.sendTick}.Append(dst)
	var w wire.ObjectWriter
	for _, id := range b.ids {
		dst = w.ID(dst, id)
	}
	return dst
}

// enter appends the enter message; nil if there is none.
func (v *Viewer) enter(dst []byte) []byte {
	in, s := v.in, v.in.shard
	h := &in.history
	if h.made <= v.last || !v.thin && h.entered <= v.last {
		return nil
	}
	dst = wire.Enter{Tick: in.sendTick}.Append(dst)
	var w wire.ObjectWriter
	for i := 1; i < len(h.objects); i++ {
		if o := &h.objects[i]; v.entering(o) {
			dst = w.Whole(dst, s.wire, int(o.typ), in.row(int(o.typ), int(o.row)), v.player)
			if s.rules.rewinds && !v.thin {
				v.told.note(o.id, false, in.sends)
			}
		}
	}
	if w.Empty() {
		return nil
	}
	return dst
}

// commands appends the commands message; nil if there is none. A player that the
// viewer did not hold while the ticks ran is not in it: it enters as it is now.
func (v *Viewer) commands(dst []byte) []byte {
	in, s := v.in, v.in.shard
	list := v.toRelay()
	if len(list) == 0 {
		return nil
	}
	dst = wire.Commands{Tick: in.sendTick}.Append(dst)
	w := wire.NewCommandWriter(in.sendTick)
	for _, i := range list {
		o, record := in.relay.at(i, s.layout.CommandStride)
		dst = w.Append(dst, wire.Relayed{Tick: o.tick, Player: o.player, Seq: o.seq, Number: o.number})
		dst = s.wire.Command(o.number).AppendAll(dst, record)
	}
	s.stats.Relayed += uint64(len(list))
	return dst
}

// toRelay is the numbers of the commands to relay in their order, which late ones are
// not kept in. Of those that the viewer cannot run it is told what came of them, if they
// were late: in games with view bodies by keyframes, in others by a snapshot, which has
// been sent by now.
func (v *Viewer) toRelay() []uint64 {
	in, b := v.in, &v.in.shard.scratch
	stride := in.shard.layout.CommandStride
	list, sorted := b.relay[:0], true
	b.blind = false
	var last *relayed
	for i := v.relayed; i < in.relay.to; i++ {
		o, _ := in.relay.at(i, stride)
		told, runs := v.canRun(o)
		if v.snapped(o) {
			told, runs = false, false
		}
		b.blind = b.blind || !runs && o.tick != o.since && in.shard.rules.view
		if !told {
			continue
		}
		sorted = sorted && (last == nil || last.before(&o.order))
		last = o
		list = append(list, i)
	}
	b.relay = list
	if !sorted {
		slices.SortFunc(list, func(i, j uint64) int {
			a, _ := in.relay.at(i, stride)
			b, _ := in.relay.at(j, stride)
			if a.before(&b.order) {
				return -1
			}
			return 1
		})
	}
	return list
}

// owns reports whether the viewer sees the object as its owner.
func (v *Viewer) owns(o *object) bool {
	return v.player != 0 && (o.id == v.player || o.owner == v.player)
}

// keyframe appends the keyframe message: the objects of which a server body wrote
// a shared field since the viewer's last send, those of which the viewer was told
// something that a rewind has changed and, within budget, those whose turn it is; nil
// if there is none.
func (v *Viewer) keyframe(dst []byte, budget int) []byte {
	in, s := v.in, v.in.shard
	h := &in.history
	from, n := v.takeTurn(budget)
	some := h.wrote > v.last || h.spoilt > v.last
	if n == 0 && !some {
		return nil
	}
	dst = wire.Keyframe{Tick: in.sendTick}.Append(dst)
	var w wire.ObjectWriter
	all := v.size()
	end := from + n - all // where the turn goes on after the last object
	was := false          // the object before had its turn
	for i := 0; i < all; i++ {
		if !some { // then only those are looked at whose turn it is
			if i >= end && i < from {
				i, was = from, false
			} else if i >= from+n {
				break
			}
		}
		o := v.object(i)
		turn := i >= from && i < from+n || i < end
		run := turn && was
		was = turn
		if !turn && o.wrote <= v.last && (o.spoilt <= v.last || !s.scratch.blind && !v.told.since(o.id, o.since)) {
			continue
		}
		f := s.wire.Fields(int(o.typ), wire.Shared, false)
		if f.Len() == 0 || !v.heldBefore(o) {
			continue
		}
		if s.rules.rewinds {
			v.told.note(o.id, run, in.sends)
		}
		dst = w.Full(dst, o.id, f, in.row(int(o.typ), int(o.row)))
	}
	if w.Empty() {
		return nil
	}
	return dst
}

// takeTurn moves the viewer's round robin on, and returns the objects whose turn it
// is: the next n of those that the viewer holds from number from, past the last one to
// the first. The pace is one full turn per keyframe period. Where the budget does not
// allow it the turn takes longer, but one object at least is due each time that the
// pace says so.
func (v *Viewer) takeTurn(budget int) (from, n int) {
	s := v.in.shard
	per, all := s.rules.turn, v.size()
	if per == 0 {
		return 0, 0
	}
	v.credit = min(v.credit+all, per*all)
	most := v.credit / per
	if most == 0 {
		return 0, 0
	}
	from = v.find(v.turn)
	if from == all {
		from = 0
	}
	at := from
	for n < most {
		if f := s.wire.Fields(int(v.object(at).typ), wire.Shared, false); f.Len() > 0 {
			if budget -= wire.MaxUvarint + f.MaskLen() + f.MaxSize(); budget < 0 && n > 0 {
				break
			}
		}
		n++
		if at++; at == all {
			at = 0
		}
	}
	v.turn = v.object(at).id
	v.credit -= n * per
	return from, n
}
