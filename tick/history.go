package tick

import (
	"cmp"
	"slices"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// historySends is how many send ticks a delta can reach back.
const historySends = 64

// object is what the engine knows of an object of the last send tick. Sends are
// numbered from 1 as they are committed.
type object struct {
	id     uint32
	row    uint32 // index among its type's rows
	slot   uint32 // its place in sets of objects, in games with view bodies
	typ    uint16
	enters bool   // viewers that run the bodies are told of it, too
	owner  uint32 // player; 0 for none
	image  int32  // slot in the images of its type
	born   uint64 // send at which it was first there
	sent   uint64 // send at which a sent field last changed
	before uint64 // the one at which one had changed before that
	fields uint64 // those that changed then, as wire.Fields.Changed has it for the owner
	whole  uint64 // the same of all fields; kept only while there are thin viewers
	wrote  uint64 // send at which a server body was last found to have written a shared field
	spoilt uint64 // send at which a rewind was last found to have changed one in the past
	since  uint64 // and the oldest past send in which it did
	undo   int64  // its newest entry
}

// gone is an object that was removed.
type gone struct {
	id   uint32
	typ  uint16 // 0 where it is not known
	born uint64
	send uint64 // at which it was found to be no more
}

// images are the parts of rows as sent, of one type. Where numbers travel as steps there
// is behind each image the row of which it was made: only what is not as it was there
// has to be turned into steps.
type images struct {
	size  int          // bytes of one
	each  int          // bytes of a slot
	steps *wire.Fields // makes them; nil where rows are their own images
	buf   []byte
	free  []int32
}

// newImages are none of type typ yet, wide ones where thin viewers are sent to.
func (s *Shard) newImages(typ int, wide bool) images {
	p := &s.plans[typ]
	m := images{size: p.sent[1].End(), steps: p.steps}
	if wide {
		m.size = p.whole[1].End()
	}
	m.each = m.size
	if m.steps != nil {
		m.each *= 2
	}
	return m
}

func (m *images) at(slot int32) []byte {
	at := int(slot) * m.each
	return m.buf[at : at+m.size : at+m.size]
}

// put makes the image of a row.
func (m *images) put(slot int32, row []byte) {
	if m.steps == nil {
		copy(m.at(slot), row)
		return
	}
	m.steps.Image(m.at(slot), row)
	copy(m.buf[int(slot)*m.each:][m.size:m.each], row)
}

func (m *images) take() int32 {
	if n := len(m.free); n > 0 {
		slot := m.free[n-1]
		m.free = m.free[:n-1]
		return slot
	}
	if m.size == 0 {
		return 0
	}
	n := len(m.buf)
	m.buf = append(m.buf, make([]byte, m.each)...)
	return int32(n / m.each)
}

// history is what was sent of an instance, and when.
type history struct {
	objects []object // the instance first, then all others by id
	images  []images // by type
	undo    undo
	gone    []gone // by send
	dead    uint64 // the newest send that is forgotten
	wide    bool   // images go as far as the shared fields

	newest    uint64 // the last send at which anything changed
	made      uint64 // the same of the birth of an object
	entered   uint64 // and of those that are announced to all
	wrote     uint64 // the last send at which one was found written by a server body
	spoilt    uint64 // the same of those that a rewind has changed
	given     uint32 // the shared counter at the last send
	nextShare uint32 // the least that it has been since
	slots     uint32 // how many there are
	free      []uint32
}

func (h *history) init(s *Shard) {
	h.objects = append(h.objects, object{undo: none})
	h.slots = 1 // the instance's
	h.images = make([]images, len(s.layout.Types))
	for i := range h.images {
		h.images[i] = s.newImages(i, false)
	}
	h.objects[0].image = h.images[schema.InstanceType].take()
	h.given, h.nextShare = schema.FirstShared, schema.FirstShared
}

// Commit records what this send tick will send: which objects there are, how they
// look and what has changed. It is called once per send tick, before the viewers.
func (in *Instance) Commit() {
	if in.block == nil || in.sends > 0 && in.sendTick == in.tick {
		return
	}
	s := in.shard
	in.sends++
	in.sendTick = in.tick
	s.stats.Sends++
	h := &in.history
	h.dead = in.deadSend()
	h.forget()
	h.undo.forget(min(h.dead, in.sends-1))
	in.relay.prune(in.tick-s.rules.depth, s.layout.CommandStride)

	in.walk()
	in.insert()
	h.undo.end(in.sends)
	in.ghosts()
	in.spoil()
	if wide := in.thin > 0; wide != h.wide {
		in.rewrite(wide)
	}
	in.hashes.commit(in)
	if s.rules.rewinds {
		in.keep()
	}
}

// column is the rows of a type, how far a walk has come, and what it compares them
// with.
type column struct {
	rows       []byte
	at, stride int    // of the next row
	row        uint32 // its index

	images      []byte
	size, each  int
	sent, whole *wire.Fields // as the owner sees them; whole is nil where only the sent ones count
	steps       *wire.Fields // as of images
	lane        *wire.Lane   // for runs; nil where those are not for the type
}

// next is the next row's id; not ok at the end.
func (c *column) next() (id uint32, ok bool) {
	if c.at >= len(c.rows) {
		return 0, false
	}
	return le.Uint32(c.rows[c.at+schema.RowID:]), true
}

// rest begins with the next row.
func (c *column) rest() []byte { return c.rows[c.at:] }

func (c *column) pass() {
	c.at += c.stride
	c.row++
}

// columns gives all rows by type. It is valid until it is asked for again.
func (in *Instance) columns() []column {
	s, h := in.shard, &in.history
	list := s.scratch.columns
	for typ := range list {
		t, m, p := &s.layout.Types[typ], &h.images[typ], &s.plans[typ]
		c := column{rows: in.block[t.Rows:][:in.count(typ)*t.Stride], stride: t.Stride, images: m.buf, size: m.size, each: m.each, sent: p.sent[1], steps: m.steps}
		if h.wide {
			c.whole = p.whole[1]
		} else if len(p.lanes.list) == 1 && !in.timeline.rewound {
			c.lane = &p.lanes.list[0]
		}
		list[typ] = c
	}
	return list
}

// walk goes through the known objects and the rows side by side, and compares each
// object with its image. What is no more goes to gone, what is new to the scratch, by
// id.
func (in *Instance) walk() {
	b := &in.shard.scratch
	h := &in.history
	columns := in.columns()
	b.fresh = b.fresh[:0]
	undo, sends, rewound := &h.undo, in.sends, in.timeline.rewound
	kept, objects := 0, h.objects
	for i := 0; i < len(objects); i++ {
		o := &objects[i]
		c := &columns[o.typ]
		if c.lane != nil {
			if end := in.walkRun(c, i, kept); end > i {
				kept += end - i
				i = end - 1
				continue
			}
		}
		row := c.rows[c.at:]
		// A row begins with id and mark: what is not marked begins with the id alone.
		if len(row) == 0 || le.Uint64(row) != uint64(o.id) || rewound {
			if !in.stays(o, c) {
				in.lose(o)
				continue
			}
			row = c.rest()
			in.written(o, row)
		}
		o.row = c.row
		c.at += c.stride
		c.row++
		if c.size > 0 {
			at := int(o.image) * c.each
			image := c.images[at : at+c.size : at+c.size]
			now := row
			if c.steps != nil {
				now = b.image[:c.size]
				if !c.steps.NextImage(now, row, image, c.images[at+c.size:at+c.each]) {
					now = image
				}
			}
			if x := c.sent.Changed(now, image); x != 0 {
				o.before, o.sent, o.fields = o.sent, sends, x
				o.undo = undo.push(image, now, o.id, sends, o.undo)
				o.whole, h.newest = sends, sends
			} else if c.whole != nil && c.whole.Differ(now, image) {
				in.replace(o, now, image)
			}
		}
		if kept < i {
			objects[kept] = *o
		}
		kept++
	}
	h.objects = objects[:kept]
	for typ := range columns {
		c := &columns[typ]
		for c.at < len(c.rows) {
			in.found(typ, c)
		}
	}
	slices.SortFunc(b.fresh, func(a, b object) int { return cmp.Compare(a.id, b.id) })
}

// stays finds the row of a known object among the rows of its type that come next, and
// passes over those of new objects before it. It reports false, with the object's own
// row passed, too, if the object is no more.
func (in *Instance) stays(o *object, c *column) bool {
	id, there := c.next()
	for there && id < o.id {
		in.found(int(o.typ), c)
		id, there = c.next()
	}
	if !there || id != o.id {
		return false
	}
	if in.timeline.rewound && in.replaced(o, c.rest()) {
		f := in.found(int(o.typ), c)
		f.spoilt, f.since = o.spoilt, o.since
		f.enters = in.announced(id) // others are replaced where they were made
		return false
	}
	return true
}

// replace puts a row in an image's place, which is put aside.
func (in *Instance) replace(o *object, row, image []byte) {
	h := &in.history
	o.undo = h.undo.push(image, row, o.id, in.sends, o.undo)
	o.whole, h.newest = in.sends, in.sends
}

// lose takes note that a known object is no more.
func (in *Instance) lose(o *object) {
	h := &in.history
	h.gone = append(h.gone, gone{o.id, o.typ, o.born, in.sends})
	if m := &h.images[o.typ]; m.size > 0 {
		m.free = append(m.free, o.image)
	}
	if in.shard.rules.view {
		in.outOfWorld(o)
	}
}

// outOfWorld tells the viewers that hold an object that it is no more, and frees its
// slot.
func (in *Instance) outOfWorld(o *object) {
	for _, v := range in.viewers {
		v.view.gone(o)
	}
	in.history.free = append(in.history.free, o.slot)
}

// takeSlot gives a new object its slot.
func (h *history) takeSlot() uint32 {
	if n := len(h.free); n > 0 {
		slot := h.free[n-1]
		h.free = h.free[:n-1]
		return slot
	}
	h.slots++
	return h.slots - 1
}

// replaced reports whether the object in the row is another one than the known one
// of its id and type, because a rewind gave the id to it.
func (in *Instance) replaced(o *object, row []byte) bool {
	return in.timeline.wasReborn(o.id) || o.owner != in.owner(int(o.typ), row)
}

// found notes the next row of the type as that of a new object, and passes it.
func (in *Instance) found(typ int, c *column) *object {
	b := &in.shard.scratch
	id := le.Uint32(c.rest()[schema.RowID:])
	b.fresh = append(b.fresh, object{id: id, typ: uint16(typ), row: c.row, undo: none, enters: in.announced(id) || in.back(typ, id),
		owner: in.owner(typ, c.rest()), born: in.sends, sent: in.sends, whole: in.sends})
	c.pass()
	return &b.fresh[len(b.fresh)-1]
}

// insert puts the new objects among the known ones.
func (in *Instance) insert() {
	h := &in.history
	fresh := in.shard.scratch.fresh
	if len(fresh) == 0 {
		return
	}
	to := len(h.objects) + len(fresh)
	from := len(h.objects)
	h.objects = slices.Grow(h.objects, len(fresh))[:to]
	for n := len(fresh); n > 0; {
		to--
		if from > 1 && h.objects[from-1].id > fresh[n-1].id {
			from--
			h.objects[to] = h.objects[from]
			continue
		}
		n--
		o := &h.objects[to]
		*o = fresh[n]
		row := in.row(int(o.typ), int(o.row))
		m := &h.images[o.typ]
		o.image = m.take()
		m.put(o.image, row)
		if in.shard.rules.view {
			o.slot = h.takeSlot()
		}
		in.written(o, row)
		h.newest, h.made = in.sends, in.sends
		if o.enters {
			h.entered = in.sends
		}
	}
}

// written takes note of the mark of server bodies.
func (in *Instance) written(o *object, row []byte) {
	if mark := le.Uint32(row[schema.RowMark:]); mark&schema.MarkWritten != 0 {
		le.PutUint32(row[schema.RowMark:], mark&^schema.MarkWritten)
		o.wrote = in.sends
		in.history.wrote = in.sends
	}
}

// ghosts notes the objects of shared bodies that were made and removed since the
// last send, if it cannot be known that clients removed them too.
func (in *Instance) ghosts() {
	h := &in.history
	next := le.Uint32(in.block[schema.HeaderNextShared:])
	from := h.nextShare
	h.given, h.nextShare = next, next
	if !in.shard.rules.removals || in.shard.rules.view || in.sends == 1 {
		return
	}
	at, _ := h.find(from)
	for id := from; id < next; id += schema.IDStep {
		for at < len(h.objects) && h.objects[at].id < id {
			at++
		}
		if at == len(h.objects) || h.objects[at].id != id {
			h.gone = append(h.gone, gone{id, 0, in.sends, in.sends})
		}
	}
}

// spoil notes on the objects what rewinds since the last send have changed.
func (in *Instance) spoil() {
	h, l := &in.history, &in.timeline
	for _, x := range l.spoilt {
		i, ok := h.find(x.id)
		if !ok {
			continue
		}
		o := &h.objects[i]
		if o.spoilt <= h.dead {
			o.since = x.send
		}
		o.since = min(o.since, x.send)
		o.spoilt, h.spoilt = in.sends, in.sends
	}
	l.spoilt = l.spoilt[:0]
	l.rewound = false
}

// rewrote notes that viewers have to be told at send what a server body wrote to an
// object; ok is false if it is none that they know.
func (h *history) rewrote(id uint32, send uint64) (ok bool) {
	i, ok := h.find(id)
	if ok {
		h.objects[i].wrote, h.wrote = send, send
	}
	return ok
}

// find is where an object is or would be.
func (h *history) find(id uint32) (i int, ok bool) {
	return slices.BinarySearchFunc(h.objects, id, func(o object, id uint32) int { return cmp.Compare(o.id, id) })
}

// rewrite makes all images anew, so that they go as far as is needed now.
func (in *Instance) rewrite(wide bool) {
	h := &in.history
	h.wide = wide
	for i := range h.images {
		h.images[i] = in.shard.newImages(i, wide)
	}
	for i := range h.objects {
		o := &h.objects[i]
		m := &h.images[o.typ]
		o.image = m.take()
		m.put(o.image, in.row(int(o.typ), int(o.row)))
	}
}

// back reports whether an object that is new to the history had been made before the
// last send. A rewind has brought it back, and viewers may have been told to let it
// go.
func (in *Instance) back(typ int, id uint32) bool {
	return in.timeline.rewound && in.shard.rules.removes[typ] && id < in.history.given
}

// announced reports whether a viewer that runs the bodies is told of an object's
// making and removal because of who made it.
func (in *Instance) announced(id uint32) bool {
	return in.shard.rules.view || id&3 != schema.FirstShared
}

// deadSend is the newest send of which no viewer needs to know what it replaced:
// the oldest base there is, or last snapshot that may have to be sent again. A viewer
// whose base is too old gets a snapshot, whatever it acks until then: what has come since
// is not kept for it.
func (in *Instance) deadSend() uint64 {
	dead := in.sends
	for _, v := range in.viewers {
		if v.due == causeNone && in.sends-v.base >= historySends {
			v.due = CauseBase
		}
		if v.due == causeNone {
			dead = min(dead, v.base)
			if v.young() {
				dead = min(dead, v.snapSend)
			}
		}
	}
	return dead
}

// forget lets go of removals that all viewers were told of.
func (h *history) forget() {
	n := 0
	for n < len(h.gone) && h.gone[n].send <= h.dead {
		n++
	}
	if n > 0 {
		h.gone = h.gone[:copy(h.gone, h.gone[n:])]
	}
}

// imageAt is how an object looked at send base.
func (h *history) imageAt(o *object, base uint64) (image []byte) {
	image = h.image(o)
	for at := o.undo; ; {
		old, send, prev, there := h.undo.entry(at)
		if !there || send <= base {
			return image
		}
		if send == base+1 {
			return old // what is older still is of base at the latest
		}
		image, at = old, prev
	}
}

// born is the send at which an object was first there, of one that was there at send
// last; not ok if none was. Of an object that is gone last is at most 64 sends ago.
func (h *history) born(id uint32, last uint64) (send uint64, ok bool) {
	if i, ok := h.find(id); ok {
		return h.objects[i].born, h.objects[i].born <= last
	}
	for i := len(h.gone) - 1; i >= 0 && h.gone[i].send > last; i-- {
		if g := &h.gone[i]; g.id == id && g.born <= last {
			return g.born, true
		}
	}
	return 0, false
}

// image is how an object looks.
func (h *history) image(o *object) []byte { return h.images[o.typ].at(o.image) }

// hashes are state hashes of past send ticks, for comparing. They are only taken
// while clients send theirs.
type hashes struct {
	until uint64 // the send up to which they are taken
	ring  []hashAt
}

type hashAt struct {
	send uint64
	hash uint64
}

// hashedSends is for how many sends hashes are taken after a client sent one.
const hashedSends = 1024

// want makes the coming commits take hashes.
func (x *hashes) want(sends uint64) {
	if x.ring == nil {
		x.ring = make([]hashAt, historySends)
	}
	x.until = sends + hashedSends
}

func (x *hashes) commit(in *Instance) {
	if in.sends <= x.until && x.ring != nil {
		x.ring[in.sends%historySends] = hashAt{in.sends, in.StateHash()}
	}
}

// at is the hash of a send, if it was taken.
func (x *hashes) at(send uint64) (hash uint64, ok bool) {
	if x.ring == nil {
		return 0, false
	}
	h := &x.ring[send%historySends]
	return h.hash, h.send == send
}
