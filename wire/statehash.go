package wire

// StateHash is a client's hash of the shared state, see Hash, after it applied the
// send tick:
//
//	+------+----------+----------+
//	| 0x04 | tick u32 | hash u64 |
//	+------+----------+----------+
type StateHash struct {
	Tick uint32
	Hash Hash
}

// Append appends the message.
func (m StateHash) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, byte(TagStateHash)), m.Tick)
	return le.AppendUint64(dst, uint64(m.Hash))
}

// ParseStateHash reads a state hash message.
func ParseStateHash(p []byte) (m StateHash, err error) {
	if p, err = exactly(p, TagStateHash, StateHashSize-1); err != nil {
		return m, err
	}
	return StateHash{le.Uint32(p), Hash(le.Uint64(p[4:]))}, nil
}
