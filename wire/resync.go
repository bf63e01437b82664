package wire

// Resync asks for a snapshot. The client met an unknown id, a base it does not hold
// or needs a past state that it has no longer:
//
//	+------+
//	| 0x05 |
//	+------+
type Resync struct{}

// Append appends the message.
func (m Resync) Append(dst []byte) []byte { return append(dst, byte(TagResync)) }

// ParseResync reads a resync message.
func ParseResync(p []byte) (m Resync, err error) {
	_, err = exactly(p, TagResync, ResyncSize-1)
	return m, err
}
