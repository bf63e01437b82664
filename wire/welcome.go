package wire

// Welcome is the first message on a connection, once:
//
//	+------+------------+----------+----------+-----------+-------------+
//	| 0x81 | version u8 | tick u32 | hash u64 | player uv | received uv |
//	+------+------------+----------+----------+-----------+-------------+
//	+----------+-----------+--------------+--------------+-------------------+
//	| name str | token 16B | tickRate u16 | sendRate u16 | timelineDepth u16 |
//	+----------+-----------+--------------+--------------+-------------------+
type Welcome struct {
	Tick     uint32          // the last tick that ran
	Hash     uint64          // of the definition
	Player   uint32          // the seat's player id; 0 for a spectator
	Received uint32          // the greatest seq received on the seat; commands go on from the next
	Name     []byte          // of the instance; at most MaxName bytes of UTF-8. After ParseWelcome a part of the message
	Token    [TokenSize]byte // resumes the seat

	TickRate, SendRate, TimelineDepth uint16 // Hz, Hz, ticks
}

// Append appends the message, with this package's version.
func (m *Welcome) Append(dst []byte) []byte {
	if len(m.Name) > MaxName {
		panic("wire: an instance's name is too long")
	}
	dst = append(dst, byte(TagWelcome), Version)
	dst = le.AppendUint32(dst, m.Tick)
	dst = le.AppendUint64(dst, m.Hash)
	dst = AppendUvarint(dst, m.Player)
	dst = AppendUvarint(dst, m.Received)
	dst = AppendStr(dst, m.Name)
	dst = append(dst, m.Token[:]...)
	dst = le.AppendUint16(dst, m.TickRate)
	dst = le.AppendUint16(dst, m.SendRate)
	return le.AppendUint16(dst, m.TimelineDepth)
}

// ParseWelcome reads a welcome message. The version is looked at first: another one
// than Version is an error whatever follows.
func ParseWelcome(p []byte) (m Welcome, err error) {
	if p, err = afterTag(p, TagWelcome); err != nil {
		return m, err
	}
	if len(p) < 1+4+8 {
		return m, errShort
	}
	if p[0] != Version {
		return m, errVersion
	}
	m.Tick, m.Hash, p = le.Uint32(p[1:]), le.Uint64(p[5:]), p[13:]
	if m.Player, p, err = ReadUvarint(p); err != nil {
		return m, err
	}
	if m.Player != 0 && !isPlayer(m.Player) {
		return m, errID
	}
	if m.Received, p, err = ReadUvarint(p); err != nil {
		return m, err
	}
	if m.Name, p, err = ReadStr(p, MaxName); err != nil {
		return m, err
	}
	const tail = TokenSize + 3*2
	if len(p) < tail {
		return m, errShort
	}
	if len(p) > tail {
		return m, errTrailing
	}
	copy(m.Token[:], p)
	p = p[TokenSize:]
	m.TickRate, m.SendRate, m.TimelineDepth = le.Uint16(p), le.Uint16(p[2:]), le.Uint16(p[4:])
	if m.SendRate == 0 || m.TickRate == 0 || m.TickRate%m.SendRate != 0 {
		return m, errRates
	}
	return m, nil
}
