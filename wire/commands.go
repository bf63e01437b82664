package wire

import "gamehoster/games/schema"

// Commands is the front of a commands message: commands of players that the client
// holds, as the server applied them.
//
//	+------+----------+---------------------------------------------------------+
//	| 0x85 | tick u32 | back uv, player uv, seq uv, number uv, fields    | ...  |
//	+------+----------+---------------------------------------------------------+
//
// back is how many ticks before the message's tick the command was applied. The
// list is sorted by that tick, then player, then seq: CommandWriter, CommandReader.
type Commands struct {
	Tick uint32
}

// Append appends the tag and the header.
func (m Commands) Append(dst []byte) []byte {
	return le.AppendUint32(append(dst, byte(TagCommands)), m.Tick)
}

// ParseCommands reads the front of a commands message. In rest are the commands.
func ParseCommands(p []byte) (m Commands, rest []byte, err error) {
	m.Tick, rest, err = parseTick(p, TagCommands)
	return m, rest, err
}

// Relayed tells one command of a commands message.
type Relayed struct {
	Tick   uint32 // that it was applied on
	Player uint32 // who sent it
	Seq    uint32 // per player
	Number uint32 // of the command in the definition
}

// relayOrder is where a list of relayed commands has got to.
type relayOrder struct {
	back, player, seq uint32
	any               bool
}

// step goes on to the next command and reports whether it is after the last.
func (o *relayOrder) step(back, player, seq uint32) bool {
	ok := !o.any || back < o.back ||
		back == o.back && (player > o.player || player == o.player && seq > o.seq)
	*o = relayOrder{back, player, seq, true}
	return ok
}

// CommandWriter appends the commands of one commands message. It is a small value;
// a copy made before an append takes it back.
type CommandWriter struct {
	tick  uint32
	order relayOrder
}

// NewCommandWriter starts the list of a message of the tick.
func NewCommandWriter(tick uint32) CommandWriter { return CommandWriter{tick: tick} }

// Append appends one command; its fields, in wire form, follow:
// Schema.Command(c.Number).AppendAll. c.Tick is not after the message's tick, and
// the commands come in order.
func (w *CommandWriter) Append(dst []byte, c Relayed) []byte {
	if TickAfter(c.Tick, w.tick) || !isPlayer(c.Player) || c.Seq == 0 ||
		!w.order.step(w.tick-c.Tick, c.Player, c.Seq) {
		panic("wire: relayed commands are out of order")
	}
	dst = AppendUvarint(dst, w.tick-c.Tick)
	dst = AppendUvarint(dst, c.Player)
	dst = AppendUvarint(dst, c.Seq)
	return AppendUvarint(dst, c.Number)
}

// CommandReader reads the commands of a commands message.
type CommandReader struct {
	s     *Schema
	tick  uint32
	p     []byte
	order relayOrder
	c     Relayed
	err   error
}

// NewCommandReader reads from rest of ParseCommands, whose tick is given.
func NewCommandReader(s *Schema, tick uint32, rest []byte) CommandReader {
	return CommandReader{s: s, tick: tick, p: rest}
}

// Next reads the next command into the command record rec, as Schema.ParseCommand
// does, and reports whether there is one: false at the end and after an error. A
// command that is out of its definition's bounds is malformed here, as the server
// relays none.
func (r *CommandReader) Next(rec []byte) bool {
	if r.err != nil || len(r.p) == 0 {
		return false
	}
	r.err = r.next(rec)
	return r.err == nil
}

func (r *CommandReader) next(rec []byte) (err error) {
	var back uint32
	if back, r.p, err = ReadUvarint(r.p); err != nil {
		return err
	}
	if r.c.Player, r.p, err = ReadUvarint(r.p); err != nil {
		return err
	}
	if !isPlayer(r.c.Player) {
		return errID
	}
	if r.c.Seq, r.p, err = ReadUvarint(r.p); err != nil {
		return err
	}
	if r.c.Seq == 0 {
		return errSeq
	}
	if r.c.Number, r.p, err = ReadUvarint(r.p); err != nil {
		return err
	}
	if r.c.Number >= uint32(len(r.s.commands)) {
		return errCommand
	}
	if int32(back) < 0 || !r.order.step(back, r.c.Player, r.c.Seq) {
		return errRelay
	}
	r.c.Tick = r.tick - back
	clear(rec[schema.CommandFields:r.s.record])
	var refused bool
	if r.p, refused, err = r.s.commands[r.c.Number].read(r.p, rec); err != nil {
		return err
	}
	if refused {
		return errBounds
	}
	return nil
}

// Command is the command that Next read.
func (r *CommandReader) Command() Relayed { return r.c }

// Err is what ended the reading early; nil if all of the message was good.
func (r *CommandReader) Err() error { return r.err }
