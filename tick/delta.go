package tick

import (
	"slices"

	"gamehoster/wire"
)

// A delta is made in two steps. What has changed since a base looks the same to all
// viewers with that base, but for what only owners see: it is encoded once. A viewer's
// delta is that whole or, where it holds not everything, owns something private, is
// owed something or has to wait for something, put together from its pieces. In games
// with view bodies the pieces are made as someone asks for them, unless it is likely that
// someone asks for nearly all.
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
	pieces  []piece // by index; without views only those of what has changed are good
	buf     []byte  // as long as it may be
	end     int     // of what is in buf. With ids: the list as a viewer has it that holds everything and owns nothing private
	changed []int32 // indexes of what has changed, where all is encoded
	indexed bool    // pieces and changed are there: many a list goes to all as it is, and nobody asks
	private bool    // an owner sees more of something than others do
}

// piece is what an encoding has of an object.
type piece struct {
	id    uint32
	is    kind
	at    int32 // of mask and values in buf, as seen by who does not own the object
	until int32
}

// kind is what there is to say of an object.
type kind uint32

const (
	unasked kind = iota // it is not known yet
	still               // nothing: it has not changed, or has no fields that deltas have
	public              // the same to all
	private             // more to its owner
)

const (
	// encodings is how many bases' are kept.
	encodings = 16
	// spare is so much behind a piece, in an encoding and in a message, that short ones
	// are copied as words without a look at how many.
	spare = 16
)

// encoding gives the changes since the viewer's base.
func (v *Viewer) encoding() *encoding {
	in, b := v.in, &v.in.shard.scratch
	var e *encoding
	for i := range b.encodings {
		e = &b.encodings[i]
		if e.in != in || e.sends != in.sends {
			break // nor are those after it of this send
		}
		if e.base == v.base && e.thin == v.thin {
			return e
		}
		e = nil
	}
	if e == nil {
		e = &b.encodings[b.made%encodings]
	}
	b.made++
	n := len(in.history.objects)
	*e = encoding{
		in: in, plans: in.shard.plans, sends: in.sends, base: v.base, thin: v.thin,
		pieces: slices.Grow(e.pieces[:0], n)[:n], buf: e.buf, changed: slices.Grow(e.changed[:0], n),
		indexed: in.shard.rules.view,
	}
	switch some := in.history.newest > v.base; {
	case in.shard.rules.view && (!some || len(b.held)*in.alike(v) < n):
		clear(e.pieces)
	case some:
		e.all()
	}
	return e
}

// alike is how many viewers have deltas from the same base as v.
func (in *Instance) alike(v *Viewer) (n int) {
	for _, w := range in.viewers {
		if w.base == v.base && w.thin == v.thin {
			n++
		}
	}
	return n
}

// all encodes everything that has changed.
func (e *encoding) all() {
	h := &e.in.history
	r := runs{past: h.undo.at(e.base)}
	typ := -1
	var f *wire.Fields
	is, once, fast, view := still, false, false, e.in.shard.rules.view
	for i := 0; i < len(h.objects); i++ {
		o := &h.objects[i]
		if e.stamp(o) <= e.base {
			if view {
				e.pieces[i].is = still
			}
			continue
		}
		if int(o.typ) != typ {
			typ = int(o.typ)
			f, is = e.fields(o)[0], e.kind(o)
			r.room = wire.MaxUvarint + f.Most() + spare
			once = is == public && f.Few() && !e.thin
			fast = once && !e.indexed && e.plans[typ].lanes.list != nil
			e.private = e.private || is == private
		}
		if is == still {
			if view {
				e.pieces[i].is = still
			}
			continue
		}
		if len(e.buf)-r.at < r.room {
			e.buf = grow(e.buf, r.at, r.room)
		}
		if fast {
			if end := e.encodeRun(&r, i); end > i {
				i = end - 1
				continue
			}
		}
		start := r.at
		if f.Len() > 0 {
			start = wire.PutUvarint(e.buf, r.at, o.id-r.last)
			r.last = o.id
			image := h.image(o)
			if e.base < o.born {
				r.at = len(f.AppendFull(e.buf[:start], image))
			} else if once && o.before <= e.base {
				r.at = f.PutSet(e.buf, start, image, o.fields)
			} else if old, ok := r.past.image(o.id); ok {
				r.at = f.PutChanges(e.buf, start, image, old)
			} else {
				r.at = f.PutChanges(e.buf, start, image, h.imageAt(o, e.base))
			}
		}
		if e.indexed {
			e.changed = append(e.changed, int32(i))
			// Set one by one: as a whole it would be put together elsewhere and copied.
			p := &e.pieces[i]
			p.id, p.is, p.at, p.until = o.id, is, int32(start), int32(r.at)
		}
	}
	e.end = r.at
}

// index sees to it that pieces are there.
func (e *encoding) index() {
	if !e.indexed && e.in.history.newest > e.base {
		e.indexed = true
		e.all()
	}
}

// grow makes buf longer, of which what is before at counts, so that n bytes are behind
// that.
func grow(buf []byte, at, n int) []byte {
	buf = slices.Grow(buf[:at], n)
	return buf[:cap(buf)]
}

// kind is that of an object of which something has changed.
func (e *encoding) kind(o *object) kind {
	switch f := e.fields(o); {
	case f[1].Len() == 0:
		return still
	case f[0] != f[1]:
		return private
	}
	return public
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
	p := &e.plans[o.typ]
	if e.thin {
		return &p.whole
	}
	return &p.sent
}

