package wire

import (
	"math/bits"
	"slices"
)

// Fields is a list of a type's fields, or of a command's, that travel together, in
// schema order, made ready for encoding. All methods take whole rows: byte 0 is the
// row's first byte, and a row needs to be only End() bytes long, so that a ring of
// old values may keep rows cut off there.
//
// Rows are compared eight bytes at a time: what differs is found without a look at the
// fields that do not.
//
//	row    8        12       16  17       20       24
//	      | x      | y      | hp |       | score  | what others see ..
//	own   | ff ff ff ff ff ff ff ff | ff 00 00 00 ff ff ff ff |
type Fields struct {
	group          // of the first fields
	images *images // nil where rows are their own
	all    []op
	runs   []op // all with neighbours that are copied as they are joined to one
	size   int
	most   int // as of Most
	end    int // all the fields lie in row[:end]; a multiple of 8
}

// group is up to 56 of the fields, seven bytes of a mask: a word's bits say which of
// them differ.
type group struct {
	ops   []op
	lanes []lane // by eight bytes
	steps uint64 // the fields that travel as steps
	next  *group // the fields after these; nil where there are none, as nearly always

	mask  int    // bytes of a mask of them
	full  uint64 // all the fields, if packs puts them; else none
	packs []pack
}

const (
	groupSize = 56
	later     = 1 << 63 // a field of a later group
)

// lane is eight bytes of a row. Most hold two fields of four bytes or one of eight.
type lane struct {
	off       int
	own       uint64 // the bytes that are of fields of the group
	low, high uint64 // the fields in the lower four of them, and in the upper four
	sets      *sets  // which of them it is; nil where there is no more than one in a half
}

// pack puts the values of fields side by side that are neighbours on the wire and lie in
// the same eight bytes of a row: one run of bytes, or two with a gap between them, as the
// steps of two numbers have it.
//
//	row   q0 q0 .. .. q1 q1 .. ..
//	wire  q0 q0 q1 q1
type pack struct {
	off            int    // of the eight bytes
	low, high      uint64 // the bits of either run, moved down; high is 0 for one run
	from, to, next uint8  // where the runs begin, and where the second goes, in bits
	bytes          uint8  // of both
}

// newPacks is nil where not all fields can be put like that.
func newPacks(ops []op) []pack {
	var list []pack
	for k := range ops {
		o := &ops[k]
		if o.code > opBool {
			return nil
		}
		at, from, bits := int(o.off&^7), uint8(o.off&7*8), 8*o.size
		n := len(list)
		if n == 0 || list[n-1].off != at {
			list = append(list, pack{off: at, from: from, low: 1<<bits - 1, bytes: o.size})
			continue
		}
		p := &list[n-1]
		switch had := 8 * p.bytes; {
		case p.high == 0 && p.from+had == from:
			p.low |= (1<<bits - 1) << had
		case p.high == 0:
			p.to, p.next, p.high = from, had, 1<<bits-1
		case p.to+had-p.next == from:
			p.high |= (1<<bits - 1) << (had - p.next)
		default:
			return nil
		}
		p.bytes += o.size
	}
	return list
}

// sets tells the fields that have bytes in a set of the lower four of a lane's bytes,
// and in one of the upper four.
type sets struct{ low, high [16]uint64 }

// of is the fields that have bytes in x.
func (s *sets) of(x uint64) uint64 {
	// A bit for each byte that is not zero.
	x |= x >> 4
	x |= x >> 2
	x |= x >> 1
	x = x & 0x0101010101010101 * 0x0102040810204080 >> 56
	return s.low[x&15] | s.high[x>>4]
}

func newFields(ops []op) *Fields {
	f := &Fields{all: ops}
	for _, o := range ops {
		f.end = max(f.end, int(o.off)+o.span())
		f.size += o.width()
		if n := len(f.runs); n > 0 && o.code <= opBool {
			last := &f.runs[n-1]
			if last.code <= opBool && last.off+int32(last.size) == o.off && int(last.size)+int(o.size) < 256 {
				last.code = opRaw
				last.size += o.size
				continue
			}
		}
		f.runs = append(f.runs, o)
	}
	f.end = (f.end + 7) &^ 7
	f.most = f.MaskLen() + f.size + 8
	f.group = newGroup(ops, f.end)
	return f
}

