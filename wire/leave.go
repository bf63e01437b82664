package wire

// Leave is the front of a leave message: objects that were removed or went out of
// view.
//
//	+------+----------+-------------+
//	| 0x87 | tick u32 | id uv | ... |
//	+------+----------+-------------+
//
// The ids are those of ObjectWriter.ID and of IDReader.
type Leave struct {
	Tick uint32
}

// Append appends the tag and the header.
func (m Leave) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagLeave)), m.Tick)
}

// ParseLeave reads the front of a leave message. In rest are the ids.
func ParseLeave(p []byte) (m Leave, rest []byte, err error) {
	m.Tick, rest, err = parseTick(p, TagLeave)
	return m, rest, err
}

// IDReader reads the ids of a leave message.
type IDReader struct {
	ids idReader
	p   []byte
	err error
}

// NewIDReader reads from rest of ParseLeave.
func NewIDReader(rest []byte) IDReader { return IDReader{ids: idReader{any: true}, p: rest} }

// Next goes to the next id and reports whether there is one: false at the end and
// after an error.
func (r *IDReader) Next() bool {
	if r.err != nil || len(r.p) == 0 {
		return false
	}
	r.p, r.err = r.ids.read(r.p)
	return r.err == nil
}

// ID is the id that Next went to. It is never 0.
func (r *IDReader) ID() uint32 { return r.ids.last }

// Err is what ended the reading early; nil if all of the message was good.
func (r *IDReader) Err() error { return r.err }
