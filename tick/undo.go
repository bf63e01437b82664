package tick

// undo is a ring of the images that objects had before a send changed them. The
// entries of one object are linked, newest first, so that the image which stood at
// an older send is the oldest one that was put aside after it.
//
// A position counts bytes from the instance's start; the place of a position in
// the ring is its remainder by the ring's size. An entry is whole in the ring and
// starts at a multiple of 8:
//
//	+----------+----------+----------+----------+----------------+
//	| size u32 | zero u32 | send u64 | prev i64 | image, padded  |
//	+----------+----------+----------+----------+----------------+
//
// size is that of the image. An entry that does not fit before the ring's end
// starts at the ring's start, and the gap that it leaves says so:
//
//	+-------------+----------+- - - -
//	| noEntry u32 | size u32 |
//	+-------------+----------+- - - -
type undo struct {
	ring     []byte
	from, to int64
}

const (
	entryHeader = 24
	noEntry     = ^uint32(0)
	minUndo     = 1 << 10
	none        = int64(-1) // no entry
)

// push puts an image aside that send is about to replace, and returns its
// position. prev is the object's newest entry. Entries of sends up to dead may be
// forgotten.
func (u *undo) push(image []byte, send uint64, prev int64, dead uint64) int64 {
	n := int64(entryHeader + (len(image)+7)&^7)
	for {
		u.forget(dead)
		if size := int64(len(u.ring)); n*2 <= size {
			at := u.to
			if left := size - at%size; left < n {
				at += left
			}
			if at+n-u.from <= size {
				if at != u.to {
					gap := u.ring[u.to%size:]
					le.PutUint32(gap, noEntry)
					le.PutUint32(gap[4:], uint32(at-u.to))
				}
				e := u.ring[at%size:]
				le.PutUint32(e, uint32(len(image)))
				le.PutUint64(e[8:], send)
				le.PutUint64(e[16:], uint64(prev))
				copy(e[entryHeader:], image)
				u.to = at + n
				return at
			}
		}
		u.grow(n)
	}
}

// forget lets go of the oldest entries, as far as their sends are dead.
func (u *undo) forget(dead uint64) {
	size := int64(len(u.ring))
	for u.from < u.to {
		e := u.ring[u.from%size:]
		n := le.Uint32(e)
		if n == noEntry {
			u.from += int64(le.Uint32(e[4:]))
			continue
		}
		if le.Uint64(e[8:]) > dead {
			return
		}
		u.from += int64(entryHeader + (n+7)&^7)
	}
}

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
	e := u.ring[at%int64(len(u.ring)):]
	n := le.Uint32(e)
	return e[entryHeader : entryHeader+n], le.Uint64(e[8:]), int64(le.Uint64(e[16:])), true
}
