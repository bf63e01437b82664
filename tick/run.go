package tick

import "gamehoster/wire"

// Nearly all of a send's time goes to objects of which the same is to be done as of the
// one before: one of the same type that has moved. For those, as far as a run of them
// reaches, there are two loops with no call in them, but for the one that turns numbers
// into steps, so that what they need stays in registers. They stop at an object that is any different, leave it to those who know
// all cases, and are begun again behind it.
//
//	objects    a a a a a a b a a a a A a a a
//	           '---------'   '-----'   '---'   runs
//	                       ^         ^         one by one

// lanes are the sent fields of a type as an owner, and as the public, see them; none
// where the loops are not for them.
type lanes struct {
	list []wire.Lane
	mask int // bytes of a mask
}

func newLanes(f *wire.Fields) lanes {
	return lanes{f.Lanes(), f.MaskLen()}
}

// walkRun walks from object number i on, as walk does, and returns where it stopped. The
// objects are those from kept on, if some were lost. All sent fields of their type are in
// one lane: a loop over more of them in the loop is slower than calls.
func (in *Instance) walkRun(c *column, i, kept int) (end int) {
	objects, sends := in.history.objects, in.sends
	l, steps := c.lane, c.steps != nil
	off := l.Off
	u := &in.history.undo
	typ, rows, at, row := objects[i].typ, c.rows, c.at, c.row
	images, each, size, stride := c.images, c.each, c.size, c.stride
	whole := entryHeader + size
	begin := u.place(int64(whole))
	ring, to := u.ring, begin
	last := u.from + int64(len(ring)) // where the ring is full
	for ; i < len(objects); i++ {
		o := &objects[i]
		if o.typ != typ || at >= len(rows) {
			break
		}
		now := rows[at:]
		if le.Uint64(now) != uint64(o.id) {
			break
		}
		from := int(o.image) * each
		image := images[from : from+each : from+each]
		x, y := le.Uint64(now[off:]), le.Uint64(image[off:])
		made := y // what the image was made of
		if steps {
			made = le.Uint64(image[size+off:])
		}
		if x != made {
			place := int(to) & (len(ring) - 1)
			if place+whole > len(ring) || to+int64(whole) > last {
				break
			}
			if steps {
				le.PutUint64(image[size+off:], x)
				x = l.Image(x)
			}
			le.PutUint64(image[off:], x)
			if fields := l.Changed(x ^ y); fields != 0 {
				e := ring[place : place+whole : place+whole]
				le.PutUint64(e, uint64(size)|uint64(o.id)<<32)
				le.PutUint64(e[8:], sends)
				le.PutUint64(e[16:], uint64(o.undo))
				le.PutUint64(e[entryHeader+off:], y)
				o.undo = to
				to += int64(whole)
				o.before, o.sent, o.fields, o.whole = o.sent, sends, fields, sends
			}
		}
		o.row = row
		at += stride
		row++
		if kept < i {
			objects[kept] = *o
		}
		kept++
	}
	c.at, c.row = at, row
	if to > begin {
		u.to, in.history.newest = to, sends
	}
	return i
}

// encodeRun encodes from object number i on, as all does for those that have changed and
// were there at the base, and returns where it stopped.
func (e *encoding) encodeRun(r *runs, i int) (end int) {
	objects := e.in.history.objects
	o := &objects[i]
	m, p := &e.in.history.images[o.typ], &e.plans[o.typ].lanes
	list, mask := p.list, p.mask
	typ, images, each, size := o.typ, m.buf, m.each, m.size
	ring, past, until := r.past.ring, r.past.at, r.past.end
	buf, at, last, base := e.buf, r.at, r.last, e.base
	room, whole := r.room, entryHeader+size
	for ; i < len(objects); i++ {
		o := &objects[i]
		if o.typ != typ || o.sent <= base || o.born > base || o.id-last >= 0x80 || len(buf)-at < room {
			break
		}
		from := int(o.image) * each
		image := images[from : from+size : from+size]
		fields := o.fields
		if o.before > base {
			if past >= until {
				break
			}
			old := ring[int(past)&(len(ring)-1):]
			if le.Uint64(old) != uint64(size)|uint64(o.id)<<32 {
				break
			}
			old = old[entryHeader:whole:whole]
			past += int64(whole)
			fields = 0
			for k := range list {
				l := &list[k]
				fields |= l.Changed(le.Uint64(image[l.Off:]) ^ le.Uint64(old[l.Off:]))
			}
		}
		buf[at] = byte(o.id - last)
		last = o.id
		le.PutUint64(buf[at+1:], fields)
		at += 1 + mask
		for k := range list {
			l := &list[k]
			v, n := l.Values(le.Uint64(image[l.Off:]), fields)
			le.PutUint64(buf[at:], v)
			at += n
		}
	}
	r.past.at, r.at, r.last = past, at, last
	return i
}

// runs is how far an encoding has come.
type runs struct {
	past past
	at   int    // the end of what is in buf
	last uint32 // the last object's id
	room int    // that an object of the type may take
}
