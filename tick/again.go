package tick

import (
	"gamehoster/games/schema"
	"gamehoster/wire"
)

// A client cannot go back to before its last snapshot, and in a game without view bodies
// nobody tells it what a command of that time made or removed. So it gets the snapshot
// once more: of the same tick, as that has become, and with it, in the same write, what
// has come since, as if all sends between had been left out.
//
//	sends      S          S+1        S+2        S+3
//	snapshot   o
//	late            x.....|                            of a tick up to S
//	again      o ------------------> |
//
// A snapshot of the present would do as well, once. The next late command would be of
// before that one, and where some player's commands are always late there would be no end
// to it. The tick of the last snapshot gets old: once the timeline does not reach back to
// it no command does, which makes one more for each send in the timeline at most. Of a
// timeline that is longer than the history only that much counts: what was sent before is
// not known any more, and the snapshot that comes then is one of the present.

// young reports whether the state of the viewer's last snapshot is one of those that the
// timeline keeps, so that a late command may change it, and the history reaches back to
// it. What was sent then has to be known until that is over.
func (v *Viewer) young() bool {
	r := &v.in.shard.rules
	kept := min(len(v.in.timeline.states), historySends)
	return r.rewinds && !r.view && !v.thin && v.in.sends-v.snapSend < uint64(kept)
}

// sendAgain sends the viewer's last snapshot as it would have been with all that is known
// by now, and takes the viewer back to it, so that what has happened since is told next.
// It reports false, with nothing sent, where that cannot be: the state is not kept, or
// players acted since whom the viewer does not hold in it.
func (v *Viewer) sendAgain(sink Sink) bool {
	in, s := v.in, v.in.shard
	l := &in.timeline
	if !v.young() || v.snapRelay < in.relay.from {
		return false
	}
	i := l.n - 1
	for i >= 0 && l.at(i).send != v.snapSend {
		i--
	}
	if i < 0 || !v.canRunAgain() {
		return false
	}
	s.stats.Snapshots[CauseLate]++
	v.out(sink, v.appendState(s.scratch.out[:0], l.at(i)))
	v.last, v.relayed = v.snapSend, v.snapRelay
	v.base, v.baseTick = v.snapSend, l.at(i).tick
	v.fresh()
	return true
}

// canRunAgain reports whether the viewer could run all commands of after its last
// snapshot had nothing been sent to it since.
func (v *Viewer) canRunAgain() bool {
	in := v.in
	for i := v.snapRelay; i < in.relay.to; i++ {
		o, _ := in.relay.at(i, in.shard.layout.CommandStride)
		if _, held := in.history.born(o.player, v.snapSend); !held && !v.snapped(o) {
			return false
		}
	}
	return true
}

// appendState appends the snapshot of a past state. Sent fields are in it as they were
// sent then, where they were: a rewind does not change what deltas start from.
func (v *Viewer) appendState(dst []byte, st *state) []byte {
	in, s := v.in, v.in.shard
	dst = wire.Snapshot{
		Tick:      st.tick,
		Seed:      in.seed,
		Next:      le.Uint32(st.buf[schema.HeaderNextShared:]),
		Processed: v.processed(),
	}.Append(dst)
	columns := in.packedColumns(st.buf)
	c := &columns[schema.InstanceType]
	dst = s.plans[schema.InstanceType].whole[0].AppendAll(dst, in.imageOf(st.send, schema.InstanceType, c.rows))
	var w wire.ObjectWriter
	for {
		typ := least(columns)
		if typ == 0 {
			return dst
		}
		c := &columns[typ]
		row := c.rest()[:c.stride]
		dst = w.ID(dst, le.Uint32(row[schema.RowID:]))
		dst = wire.AppendUvarint(dst, uint32(typ))
		if s.layout.Types[typ].Owner >= 0 {
			dst = wire.AppendUvarint(dst, in.owner(typ, row))
		}
		mine := 0
		if v.player != 0 && s.wire.Owner(typ, row) == v.player {
			mine = 1
		}
		dst = s.plans[typ].whole[mine].AppendAll(dst, in.imageOf(st.send, typ, row))
		c.pass()
	}
}

// packedColumns gives the rows of a packed state by type, as columns does those of the
// block, for going through them by id.
func (in *Instance) packedColumns(buf []byte) []column {
	s := in.shard
	list := s.scratch.columns
	head := s.headSize()
	rest := buf[head:]
	for typ := range list {
		t := &s.layout.Types[typ]
		if typ == schema.InstanceType {
			list[typ] = column{rows: buf[t.Rows:head], stride: t.Stride}
			continue
		}
		n := s.rowsIn(typ, buf)
		list[typ] = column{rows: rest[:n], stride: t.Stride}
		rest = rest[n:]
	}
	return list
}

// imageOf is the image of a past row, all of it, with the sent fields as they were sent
// at that send if the object was there then. It is valid until the next one.
func (in *Instance) imageOf(send uint64, typ int, row []byte) []byte {
	s, h := in.shard, &in.history
	image := s.scratch.image[:len(row)]
	copy(image, row)
	if steps := s.plans[typ].steps; steps != nil {
		steps.Image(image, row)
	}
	i, ok := h.find(le.Uint32(row[schema.RowID:]))
	if !ok || h.images[typ].size == 0 {
		return image
	}
	o := &h.objects[i]
	if int(o.typ) != typ || o.born > send {
		return image
	}
	at := s.layout.Types[typ].Sent
	copy(image[at.From:at.To], h.imageAt(o, send)[at.From:])
	return image
}