// once gives the fields that have changed since the base, if the commit knows them
// because they have changed once.
func (e *encoding) once(o *object, f *wire.Fields) (set uint64, ok bool) {
	return o.fields, o.before <= e.base && o.born <= e.base && !e.thin && f == e.fields(o)[1] && f.Few()
}

// append appends mask and values of an object.
func (e *encoding) append(dst []byte, o *object, f *wire.Fields, full bool) []byte {
	h := &e.in.history
	image := h.image(o)
	if full || e.base < o.born {
		return f.AppendFull(dst, image)
	}
	if set, ok := e.once(o, f); ok {
		return f.AppendSet(dst, image, set)
	}
	return f.AppendChanges(dst, image, h.imageAt(o, e.base))
}

// piece is that of the object at an index.
func (e *encoding) piece(i int32) *piece {
	p := &e.pieces[i]
	if p.is == unasked {
		e.ask(i)
	}
	return p
}

// ask makes the piece of an object.
func (e *encoding) ask(i int32) {
	o, p := &e.in.history.objects[i], &e.pieces[i]
	p.is = still
	if e.stamp(o) <= e.base {
		return
	}
	if p.is = e.kind(o); p.is == still {
		return
	}
	p.id, p.at = o.id, int32(e.end)
	if f := e.fields(o)[0]; f.Len() > 0 {
		e.end = len(e.append(e.room(f), o, f, false))
	}
	p.until = int32(e.end)
}

// room is what there is, with room for one more piece behind it.
func (e *encoding) room(f *wire.Fields) []byte {
	if n := f.Most() + spare; len(e.buf)-e.end < n {
		e.buf = grow(e.buf, e.end, n)
	}
	return e.buf[:e.end]
}

// get is the public encoding of an object that has changed.
func (e *encoding) get(i int) []byte {
	p := e.piece(int32(i))
	return e.buf[p.at:p.until]
}

// changed is the indexes of what the viewer holds and has changed since its base.
func (v *Viewer) changed(e *encoding) []int32 {
	if !v.in.shard.rules.view {
		e.index()
		return e.changed
	}
	b := &v.in.shard.scratch
	b.changed = b.changed[:0]
	for _, i := range b.held {
		if e.piece(i).is != still {
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
	if len(v.owed) == 0 {
		front := len(dst)
		if dst = v.join(dst, e); len(dst)-front <= budget {
			return dst
		}
		dst = dst[:front]
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

// join appends all that has changed of what the viewer holds. It is owed nothing.
func (v *Viewer) join(dst []byte, e *encoding) []byte {
	var list []int32
	switch {
	case v.in.shard.rules.view:
		list = v.in.shard.scratch.held
	case !e.private || v.player == 0:
		return append(dst, e.buf[:e.end]...)
	default:
		e.index()
		list = e.changed
	}
	to := joined{dst[:cap(dst)], len(dst), 0}
	for {
		list = list[e.join(&to, list):]
		if len(list) == 0 {
			return to.buf[:to.at]
		}
		o, p := &v.in.history.objects[list[0]], e.piece(list[0])
		list = list[1:]
		f := e.fields(o)[0]
		full := p.is == private && v.owns(o)
		if full {
			f = e.fields(o)[1]
		}
		if p.is == still || f.Len() == 0 {
			continue
		}
		to.buf = grow(to.buf, to.at, wire.MaxUvarint+f.Most()+spare)
		to.at = wire.PutUvarint(to.buf, to.at, p.id-to.last)
		to.last = p.id
		if full {
			to.at = len(e.append(to.buf[:to.at], o, f, false))
		} else {
			to.at += copy(to.buf[to.at:], e.buf[p.at:p.until])
		}
	}
}

// joined is a list of objects that is put together.
type joined struct {
	buf  []byte
	at   int    // its end
	last uint32 // the last object's id
}

// join appends the pieces of objects, by index, up to one that is not public, short, soon
// after the last by id and known, or for which there is no room. It returns how many it
// has passed.
func (e *encoding) join(to *joined, list []int32) int {
	pieces, src, buf, at, last := e.pieces, e.buf, to.buf, to.at, to.last
	k := 0
	for ; k < len(list); k++ {
		p := &pieces[list[k]]
		if p.is == still {
			continue
		}
		d, from, n := p.id-last, int(p.at), int(p.until-p.at)
		if p.is != public || n > spare || d >= 0x80 || len(buf)-at < spare+1 {
			break
		}
		from16, to16 := src[from:from+spare:from+spare], buf[at:at+spare+1:at+spare+1]
		to16[0] = byte(d)
		le.PutUint64(to16[1:], le.Uint64(from16))
		le.PutUint64(to16[9:], le.Uint64(from16[8:]))
		at += n + 1
		last = p.id
	}
	to.at, to.last = at, last
	return k
}

// list gathers the parts of the viewer's delta in the scratch, and returns how many
// bytes they take.
func (v *Viewer) list(e *encoding) (size int) {
	in, b := v.in, &v.in.shard.scratch
	h := &in.history
	b.parts, b.bytes = b.parts[:0], b.bytes[:0]
	add := func(i int, d *owed) {
		o := &h.objects[i]
		all, f := e.fields(o)[0], e.fields(o)[0]
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
		if !full && f == all {
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
