package line

import "time"

// Pipe is the bytes on a Line: they go in at one end and come out at the other when the
// line lets them, in order. Its end travels like a byte. It is not safe for concurrent
// use.
//
//	Write, CloseWrite -->  [ segments under way: bytes, time of arrival ]  --> Read
//	        Room                              Next
type Pipe struct {
	line     *Line
	room     int
	bytes    []byte // under way, from read on
	read     int
	segments []arrival // those under way, from first on
	first    int
	closed   bool
	end      time.Duration // when the end comes out
}

// arrival is when all bytes up to a place in the stream have come out.
type arrival struct {
	n  int
	at time.Duration
}

// NewPipe makes the pipe over one direction of a connection under the conditions.
func NewPipe(l *Line) *Pipe { return &Pipe{line: l, room: l.c.Window()} }

// Room is how many bytes the pipe takes now; 0 once it was closed.
func (p *Pipe) Room() int {
	if p.closed {
		return 0
	}
	return p.room - (len(p.bytes) - p.read)
}

// Write puts in what there is room for and returns how much that was. It keeps no
// reference to b.
func (p *Pipe) Write(now time.Duration, b []byte) int {
	b = b[:min(len(b), p.Room())]
	if p.read > len(p.bytes)/2 { // what came out makes place
		p.bytes = p.bytes[:copy(p.bytes, p.bytes[p.read:])]
		p.read = 0
	}
	p.bytes = append(p.bytes, b...)
	for left := len(b); left > 0; {
		n := left
		if p.line.c.Bandwidth > 0 {
			n = min(n, segment)
		}
		left -= n
		p.put(arrival{n, p.line.Arrival(now, n)})
	}
	return len(b)
}

func (p *Pipe) put(a arrival) {
	if n := len(p.segments); n > p.first && p.segments[n-1].at == a.at {
		p.segments[n-1].n += a.n
		return
	}
	if p.first > len(p.segments)/2 {
		p.segments = p.segments[:copy(p.segments, p.segments[p.first:])]
		p.first = 0
	}
	p.segments = append(p.segments, a)
}

// CloseWrite says that nothing follows. The other end learns it after all bytes.
func (p *Pipe) CloseWrite(now time.Duration) {
	if !p.closed {
		p.closed = true
		p.end = p.line.Arrival(now, 0)
	}
}

// Next is when something comes out: bytes, or the end. False where nothing is under way.
func (p *Pipe) Next() (at time.Duration, ok bool) {
	if p.first < len(p.segments) {
		return p.segments[p.first].at, true
	}
	return p.end, p.closed
}

// Read takes out what has arrived by now, as much as dst holds, and reports whether
// that was the last: the other side has closed and everything before it was read.
func (p *Pipe) Read(now time.Duration, dst []byte) (n int, end bool) {
	for p.first < len(p.segments) && n < len(dst) {
		s := &p.segments[p.first]
		if s.at > now {
			return n, false
		}
		k := copy(dst[n:], p.bytes[p.read:p.read+s.n])
		n += k
		p.read += k
		if s.n -= k; s.n == 0 {
			p.first++
		}
	}
	return n, p.first == len(p.segments) && p.closed && p.end <= now
}
