package wire

// Enter is the front of an enter message: objects that the client does not hold, or
// that replace what it holds, whole.
//
//	+------+----------+-------------------------------------------+
//	| 0x86 | tick u32 | id uv, type uv, owner uv ?, fields | ...  |
//	+------+----------+-------------------------------------------+
//
// The objects are those of ObjectWriter.Whole and of WholeReader.
type Enter struct {
	Tick uint32
}

// Append appends the tag and the header.
func (m Enter) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagEnter)), m.Tick)
}

// ParseEnter reads the front of an enter message. In rest are the objects.
func ParseEnter(p []byte) (m Enter, rest []byte, err error) {
	m.Tick, rest, err = parseTick(p, TagEnter)
	return m, rest, err
}
