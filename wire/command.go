package wire

import "gamehoster/games/schema"

// CommandHeader is the front of a command message, client to server:
//
//	+------+----------+--------+-----------+----------------------+
//	| 0x01 | tick u32 | seq uv | number uv | the command's fields |
//	+------+----------+--------+-----------+----------------------+
type CommandHeader struct {
	Tick   uint32 // the tick that the player acted on
	Seq    uint32 // 1, 2, 3 ... per seat
	Number uint32 // of the command in the definition
}

// Append appends the tag and the header; the fields follow:
// Schema.Command(Number).AppendAll.
func (h CommandHeader) Append(dst []byte) []byte {
	dst = le.AppendUint32(append(dst, byte(TagCommand)), h.Tick)
	dst = AppendUvarint(dst, h.Seq)
	return AppendUvarint(dst, h.Number)
}

// Commands is the number of commands in the definition.
func (s *Schema) Commands() int { return len(s.commands) }

// Command is the fields of a command, at their places in a command record. number
// must be one of the definition's.
func (s *Schema) Command(number uint32) *Fields { return s.commands[number].fields }

// MaxCommand is the most bytes that a command message of this definition takes.
func (s *Schema) MaxCommand() int {
	n := 0
	for i := range s.commands {
		n = max(n, s.commands[i].fields.MaxSize())
	}
	return 1 + 4 + 2*MaxUvarint + n
}

// ParseCommand reads a command message and puts its fields into the command record
// rec (schema.CommandFields on; what stands before is left to the caller), with all
// else there zero. rec has the layout's CommandStride bytes.
//
// The error wraps ErrMalformed or is ErrRefused; with the latter the header and the
// record are good. After the former the record is unspecified.
func (s *Schema) ParseCommand(p, rec []byte) (h CommandHeader, err error) {
	if p, err = afterTag(p, TagCommand); err != nil {
		return h, err
	}
	if h.Tick, p, err = readU32(p); err != nil {
		return h, err
	}
	if h.Seq, p, err = ReadUvarint(p); err != nil {
		return h, err
	}
	if h.Seq == 0 {
		return h, errSeq
	}
	if h.Number, p, err = ReadUvarint(p); err != nil {
		return h, err
	}
	if h.Number >= uint32(len(s.commands)) {
		return h, errCommand
	}
	clear(rec[schema.CommandFields:s.record])
	p, refused, err := s.commands[h.Number].read(p, rec)
	switch {
	case err != nil:
		return h, err
	case len(p) > 0:
		return h, errTrailing
	case refused:
		return h, ErrRefused
	}
	return h, nil
}
