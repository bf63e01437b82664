// Package line is a bad network connection as arithmetic: it takes the time and bytes
// as arguments and says when what comes out. Tests that live in virtual time call it as
// it is, the TCP proxy of engine/conditioner puts sockets and a clock around it.
//
//	put in at t, n bytes
//	  |  waits until what went before is through            Bandwidth
//	  |  takes n / Bandwidth to go through
//	  |  is under way for Delay and up to Jitter more       Delay, Jitter
//	  |  waits for the end of a stall that it runs into     Stall, StallEvery
//	  |  waits until what went before has come out          order is kept
//	  v
//	comes out
//
// TCP hides losses: to who reads the stream, a lost packet is a pause after which all
// that piled up comes at once. So there is no loss here; stalls stand for it.
//
// All that is random is a function of the seed and of the time at which bytes go in,
// not of how the stream was cut into pieces: the same bytes at the same times come out
// at the same times, whoever carries them. Times are counted from when the line was
// made. The two directions of a connection stall together, as a radio does, and have
// each its own jitter.
package line

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Conditions say how bad a connection is. The zero value is a perfect one.
type Conditions struct {
	Delay      time.Duration // of everything, in each direction
	Jitter     time.Duration // the most that comes on top of Delay; any amount up to it is as likely
	Stall      time.Duration // how long a stall lasts
	StallEvery time.Duration // between two stalls, give or take a half
	Bandwidth  int64         // bytes a second in each direction; 0 for no bound
	Seed       uint64
}

// The most that conditions may ask for: what is under way lies in memory.
const (
	longest  = time.Minute
	narrow   = 1 << 10
	grain    = 4 * time.Millisecond // jitter is another one from one of these to the next
	segment  = 1400                 // bytes that come out of a narrow line at once
	window   = 1 << 20              // bytes that may be under way where no bandwidth says less
	cushion  = 250 * time.Millisecond
	leastWin = 4 * segment
)

// Validate refuses what makes no sense.
func (c Conditions) Validate() error {
	for _, d := range []time.Duration{c.Delay, c.Jitter, c.Stall, c.StallEvery} {
		if d < 0 || d > longest {
			return fmt.Errorf("%v is not within 0s to %v", d, longest)
		}
	}
	if c.Stall > 0 && c.StallEvery == 0 {
		return errors.New("a line that stalls without a break brings nothing")
	}
	if c.Bandwidth != 0 && c.Bandwidth < narrow {
		return fmt.Errorf("a bandwidth of %d bytes a second is less than %d", c.Bandwidth, narrow)
	}
	return nil
}

// Perfect reports whether bytes come out as they go in.
func (c Conditions) Perfect() bool {
	return c.Delay == 0 && c.Jitter == 0 && c.Stall == 0 && c.Bandwidth == 0
}

// String is the conditions for a person to read.
func (c Conditions) String() string {
	var parts []string
	if c.Delay > 0 || c.Jitter > 0 {
		parts = append(parts, fmt.Sprintf("%v each way", c.Delay))
	}
	if c.Jitter > 0 {
		parts = append(parts, fmt.Sprintf("up to %v more", c.Jitter))
	}
	if c.Stall > 0 {
		parts = append(parts, fmt.Sprintf("a stall of %v every %v or so", c.Stall, c.StallEvery))
	}
	if c.Bandwidth > 0 {
		parts = append(parts, fmt.Sprintf("%d kbit/s", c.Bandwidth*8/1000))
	}
	if parts == nil {
		return "perfect"
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(", seed %d", c.Seed)
}

// Window is how many bytes may be under way in one direction: as many as it takes to
// keep the line busy, and a quarter of a second of what waits to go through. Who sends
// more has to wait, as TCP has it.
func (c Conditions) Window() int {
	if c.Bandwidth == 0 {
		return window
	}
	busy := int64((c.Delay + c.Jitter + cushion).Seconds() * float64(c.Bandwidth))
	return int(min(max(busy, leastWin), window))
}

// Lines makes the two directions of the n-th connection. Connections differ in their
// jitter and in when they stall.
func (c Conditions) Lines(n uint64) (there, back *Line) {
	seed := mix(c.Seed + (n+1)*golden)
	stalls := mix(seed + golden)
	return newLine(c, mix(seed+1), stalls), newLine(c, mix(seed+2), stalls)
}

// Line is one direction of a connection: a clock for bytes, which holds none. It is not
// safe for concurrent use.
type Line struct {
	c      Conditions
	jitter uint64 // seed
	stalls uint64 // seed
	stall  int64  // number of the stall that is or comes next
	begins time.Duration
	busy   time.Duration // until when the line is taken by what went in
	last   time.Duration // when that comes out
}

func newLine(c Conditions, jitter, stalls uint64) *Line {
	l := &Line{c: c, jitter: jitter, stalls: stalls}
	l.begins = l.pause()
	return l
}

// pause is the time from one stall's end to the next one's beginning.
func (l *Line) pause() time.Duration {
	l.stall++
	return time.Duration((0.5 + unit(l.stalls, l.stall)) * float64(l.c.StallEvery))
}

// Arrival takes n bytes at a time that is not before the last call's, and returns when
// the last of them comes out, which is not before what went before.
func (l *Line) Arrival(now time.Duration, n int) time.Duration {
	l.busy = max(l.busy, now)
	if l.c.Bandwidth > 0 {
		l.busy += time.Duration(float64(n) / float64(l.c.Bandwidth) * float64(time.Second))
	}
	out := l.busy + l.c.Delay
	if l.c.Jitter > 0 {
		out += time.Duration(unit(l.jitter, int64(now/grain)) * float64(l.c.Jitter))
	}
	l.last = max(l.last, l.held(out))
	return l.last
}

// held is when what would come out at a time does, stalls considered.
func (l *Line) held(out time.Duration) time.Duration {
	if l.c.Stall == 0 {
		return out
	}
	out = max(out, l.last)
	for out >= l.begins+l.c.Stall {
		l.begins += l.c.Stall + l.pause()
	}
	if out >= l.begins {
		return l.begins + l.c.Stall
	}
	return out
}

const golden = 0x9E3779B97F4A7C15

// mix is the SplitMix64 finaliser.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// unit is the n-th of a seed's numbers in [0, 1).
func unit(seed uint64, n int64) float64 {
	return float64(mix(seed+uint64(n)*golden)>>11) / (1 << 53)
}
