package tick

// undo is a ring of the images that objects had before a send changed them. The
// entries of one object are linked, newest first, so that the image which stood at
// an older send is the oldest one that was put aside after it. The entries of one send
// stand in the order of their objects' ids: who goes through all objects finds what he
// needs of a send one behind the other (see past).
//
// A position counts bytes from the instance's start; the place of a position in
// the ring is its remainder by the ring's size, a power of two. An entry is whole in
// the ring and starts at a multiple of 8; one that does not fit before the ring's end
// starts at the ring's start, and what is left there says how much it is:
//
//	+----------+--------+----------+----------+----------+      +------------+---------+
//	| size u32 | id u32 | send u64 | prev i64 | image .. | ...  | gapped u32 | gap u32 |
//	+----------+--------+----------+----------+----------+      +------------+---------+
//
// size is that of the image, a multiple of 8.
type undo struct {
	ring     []byte
	from, to int64
	ends     [historySends]int64 // by send, modulo its size: where its entries end
}

const (
	entryHeader = 24
	minUndo     = 1 << 10
	none        = int64(-1)  // no entry
	gapped      = ^uint32(0) // in place of a size
)

// push puts an image of an object aside that send is about to replace, and next in its
// place, and returns its position. prev is the object's newest entry.
func (u *undo) push(image, next []byte, id uint32, send uint64, prev int64) int64 {
	n := int64(entryHeader + len(image))
	at := u.to
	i := at & int64(len(u.ring)-1)
	if i+n > int64(len(u.ring)) || at+n-u.from > int64(len(u.ring)) {
		at = u.place(n)
		i = at & int64(len(u.ring)-1)
	}
	e := u.ring[i : i+n : i+n]
	u.to = at + n
	le.PutUint64(e, uint64(len(image))|uint64(id)<<32)
	le.PutUint64(e[8:], send)
	le.PutUint64(e[16:], uint64(prev))
	// Words are sooner there than calls that copy.
	e, next = e[entryHeader:], next[:len(image)]
	for k := 0; k <= len(image)-8; k += 8 {
		le.PutUint64(e[k:], le.Uint64(image[k:]))
		le.PutUint64(image[k:], le.Uint64(next[k:]))
	}
	return at
}

// place sees to it that there is room for an entry of n bytes, and returns where.
func (u *undo) place(n int64) int64 {
	for {
		size := int64(len(u.ring))
		at := u.to
		left := size - at&(size-1)
		if left < n {
			at += left
		}
		if n <= size && at+n-u.from <= size {
			if at > u.to {
				gap := u.ring[u.to&(size-1):]
				le.PutUint32(gap, gapped)
				le.PutUint32(gap[4:], uint32(left))
			}
			return at
		}
		u.grow(n)
	}
}

// end takes note that all entries of a send are there.
func (u *undo) end(send uint64) { u.ends[send%historySends] = u.to }

// forget lets go of the entries of sends up to dead, which must be one of the last 64.
func (u *undo) forget(dead uint64) { u.from = max(u.from, u.ends[dead%historySends]) }

// grow doubles the ring, at least so far that an entry of n bytes fits. As sizes
// are powers of two, no entry comes to lie across the new ring's end.
func (u *undo) grow(n int64) {
	old := int64(len(u.ring))
	size := max(minUndo, 2*old)
	for size < 4*n {
		size *= 2
	}
	ring := make([]byte, size)
	for at := u.from; at < u.to; {
		end := min(u.to, at-at%old+old)
		copy(ring[at%size:], u.ring[at%old:at%old+end-at])
		at = end
	}
	u.ring = ring
}

// entry is the one at a position, or ok is false if there is none any more.
func (u *undo) entry(at int64) (image []byte, send uint64, prev int64, ok bool) {
	if at < u.from {
		return nil, 0, none, false
	}
	e := u.ring[at&int64(len(u.ring)-1):]
	n := le.Uint32(e)
	return e[entryHeader : entryHeader+n], le.Uint64(e[8:]), int64(le.Uint64(e[16:])), true
}

// past gives the images that objects had at a send, of those that changed with the
// next one.
type past struct {
	ring    []byte
	at, end int64
}

// at begins to go through the objects. The send is one of the last 64, and its entries
// are all there still.
func (u *undo) at(send uint64) past {
	return past{u.ring, max(u.from, u.ends[send%historySends]), u.ends[(send+1)%historySends]}
}

// image is the one of an object. The ids asked for ascend. ok is false if the next send
// did not change the object.
func (p *past) image(id uint32) (image []byte, ok bool) {
	for p.at < p.end {
		e := p.ring[p.at&int64(len(p.ring)-1):]
		x := le.Uint64(e)
		n := uint32(x)
		switch its := uint32(x >> 32); {
		case n == gapped:
			p.at += int64(its)
		case its < id:
			p.at += int64(entryHeader + n)
		case its > id:
			return nil, false
		default:
			p.at += int64(entryHeader + n)
			return e[entryHeader : entryHeader+n], true
		}
	}
	return nil, false
}
