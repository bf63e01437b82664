package wire

import "gamehoster/games/schema"

// Hash is a running FNV-1a hash of 64 bits. The state hash is taken over the
// instance's shared fields, then each object in ascending id order:
//
//	h := wire.NewHash().Fields(s.Fields(schema.InstanceType, wire.Shared, false), row)
//	for each object {
//		h = h.Object(s, typ, row)
//	}
//
// Header and sent fields are not in it.
type Hash uint64

const (
	fnvBasis Hash = 0xcbf29ce484222325
	fnvPrime Hash = 0x100000001b3
)

// NewHash is the hash of nothing.
func NewHash() Hash { return fnvBasis }

// Bytes adds p.
func (h Hash) Bytes(p []byte) Hash {
	for _, b := range p {
		h = (h ^ Hash(b)) * fnvPrime
	}
	return h
}

// Uint32 adds v as four bytes, little-endian.
func (h Hash) Uint32(v uint32) Hash {
	for range 4 {
		h = (h ^ Hash(byte(v))) * fnvPrime
		v >>= 8
	}
	return h
}

// Uvarint adds v as a uv.
func (h Hash) Uvarint(v uint32) Hash {
	for ; v >= 0x80; v >>= 7 {
		h = (h ^ Hash(byte(v)|0x80)) * fnvPrime
	}
	return (h ^ Hash(v)) * fnvPrime
}

// Fields adds the values of the fields as they travel, without making their bytes.
func (h Hash) Fields(f *Fields, row []byte) Hash {
	for i := range f.runs {
		o := &f.runs[i]
		v := row[o.off:]
		switch o.code {
		case opStr:
			h = h.Uvarint(uint32(v[0])).Bytes(v[1 : 1+int(v[0])])
		case opRef:
			h = h.Uvarint(le.Uint32(v))
		case opQuant:
			var scratch [4]byte
			h = h.Bytes(o.appendQuant(scratch[:0], v))
		default:
			h = h.Bytes(v[:o.size])
		}
	}
	return h
}

// Object adds the object of type typ in row: id, type and owner as u32 each, then its
// shared fields. The owner of a type without owners is 0, a player's too.
func (h Hash) Object(s *Schema, typ int, row []byte) Hash {
	var owner uint32
	if at := s.types[typ].owner; at >= 0 {
		owner = le.Uint32(row[at:])
	}
	h = h.Uint32(le.Uint32(row[schema.RowID:])).Uint32(uint32(typ)).Uint32(owner)
	return h.Fields(s.Fields(typ, Shared, false), row)
}
