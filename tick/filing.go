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
}

// before reports whether o comes before p. Ticks are compared by distance.
func (o order) before(p order) bool {
	if o.tick != p.tick {
		return wire.TickAfter(p.tick, o.tick)
	}
	if o.player != p.player {
		return o.player < p.player
	}
	return o.seq < p.seq
}

// filing is what is to happen in ticks to come. What it holds is bounded by the
// seats: each has one player and rules.pending commands at most.
type filing struct {
	leaves  []uint32 // players, for the next send tick
	waiting []order  // commands, in order
	records []byte   // theirs, one stride each at the same index
}

func (f *filing) leave(player uint32) { f.leaves = append(f.leaves, player) }

// file puts a command in its place. record is copied.
func (f *filing) file(o order, record []byte) {
	at := len(f.waiting)
	for at > 0 && o.before(f.waiting[at-1]) {
		at--
	}
	n := len(record)
	f.waiting = slices.Insert(f.waiting, at, o)
	f.records = append(f.records, record...)
	if from := at * n; from+n < len(f.records) {
		copy(f.records[from+n:], f.records[from:len(f.records)-n])
		copy(f.records[from:], record)
	}
}

// take removes the first n commands.
func (f *filing) take(n, stride int) {
	if n == 0 {
		return
	}
	f.waiting = f.waiting[:copy(f.waiting, f.waiting[n:])]
	f.records = f.records[:copy(f.records, f.records[n*stride:])]
}

// drop removes a player's commands.
func (f *filing) drop(player uint32) {
	if len(f.waiting) == 0 {
		return
	}
	stride := len(f.records) / len(f.waiting)
	to := 0
	for i, o := range f.waiting {
		if o.player == player {
			continue
		}
		f.waiting[to] = o
		copy(f.records[to*stride:], f.records[i*stride:][:stride])
		to++
	}
	f.waiting, f.records = f.waiting[:to], f.records[:to*stride]
}

// least is the smallest seq of a player's waiting commands.
func (f *filing) least(player uint32) uint32 {
	seq := ^uint32(0)
	for i := range f.waiting {
		if o := &f.waiting[i]; o.player == player && o.seq < seq {
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
// they ran, for the viewers to be told. Commands are numbered from 0; the ring's
// place of number i is i modulo its size.
type relay struct {
	ring     []order
	records  []byte // one stride each
	from, to uint64 // numbers of the oldest one kept and of the next one
}

const (
	minRelay = 16
	maxRelay = 1 << 15
)

// add appends a command that ran. If there are too many the oldest is forgotten,
// and a viewer that was not told of it gets a snapshot.
func (r *relay) add(o order, record []byte) {
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
	ring, records := make([]order, n), make([]byte, n*stride)
	for i := r.from; i < r.to; i++ {
		o, record := r.at(i, stride)
		to := int(i % uint64(n))
		ring[to] = *o
		copy(records[to*stride:], record)
	}
	r.ring, r.records = ring, records
}

// at is command number i, which must be kept.
func (r *relay) at(i uint64, stride int) (*order, []byte) {
	at := int(i % uint64(len(r.ring)))
	return &r.ring[at], r.records[at*stride:][:stride]
}

// prune forgets commands of ticks not after tick.
func (r *relay) prune(tick uint32, stride int) {
	for r.from < r.to {
		if o, _ := r.at(r.from, stride); wire.TickAfter(o.tick, tick) {
			return
		}
		r.from++
	}
}

// stamp writes who, when and what into a command record.
func stamp(record []byte, o order) {
	le.PutUint32(record[schema.CommandPlayer:], o.player)
	le.PutUint32(record[schema.CommandSeq:], o.seq)
	le.PutUint32(record[schema.CommandNumber:], o.number)
	le.PutUint32(record[schema.CommandNumber+4:], 0)
}
