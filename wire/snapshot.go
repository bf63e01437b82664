package wire

// Snapshot is the front of a snapshot message, which replaces all that the client
// holds:
//
//	+------+----------+----------+---------+--------------+-----------------+-----+
//	| 0x82 | tick u32 | seed u64 | next uv | processed uv | instance fields | ... |
//	+------+----------+----------+---------+--------------+-----------------+-----+
//
// The instance's fields are those of Schema.Fields(schema.InstanceType, Whole,
// false), without id or mask. Then each object in view follows: ObjectWriter.Whole,
// WholeReader.
type Snapshot struct {
	Tick      uint32
	Seed      uint64 // of random()
	Next      uint32 // id of the next entity that a shared body makes
	Processed uint32 // every own command up to this seq was run or refused
}

const maxSnapshotHeader = 1 + 4 + 8 + 2*MaxUvarint

// Append appends the tag and the header.
func (m Snapshot) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, byte(TagSnapshot)), m.Tick)
	dst = le.AppendUint64(dst, m.Seed)
	dst = AppendUvarint(dst, m.Next)
	return AppendUvarint(dst, m.Processed)
}

// ParseSnapshot reads the front of a snapshot message. In rest are the instance's
// fields and the objects.
func ParseSnapshot(p []byte) (m Snapshot, rest []byte, err error) {
	if p, err = afterTag(p, TagSnapshot); err != nil {
		return m, nil, err
	}
	if len(p) < 4+8 {
		return m, nil, errShort
	}
	m.Tick, m.Seed, p = le.Uint32(p), le.Uint64(p[4:]), p[12:]
	if m.Next, p, err = ReadUvarint(p); err != nil {
		return m, nil, err
	}
	if m.Processed, p, err = ReadUvarint(p); err != nil {
		return m, nil, err
	}
	return m, p, nil
}
