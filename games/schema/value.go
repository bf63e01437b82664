package schema

import (
	"encoding/binary"
	"math"
)

// LoadNumber is the number of kind k that stands at the front of v, as JavaScript has
// it. k is one of the number kinds.
func LoadNumber(k Kind, v []byte) float64 {
	switch k {
	case I8:
		return float64(int8(v[0]))
	case U8:
		return float64(v[0])
	case I16:
		return float64(int16(binary.LittleEndian.Uint16(v)))
	case U16:
		return float64(binary.LittleEndian.Uint16(v))
	case I32:
		return float64(int32(binary.LittleEndian.Uint32(v)))
	case U32:
		return float64(binary.LittleEndian.Uint32(v))
	case F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}

// StoreNumber puts x at the front of v as a typed array of kind k stores it: rounded
// to f32, or cut to a whole number and wrapped. A bool takes 0 and 1. x is finite and
// under 2^63 in size, as what lies between a definition's bounds is.
func StoreNumber(k Kind, v []byte, x float64) {
	switch k {
	case F32:
		binary.LittleEndian.PutUint32(v, math.Float32bits(float32(x)))
		return
	case F64:
		binary.LittleEndian.PutUint64(v, math.Float64bits(x))
		return
	}
	u := uint32(int64(x))
	switch k.Size() {
	case 1:
		v[0] = byte(u)
	case 2:
		binary.LittleEndian.PutUint16(v, uint16(u))
	default:
		binary.LittleEndian.PutUint32(v, u)
	}
}
