package wire

import (
	"math"
	"math/bits"

	"gamehoster/games/schema"
)

// Lane is eight bytes of a row, or of its image, for whoever goes through many objects
// of a type and wants no call for each: what Fields does for any fields it does for
// those of nearly all types that move, a few words long, with code small enough to
// become part of the caller's loop.
//
//	for each object
//		for each lane       fields |= l.Changed(now ^ before)
//		for each lane       v, n = l.Values(now, fields)
type Lane struct {
	Off       int    // where it is
	own       uint64 // the bits that are of fields
	low, high uint64 // the fields in the lower half of it, and in the upper half
	same      uint64 // the bits that are the same in an image as in a row
	quants    [2]*schema.Quant
	packs     [4]pack // of none, the fields in the lower half, those in the upper, and all
}

// Lanes is the fields as lanes, in the order in which their values travel; nil where there
// are other fields among them than lanes are made for: more than one in half a lane, more
// than have a bit, texts, references, steps of other numbers than f32. They are for images
// where numbers travel as steps, else for rows.
func (f *Fields) Lanes() []Lane {
	g := &f.Stepped().group
	if g.next != nil || len(g.packs) != len(g.lanes) {
		return nil
	}
	var lanes []Lane
	for i := range g.lanes {
		l := &g.lanes[i]
		if l.sets != nil || l.off != g.packs[i].off {
			return nil
		}
		n := Lane{Off: l.off, own: l.own, low: l.low, high: l.high, same: ^uint64(0)}
		for k := range n.packs {
			n.packs[k] = g.packOf([]uint64{0, l.low, l.high, l.low | l.high}[k])
		}
		if f.images != nil && l.off/8 < len(f.images.words) {
			w := &f.images.words[l.off/8]
			n.same = w.same
			for k := range w.steps {
				if w.steps[k].kind != schema.F32 {
					return nil
				}
				n.quants[w.steps[k].shift/32] = &w.steps[k].quant
			}
		}
		lanes = append(lanes, n)
	}
	return lanes
}

// packOf is how some fields of a lane are put.
func (g *group) packOf(fields uint64) (p pack) {
	var ops []op
	for ; fields != 0; fields &= fields - 1 {
		ops = append(ops, g.ops[bits.TrailingZeros64(fields)])
	}
	for _, p = range newPacks(ops) {
	}
	return p
}

// Changed is the fields that differ where x is what bits do.
func (l *Lane) Changed(x uint64) (fields uint64) {
	x &= l.own
	var low, high uint64
	if uint32(x) != 0 {
		low = l.low
	}
	if x>>32 != 0 {
		high = l.high
	}
	return low | high
}

// Image is the lane of an image of a row that has x there.
func (l *Lane) Image(x uint64) uint64 {
	y := x & l.same
	if q := l.quants[0]; q != nil {
		y |= uint64(q.Encode(float64(math.Float32frombits(uint32(x)))))
	}
	if q := l.quants[1]; q != nil {
		y |= uint64(q.Encode(float64(math.Float32frombits(uint32(x>>32))))) << 32
	}
	return y
}

// Values is the values of those of the fields that are in the lane, as they travel, one
// behind the other, and how many bytes they are; what is above is zero. x is what the
// lane has.
func (l *Lane) Values(x, fields uint64) (v uint64, n int) {
	k := 0
	if fields&l.low != 0 {
		k = 1
	}
	if fields&l.high != 0 {
		k |= 2
	}
	p := &l.packs[k]
	return x>>(p.from&63)&p.low | x>>(p.to&63)&p.high<<(p.next&63), int(p.bytes)
}
