package wire

// Delta is the front of a delta message, which ends a send tick. It brings the sent
// fields (a thin client's: all visible ones) from the values that the client held
// after it applied base to those of tick:
//
//	+------+----------+----------+--------------+----------------------------+
//	| 0x83 | tick u32 | base u32 | processed uv | id uv, mask, values | ...  |
//	+------+----------+----------+--------------+----------------------------+
//
// The objects, the instance as id 0 first, are those of ObjectWriter.Changes and
// Full, and of ChangesReader.
type Delta struct {
	Tick      uint32
	Base      uint32 // a send tick that the client acked
	Processed uint32 // every own command up to this seq was run or refused
}

// Append appends the tag and the header.
func (m Delta) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, byte(TagDelta)), m.Tick)
	dst = le.AppendUint32(dst, m.Base)
	return AppendUvarint(dst, m.Processed)
}

// ParseDelta reads the front of a delta message. In rest are the objects.
func ParseDelta(p []byte) (m Delta, rest []byte, err error) {
	if p, err = afterTag(p, TagDelta); err != nil {
		return m, nil, err
	}
	if len(p) < 4+4 {
		return m, nil, errShort
	}
	m.Tick, m.Base, p = le.Uint32(p), le.Uint32(p[4:]), p[8:]
	if m.Processed, p, err = ReadUvarint(p); err != nil {
		return m, nil, err
	}
	return m, p, nil
}
