package tick

import (
	"slices"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// order is where a command stands: by tick, then player, then seq.
type order struct {
	tick, player, seq uint32
	number            uint32
	ran               bool
}

// before reports whether o comes before p. Ticks are compared by distance.
func (o *order) before(p *order) bool {
	if o.tick != p.tick {
		return wire.TickAfter(p.tick, o.tick)
	}
	if o.player != p.player {
		return o.player < p.player
	}
	return o.seq < p.seq
}

// arrival is a player that joined or left at the start of a tick.
type arrival struct {
	tick, player uint32
	join         bool
	name         [1 + schema.MaxPlayerName]byte // as in a join's record
}

// filing is what happens in which tick: what is to come, and what has run in the
// ticks that may be run again. What it holds is bounded by the seats: each has one
// player and rules.pending commands at most.
//
//	list   | run, run, late, run, late, run | to come ...
//	       '--------------------------------'
//	        next: these are of ticks that have run
type filing struct {
	leaves   []uint32  // players, for the next send tick
	arrivals []arrival // of send ticks that have run, by tick; leaves by id, then joins by id
	list     []order   // commands, in order
	records  []byte    // theirs, one stride each at the same index
	next     int
	late     int // of list[:next]: those that have not run
}

func (f *filing) leave(player uint32) { f.leaves = append(f.leaves, player) }

// file puts a command in its place. record is copied; now is the last tick that ran.
func (f *filing) file(o order, record []byte, now uint32) {
	at := len(f.list)
	for at > 0 && o.before(&f.list[at-1]) {
		at--
	}
	n := len(record)
	f.list = slices.Insert(f.list, at, o)
	f.records = append(f.records, record...)
	if from := at * n; from+n < len(f.records) {
		copy(f.records[from+n:], f.records[from:len(f.records)-n])
		copy(f.records[from:], record)
	}
	if !wire.TickAfter(o.tick, now) {
		f.next++
		if !o.ran {
			f.late++
		}
	}
}

// span is the commands of tick t, list[from:to].
func (f *filing) span(t uint32) (from, to int) {
	from, _ = slices.BinarySearchFunc(f.list, t, func(o order, t uint32) int { return int(wire.TickDistance(o.tick, t)) })
	for to = from; to < len(f.list) && f.list[to].tick == t; to++ {
	}
	return from, to
}

// behind reports whether a player has a late command that waits.
func (f *filing) behind(player uint32) bool {
	if f.late > 0 {
		for i := range f.list[:f.next] {
			if o := &f.list[i]; o.player == player && !o.ran {
				return true
			}
		}
	}
	return false
}

// advance takes note that tick t has run for the first time.
func (f *filing) advance(t uint32) {
	for f.next < len(f.list) && !wire.TickAfter(f.list[f.next].tick, t) {
		if !f.list[f.next].ran {
			f.late++
		}
		f.next++
	}
}

// clampLate moves late commands of ticks before earliest to that tick, and returns
// the oldest tick of those there are. now is the last tick that ran.
func (f *filing) clampLate(earliest, now uint32, scratch []byte) (first uint32, any bool) {
	for i := 0; i < f.next && f.late > 0; i++ {
		o := f.list[i]
		if o.ran {
			continue
		}
		if !wire.TickAfter(earliest, o.tick) {
			return o.tick, true
		}
		n := len(scratch)
		copy(scratch, f.records[i*n:])
		f.remove(i, n)
		o.tick = earliest
		f.file(o, scratch, now)
		i--
	}
	return 0, false
}

// remove takes command i out.
func (f *filing) remove(i, stride int) {
	if i < f.next {
		f.next--
		if !f.list[i].ran {
			f.late--
		}
	}
	f.list = slices.Delete(f.list, i, i+1)
	f.records = slices.Delete(f.records, i*stride, (i+1)*stride)
}

// drop removes those of a player's commands that have not run.
func (f *filing) drop(player uint32) {
	for i := len(f.list) - 1; i >= 0; i-- {
		if o := &f.list[i]; o.player == player && !o.ran {
			f.remove(i, len(f.records)/len(f.list))
		}
	}
}

// prune forgets what happened in ticks up to t, and calls gone for each player of a
// command.
func (f *filing) prune(t uint32, gone func(player uint32)) {
	n := 0
	for n < f.next && !wire.TickAfter(f.list[n].tick, t) && f.list[n].ran {
		gone(f.list[n].player)
		n++
	}
	if n > 0 {
		stride := len(f.records) / len(f.list)
		f.list = f.list[:copy(f.list, f.list[n:])]
		f.records = f.records[:copy(f.records, f.records[n*stride:])]
		f.next -= n
	}
	for n = 0; n < len(f.arrivals) && !wire.TickAfter(f.arrivals[n].tick, t); n++ {
	}
	if n > 0 {
		f.arrivals = f.arrivals[:copy(f.arrivals, f.arrivals[n:])]
	}
}

// arrived is the leaves and joins of tick t.
func (f *filing) arrived(t uint32) []arrival {
	from := len(f.arrivals)
	for from > 0 && !wire.TickAfter(t, f.arrivals[from-1].tick) {
		from--
	}
	to := from
	for to < len(f.arrivals) && f.arrivals[to].tick == t {
		to++
	}
	return f.arrivals[from:to]
}

// least is the smallest seq of a player's commands that have not run.
func (f *filing) least(player uint32) uint32 {
	list := f.list
	if f.late == 0 {
		list = list[f.next:]
	}
	seq := ^uint32(0)
	for i := range list {
		if o := &list[i]; o.player == player && !o.ran && o.seq < seq {
			seq = o.seq
		}
	}
	return seq
}

// rate is a seat's allowance for one kind of command: a bucket that a second
// fills. A unit is one command in one tick per second, so that whole numbers do.
type rate struct {
	units uint32
	tick  uint32 // at which units was right
}

// resetRates fills all buckets, lazily made where a command has a limit.
func (s *seat) resetRates(d *schema.Definition) {
	if s.rates == nil {
		for _, c := range d.Commands {
			if c.MaxPerSecond > 0 {
				s.rates = make([]rate, len(d.Commands))
				break
			}
		}
	}
	for i := range s.rates {
		s.rates[i] = rate{units: uint32(d.Commands[i].MaxPerSecond * d.TickRate)}
	}
}

// spend takes one command's worth at tick now, and reports whether it was there.
func (r *rate) spend(now uint32, perSecond, ticksPerSecond int) bool {
	full := uint64(perSecond) * uint64(ticksPerSecond)
	units := min(full, uint64(r.units)+uint64(now-r.tick)*uint64(perSecond))
	r.tick = now
	ok := units >= uint64(ticksPerSecond)
	if ok {
		units -= uint64(ticksPerSecond)
	}
	r.units = uint32(units)
	return ok
}

// relay keeps the commands that ran and that clients run too, in the order in which
// they first ran, for the viewers to be told. Commands are numbered from 0; the
// ring's place of number i is i modulo its size.
type relay struct {
	ring     []relayed
	records  []byte // one stride each
	from, to uint64 // numbers of the oldest one kept and of the next one
}

// relayed is a command and the tick that first ran after it had come. For one that
// was in time the two ticks are the same.
type relayed struct {
	order
	since uint32
}

const (
	minRelay = 16
	maxRelay = 1 << 15
)

// add appends a command that ran. If there are too many the oldest is forgotten,
// and a viewer that was not told of it gets a snapshot.
func (r *relay) add(o relayed, record []byte) {
	if int(r.to-r.from) == len(r.ring) {
		if len(r.ring) == maxRelay {
			r.from++
		} else {
			r.grow(len(record))
		}
	}
	at := int(r.to % uint64(len(r.ring)))
	r.ring[at] = o
	copy(r.records[at*len(record):], record)
	r.to++
}

func (r *relay) grow(stride int) {
	n := max(minRelay, 2*len(r.ring))
	ring, records := make([]relayed, n), make([]byte, n*stride)
	for i := r.from; i < r.to; i++ {
		o, record := r.at(i, stride)
		to := int(i % uint64(n))
		ring[to] = *o
		copy(records[to*stride:], record)
	}
	r.ring, r.records = ring, records
}

// at is command number i, which must be kept.
func (r *relay) at(i uint64, stride int) (*relayed, []byte) {
	at := int(i % uint64(len(r.ring)))
	return &r.ring[at], r.records[at*stride:][:stride]
}

// prune forgets commands that had run by tick.
func (r *relay) prune(tick uint32, stride int) {
	for r.from < r.to {
		if o, _ := r.at(r.from, stride); wire.TickAfter(o.since, tick) {
			return
		}
		r.from++
	}
}

// stamp writes who, when and what into a command record.
func stamp(record []byte, o *order) {
	le.PutUint32(record[schema.CommandPlayer:], o.player)
	le.PutUint32(record[schema.CommandSeq:], o.seq)
	le.PutUint32(record[schema.CommandNumber:], o.number)
	le.PutUint32(record[schema.CommandNumber+4:], 0)
}
