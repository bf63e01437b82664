package tick

import (
	"math"
	"math/bits"
	"slices"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// viewRules are what a game says of how one type is seen.
type viewRules struct {
	judged bool    // a view body decides; if none does, everybody sees all of the type
	near   bool    // and only within the radius
	radius float64 // 0 for types without places
	x, y   place   // of objects
	vx, vy place   // of viewers
}

// place is a number in a row.
type place struct {
	kind schema.Kind
	at   int
}

func (p place) of(row []byte) float64 { return schema.LoadNumber(p.kind, row[p.at:]) }

// hysteresis is how far, in radii, an object that a viewer holds may be until it goes
// out of view, so that one at the rim does not come and go all the time.
const hysteresis = 1.125

func newViewRules(d *schema.Definition, l *schema.Layout, views []bool) []viewRules {
	rules := make([]viewRules, len(d.Types))
	for i, t := range d.Types {
		r := &rules[i]
		r.judged = i != schema.InstanceType && views != nil && views[i]
		if t.View == nil || !(t.View.Radius > 0) {
			continue
		}
		find := func(typ int, name string) (p place) {
			f := d.Types[typ].Field(name)
			return place{f.Kind, l.Types[typ].Offsets[f.Index]}
		}
		r.near, r.radius = r.judged, t.View.Radius
		r.x, r.y = find(i, t.View.X), find(i, t.View.Y)
		r.vx, r.vy = find(schema.PlayerType, t.View.X), find(schema.PlayerType, t.View.Y)
	}
	return rules
}

// set is a set of objects by slot.
type set []uint64

func (s set) has(slot uint32) bool { return int(slot>>6) < len(s) && s[slot>>6]>>(slot&63)&1 == 1 }
func (s set) add(slot uint32)      { s[slot>>6] |= 1 << (slot & 63) }
func (s set) drop(slot uint32)     { s[slot>>6] &^= 1 << (slot & 63) }

// room makes the set hold slots up to n.
func (s set) room(n uint32) set {
	for len(s) < int(n+63)/64 {
		s = append(s, 0)
	}
	return s
}

// sight is what judging the views of one send needs to know of the instance, made
// once for all viewers. For each type with a radius the objects lie in the cells of a
// grid, so that a viewer looks at those of nine cells and not at all. A cell has the
// list of its hash, which others may have, too: what is too far is found by distance.
//
//	hash    0     1     2           start[hash] .. start[hash+1]
//	      +-----+-----+-----+- -
//	items | a b |     | c   |
//	      +-----+-----+-----+- -
type sight struct {
	in     *Instance
	sends  uint64
	always set        // what everybody sees
	index  []int32    // by slot: where the object is in the history
	marks  set        // by index, for sorting; empty
	slots  [][]uint32 // by type and row
	grids  []grid     // by type
	seen   set        // what the viewer that is looked at sees
	list   []byte     // the machine's, records of what is to be judged
	faults int        // of view bodies in this send
	fresh  bool       // no view body has run in this send
	broken []bool     // by type: the view body has failed too often in this send
}

type grid struct {
	start []uint32
	items []item
	cells []uint32 // hash by row; noCell for what is nowhere
}

type item struct {
	row, slot uint32
	x, y      float64
}

const (
	noCell = math.MaxUint32
	// farAway is as far as places are told apart; cells beyond are one.
	farAway = 1 << 50
)

func cellOf(v, size float64) int64 {
	switch v /= size; {
	case v > farAway:
		return farAway
	case v >= -farAway:
		return int64(math.Floor(v))
	}
	return -farAway
}

func hashOf(cx, cy int64) uint32 {
	x := uint64(cx)*0x9E3779B97F4A7C15 ^ uint64(cy)*0xC2B2AE3D27D4EB4F
	return uint32(x >> 32)
}

// initSight makes room for the views of the game.
func (s *Shard) initSight() (err error) {
	most := 0
	for _, t := range s.def.Types {
		most = max(most, t.Max)
	}
	b := &s.scratch
	if b.list, err = s.machine.Reserve(4 * most); err != nil {
		return err
	}
	n := len(s.def.Types)
	b.sight = sight{
		list: s.machine.Bytes(b.list, 4*most), slots: make([][]uint32, n), grids: make([]grid, n), broken: make([]bool, n),
	}
	return nil
}

// sight gives the instance's for this send.
func (in *Instance) sight() *sight {
	g := &in.shard.scratch.sight
	if g.in == in && g.sends == in.sends {
		return g
	}
	g.in, g.sends, g.faults, g.fresh = in, in.sends, 0, true
	clear(g.broken)
	h := &in.history
	g.always = g.always.room(h.slots)
	clear(g.always)
	g.index = slices.Grow(g.index[:0], int(h.slots))[:h.slots]
	g.marks = g.marks.room(uint32(len(h.objects)))
	rules := in.shard.rules.views
	for typ := range g.slots {
		n := in.count(typ)
		if cap(g.slots[typ]) < n {
			g.slots[typ] = make([]uint32, n, in.shard.def.Types[typ].Max)
		}
		g.slots[typ] = g.slots[typ][:n]
	}
	for i := range h.objects {
		o := &h.objects[i]
		g.slots[o.typ][o.row] = o.slot
		g.index[o.slot] = int32(i)
		if !rules[o.typ].judged {
			g.always.add(o.slot)
		}
	}
	for typ := range rules {
		if rules[typ].near {
			g.fill(typ, &rules[typ])
		}
	}
	return g
}

// sorted appends the indexes of the objects in the set, in ascending order.
func (g *sight) sorted(dst []int32, s set) []int32 {
	some := false
	for i, w := range s {
		some = some || w != 0
		for at := 64 * i; w != 0; w &= w - 1 {
			g.marks.add(uint32(g.index[at+bits.TrailingZeros64(w)]))
		}
	}
	if !some {
		return dst
	}
	for i, w := range g.marks {
		if w == 0 {
			continue
		}
		for at := int32(64 * i); w != 0; w &= w - 1 {
			dst = append(dst, at+int32(bits.TrailingZeros64(w)))
		}
		g.marks[i] = 0
	}
	return dst
}

// fill puts a type's objects into its grid.
func (g *sight) fill(typ int, r *viewRules) {
	in, to := g.in, &g.grids[typ]
	n := in.count(typ)
	size := 1 << bits.Len(uint(n))
	if cap(to.start) < size+1 {
		most := in.shard.def.Types[typ].Max
		to.start = make([]uint32, 0, 1<<bits.Len(uint(most))+1)
		to.items, to.cells = make([]item, most), make([]uint32, most)
	}
	to.start = to.start[:size+1]
	clear(to.start)
	for i := range n {
		row := in.row(typ, i)
		x, y := r.x.of(row), r.y.of(row)
		if x-x != 0 || y-y != 0 {
			to.cells[i] = noCell // infinite or none: nowhere near
			continue
		}
		c := hashOf(cellOf(x, r.radius*hysteresis), cellOf(y, r.radius*hysteresis)) & uint32(size-1)
		to.cells[i] = c
		to.start[c+1]++
	}
	for i := range size {
		to.start[i+1] += to.start[i]
	}
	// Filling moves each start to its end, which is the next one's start.
	slots := g.slots[typ]
	for i := range n {
		if c := to.cells[i]; c != noCell {
			row := in.row(typ, i)
			// Set one by one: as a whole it would be put together elsewhere and copied.
			it := &to.items[to.start[c]]
			it.row, it.slot, it.x, it.y = uint32(i), slots[i], r.x.of(row), r.y.of(row)
			to.start[c]++
		}
	}
	copy(to.start[1:], to.start[:size])
	to.start[0] = 0
}

// near puts the objects of a type that are near the viewer into the list of what is
// to be judged, and returns how many.
func (g *sight) near(typ int, r *viewRules, x, y float64, held set) (n int) {
	to, stats := &g.grids[typ], &g.in.shard.stats
	size := r.radius * hysteresis
	mask := uint32(len(to.start) - 2)
	close, far := r.radius*r.radius, size*size
	var done [9]uint32
	hashes := 0
	cx, cy := cellOf(x, size), cellOf(y, size)
	list := g.list
	for dy := int64(-1); dy <= 1; dy++ {
	cells:
		for dx := int64(-1); dx <= 1; dx++ {
			c := hashOf(cx+dx, cy+dy) & mask
			for _, d := range done[:hashes] {
				if d == c {
					continue cells
				}
			}
			done[hashes] = c
			hashes++
			items := to.items[to.start[c]:to.start[c+1]]
			stats.Near += uint64(len(items))
			for i := range items {
				it := &items[i]
				d := (it.x-x)*(it.x-x) + (it.y-y)*(it.y-y)
				if !(d <= far) {
					continue
				}
				has := uint32(held[it.slot>>6]>>(it.slot&63)) & 1
				if has == 0 && !(d <= close) {
					continue
				}
				le.PutUint32(list[n:n+4:n+4], it.row<<1|has)
				n += 4
			}
		}
	}
	return n / 4
}

// put writes record n of the list.
func (g *sight) put(n int, row uint32, held bool) {
	v := row << 1
	if held {
		v |= 1
	}
	le.PutUint32(g.list[4*n:], v)
}

// self is the viewer's own player, if the world has it, in a game with view bodies.
func (v *Viewer) self() (o *object, ok bool) {
	list := v.in.history.objects
	if i := v.view.self; i < len(list) && list[i].id == v.player {
		return &list[i], true
	}
	i, ok := v.in.history.find(v.player)
	if !ok {
		return nil, false
	}
	v.view.self = i
	return &list[i], true
}

// look finds what a viewer sees now. The set is valid until the next look.
func (g *sight) look(v *Viewer) set {
	in := g.in
	g.seen = append(g.seen[:0], g.always...)
	if v.player == 0 {
		return g.seen // a spectator has no place from which to judge
	}
	o, ok := v.self()
	if !ok {
		return g.seen
	}
	row, slot := in.row(int(o.typ), int(o.row)), o.slot
	for typ := range in.shard.rules.views {
		r := &in.shard.rules.views[typ]
		if !r.judged || g.broken[typ] {
			continue
		}
		n := 0
		if r.near {
			n = g.near(typ, r, r.vx.of(row), r.vy.of(row), v.view.held)
		} else {
			for i, slot := range g.slots[typ] {
				g.put(i, uint32(i), v.view.held.has(slot))
			}
			n = len(g.slots[typ])
		}
		in.shard.stats.Judged += uint64(n)
		g.judge(v.player, typ, n)
		slots, list := g.slots[typ], g.list[:4*n]
		for at := 0; at < len(list); at += 4 {
			if x := le.Uint32(list[at : at+4 : at+4]); x&1 == 1 {
				g.seen.add(slots[x>>1])
			}
		}
	}
	g.seen.add(slot)
	return g.seen
}

// judge has the view body look at the first n records of the list. What it fails for
// is out of view. After some failures it is not asked any more in this send, and
// everything that it would have judged is. The same holds for all view bodies when those
// of a send have taken as much fuel together as a tick may.
func (g *sight) judge(player uint32, typ, n int) {
	in := g.in
	s := in.shard
	for from := 0; from < n; {
		at := s.scratch.list + uint32(4*from)
		done, f, ok := s.machine.View(in.base, player, uint32(typ), at, uint32(n-from), g.fresh)
		g.fresh = false
		if ok {
			return
		}
		from += int(done)
		g.faults++
		all := g.faults > rerunsPerBody || !blamed(&f)
		in.fault(&f, in.tick, all)
		if all {
			g.broken[typ] = true
			if f.Kind == body.FaultTickCap {
				for i := range g.broken {
					g.broken[i] = true
				}
			}
			for i := from; i < n; i++ {
				le.PutUint32(g.list[4*i:], 0)
			}
			return
		}
		le.PutUint32(g.list[4*from:], 0)
		from++
	}
}
