package wire

// Pong answers a Ping at once, between send ticks:
//
//	+------+-----------+----------+-------------+
//	| 0x88 | nonce u32 | tick u32 | elapsed u16 |
//	+------+-----------+----------+-------------+
type Pong struct {
	Nonce   uint32 // the ping's
	Tick    uint32 // the last tick that ran
	Elapsed uint16 // how far the time is to the next, in 65536ths of a tick
}

// Append appends the message.
func (m Pong) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, byte(TagPong)), m.Nonce)
	dst = le.AppendUint32(dst, m.Tick)
	return le.AppendUint16(dst, m.Elapsed)
}

// ParsePong reads a pong message.
func ParsePong(p []byte) (m Pong, err error) {
	if p, err = exactly(p, TagPong, PongSize-1); err != nil {
		return m, err
	}
	return Pong{le.Uint32(p), le.Uint32(p[4:]), le.Uint16(p[8:])}, nil
}
