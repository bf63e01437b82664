package wire

// Ack is what a client answers to each send tick that it applied:
//
//	+------+----------+
//	| 0x02 | tick u32 |
//	+------+----------+
type Ack struct {
	Tick uint32 // the newest send tick that the client has applied
}

// Append appends the message.
func (m Ack) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagAck)), m.Tick)
}

// ParseAck reads an ack message.
func ParseAck(p []byte) (m Ack, err error) {
	if p, err = exactly(p, TagAck, AckSize-1); err != nil {
		return m, err
	}
	return Ack{le.Uint32(p)}, nil
}
