package tick

import (
	"math"
	"slices"

	"gamehoster/wire"
)

// A send has a budget of bytes. What there is no room for waits, and what goes first is
// what has waited long and what is near:
//
//	rank = nearness x sends that it has waited, this one counted
//
// Nearness is 4 to 1 by quarters of the radius that the type's view declares, 4 for the
// viewer's own player and 1 for what is further or has no place. So what is near goes
// out up to four times as often as what is far, and no rank stands still: of n objects
// that change all the time with room for c of them in a send, none waits longer than it
// takes the others to go out four times each and once more, 5n/c sends.
//
// What was listed since it changed, and has not been acked yet, has rank 0: it goes out
// again if there is room.

// owed is what is to be remembered of one object for a viewer whose deltas do not
// have room for everything.
type owed struct {
	id    uint32
	since uint64 // send since which it waits to be listed; 0: it does not
	full  uint64 // send that the base must reach before masks need not be full
	told  uint64 // send in which it was last listed
	seen  uint64 // the last send; 0 if the object that waits is no more
}

// span is bytes of a buffer.
type span struct{ at, end int32 }

// part is one object of a message that is being made.
type part struct {
	span         // of the scratch's bytes
	object int32 // index in the history
	rank   int32 // the greatest go first
	told   bool  // has been listed since it changed
	first  bool  // goes before all others
	out    bool  // left out
	since  uint64
}

const (
	nearest = 4
	maxRank = 1 << 16
)

// choose leaves parts out so that the rest is not over the budget: whole ranks and,
// of the rank that fits in part, the last ones by id. One part at least stays.
func (v *Viewer) choose(budget int) {
	in, b := v.in, &v.in.shard.scratch
	size := func(p *part) int { return wire.MaxUvarint + int(p.end-p.at) }
	row, _, _ := in.playerRow(v.player)
	cut := int32(0)
	for i := range b.parts {
		p := &b.parts[i]
		switch {
		case p.first:
			p.rank = maxRank
		case !p.told:
			waited := uint64(1)
			if p.since > 0 {
				waited += in.sends - p.since
			}
			near := in.nearness(&in.history.objects[p.object], v.player, row)
			p.rank = int32(min(waited*near, maxRank-1))
		}
		cut = max(cut, p.rank)
	}
	ranks := slices.Grow(b.ranks[:0], int(cut)+1)[:cut+1]
	clear(ranks)
	b.ranks = ranks
	for i := range b.parts {
		ranks[b.parts[i].rank] += size(&b.parts[i])
	}
	for ; cut > 0 && ranks[cut] <= budget; cut-- {
		budget -= ranks[cut]
	}
	some := false
	for i := range b.parts {
		p := &b.parts[i]
		if p.rank == cut {
			if budget -= size(p); budget < 0 && some {
				p.out = true
			}
		} else {
			p.out = p.rank < cut
		}
		some = some || !p.out
	}
}

// nearness is how near an object is to the player of the row, from 1 to nearest.
func (in *Instance) nearness(o *object, player uint32, row []byte) uint64 {
	if row == nil {
		return 1
	}
	if o.id == player {
		return nearest
	}
	r := &in.shard.rules.views[o.typ]
	if !(r.radius > 0) {
		return 1
	}
	its := in.row(int(o.typ), int(o.row))
	d := math.Hypot(r.x.of(its)-r.vx.of(row), r.y.of(its)-r.vy.of(row))
	if !(d < r.radius) {
		return 1
	}
	return nearest - uint64(d/r.radius*nearest)
}

// owe notes what the delta just made leaves out and what it makes good. over tells
// that it was over the budget: then what it has is noted, too.
func (v *Viewer) owe(over bool) {
	in, b := v.in, &v.in.shard.scratch
	list := b.owed[:0]
	keep := func(d *owed) {
		if d.seen == in.sends && (d.since > 0 || d.full > v.base || d.told > v.base) {
			list = append(list, *d)
		}
	}
	k := 0
	for i := range b.parts {
		p := &b.parts[i]
		id := in.history.objects[p.object].id
		for ; k < len(v.owed) && v.owed[k].id < id; k++ {
			keep(&v.owed[k])
		}
		d := owed{id: id, seen: in.sends}
		known := k < len(v.owed) && v.owed[k].id == id
		if known {
			d = v.owed[k]
			k++
		}
		switch {
		case !p.out:
			if d.since > 0 {
				d.since, d.full = 0, in.sends
			}
			if over || known {
				d.told = in.sends
			}
		case !p.told && d.since == 0:
			d.since = in.sends
		}
		if p.out {
			in.shard.stats.Deferred++
		}
		keep(&d)
	}
	for ; k < len(v.owed); k++ {
		keep(&v.owed[k])
	}
	b.owed = list
	v.owed = append(v.owed[:0], list...)
}
