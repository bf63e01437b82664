package wire

import (
	"bytes"
	"math/bits"
)

// Fields is a list of a type's fields, or of a command's, that travel together, in
// schema order, made ready for encoding. All methods take whole rows: byte 0 is the
// row's first byte, and a row needs to be only End() bytes long, so that a ring of
// old values may keep rows cut off there.
type Fields struct {
	ops   []op
	runs  []op // ops with neighbours that are copied as they are joined to one
	words []word
	size  int

	from, to int // all the fields lie in row[from:to]
}

// word is eight bytes of a row, by which rows are compared: what differs is found
// without a look at the fields that do not.
//
//	row      8        12       16  17       20       24
//	        | x      | y      | hp |       | score  |
//	words   |----------------------------|
//	                     |--------------------------|  the last one ends with the fields;
//	                               what an earlier one has is not in its own
type word struct {
	off   int32
	own   uint64    // the bytes that are of fields, and no earlier word's
	steps uint64    // of them, those of fields that travel as steps, which may differ and be the same step
	whole [8]uint64 // by byte: all bytes of its field here
	field [8]uint16 // by byte: the number of the field
}

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
	f.split()
	return f
}

// split splits the bytes of the fields into words.
func (f *Fields) split() {
	fields := make([]int, f.to) // by byte: 1 and the number of its field
	for k := range f.ops {
		for i := range f.ops[k].span() {
			fields[int(f.ops[k].off)+i] = k + 1
		}
	}
	for at := 0; at < f.to; at += 8 {
		w := word{off: int32(min(at, f.to-8))}
		for b := range w.field {
			if k := fields[int(w.off)+b] - 1; k >= 0 {
				fields[int(w.off)+b] = 0
				w.field[b] = uint16(k)
				w.own |= 0xff << (8 * b)
				if f.ops[k].code == opQuant {
					w.steps |= 0xff << (8 * b)
				}
			}
		}
		for b := range w.field {
			for c := range w.field {
				if w.field[b] == w.field[c] {
					w.whole[b] |= 0xff << (8 * c)
				}
			}
		}
		if w.own != 0 {
			f.words = append(f.words, w)
		}
	}
}

// differ gives the bytes of the word that are fields' and differ.
func (w *word) differ(a, b []byte) uint64 {
	return (le.Uint64(a[w.off:]) ^ le.Uint64(b[w.off:])) & w.own
}

// Len is the number of fields.
func (f *Fields) Len() int { return len(f.ops) }

// MaskLen is the number of bytes of a mask over the fields: 0 for no fields.
func (f *Fields) MaskLen() int { return (len(f.ops) + 7) / 8 }

// MaxSize is the most bytes that all the values take, without a mask.
func (f *Fields) MaxSize() int { return f.size }

// End is how long a row must be for these fields.
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
	at := len(dst)
	for i := len(f.ops); i > 0; i -= 8 {
		dst = append(dst, 0)
	}
	if bytes.Equal(row[f.from:f.to], base[f.from:f.to]) {
		return dst
	}
	mask := dst[at:]
	for i := range f.words {
		w := &f.words[i]
		for x := w.differ(row, base); x != 0; {
			b := bits.TrailingZeros64(x) >> 3
			x &^= w.whole[b]
			k := w.field[b]
			if w.steps == 0 || f.ops[k].code != opQuant || !f.ops[k].sameStep(row, base) {
				mask[k>>3] |= 1 << (k & 7)
			}
		}
	}
	return f.appendMasked(dst, row, mask)
}

// AppendMasked appends mask, of MaskLen bytes and without bits past the fields, and
// the values of the fields that it has.
func (f *Fields) AppendMasked(dst, row, mask []byte) []byte {
	mask = mask[:f.MaskLen()]
	return f.appendMasked(append(dst, mask...), row, mask)
}

func (f *Fields) appendMasked(dst, row, mask []byte) []byte {
	for k, b := range mask {
		for ; b != 0; b &= b - 1 {
			o := &f.ops[k*8+bits.TrailingZeros8(b)]
			if o.code == opRaw && o.size == 4 { // most are
				dst = le.AppendUint32(dst, le.Uint32(row[o.off:]))
			} else {
				dst = o.append(dst, row)
			}
		}
	}
	return dst
}

// Differ reports whether a field's encodings in rows a and b differ.
func (f *Fields) Differ(a, b []byte) bool {
	if bytes.Equal(a[f.from:f.to], b[f.from:f.to]) {
		return false
	}
	for i := range f.words {
		w := &f.words[i]
		x := w.differ(a, b)
		if x&^w.steps != 0 {
			return true
		}
		for x != 0 {
			at := bits.TrailingZeros64(x) >> 3
			x &^= w.whole[at]
			if !f.ops[w.field[at]].sameStep(a, b) {
				return true
			}
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
