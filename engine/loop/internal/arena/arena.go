// Package arena collects the bytes that a loop writes with one flush. Frames lie one
// after another in one stretch of memory; a run is a part of it that belongs to one
// connection. A handler that does its viewers one by one makes one run of each, which
// is written as it lies. The runs of a connection that was returned to are chained, and
// copied together before they are written.
//
//	buf   | A A A | B | C C | B |
//	runs    A       B     C   B'     B -> B'
package arena

// Piece is what one connection has in an Arena; it is kept in the connection. The zero
// value is empty.
type Piece struct {
	bytes       int
	first, last int // runs; valid while bytes > 0
}

// Len is the number of bytes.
func (p *Piece) Len() int { return p.bytes }

// Arena is the memory of one loop. It is not safe for concurrent use.
type Arena struct {
	buf   []byte
	runs  []run
	spill []byte   // pieces of chained runs
	full  [][]byte // earlier spills of this flush, kept while the kernel may read them

	pending int // bytes of all pieces
	peak    int // longest buf since the last trim
	resets  int
}

type run struct {
	owner    uint32
	off, len int
	next     int // the piece's next run, 0 for none: run 0 is never a next
}

const (
	trimEvery = 1024     // resets between looks at the memory
	trimAbove = 64 << 10 // bytes of memory that are always kept
)

// Add copies frame, which is not empty, to the end of p. owner is what Owner tells of it.
func (a *Arena) Add(p *Piece, owner uint32, frame []byte) {
	off, n := len(a.buf), len(a.runs)
	a.buf = append(a.buf, frame...)
	a.pending += len(frame)
	switch {
	case p.bytes == 0:
		p.first, p.last = n, n
	case p.last == n-1: // its run is the newest: make it longer
		a.runs[p.last].len += len(frame)
		p.bytes += len(frame)
		return
	default:
		a.runs[p.last].next = n
		p.last = n
	}
	a.runs = append(a.runs, run{owner: owner, off: off, len: len(frame)})
	p.bytes += len(frame)
}

// Runs is the number of runs, to go through with Owner.
func (a *Arena) Runs() int { return len(a.runs) }

// Owner is whose the i-th run is. p, the owner's piece as it is now, is what to take
// only if it starts with that run: then each piece is found once, and one of an owner
// that is gone never.
func (a *Arena) Owner(i int) uint32 { return a.runs[i].owner }

// StartsAt reports whether p has bytes and its first run is the i-th.
func (p *Piece) StartsAt(i int) bool { return p.bytes > 0 && p.first == i }

// Take empties p and returns its bytes. They stay where they are, whatever else is
// taken, until the next Add or Reset.
func (a *Arena) Take(p *Piece) []byte {
	if p.bytes == 0 {
		return nil
	}
	r := &a.runs[p.first]
	b := a.buf[r.off : r.off+r.len]
	if r.next != 0 {
		b = a.join(p)
	}
	a.Drop(p)
	return b
}

// join copies the runs of p together.
func (a *Arena) join(p *Piece) []byte {
	if cap(a.spill)-len(a.spill) < p.bytes {
		if len(a.spill) > 0 {
			a.full = append(a.full, a.spill)
		}
		a.spill = make([]byte, 0, max(2*cap(a.spill), p.bytes))
	}
	start := len(a.spill)
	for i := p.first; ; i = a.runs[i].next {
		r := &a.runs[i]
		a.spill = append(a.spill, a.buf[r.off:r.off+r.len]...)
		if r.next == 0 {
			return a.spill[start:]
		}
	}
}

// Drop empties p.
func (a *Arena) Drop(p *Piece) {
	a.pending -= p.bytes
	p.bytes = 0
}

// Reset makes the memory free for use again, unless a piece still has bytes in it. What
// one large flush took is let go of after a while.
func (a *Arena) Reset() {
	if a.pending > 0 || len(a.runs) == 0 {
		return
	}
	a.peak = max(a.peak, len(a.buf))
	a.buf, a.runs, a.spill = a.buf[:0], a.runs[:0], a.spill[:0]
	clear(a.full)
	a.full = a.full[:0]
	if a.resets++; a.resets < trimEvery {
		return
	}
	if cap(a.buf) > trimAbove && a.peak < cap(a.buf)/4 {
		a.buf = nil
	}
	if cap(a.spill) > trimAbove {
		a.spill = nil
	}
	a.resets, a.peak = 0, 0
}
