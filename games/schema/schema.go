// Package schema is the vocabulary of a game: its types, fields, commands and
// rates as data, and the canonical layout of an instance's state that follows
// from them. The loader fills it from gamehoster-game.json; the body compiler,
// the wire encoders, the instances and the client library's build read it. It
// knows no file, no byte on the wire and no running game.
//
// # Order
//
// Types are numbered 0 for the instance, 1 for the player, then the entity
// types in the definition's order. Fields keep the definition's order inside
// their type and commands theirs. Everything that lists fields, masks included,
// goes by that order.
//
// # State of an instance
//
// An instance is one block of bytes in the linear memory of its game:
//
//	+--------+--------------+-------------+-------------+-----+
//	| header | instance row | player rows | entity rows | ... |
//	+--------+--------------+-------------+-------------+-----+
//
// The header holds the tick, the id counters, the random seeds and, for each
// type from 1 on, three counts. The rows of a type are dense, of one size and in
// ascending id order, so that a list is walked by adding the stride and an id is
// found by binary search. A row is
//
//	+----+------+---------+-------------+---------------+---------------+
//	| id | mark | owner ? | sent fields | shared fields | server fields |
//	+----+------+---------+-------------+---------------+---------------+
//
// with each field at its natural alignment and all padding zero, so that what
// changed is found by comparing runs of bytes. The client's layout is the same
// without the server fields, so that nothing of them reaches a browser.
package schema

// Kind is the type of a field's value.
type Kind uint8

const (
	Bool Kind = iota
	I8
	U8
	I16
	U16
	I32
	U32
	F32
	F64
	Str // UTF-8 text of at most Field.Len bytes
	Ref // the id of an object of type Field.Ref, 0 for none
)

var kindNames = [...]string{"bool", "i8", "u8", "i16", "u16", "i32", "u32", "f32", "f64", "str", "ref"}

// String is the kind's name as authors write it.
func (k Kind) String() string { return kindNames[k] }

// Number reports whether values of the kind are numbers.
func (k Kind) Number() bool { return k >= I8 && k <= F64 }

// Integer reports whether values of the kind are whole numbers.
func (k Kind) Integer() bool { return k >= I8 && k <= U32 }

// Size is the bytes a value takes in state and, for all kinds but Str and Ref,
// on the wire. For Str it is 0: see Field.Size.
func (k Kind) Size() int {
	switch k {
	case Bool, I8, U8:
		return 1
	case I16, U16:
		return 2
	case I32, U32, F32, Ref:
		return 4
	case F64:
		return 8
	}
	return 0
}

// Sync is how a field reaches the clients.
type Sync uint8

const (
	Server Sync = iota // never leaves the server
	Sent               // authoritative values at send ticks
	Shared             // reproduced by every client, corrected by keyframes
)

var syncNames = [...]string{"server", "sent", "shared"}

// String is the sync class's name as authors write it.
func (s Sync) String() string { return syncNames[s] }

// Audience is who may receive a field.
type Audience uint8

const (
	All   Audience = iota
	Owner          // the player itself, or the owner of an entity
)

// Smooth is how the client library draws a number between ticks.
type Smooth uint8

const (
	Steps  Smooth = iota // as it is
	Linear               // interpolated and eased
	Angle                // in radians, the short way round
)

// Quant is the step with which a sent number travels: q = floor((clamp(v, Min,
// Max) - Min) / Step + 0.5), in Bytes (1, 2 or 4) bytes.
type Quant struct {
	Step, Min, Max float64
	Bytes          int
}

// Encode gives the wire value of v. NaN counts as Min.
func (q *Quant) Encode(v float64) uint32 {
	if !(v > q.Min) {
		v = q.Min
	} else if v > q.Max {
		v = q.Max
	}
	// Of what is not negative the whole part is the floor.
	return uint32(int64(float64((v-q.Min)/q.Step) + 0.5))
}