// newGroup makes a group of the fields, which lie in row[:end], and groups of those for
// which it has no room.
func newGroup(ops []op, end int) group {
	g := group{lanes: make([]lane, end/8)}
	if len(ops) > groupSize {
		next := newGroup(ops[groupSize:], end)
		g.next = &next
		ops = ops[:groupSize]
	}
	g.ops, g.mask = ops, (len(ops)+7)/8
	if g.packs = newPacks(ops); g.packs != nil {
		g.full = 1<<len(ops) - 1
	}
	for i := range g.lanes {
		g.lanes[i] = lane{off: 8 * i, sets: new(sets)}
	}
	for k := range ops {
		o := &ops[k]
		if o.code == opQuant {
			g.steps |= 1 << k
		}
		for at := int(o.off); at < int(o.off)+o.span(); at++ {
			l := &g.lanes[at/8]
			l.own |= 0xff << (8 * (at & 7))
			half, its := &l.low, &l.sets.low
			if at&4 != 0 {
				half, its = &l.high, &l.sets.high
			}
			*half |= 1 << k
			for set := range its {
				if set>>(at&3)&1 == 1 {
					its[set] |= 1 << k
				}
			}
		}
	}
	g.lanes = slices.DeleteFunc(g.lanes, func(l lane) bool { return l.own == 0 })
	for i := range g.lanes {
		if l := &g.lanes[i]; bits.OnesCount64(l.low) <= 1 && bits.OnesCount64(l.high) <= 1 {
			l.sets = nil
		}
	}
	return g
}

// Changed gives the fields whose encodings in rows a and b differ, bit k for field k.
// Where there are more than few, bit 63 stands for all those that have no bit.
func (g *group) Changed(a, b []byte) (fields uint64) {
	for i := range g.lanes {
		l := &g.lanes[i]
		x := (wordAt(a, l.off) ^ wordAt(b, l.off)) & l.own
		if x == 0 {
			continue
		}
		if l.sets != nil {
			fields |= l.sets.of(x)
			continue
		}
		var low, high uint64
		if uint32(x) != 0 {
			low = l.low
		}
		if x>>32 != 0 {
			high = l.high
		}
		fields |= low | high
	}
	if fields&g.steps != 0 {
		fields = g.sameSteps(fields, a, b)
	}
	if g.next != nil && g.next.Changed(a, b) != 0 {
		fields |= later
	}
	return fields
}

// sameSteps takes those of the fields away that travel as steps and are the same one in
// both rows.
func (g *group) sameSteps(fields uint64, a, b []byte) uint64 {
	for x := fields & g.steps; x != 0; x &= x - 1 {
		if k := bits.TrailingZeros64(x); g.ops[k].sameStep(a, b) {
			fields &^= 1 << k
		}
	}
	return fields
}

// putMask puts the fields as a mask at buf[at:], and returns where it ends. Eight bytes
// are written; those that are too many are free for what follows.
func (g *group) putMask(buf []byte, at int, fields uint64) int {
	putWord(buf, at, fields)
	return at + g.mask
}

// put puts the values of the fields at buf[at:], and returns where they end.
func (g *group) put(buf []byte, at int, row []byte, fields uint64) int {
	if fields == g.full {
		for i := range g.packs {
			p := &g.packs[i]
			x := wordAt(row, p.off)
			putWord(buf, at, x>>(p.from&63)&p.low|x>>(p.to&63)&p.high<<(p.next&63))
			at += int(p.bytes)
		}
		return at
	}
	for ; fields != 0; fields &= fields - 1 {
		o := &g.ops[bits.TrailingZeros64(fields)]
		if o.code > opBool {
			at = len(o.append(buf[:at], row))
			continue
		}
		putWord(buf, at, wordAt(row, int(o.off&^7))>>(o.off&7*8&63))
		at += int(o.size)
	}
	return at
}

// wordAt is the eight bytes at p[at:], and putWord puts them. With all three bounds told
// the compiler has the least to check.
func wordAt(p []byte, at int) uint64 { return le.Uint64(p[at : at+8 : at+8]) }

func putWord(p []byte, at int, v uint64) { le.PutUint64(p[at:at+8:at+8], v) }

// Len is the number of fields.
func (f *Fields) Len() int { return len(f.all) }

// Few reports whether each field has a bit in what Changed gives, so that AppendSet
// takes it.
func (f *Fields) Few() bool { return f.next == nil }

