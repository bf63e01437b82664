package schema

// Side is one of the two modules that a game compiles to.
type Side uint8

const (
	OnServer Side = iota
	OnClient
)

// Offsets in an instance's header. Ids are given by three counters: players 1, 3,
// 5 ... by the engine, entities made by shared bodies 2, 6, 10 ..., entities made
// by server bodies 4, 8, 12 ....
const (
	HeaderTick       = 0  // u32: the tick that ran last
	HeaderFlags      = 4  // u32: FlagClosed, FlagEnded
	HeaderNextShared = 8  // u32: id of the next entity that a shared body makes
	HeaderNextServer = 12 // u32: id of the next entity that a server body makes
	HeaderSeed       = 16 // u64: of random()
	HeaderServerSeed = 24 // u64: of serverRandom(); 0 on a client
	HeaderCounts     = 32 // Counts of type 1, of type 2, ...
)

// Bits of the header's flags.
const (
	FlagClosed = 1 << 0 // game.open = false: no new seats
	FlagEnded  = 1 << 1 // game.end(): closes with 4002 after the send
)

// Counts of one type: how many rows there are, how many of them are not marked
// removed, and how many are known to be in ascending id order (the rows made
// since the tick's start come after these). Between ticks all three are equal.
const (
	CountRows   = 0
	CountLive   = 4
	CountSorted = 8
	CountsSize  = 16
)

// Offsets in a row, and bits of its mark.
const (
	RowID    = 0 // u32
	RowMark  = 4 // u32
	RowOwner = 8 // u32 player id; only in rows of owned types

	MarkRemoved = 1 << 0 // removed in this tick; never set between ticks
	MarkWritten = 1 << 1 // a server body made the row or wrote a shared field of it since the engine last cleared the bit
)

// FirstShared and FirstServer are the first ids of the two entity counters; both
// go up by IDStep, the players' by PlayerIDStep from FirstPlayer.
const (
	FirstPlayer  = 1
	PlayerIDStep = 2
	FirstShared  = 2
	FirstServer  = 4
	IDStep       = 4
)

// Span is a run of bytes, [From, To).
type Span struct{ From, To int }

// TypeLayout says where a type's rows and fields are.
type TypeLayout struct {
	Counts  int   // offset of its counts in the block; -1 for the instance
	Rows    int   // offset of its first row in the block
	Stride  int   // bytes from one row to the next; a multiple of 8
	Owner   int   // offset of the owner in a row; -1 where there is none
	Sent    Span  // in a row: the sent fields, padding included
	Shared  Span  // in a row
	Server  Span  // in a row; empty on a client
	Offsets []int // by field index, in a row; -1 where the side lacks the field
}

// CommandLayout says where a command's fields are in a command record.
type CommandLayout struct {
	Offsets []int // by field index, from the record's start
}

// Layout is the canonical layout of one side.
type Layout struct {
	Side     Side
	Size     int // of a block; a multiple of 64
	Types    []TypeLayout
	Commands []CommandLayout
	// CommandStride is the size of one command record in a tick's input; a
	// multiple of 8.
	CommandStride int
}

// A tick's input, handed to the module by address (0 for none): four counts,
// then the skips, leaves, joins and commands one after the other.
//
//	u32 skips, u32 leaves, u32 joins, u32 commands
//	skip    u32 body number, u32 actor id (AllActors for each)
//	leave   u32 player id, u32 zero
//	join    u32 player id, u8 name length, 32 bytes of name, zero filled to JoinSize
//	command u32 player id, u32 seq, u32 command number, u32 zero, then its fields
const (
	InputHeader   = 16
	SkipSize      = 8
	LeaveSize     = 8
	JoinSize      = 40
	JoinName      = 4 // u8 length, then the bytes
	CommandPlayer = 0
	CommandSeq    = 4
	CommandNumber = 8
	CommandFields = 16

	AllActors = 0xffffffff
)

// MaxPlayerName is the most bytes of a player's name.
const MaxPlayerName = 32

// NewLayout computes the layout of one side.
func NewLayout(d *Definition, side Side) *Layout {
	l := &Layout{Side: side}
	at := align(HeaderCounts+(len(d.Types)-1)*CountsSize, 8)
	for i, t := range d.Types {
		tl := rowLayout(t, side)
		tl.Counts = HeaderCounts + (i-1)*CountsSize
		if i == InstanceType {
			tl.Counts = -1
		}
		tl.Rows = at
		at += tl.Stride * t.Max
		l.Types = append(l.Types, tl)
	}
	l.Size = align(at, 64)
	l.CommandStride = CommandFields
	for _, c := range d.Commands {
		cl := CommandLayout{Offsets: make([]int, len(c.Fields))}
		end := CommandFields
		for i, f := range c.Fields {
			end = align(end, f.Align())
			cl.Offsets[i] = end
			end += f.Size()
		}
		l.Commands = append(l.Commands, cl)
		l.CommandStride = max(l.CommandStride, align(end, 8))
	}
	return l
}

func rowLayout(t *Type, side Side) TypeLayout {
	tl := TypeLayout{Owner: -1, Offsets: make([]int, len(t.Fields))}
	at := RowOwner
	if t.Owned {
		tl.Owner = RowOwner
		at = RowOwner + 4
	}
	place := func(s Sync) Span {
		from := at
		for i, f := range t.Fields {
			if f.Sync != s {
				continue
			}
			at = align(at, f.Align())
			tl.Offsets[i] = at
			at += f.Size()
		}
		return Span{from, at}
	}
	for i := range tl.Offsets {
		tl.Offsets[i] = -1
	}
	tl.Sent = place(Sent)
	tl.Shared = place(Shared)
	if side == OnServer {
		tl.Server = place(Server)
	} else {
		tl.Server = Span{at, at}
	}
	tl.Stride = align(at, 8)
	return tl
}

func align(n, to int) int { return (n + to - 1) / to * to }
