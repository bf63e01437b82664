package wire

// Ping asks for a Pong with the same nonce:
//
//	+------+-----------+
//	| 0x03 | nonce u32 |
//	+------+-----------+
type Ping struct {
	Nonce uint32
}

// Append appends the message.
func (m Ping) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagPing)), m.Nonce)
}

// ParsePing reads a ping message.
func ParsePing(p []byte) (m Ping, err error) {
	if p, err = exactly(p, TagPing, PingSize-1); err != nil {
		return m, err
	}
	return Ping{le.Uint32(p)}, nil
}
