package tick

import (
	"slices"

	"gamehoster/wire"
)

// A delta is made in two steps. What has changed since a base looks the same to all
// viewers with that base, but for what only owners see: it is encoded once. A viewer's
// delta is that whole or, where it holds not everything, owns something private, is
// owed something or has to wait for something, put together from its parts. In games
// with view bodies only the parts are made that someone asks for.
//
//	encoding   of a base   | 5: ...... | 8: .... | 9: ........ | 14: ... |
//	                            |                     |            |
//	delta      of a viewer   header, 5 ......,   9 its own way, 14 ...

// encoding is what has changed since a base.
type encoding struct {
	in      *Instance
	plans   []plan // the shard's
	sends   uint64 // the send that it is of
	base    uint64
	thin    bool
	parts   []span // by index: mask and values in buf, as seen by who does not own the object
	buf     []byte // with ids: the list as a viewer has it that holds everything and owns nothing private
	changed []int32
	private bool // an owner sees more of something than others do
}

// span is bytes of a buffer; empty: not encoded yet.
type span struct{ at, end int32 }

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
	n := len(in.history.objects)
	*e = encoding{
		in: in, plans: in.shard.plans, sends: in.sends, base: v.base, thin: v.thin,
		parts: slices.Grow(e.parts[:0], n)[:n], buf: e.buf[:0], changed: e.changed[:0],
	}
	if in.shard.rules.view {
		clear(e.parts)
	} else {
		e.all()
	}
	return e
}

// all encodes everything that has changed.
func (e *encoding) all() {
	var w wire.ObjectWriter
	buf := e.buf
	for i := range e.in.history.objects {
		o := &e.in.history.objects[i]
		if !e.lists(o) {
			continue
		}
		f := e.fields(o)
		e.private = e.private || f[0] != f[1]
		e.changed = append(e.changed, int32(i))
		if f[0].Len() > 0 {
			buf = w.ID(buf, o.id)
			at := len(buf)
			buf = e.append(buf, o, f[0], false)
			e.parts[i] = span{int32(at), int32(len(buf))}
		}
	}
	e.buf = buf
}

// lists reports whether the object has changed and has fields that deltas have.
func (e *encoding) lists(o *object) bool { return e.stamp(o) > e.base && e.fields(o)[1].Len() > 0 }

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
	p := &e.plans[o.typ]
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
	if !e.thin && o.before <= e.base && f.Few() && f == e.fields(o)[1] {
		return f.AppendSet(dst, image, o.fields) // it has changed once: the commit has compared
	}
	base, ok := h.imageAt(o, e.base)
	if !ok {
		base = image
	}
	return f.AppendChanges(dst, image, base)
}

// get is the public encoding of an object that has changed.
func (e *encoding) get(i int) []byte {
	x := &e.parts[i]
	if x.at == x.end {
		o := &e.in.history.objects[i]
		x.at = int32(len(e.buf))
		e.buf = e.append(e.buf, o, e.fields(o)[0], false)
		x.end = int32(len(e.buf))
	}
	return e.buf[x.at:x.end]
}

// changed is the indexes of what the viewer holds and has changed since its base.
func (v *Viewer) changed(e *encoding) []int32 {
	if !v.in.shard.rules.view {
		return e.changed
	}
	b := &v.in.shard.scratch
	b.changed = b.changed[:0]
	for _, i := range b.held {
		if e.lists(&v.in.history.objects[i]) {
			b.changed = append(b.changed, i)
		}
	}
	return b.changed
}

// delta appends the delta message. Of objects over the budget some are left out, and
// listed in full later.
func (v *Viewer) delta(dst []byte, budget int) []byte {
	in, b := v.in, &v.in.shard.scratch
	dst = wire.Delta{Tick: in.sendTick, Base: v.baseTick, Processed: v.processed()}.Append(dst)
	e := v.encoding()
	if len(v.owed) == 0 && !in.shard.rules.view && (!e.private || v.player == 0) {
		if len(e.buf) <= budget {
			return append(dst, e.buf...)
		}
	}
	over := v.list(e) > budget
	if over {
		v.choose(budget)
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
	add := func(i int, d *owed) {
		o := &h.objects[i]
		public, f := e.fields(o)[0], e.fields(o)[0]
		if v.owns(o) {
			f = e.fields(o)[1]
		}
		if f.Len() == 0 {
			return
		}
		p := part{object: int32(i), span: span{at: int32(len(b.bytes))}}
		full := false
		if d != nil {
			p.since, full = d.since, d.since > 0 || d.full > v.base
			p.told = d.since == 0 && e.stamp(o) <= d.told
		}
		if !full && f == public {
			b.bytes = append(b.bytes, e.get(i)...)
		} else {
			b.bytes = e.append(b.bytes, o, f, full)
		}
		p.end = int32(len(b.bytes))
		b.parts = append(b.parts, p)
		size += wire.SizeUvarint(o.id) + int(p.end-p.at)
	}
	changed := v.changed(e)
	for k := range v.owed {
		d := &v.owed[k]
		for len(changed) > 0 && h.objects[changed[0]].id < d.id {
			add(int(changed[0]), nil)
			changed = changed[1:]
		}
		d.seen = in.sends
		if len(changed) > 0 && h.objects[changed[0]].id == d.id {
			add(int(changed[0]), d)
			changed = changed[1:]
		} else if d.since > 0 {
			if i, there := h.find(d.id); there && v.holds(&h.objects[i]) {
				add(i, d)
			} else {
				d.seen = 0
			}
		}
	}
	for _, i := range changed {
		add(int(i), nil)
	}
	return size
}
