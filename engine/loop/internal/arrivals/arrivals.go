// Package arrivals is the queue of descriptors that were given to a loop and are not
// opened yet. Whoever keeps one guards it: a Queue is not safe for concurrent use.
//
// A crowd may come at once, and a loop that is behind opens it bit by bit: the queue is
// long. What it costs is bounded twice, by descriptors and by the bytes that came with
// them. Before it is full it is crowded, so that whoever has not yet promised anything to
// a peer can still tell it to come again.
package arrivals

import "gamehoster/engine/loop"

// Bounds of a queue.
const (
	Most      = 16 << 10          // descriptors
	MostBytes = 16 << 20          // that came early, of all together
	crowded   = Most - Most/8     // from here on
	crowdedBy = MostBytes * 7 / 8 // likewise
)

// Arrival is a descriptor on its way into a loop.
type Arrival struct {
	FD    int
	Tag   uint64
	Early []byte // the queue's own copy
}

// Queue is first in, first out. The zero value is empty.
type Queue struct {
	list  []Arrival
	head  int // of list: what is before it has been taken
	bytes int // of Early in what is left
}

// Len is how many wait.
func (q *Queue) Len() int { return len(q.list) - q.head }

// Crowded reports whether the queue is nearly full.
func (q *Queue) Crowded() bool { return q.Len() >= crowded || q.bytes >= crowdedBy }

// Put adds a descriptor and copies early. It fails with loop.ErrBusy where there is no
// room; fd is the caller's then.
func (q *Queue) Put(fd int, early []byte, tag uint64) error {
	if q.Len() >= Most || q.bytes+len(early) > MostBytes {
		return loop.ErrBusy
	}
	a := Arrival{FD: fd, Tag: tag}
	if len(early) > 0 {
		a.Early = append(a.Early, early...)
		q.bytes += len(early)
	}
	q.list = append(q.list, a)
	return nil
}

// Take appends the next n to dst, or as many as there are.
func (q *Queue) Take(dst []Arrival, n int) []Arrival {
	part := q.list[q.head:][:min(n, q.Len())]
	dst = append(dst, part...)
	for i := range part {
		q.bytes -= len(part[i].Early)
	}
	clear(part) // nothing keeps the early bytes
	q.head += len(part)
	switch {
	case q.head < len(q.list):
		if q.head > len(q.list)/2 { // each is moved once for each that was taken, at most
			q.list = q.list[:copy(q.list, q.list[q.head:])]
			clear(q.list[len(q.list):cap(q.list)])
			q.head = 0
		}
	case cap(q.list) > kept:
		q.list, q.head = nil, 0
	default:
		q.list, q.head = q.list[:0], 0
	}
	return dst
}

// kept is the longest queue whose memory is kept for the next ones.
const kept = 1024
