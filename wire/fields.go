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
	ops      []op
	runs     []op // ops with neighbours that are copied as they are joined to one
	from, to int  // all the fields lie in row[from:to]
	size     int
}

func newFields(ops []op) *Fields {
	f := &Fields{ops: ops}
	for i, o := range ops {
		from, to := int(o.off), int(o.off)+o.span()
		if i == 0 {
			f.from, f.to = from, to
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
	return f
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
	for i := range f.ops {
		o := &f.ops[i]
		if !o.same(row, base) {
			dst[at+i>>3] |= 1 << (i & 7)
			dst = o.append(dst, row)
		}
	}
	return dst
}

// AppendMasked appends mask, of MaskLen bytes and without bits past the fields, and
// the values of the fields that it has.
func (f *Fields) AppendMasked(dst, row, mask []byte) []byte {
	dst = append(dst, mask[:f.MaskLen()]...)
	for k := range f.MaskLen() {
		for b := mask[k]; b != 0; b &= b - 1 {
			dst = f.ops[k*8+bits.TrailingZeros8(b)].append(dst, row)
		}
	}
	return dst
}

// Differ reports whether a field's encodings in rows a and b differ.
func (f *Fields) Differ(a, b []byte) bool {
	if bytes.Equal(a[f.from:f.to], b[f.from:f.to]) {
		return false
	}
	for i := range f.ops {
		if !f.ops[i].same(a, b) {
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
