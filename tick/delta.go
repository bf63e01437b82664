package tick

import (
	"slices"

	"gamehoster/wire"
)

// A delta is made in two steps. What has changed since a base looks the same to all
// viewers with that base, but for what only owners see: it is encoded once. A viewer's
// delta is that whole or, where it holds not everything, owns something private, is
// owed something or has to wait for something, put together from its parts.
//
//	encoding   of a base   | 5: ...... | 8: .... | 9: ........ | 14: ... |
//	                            |                     |            |
//	delta      of a viewer   header, 5 ......,   9 its own way, 14 ...

// encoding is what has changed since a base.
type encoding struct {
	in      *Instance
	sends   uint64 // the send that it is of
	base    uint64
	thin    bool
	listed  []listing
	buf     []byte // mask and values of objects, as seen by who does not own them
	whole   []byte // all of them with their ids, as a delta has them
	made    bool   // whole is valid
	private bool   // an owner sees more of something than others do
}

// listing is one object of an encoding: mask and values are buf[at:end].
type listing struct {
	object  int32 // index in the history
	at, end int32 // equal: not encoded yet
}

// encodings is how many bases' are kept: clients ack at much the same pace.
const encodings = 4

// encoding gives the changes since the viewer's base.
func (v *Viewer) encoding() *encoding {
	in, b := v.in, &v.in.shard.scratch
	for i := range b.encodings {
		if e := &b.encodings[i]; e.in == in && e.sends == in.sends && e.base == v.base && e.thin == v.thin {
			return e
		}
	}
	e := &b.encodings[b.turn%encodings]
	b.turn++
	*e = encoding{in: in, sends: in.sends, base: v.base, thin: v.thin, listed: e.listed[:0], buf: e.buf[:0], whole: e.whole[:0]}
	h := &in.history
	for i := range h.objects {
		o := &h.objects[i]
		if e.stamp(o) <= e.base {
			continue
		}
		f := e.fields(o)
		if f[1].Len() == 0 {
			continue
		}
		e.private = e.private || f[0] != f[1]
		e.listed = append(e.listed, listing{object: int32(i)})
	}
	return e
}

// stamp is the send at which the object changed last.
func (e *encoding) stamp(o *object) uint64 {
	if e.thin {
		return o.whole
	}
	return o.sent
}

// fields are those of the object that a delta has, as the public and as its owner see
// them.
func (e *encoding) fields(o *object) *[2]*wire.Fields {
	p := &e.in.shard.plans[o.typ]
	if e.thin {
		return &p.whole
	}
	return &p.sent
}

// append appends mask and values of an object.
func (e *encoding) append(dst []byte, o *object, f *wire.Fields, full bool) []byte {
	h := &e.in.history
	image := h.image(o)
	if full || e.base < o.born {
		return f.AppendFull(dst, image)
	}
	base, ok := h.imageAt(o, e.base)
	if !ok {
		base = image
	}
	return f.AppendChanges(dst, image, base)
}

// get is the public encoding of a listed object.
func (e *encoding) get(l *listing) []byte {
	if l.at == l.end {
		o := &e.in.history.objects[l.object]
		l.at = int32(len(e.buf))
		e.buf = e.append(e.buf, o, e.fields(o)[0], false)
		l.end = int32(len(e.buf))
	}
	return e.buf[l.at:l.end]
}

// all is the list as a viewer has it that holds everything and owns nothing private.
func (e *encoding) all() []byte {
	if !e.made {
		var w wire.ObjectWriter
		objects, dst := e.in.history.objects, e.whole
		for i := range e.listed {
			o := &objects[e.listed[i].object]
			if f := e.fields(o)[0]; f.Len() > 0 {
				dst = e.append(w.ID(dst, o.id), o, f, false)
			}
		}
		e.whole, e.made = dst, true
	}
	return e.whole
}

// owed is what is to be remembered of one object for a viewer whose deltas do not
// have room for everything.
type owed struct {
	id    uint32
	since uint64 // send since which it waits to be listed; 0: it does not
	full  uint64 // send that the base must reach before masks need not be full
	told  uint64 // send in which it was last listed
	seen  uint64 // the last send at which the object was there
}

// part is one object of a delta that is being made.
type part struct {
	object  int32 // index in the history
	at, end int32 // of the scratch's bytes
	class   int32 // what goes first where there is no room: the greater
	out     bool  // left out
}

// Classes of parts. One that waits has the class of its waiting time in sends and
// this, so that none starves: what has been listed waits from then on anew.
const (
	partTold  = iota // has been listed since it changed, which the client has not acked yet
	partFresh        // has changed since
	partWaiting
	partClasses = 1 << 16
)

