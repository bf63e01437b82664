package ticktest

import (
	"math"
	"math/rand/v2"
	"time"

	"gamehoster/wire/line"
)

// TickTime is how long a tick lasts on a Line.
const TickTime = 40 * time.Millisecond

// calm is a line that is one tick long.
var calm = line.Conditions{Delay: TickTime}

// RandomConditions are those of a good line, a bad one or a terrible one.
func RandomConditions(rng *rand.Rand) line.Conditions {
	ticks := func(n int) time.Duration { return time.Duration(n) * TickTime }
	perTick := func(bytes int) int64 { return int64(bytes) * int64(time.Second/TickTime) }
	c := line.Conditions{Delay: ticks(rng.IntN(3))}
	switch rng.IntN(3) {
	case 1:
		c = line.Conditions{Delay: ticks(1 + rng.IntN(5)), Jitter: ticks(rng.IntN(4)), Stall: ticks(rng.IntN(8)), Bandwidth: perTick(400 + rng.IntN(2000))}
	case 2:
		c = line.Conditions{Delay: ticks(rng.IntN(12)), Jitter: ticks(rng.IntN(10)), Stall: ticks(rng.IntN(60)), Bandwidth: perTick(60 + rng.IntN(400))}
	}
	c.StallEvery = time.Duration(1+rng.IntN(4)) * time.Second
	c.Seed = rng.Uint64()
	return c
}

// Line is one direction of a connection in virtual time: messages on a pipe, and the
// bytes before it that it has no room for.
//
//	Send --> [ unsent ] --> line.Pipe --> [ part of a message ] --> Tick's f
type Line struct {
	pipe   *line.Pipe
	now    time.Duration
	unsent []byte
	got    []byte
	sizes  []int // of the messages from the first that is not out on
}

// NewLines makes the two directions of a connection.
func NewLines(c line.Conditions) (up, down *Line) {
	there, back := c.Lines(0)
	return &Line{pipe: line.NewPipe(there)}, &Line{pipe: line.NewPipe(back)}
}

// Send puts a copy of a message on the line.
func (l *Line) Send(m []byte) {
	l.sizes = append(l.sizes, len(m))
	l.unsent = append(l.unsent, m...)
	l.push()
}

func (l *Line) push() {
	n := l.pipe.Write(l.now, l.unsent)
	l.unsent = l.unsent[:copy(l.unsent, l.unsent[n:])]
}

// Drained reports whether the line has room: whether a socket on it has been drained.
func (l *Line) Drained() bool { return l.pipe.Room() > 0 }

// Tick lets a tick pass and calls f for each message that arrives in it. m is valid
// during the call.
func (l *Line) Tick(f func(m []byte)) {
	l.now += TickTime
	for l.read(l.now) > 0 {
		l.push()
	}
	out := 0
	for len(l.sizes) > 0 && len(l.got)-out >= l.sizes[0] {
		m := l.got[out : out+l.sizes[0] : out+l.sizes[0]]
		out += len(m)
		l.sizes = l.sizes[1:]
		f(m)
	}
	l.got = l.got[:copy(l.got, l.got[out:])]
}

// read takes over what has come out by a time, and returns how much that was.
func (l *Line) read(at time.Duration) int {
	var buf [1024]byte
	n, _ := l.pipe.Read(at, buf[:])
	l.got = append(l.got, buf[:n]...)
	return n
}

// Calm makes the line a good one: what is on it comes out with the next tick.
func (l *Line) Calm() {
	for l.read(math.MaxInt64) > 0 {
		l.push()
	}
	good, _ := calm.Lines(0)
	l.pipe = line.NewPipe(good)
}
