package wire

// Keyframe is the front of a keyframe message, which sets shared fields to exact
// bits:
//
//	+------+----------+---------------------------+
//	| 0x84 | tick u32 | id uv, mask, values | ... |
//	+------+----------+---------------------------+
//
// The objects, the instance as id 0 first, are those of ObjectWriter.Full, Changes
// and Masked, and of ChangesReader, over the Shared subset.
type Keyframe struct {
	Tick uint32
}

// Append appends the tag and the header.
func (m Keyframe) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagKeyframe)), m.Tick)
}

// ParseKeyframe reads the front of a keyframe message. In rest are the objects.
func ParseKeyframe(p []byte) (m Keyframe, rest []byte, err error) {
	m.Tick, rest, err = parseTick(p, TagKeyframe)
	return m, rest, err
}

// parseTick reads a header that is a tick alone.
func parseTick(p []byte, t Tag) (tick uint32, rest []byte, err error) {
	if p, err = afterTag(p, t); err != nil {
		return 0, nil, err
	}
	return readU32(p)
}
