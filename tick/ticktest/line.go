package ticktest

import "math/rand/v2"

// Conditions are what a line does to what is sent over it, in ticks and bytes. It
// stands for TCP: nothing is lost and the order is kept, so a packet that is lost on
// the way is a stall of all that is behind it.
type Conditions struct {
	Delay  int // ticks of one direction
	Jitter int // ticks more at most, another number for each message
	Stall  int // out of 1000 messages, how many are held up
	Held   int // for so many ticks
	Bytes  int // that go through in a tick; 0 for any number
}

// RandomConditions are those of a good line, a bad one or a terrible one.
func RandomConditions(rng *rand.Rand) Conditions {
	c := Conditions{Delay: rng.IntN(3)}
	switch rng.IntN(3) {
	case 1:
		c = Conditions{Delay: 1 + rng.IntN(5), Jitter: rng.IntN(4), Stall: rng.IntN(20), Held: rng.IntN(8), Bytes: 400 + rng.IntN(2000)}
	case 2:
		c = Conditions{Delay: rng.IntN(12), Jitter: rng.IntN(10), Stall: rng.IntN(60), Held: rng.IntN(60), Bytes: 60 + rng.IntN(400)}
	}
	return c
}

// Line is one direction of a connection in virtual time.
type Line struct {
	Conditions
	rng    *rand.Rand
	queue  []parcel
	last   int // when the newest message arrives
	credit int // bytes
	now    int
}

type parcel struct {
	at int
	m  []byte
}

// NewLine makes a line whose luck is drawn from rng.
func NewLine(c Conditions, rng *rand.Rand) *Line { return &Line{Conditions: c, rng: rng} }

// Send puts a copy of a message on the line.
func (l *Line) Send(m []byte) {
	at := l.now + l.Delay
	if l.Jitter > 0 {
		at += l.rng.IntN(l.Jitter + 1)
	}
	if l.rng.IntN(1000) < l.Stall {
		at += l.Held
	}
	l.last = max(l.last, at)
	l.queue = append(l.queue, parcel{l.last, append([]byte(nil), m...)})
}

// Waiting is the bytes that should have arrived and have not, because the line is too
// narrow: what a socket has not drained.
func (l *Line) Waiting() (n int) {
	for _, p := range l.queue {
		if p.at < l.now {
			n += len(p.m)
		}
	}
	return n
}

// Tick lets a tick pass and calls f for each message that arrives in it.
func (l *Line) Tick(f func(m []byte)) {
	l.now++
	l.credit = min(l.credit+l.Bytes, max(l.Bytes, 4*l.Bytes))
	for len(l.queue) > 0 && l.queue[0].at <= l.now {
		m := l.queue[0].m
		if l.Bytes > 0 {
			// A message goes as a whole once there was time for all of it.
			if l.credit < len(m) && l.credit < 4*l.Bytes {
				return
			}
			l.credit -= len(m)
		}
		l.queue = l.queue[1:]
		f(m)
	}
}
