package tick

// undo is a ring of the images that objects had before a send changed them. The
// entries of one object are linked, newest first, so that the image which stood at
// an older send is the oldest one that was put aside after it.
//
// A position counts bytes from the instance's start; the place of a position in
// the ring is its remainder by the ring's size, a power of two. An entry is whole in
// the ring and starts at a multiple of 8; one that does not fit before the ring's end
// starts at the ring's start:
//
//	+----------+----------+----------+----------+----------------+
//	| size u32 | zero u32 | send u64 | prev i64 | image, padded  |
//	+----------+----------+----------+----------+----------------+
//
// size is that of the image.
type undo struct {
	ring     []byte
	from, to int64
	ends     [historySends]int64 // by send, modulo its size: where its entries end
}

const (
	entryHeader = 24
	minUndo     = 1 << 10
	none        = int64(-1) // no entry
)

// push puts an image aside that send is about to replace, and returns its
// position. prev is the object's newest entry.
func (u *undo) push(image []byte, send uint64, prev int64) int64 {
	n := int64(entryHeader + (len(image)+7)&^7)
	at := u.place(n)
	for at < 0 {
		u.grow(n)
		at = u.place(n)
	}
	e := u.ring[at&int64(len(u.ring)-1):][:n]
	le.PutUint64(e, uint64(len(image)))
	le.PutUint64(e[8:], send)
	le.PutUint64(e[16:], uint64(prev))
	copy(e[entryHeader:], image)
	u.to = at + n
	return at
}

// place is where an entry of n bytes goes; negative if there is no room.
func (u *undo) place(n int64) int64 {
	size := int64(len(u.ring))
	at := u.to
	if left := size - at&(size-1); left < n {
		at += left
	}
	if at+n-u.from > size || n > size {
		return -1
	}
	return at
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
