package wire

import (
	"fmt"

	"gamehoster/games/schema"
)

// opCode is how a field's bytes in a row and on the wire relate.
type opCode uint8

const (
	opRaw   opCode = iota // the same bytes
	opBool                // the same byte, which is 0 or 1
	opStr                 // length byte and padded text; uv length and text
	opRef                 // u32; uv
	opQuant               // a number; its step as u8, u16 or u32
)

// op is one field's codec at a place in a row.
type op struct {
	code  opCode
	kind  schema.Kind
	size  uint8 // opRaw: bytes; opStr: most bytes of text; opQuant: bytes on the wire
	off   int32
	top   uint32 // opQuant: the greatest step
	quant *schema.Quant
}

func newOp(f *schema.Field, off int) op {
	o := op{kind: f.Kind, off: int32(off)}
	switch {
	case f.Quant != nil && f.Sync == schema.Sent && f.Kind.Number():
		o.code = opQuant
		o.quant = f.Quant
		o.size = uint8(f.Quant.Bytes)
		o.top = f.Quant.Encode(f.Quant.Max)
	case f.Kind == schema.Bool:
		o.code = opBool
		o.size = 1
	case f.Kind == schema.Str:
		o.code = opStr
		o.size = uint8(f.Len)
	case f.Kind == schema.Ref:
		o.code = opRef
		o.size = 4
	default:
		o.code = opRaw
		o.size = uint8(f.Kind.Size())
	}
	return o
}

// AppendField appends the value of f, which stands at row[off:], as it travels.
func AppendField(dst []byte, f *schema.Field, row []byte, off int) []byte {
	o := newOp(f, off)
	return o.append(dst, row)
}

// ReadField reads the value of f that p begins with and puts it at row[off:], in
// canonical form. Where row is nil the value is checked and passed over. A value
// that is not well-formed leaves the row as it was.
func ReadField(f *schema.Field, p []byte, row []byte, off int) (rest []byte, err error) {
	o := newOp(f, off)
	return o.read(p, row)
}

// width is the most bytes that the field takes on the wire.
func (o *op) width() int {
	switch o.code {
	case opStr:
		return SizeUvarint(uint32(o.size)) + int(o.size)
	case opRef:
		return MaxUvarint
	}
	return int(o.size)
}

// span is the bytes that the field takes in a row.
func (o *op) span() int {
	switch o.code {
	case opStr:
		return 1 + int(o.size)
	case opQuant:
		return o.kind.Size()
	}
	return int(o.size)
}

func (o *op) append(dst, row []byte) []byte {
	v := row[o.off:]
	switch o.code {
	case opStr:
		n := int(v[0])
		if n > int(o.size) {
			// What follows in the row may be nobody's to see.
			panic(fmt.Sprintf("wire: a str of %d bytes in a field of %d", n, o.size))
		}
		return AppendStr(dst, v[1:1+n])
	case opRef:
		return AppendUvarint(dst, le.Uint32(v))
	case opQuant:
		return o.appendQuant(dst, v)
	}
	return append(dst, v[:o.size]...)
}

func (o *op) appendQuant(dst, v []byte) []byte {
	q := o.quant.Encode(schema.LoadNumber(o.kind, v))
	switch o.size {
	case 1:
		return append(dst, byte(q))
	case 2:
		return le.AppendUint16(dst, uint16(q))
	}
	return le.AppendUint32(dst, q)
}

// sameStep reports whether a number that travels as a step is the same step in both
// rows.
func (o *op) sameStep(a, b []byte) bool {
	return o.quant.Encode(schema.LoadNumber(o.kind, a[o.off:])) == o.quant.Encode(schema.LoadNumber(o.kind, b[o.off:]))
}

func (o *op) read(p, row []byte) (rest []byte, err error) {
	switch o.code {
	case opStr:
		text, rest, err := ReadStr(p, int(o.size))
		if err == nil && row != nil {
			v := row[o.off:][:1+int(o.size)]
			v[0] = byte(len(text))
			clear(v[1+copy(v[1:], text):])
		}
		return rest, err
	case opRef:
		id, rest, err := ReadUvarint(p)
		if err == nil && row != nil {
			le.PutUint32(row[o.off:], id)
		}
		return rest, err
	}
	n := int(o.size)
	if len(p) < n {
		return nil, errShort
	}
	switch o.code {
	case opBool:
		if p[0] > 1 {
			return nil, errBool
		}
	case opQuant:
		var q uint32
		switch n {
		case 1:
			q = uint32(p[0])
		case 2:
			q = uint32(le.Uint16(p))
		default:
			q = le.Uint32(p)
		}
		if q > o.top {
			return nil, errStep
		}
		if row != nil {
			schema.StoreNumber(o.kind, row[o.off:], o.quant.Decode(q))
		}
		return p[n:], nil
	}
	if row != nil {
		copy(row[o.off:], p[:n])
	}
	return p[n:], nil
}