// MaskLen is the number of bytes of a mask over the fields: 0 for no fields.
func (f *Fields) MaskLen() int { return (len(f.all) + 7) / 8 }

// MaxSize is the most bytes that all the values take, without a mask.
func (f *Fields) MaxSize() int { return f.size }

// End is how long a row must be for these fields: a multiple of 8.
func (f *Fields) End() int { return f.end }

// Most is how many bytes PutChanges and PutSet may write at most, more than they leave
// there.
func (f *Fields) Most() int { return f.most }

// room is dst with as much room behind it as the puts ask for.
func (f *Fields) room(dst []byte) []byte {
	dst = slices.Grow(dst, f.most)
	return dst[:cap(dst)]
}

// AppendAll appends the values of all fields.
func (f *Fields) AppendAll(dst, row []byte) []byte {
	for i := range f.runs {
		o := &f.runs[i]
		if o.code <= opBool {
			dst = append(dst, row[o.off:][:o.size]...)
		} else {
			dst = o.append(dst, row)
		}
	}
	return dst
}

// AppendFull appends a mask that has every field and the values of all.
func (f *Fields) AppendFull(dst, row []byte) []byte {
	n := len(f.all)
	for ; n >= 8; n -= 8 {
		dst = append(dst, 0xff)
	}
	if n > 0 {
		dst = append(dst, 1<<n-1)
	}
	return f.AppendAll(dst, row)
}

// AppendChanges appends a mask that has the fields whose encodings in row and base
// differ, and their values in row.
func (f *Fields) AppendChanges(dst, row, base []byte) []byte {
	buf := f.room(dst)
	return buf[:f.PutChanges(buf, len(dst), row, base)]
}

// PutChanges is AppendChanges into room that is there already: it writes at buf[at:],
// where there are Most bytes, and returns where it ends.
func (f *Fields) PutChanges(buf []byte, at int, row, base []byte) int {
	if f.next == nil {
		fields := f.Changed(row, base)
		putWord(buf, at, fields)
		return f.put(buf, at+f.mask, row, fields)
	}
	end := at
	for g := &f.group; g != nil; g = g.next {
		end = g.putMask(buf, end, g.Changed(row, base))
	}
	return len(f.AppendMasked(buf[:at], row, buf[at:end]))
}

// AppendSet appends a mask that has the fields given, bit k for field k, and their
// values in row. The list is one of few fields.
func (f *Fields) AppendSet(dst, row []byte, fields uint64) []byte {
	buf := f.room(dst)
	return buf[:f.PutSet(buf, len(dst), row, fields)]
}

// PutSet is AppendSet as PutChanges is AppendChanges.
func (f *Fields) PutSet(buf []byte, at int, row []byte, fields uint64) int {
	return f.put(buf, f.putMask(buf, at, fields), row, fields)
}

// AppendMasked appends mask, of MaskLen bytes and without bits past the fields, and
// the values of the fields that it has.
func (f *Fields) AppendMasked(dst, row, mask []byte) []byte {
	mask = mask[:f.MaskLen()]
	dst = append(dst, mask...)
	for k, b := range mask {
		for ; b != 0; b &= b - 1 {
			dst = f.all[k*8+bits.TrailingZeros8(b)].append(dst, row)
		}
	}
	return dst
}

// Differ reports whether a field's encodings in rows a and b differ.
func (f *Fields) Differ(a, b []byte) bool { return f.Changed(a, b) != 0 }

// ReadAll reads the values of all fields into row. Where row is nil they are
// checked and passed over. After an error the row has an unspecified part of them.
func (f *Fields) ReadAll(p, row []byte) (rest []byte, err error) {
	for i := range f.all {
		if p, err = f.all[i].read(p, row); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// ReadMasked reads a mask and the values of its fields into row; the other fields
// of the row stay. Where row is nil all is checked and passed over. After an error
// the row has an unspecified part of the values.
func (f *Fields) ReadMasked(p, row []byte) (rest []byte, err error) {
	n := f.MaskLen()
	if len(p) < n {
		return nil, errShort
	}
	mask := p[:n]
	if last := len(f.all) & 7; last != 0 && mask[n-1]>>last != 0 {
		return nil, errMask
	}
	p = p[n:]
	for k, b := range mask {
		for ; b != 0; b &= b - 1 {
			if p, err = f.all[k*8+bits.TrailingZeros8(b)].read(p, row); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}
