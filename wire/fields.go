package wire

import (
	"bytes"
	"math/bits"
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
	images *images // nil where rows are their own

	ops    []op
	runs   []op // ops with neighbours that are copied as they are joined to one
	groups []group
	size   int

	from, to int      // all the fields lie in row[from:to]; both are multiples of 8
	own      []uint64 // by eight bytes of row[from:to]: those that are of fields
	steps    bool     // there are numbers that travel as steps: two may be the same step
}

// group is up to 64 of the fields: a word's bits say which of them differ.
type group struct {
	ops   []op
	lanes []lanes // by eight bytes
	steps uint64  // the fields that travel as steps
}

// short is how many bytes are compared as fast without bytes.Equal.
const short = 24

// lanes are eight bytes: the fields that have bytes in a set of the lower four of them,
// and in one of the upper four.
type lanes struct{ low, high [16]uint64 }

func newFields(ops []op) *Fields {
	f := &Fields{ops: ops}
	for i, o := range ops {
		from, to := int(o.off), int(o.off)+o.span()
		if i == 0 {
			f.from = from
		}
		f.from, f.to = min(f.from, from), max(f.to, to)
		f.size += o.width()
		if n := len(f.runs); n > 0 && o.code <= opBool {
			last := &f.runs[n-1]
			if last.code <= opBool && int(last.off)+int(last.size) == from && int(last.size)+int(o.size) < 256 {
				last.code = opRaw
				last.size += o.size
				continue
			}
		}
		f.runs = append(f.runs, o)
	}
	f.from, f.to = f.from&^7, (f.to+7)&^7
	f.own = make([]uint64, (f.to-f.from)/8)
	for rest := ops; len(rest) > 0; {
		n := min(64, len(rest))
		f.groups = append(f.groups, f.newGroup(rest[:n]))
		rest = rest[n:]
	}
	return f
}

func (f *Fields) newGroup(ops []op) group {
	g := group{ops: ops, lanes: make([]lanes, len(f.own))}
	for k := range ops {
		o := &ops[k]
		if o.code == opQuant {
			g.steps |= 1 << k
			f.steps = true
		}
		for at := int(o.off) - f.from; at < int(o.off)-f.from+o.span(); at++ {
			f.own[at/8] |= 0xff << (8 * (at & 7))
			half := &g.lanes[at/8].low
			if at&4 != 0 {
				half = &g.lanes[at/8].high
			}
			for set := range half {
				if set>>(at&3)&1 == 1 {
					half[set] |= 1 << k
				}
			}
		}
	}
	return g
}

// differ gives the fields of the group whose encodings in rows a and b differ.
func (f *Fields) differ(g *group, a, b []byte) (fields uint64) {
	p, q := a[f.from:f.to], b[f.from:f.to]
	for i, own := range f.own {
		if x := (le.Uint64(p) ^ le.Uint64(q)) & own; x != 0 {
			// A bit for each byte that is not zero.
			x |= x >> 4
			x |= x >> 2
			x |= x >> 1
			x = x & 0x0101010101010101 * 0x0102040810204080 >> 56
			fields |= g.lanes[i].low[x&15] | g.lanes[i].high[x>>4]
		}
		p, q = p[8:], q[8:]
	}
	for x := fields & g.steps; x != 0; x &= x - 1 {
		if k := bits.TrailingZeros64(x); g.ops[k].sameStep(a, b) {
			fields &^= 1 << k
		}
	}
	return fields
}

// Len is the number of fields.
func (f *Fields) Len() int { return len(f.ops) }

// MaskLen is the number of bytes of a mask over the fields: 0 for no fields.
func (f *Fields) MaskLen() int { return (len(f.ops) + 7) / 8 }

// MaxSize is the most bytes that all the values take, without a mask.
func (f *Fields) MaxSize() int { return f.size }

// End is how long a row must be for these fields: a multiple of 8.
func (f *Fields) End() int { return f.to }

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
	n := len(f.ops)
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
	if f.to-f.from > short && bytes.Equal(row[f.from:f.to], base[f.from:f.to]) {
		for range f.MaskLen() {
			dst = append(dst, 0)
		}
		return dst
	}
	first := uint64(0) // nearly all types have one group
	for i := range f.groups {
		g := &f.groups[i]
		mask := f.differ(g, row, base)
		if i == 0 {
			first = mask
		}
		for n := len(g.ops); n > 0; n -= 8 {
			dst = append(dst, byte(mask))
			mask >>= 8
		}
	}
	for i := range f.groups {
		g := &f.groups[i]
		if i > 0 {
			first = f.differ(g, row, base)
		}
		for ; first != 0; first &= first - 1 {
			dst = g.ops[bits.TrailingZeros64(first)].appendFast(dst, row)
		}
	}
	return dst
}

// AppendMasked appends mask, of MaskLen bytes and without bits past the fields, and
// the values of the fields that it has.
func (f *Fields) AppendMasked(dst, row, mask []byte) []byte {
	mask = mask[:f.MaskLen()]
	dst = append(dst, mask...)
	for k, b := range mask {
		for ; b != 0; b &= b - 1 {
			dst = f.ops[k*8+bits.TrailingZeros8(b)].appendFast(dst, row)
		}
	}
	return dst
}

// Differ reports whether a field's encodings in rows a and b differ.
func (f *Fields) Differ(a, b []byte) bool {
	p, q := a[f.from:f.to], b[f.from:f.to]
	if len(f.own) == 2 && len(p) == 16 && len(q) == 16 {
		x := (le.Uint64(p)^le.Uint64(q))&f.own[0] | (le.Uint64(p[8:])^le.Uint64(q[8:]))&f.own[1]
		if x == 0 || !f.steps {
			return x != 0
		}
	}
	if len(p) > short && bytes.Equal(p, q) {
		return false
	}
	x := uint64(0)
	for _, own := range f.own {
		x |= (le.Uint64(p) ^ le.Uint64(q)) & own
		p, q = p[8:], q[8:]
	}
	if x == 0 || !f.steps {
		return x != 0
	}
	for i := range f.groups {
		if f.differ(&f.groups[i], a, b) != 0 {
			return true
		}
	}
	return false
}

// ReadAll reads the values of all fields into row. Where row is nil they are
// checked and passed over. After an error the row has an unspecified part of them.
func (f *Fields) ReadAll(p, row []byte) (rest []byte, err error) {
	for i := range f.ops {
		if p, err = f.ops[i].read(p, row); err != nil {
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
	if last := len(f.ops) & 7; last != 0 && mask[n-1]>>last != 0 {
		return nil, errMask
	}
	p = p[n:]
	for k, b := range mask {
		for ; b != 0; b &= b - 1 {
			if p, err = f.ops[k*8+bits.TrailingZeros8(b)].read(p, row); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}
