package tick

import (
	"bytes"
	"math/bits"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// timeline is what an instance remembers of its past, so that it can be run again
// from there: its state after each of the last send ticks, and the counters of ids
// after each of the last ticks. A state is a block without the room between its live
// rows, in a buffer outside the Go heap:
//
//	+--------+--------------+-------------+---------------+-- -
//	| header | instance row | player rows | rows of type 2| ...
//	+--------+--------------+-------------+---------------+-- -
//
// A game in which no command can come late has none.
type timeline struct {
	states   []state    // a ring; empty where nothing is ever run again
	first, n int        // the oldest one, and how many there are
	counters []counters // by tick, modulo a size that divides 2^32, as ticks wrap
	floor    uint32     // the last tick that is not run otherwise any more
	floored  bool       // floor is valid
	rewound  bool       // since the last send
	reborn   []idSpan
	spoilt   []spoilt
}

// state is the instance after a send tick.
type state struct {
	tick uint32
	send uint64 // its number
	buf  []byte // of the shard's pool
}

// counters are the next ids of shared and server bodies after a tick.
type counters [2]uint32

// idSpan is the ids from from up to to, in steps of schema.IDStep.
type idSpan struct{ from, to uint32 }

func (s idSpan) has(id uint32) bool { return id-s.from < s.to-s.from && (id-s.from)%schema.IDStep == 0 }

// spoilt is an object whose shared fields a rewind has changed. send is the first
// past send since which what viewers were told of them then is not so any more; one
// after the last send if they were told nothing wrong.
type spoilt struct {
	id   uint32
	send uint64
}

func (l *timeline) init(r *rules) {
	if !r.rewinds {
		return
	}
	l.states = make([]state, (r.depth+r.perSend-1)/r.perSend+1)
	l.counters = make([]counters, 1<<bits.Len32(r.depth+r.perSend))
}

// at is state i, counted from the oldest.
func (l *timeline) at(i int) *state { return &l.states[(l.first+i)%len(l.states)] }

// before is the newest state that is older than tick. There must be one.
func (l *timeline) before(tick uint32) int {
	for i := l.n - 1; i >= 0; i-- {
		if wire.TickAfter(tick, l.at(i).tick) {
			return i
		}
	}
	panic("tick: a command of before the timeline")
}

// next gives the place for the state of a new send tick, which may be the oldest one's.
func (l *timeline) next() *state {
	if l.n == len(l.states) {
		l.first = (l.first + 1) % len(l.states)
		l.n--
	}
	l.n++
	return l.at(l.n - 1)
}

// count notes the counters after tick t, and reports which ids were made in another
// tick than when t ran before, if it did.
func (l *timeline) count(t uint32, now counters, again bool) {
	if len(l.counters) == 0 {
		return
	}
	c := &l.counters[t%uint32(len(l.counters))]
	for i := range now {
		if again && c[i] != now[i] {
			l.reborn = append(l.reborn, idSpan{min(c[i], now[i]), max(c[i], now[i])})
		}
	}
	*c = now
}

// wasReborn reports whether the object with the id is another one than at the last
// send, because it was made in another tick.
func (l *timeline) wasReborn(id uint32) bool {
	for _, s := range l.reborn {
		if s.has(id) {
			return true
		}
	}
	return false
}

// shared is the shared bodies' counter after tick t, which must not be older than
// the oldest state.
func (l *timeline) shared(t uint32) uint32 { return l.counters[t%uint32(len(l.counters))][0] }

// drop gives the buffers back.
func (l *timeline) drop(s *Shard) {
	for i := range l.states {
		s.pool.Put(l.states[i].buf)
	}
	*l = timeline{}
}

func (in *Instance) counters() counters {
	return counters{le.Uint32(in.block[schema.HeaderNextShared:]), le.Uint32(in.block[schema.HeaderNextServer:])}
}

// earliest is the oldest tick that a command can be filed on: one of which the
// state before is known, not deeper in the past than the timeline, and not before
// what cannot be taken back.
func (in *Instance) earliest() uint32 {
	l := &in.timeline
	next := in.tick + 1
	if l.n == 0 {
		return next
	}
	back := min(int32(in.shard.rules.back), wire.TickDistance(in.tick, l.at(0).tick))
	if l.floored {
		back = min(back, wire.TickDistance(in.tick, l.floor))
	}
	return next - uint32(back)
}

// keep stores the state of the send tick just committed and forgets the past before
// the oldest state.
func (in *Instance) keep() {
	l := &in.timeline
	l.reborn = l.reborn[:0]
	to := l.next()
	to.tick, to.send = in.tick, in.sends
	oldest := in.tick
	if in.store(to) {
		oldest = l.at(0).tick
	}
	if l.floored && wire.TickAfter(oldest, l.floor) {
		l.floored = false
	}
	in.forgetPast(oldest)
}

// store puts the block into a state. Without memory for it nothing is remembered,
// and commands run in the next tick at the earliest.
func (in *Instance) store(to *state) bool {
	s := in.shard
	n := s.liveSize(in.block)
	if n > cap(to.buf) {
		s.pool.Put(to.buf)
		to.buf = nil
		// Some room more, as worlds that grow go on growing.
		buf, err := s.pool.Get(n + n/8)
		if err != nil {
			in.timeline.n = 0
			s.stats.Unstored++
			return false
		}
		to.buf = buf
	}
	to.buf = to.buf[:n]
	s.pack(to.buf, in.block)
	return true
}

// headSize is the size of the header and the instance's row, which every state has.
func (s *Shard) headSize() int {
	t := &s.layout.Types[schema.InstanceType]
	return t.Rows + t.Stride
}

// rowsIn is the bytes that a type's live rows take, as the header says.
func (s *Shard) rowsIn(typ int, header []byte) int {
	t := &s.layout.Types[typ]
	return int(le.Uint32(header[t.Counts+schema.CountRows:])) * t.Stride
}

func (s *Shard) liveSize(block []byte) int {
	n := s.headSize()
	for i := schema.PlayerType; i < len(s.layout.Types); i++ {
		n += s.rowsIn(i, block)
	}
	return n
}

// pack writes a block's header and live rows, one after the other.
func (s *Shard) pack(to, block []byte) {
	at := copy(to, block[:s.headSize()])
	for i := schema.PlayerType; i < len(s.layout.Types); i++ {
		t := &s.layout.Types[i]
		at += copy(to[at:], block[t.Rows:t.Rows+s.rowsIn(i, block)])
	}
}

// unpack makes a block of what pack wrote.
func (s *Shard) unpack(block, from []byte) {
	at := copy(block, from[:s.headSize()])
	for i := schema.PlayerType; i < len(s.layout.Types); i++ {
		t := &s.layout.Types[i]
		at += copy(block[t.Rows:t.Rows+s.rowsIn(i, from)], from[at:])
	}
}

// differ calls f for each object that is in a packed state and in the block, by
// type and in ascending order, if its row is not the same in both. shared tells
// whether a shared field is another.
func (in *Instance) differ(old []byte, f func(row []byte, shared bool)) {
	s := in.shard
	head := s.headSize()
	rest := old[head:]
	for i := range s.layout.Types {
		t := &s.layout.Types[i]
		var a, b []byte
		if i == schema.InstanceType {
			a, b = old[t.Rows:head], in.block[t.Rows:head]
		} else {
			n := s.rowsIn(i, old)
			a, b = rest[:n], in.block[t.Rows:t.Rows+s.rowsIn(i, in.block)]
			rest = rest[n:]
		}
		if bytes.Equal(a, b) {
			continue
		}
		for len(a) > 0 && len(b) > 0 {
			x, y := le.Uint32(a[schema.RowID:]), le.Uint32(b[schema.RowID:])
			if x == y && !bytes.Equal(a[:t.Stride], b[:t.Stride]) {
				f(b[:t.Stride:t.Stride], !bytes.Equal(a[t.Shared.From:t.Shared.To], b[t.Shared.From:t.Shared.To]))
			}
			if x <= y {
				a = a[t.Stride:]
			}
			if y <= x {
				b = b[t.Stride:]
			}
		}
	}
}
