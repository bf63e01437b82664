package ws

import (
	"encoding/binary"
	"math/bits"
)

// Mask applies a masking key to p in place; masking and unmasking are the same. The key
// is its four bytes read as a little-endian u32. The result is the key turned so that it
// fits the byte after p: payloads may be masked in pieces of any size.
func Mask(p []byte, key uint32) uint32 {
	wide := uint64(key)<<32 | uint64(key)
	// Four words a turn: one bounds check and one branch for 32 bytes. The loads and stores
	// compile to single unaligned moves where the machine has them and to byte moves elsewhere.
	for len(p) >= 32 {
		q := p[:32]
		binary.LittleEndian.PutUint64(q[0:], binary.LittleEndian.Uint64(q[0:])^wide)
		binary.LittleEndian.PutUint64(q[8:], binary.LittleEndian.Uint64(q[8:])^wide)
		binary.LittleEndian.PutUint64(q[16:], binary.LittleEndian.Uint64(q[16:])^wide)
		binary.LittleEndian.PutUint64(q[24:], binary.LittleEndian.Uint64(q[24:])^wide)
		p = p[32:]
	}
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)^wide)
		p = p[8:]
	}
	if len(p) >= 4 {
		binary.LittleEndian.PutUint32(p, binary.LittleEndian.Uint32(p)^key)
		p = p[4:]
	}
	for i := range p {
		p[i] ^= byte(key)
		key = bits.RotateLeft32(key, -8)
	}
	return key
}