// Decode gives the number that the wire value u stands for.
func (q *Quant) Decode(u uint32) float64 {
	return q.Min + float64(float64(u)*q.Step)
}

// Field is one value of a type or of a command.
type Field struct {
	Index    int // in its type or command
	Name     string
	Kind     Kind
	Len      int // Str only: the most bytes, 1..255
	Ref      int // Ref only: the number of the type referred to
	Sync     Sync
	Audience Audience
	Smooth   Smooth
	Snap     float64 // distance past which a correction shows at once; 0 for never
	Default  float64 // of a number or, 0 or 1, of a bool
	Text     string  // default of a Str
	Min, Max float64 // bounds of a number; -Inf and +Inf where there are none
	Quant    *Quant  // nil: exact bits
}

// Size is the bytes that the field takes in a row: a Str has one byte of length
// and Len bytes of text, zero filled.
func (f *Field) Size() int {
	if f.Kind == Str {
		return 1 + f.Len
	}
	return f.Kind.Size()
}

// Align is the field's alignment in a row.
func (f *Field) Align() int {
	if f.Kind == Str {
		return 1
	}
	return f.Kind.Size()
}

// Type is the instance, the player or an entity type.
type Type struct {
	Index  int
	Name   string // "instance", "player" or the entity's
	Plural string // name of its collection; empty for the instance
	Max    int    // the most objects of it in an instance; 1 for the instance
	Owned  bool   // entity types only: every object has an owner, fixed for life
	Fields []*Field
	View   *ViewHint
}

// Field finds a field by name; nil where there is none.
func (t *Type) Field(name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// ViewHint lets the server skip view.js for objects further than Radius from a
// viewer. X and Y are the names of number fields of the type.
type ViewHint struct {
	Radius float64
	X, Y   string
}

// Numbers of the two types that every game has.
const (
	InstanceType = 0
	PlayerType   = 1
)

// Command is something a player can do.
type Command struct {
	Index        int
	Name         string
	Fields       []*Field
	MaxPerSecond int // a player's commands of this kind; 0 for no limit of its own
}

// Definition is a checked gamehoster-game.json.
type Definition struct {
	Name               string // the folder's
	TickRate           int    // Hz
	SendRate           int    // Hz; divides TickRate
	TimelineDepth      int    // ticks
	Origins            []string
	PlayersPerShard    int // capacity of one worker in players; 0 where it is given in instances
	InstancesPerShard  int // and in instances; 0 where it is given in players
	PlayersPerInstance int
	ResumeSeconds      float64
	KeyframeSeconds    float64
	BytesPerSend       int
	Types              []*Type
	Commands           []*Command
}

// Instance is type 0.
func (d *Definition) Instance() *Type { return d.Types[InstanceType] }

// Player is type 1.
func (d *Definition) Player() *Type { return d.Types[PlayerType] }

// Entities are the types from 2 on.
func (d *Definition) Entities() []*Type { return d.Types[2:] }

// TicksPerSend is how many ticks one send period has.
func (d *Definition) TicksPerSend() int { return d.TickRate / d.SendRate }

// Visible reports whether a viewer may see the field: owner tells whether the
// viewer is the object's player or owner.
func (f *Field) Visible(owner bool) bool {
	return f.Sync != Server && (f.Audience == All || owner)
}

// Protocol is the version of the wire protocol, part of a definition's hash.
const Protocol = 1

// PlayerName is the last field of every player: text of at most MaxPlayerName
// bytes that the socket's address gave, a server field.
const PlayerName = "name"

// ShardInstances is how many instances one worker holds at most. A capacity in
// players is rounded up to whole instances.
func (d *Definition) ShardInstances() int {
	if d.InstancesPerShard > 0 {
		return d.InstancesPerShard
	}
	return (d.PlayersPerShard + d.PlayersPerInstance - 1) / d.PlayersPerInstance
}