// delta appends the delta message. Of objects over the budget those that have waited
// least are left out, and listed in full later.
func (v *Viewer) delta(dst []byte, budget int) []byte {
	in, b := v.in, &v.in.shard.scratch
	dst = wire.Delta{Tick: in.sendTick, Base: v.baseTick, Processed: v.processed()}.Append(dst)
	e := v.encoding()
	if len(v.owed) == 0 && !in.shard.rules.view && (!e.private || v.player == 0) {
		if all := e.all(); len(all) <= budget {
			return append(dst, all...)
		}
	}
	over := v.list(e) > budget
	if over {
		b.choose(budget)
	}
	var w wire.ObjectWriter
	for i := range b.parts {
		if p := &b.parts[i]; !p.out {
			dst = w.ID(dst, in.history.objects[p.object].id)
			dst = append(dst, b.bytes[p.at:p.end]...)
		}
	}
	if over || len(v.owed) > 0 {
		v.owe(over)
	}
	return dst
}

// list gathers the parts of the viewer's delta in the scratch, and returns how many
// bytes they take.
func (v *Viewer) list(e *encoding) (size int) {
	in, b := v.in, &v.in.shard.scratch
	h := &in.history
	b.parts, b.bytes = b.parts[:0], b.bytes[:0]
	add := func(i int, l *listing, d *owed) {
		o := &h.objects[i]
		if !v.holds(o) {
			return
		}
		public, f := e.fields(o)[0], e.fields(o)[0]
		if v.owns(o) {
			f = e.fields(o)[1]
		}
		if f.Len() == 0 {
			return
		}
		p := part{object: int32(i), at: int32(len(b.bytes)), class: partFresh}
		full := false
		if d != nil {
			full = d.since > 0 || d.full > v.base
			switch {
			case d.since > 0:
				p.class = partWaiting + int32(min(in.sends-d.since, partClasses-partWaiting-1))
			case e.stamp(o) <= d.told:
				p.class = partTold
			}
		}
		if !full && f == public {
			b.bytes = append(b.bytes, e.get(l)...)
		} else {
			b.bytes = e.append(b.bytes, o, f, full)
		}
		p.end = int32(len(b.bytes))
		b.parts = append(b.parts, p)
		size += wire.SizeUvarint(o.id) + int(p.end-p.at)
	}
	at := 0 // in e.listed
	for k := range v.owed {
		d := &v.owed[k]
		i, there := h.find(d.id)
		for ; at < len(e.listed) && int(e.listed[at].object) < i; at++ {
			add(int(e.listed[at].object), &e.listed[at], nil)
		}
		if !there || !v.holds(&h.objects[i]) {
			continue
		}
		d.seen = in.sends
		switch {
		case at < len(e.listed) && int(e.listed[at].object) == i:
			add(i, &e.listed[at], d)
			at++
		case d.since > 0:
			add(i, nil, d)
		}
	}
	for ; at < len(e.listed); at++ {
		add(int(e.listed[at].object), &e.listed[at], nil)
	}
	return size
}

// choose leaves parts out so that the rest is not over the budget: whole classes and,
// of the class that fits in part, the last ones by id. One part at least stays.
func (b *scratch) choose(budget int) {
	size := func(p *part) int { return wire.MaxUvarint + int(p.end-p.at) }
	cut := int32(0)
	for i := range b.parts {
		cut = max(cut, b.parts[i].class)
	}
	classes := slices.Grow(b.classes[:0], int(cut)+1)[:cut+1]
	clear(classes)
	b.classes = classes
	for i := range b.parts {
		classes[b.parts[i].class] += size(&b.parts[i])
	}
	for ; cut > 0 && classes[cut] <= budget; cut-- {
		budget -= classes[cut]
	}
	some := false
	for i := range b.parts {
		p := &b.parts[i]
		if p.class == cut {
			if budget -= size(p); budget < 0 && some {
				p.out = true
			}
		} else {
			p.out = p.class < cut
		}
		some = some || !p.out
	}
}

// owe notes what the delta just made leaves out and what it makes good. over tells
// that it was over the budget: then what it has is noted, too.
func (v *Viewer) owe(over bool) {
	in, b := v.in, &v.in.shard.scratch
	list := b.owed[:0]
	keep := func(d *owed) {
		if d.seen == in.sends && (d.since > 0 || d.full > v.base || d.told > v.base) {
			list = append(list, *d)
		}
	}
	k := 0
	for i := range b.parts {
		p := &b.parts[i]
		id := in.history.objects[p.object].id
		for ; k < len(v.owed) && v.owed[k].id < id; k++ {
			keep(&v.owed[k])
		}
		d := owed{id: id, seen: in.sends}
		known := k < len(v.owed) && v.owed[k].id == id
		if known {
			d = v.owed[k]
			k++
		}
		switch {
		case !p.out:
			if d.since > 0 {
				d.since, d.full = 0, in.sends
			}
			if over || known {
				d.told = in.sends
			}
		case p.class == partFresh:
			d.since = in.sends
		}
		if p.out {
			in.shard.stats.Deferred++
		}
		keep(&d)
	}
	for ; k < len(v.owed); k++ {
		keep(&v.owed[k])
	}
	b.owed = list
	v.owed = append(v.owed[:0], list...)
}
