package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

var le = binary.LittleEndian

// AppendUvarint appends v as a uv: seven bits a byte, least significant first, the
// high bit set in all bytes but the last.
func AppendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// PutUvarint is AppendUvarint into room that is there already: it puts v at p[at:], where
// there are MaxUvarint bytes, and returns where it ends.
func PutUvarint(p []byte, at int, v uint32) int {
	if v < 0x80 {
		p[at] = byte(v)
		return at + 1
	}
	return len(AppendUvarint(p[:at], v))
}

// ReadUvarint reads the uv that p begins with. Only the shortest form is taken, so
// that a value has one encoding.
func ReadUvarint(p []byte) (v uint32, rest []byte, err error) {
	if len(p) > 0 && p[0] < 0x80 {
		return uint32(p[0]), p[1:], nil
	}
	for i := 0; i < MaxUvarint; i++ {
		if i >= len(p) {
			return 0, nil, errShort
		}
		b := p[i]
		if i == MaxUvarint-1 && b > 0x0f {
			break // bits past the 32nd, or a sixth byte
		}
		v |= uint32(b&0x7f) << (7 * i)
		if b < 0x80 {
			if b == 0 {
				break // only reached for i > 0: a shorter form exists
			}
			return v, p[i+1:], nil
		}
	}
	return 0, nil, errUvarint
}

// SizeUvarint is the number of bytes of v as a uv, 1 to 5.
func SizeUvarint(v uint32) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// AppendStr appends s as a str: uv byte length, then the bytes. s must be UTF-8, or
// readers take the message for malformed.
func AppendStr(dst []byte, s []byte) []byte {
	dst = AppendUvarint(dst, uint32(len(s)))
	return append(dst, s...)
}

// ReadStr reads the str that p begins with, of at most limit bytes. The text is a
// part of p.
func ReadStr(p []byte, limit int) (text, rest []byte, err error) {
	n, p, err := ReadUvarint(p)
	if err != nil {
		return nil, nil, err
	}
	if uint64(n) > uint64(limit) {
		return nil, nil, errStr
	}
	if len(p) < int(n) {
		return nil, nil, errShort
	}
	if !utf8.Valid(p[:n]) {
		return nil, nil, errUTF8
	}
	return p[:n], p[n:], nil
}

// readU32 reads a fixed-width u32, a tick for example.
func readU32(p []byte) (v uint32, rest []byte, err error) {
	if len(p) < 4 {
		return 0, nil, errShort
	}
	return le.Uint32(p), p[4:], nil
}

// TickDistance is how many ticks a is after b, negative where it is before. Ticks
// wrap, so they have no other order.
func TickDistance(a, b uint32) int32 { return int32(a - b) }

// TickAfter reports whether tick a is after tick b.
func TickAfter(a, b uint32) bool { return int32(a-b) > 0 }
