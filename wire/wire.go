// Package wire is the protocol between a worker and one player's client: every
// message as bytes, in both directions. It knows the game's definition and the
// canonical layout of rows, and nothing of instances, sockets or clocks.
// PROTOCOL.md beside this file is the standard that a third implementation is
// written from; the files in testdata are its vectors.
//
// # Messages
//
// One message is one binary WebSocket frame. A message begins with its Tag and
// ends with the frame:
//
//	+-----+-------------------+-----------------------------------+
//	| tag | header            | list of objects or commands       |
//	| u8  | fixed per message | to the end of the frame, optional |
//	+-----+-------------------+-----------------------------------+
//
// There is one file per message. Its header is a struct with Append and a Parse
// function; the lists are written and read one element at a time, so that neither
// side ever holds a decoded message:
//
//	dst = wire.Delta{Tick: t, Base: b, Processed: s}.Append(dst)
//	var w wire.ObjectWriter
//	for each listed object, ids ascending {
//		dst = w.Changes(dst, id, fields, row, base)
//	}
//
//	head, rest, err := wire.ParseDelta(p)
//	r := wire.NewChangesReader(rest)
//	for r.Next() {
//		fields := ... // by r.ID(), which the reader of the stream must hold
//		r.Read(fields, row)
//	}
//	err = r.Err()
//
// Because ids are written as differences, a writer that wants to take back what it
// appended copies the ObjectWriter (it is a small value) and the length of dst
// before, and restores both.
//
// # Fields
//
// Values are taken from and put into canonical rows (package schema) in place.
// Schema holds, for each type, the precomputed lists of fields that a message can
// carry, as Fields: for the owner and for everybody else; whole, sent only or
// shared only. Where owner and others see the same, it is the same *Fields, so that
// an encoding made for one viewer can be told to be good for another by comparing
// pointers.
//
// # Trust
//
// Readers check every byte and never panic, whatever the input; what they return
// on malformed input wraps ErrMalformed. Writers trust their caller, and panic when
// it breaks the contract (ids that do not ascend), as that is a fault in the
// program. Nothing here allocates, except for the text of errors.
package wire

import (
	"errors"
	"fmt"

	"gamehoster/games/schema"
)

// Version is the protocol's version, the first byte of a welcome after its tag.
const Version = schema.Protocol

// Tag is the first byte of a message and tells its type.
type Tag byte

// Tags of what a client sends.
const (
	TagCommand   Tag = 0x01
	TagAck       Tag = 0x02
	TagPing      Tag = 0x03
	TagStateHash Tag = 0x04
	TagResync    Tag = 0x05
)

// Tags of what the server sends.
const (
	TagWelcome  Tag = 0x81
	TagSnapshot Tag = 0x82
	TagDelta    Tag = 0x83
	TagKeyframe Tag = 0x84
	TagCommands Tag = 0x85
	TagEnter    Tag = 0x86
	TagLeave    Tag = 0x87
	TagPong     Tag = 0x88
)

// String is the message's name.
func (t Tag) String() string {
	switch t {
	case TagCommand:
		return "command"
	case TagAck:
		return "ack"
	case TagPing:
		return "ping"
	case TagStateHash:
		return "state hash"
	case TagResync:
		return "resync"
	case TagWelcome:
		return "welcome"
	case TagSnapshot:
		return "snapshot"
	case TagDelta:
		return "delta"
	case TagKeyframe:
		return "keyframe"
	case TagCommands:
		return "commands"
	case TagEnter:
		return "enter"
	case TagLeave:
		return "leave"
	case TagPong:
		return "pong"
	}
	return fmt.Sprintf("tag 0x%02x", byte(t))
}

// FromClient reports whether clients send messages of the tag.
func (t Tag) FromClient() bool { return t >= TagCommand && t <= TagResync }

// FromServer reports whether the server sends messages of the tag.
func (t Tag) FromServer() bool { return t >= TagWelcome && t <= TagPong }

// TagOf is the tag of message p: its first byte, whether known or not. An empty
// message has tag 0, which no message uses.
func TagOf(p []byte) Tag {
	if len(p) == 0 {
		return 0
	}
	return Tag(p[0])
}

// Bytes that messages take at most, whatever the game. What else there is depends
// on the definition: Schema.MaxCommand, Schema.MaxSnapshot.
const (
	AckSize       = 1 + 4
	PingSize      = 1 + 4
	StateHashSize = 1 + 4 + 8
	ResyncSize    = 1
	PongSize      = 1 + 4 + 4 + 2

	MaxUvarint = 5   // bytes of a uv
	MaxName    = 128 // bytes of an instance's name
	MaxWelcome = 1 + 1 + 4 + 8 + 2*MaxUvarint + 2 + MaxName + TokenSize + 3*2
	TokenSize  = 16 // bytes of a resume token

	// MaxClientMessage is the usual bound on what a client may send at once.
	MaxClientMessage = 4096
)

// ErrMalformed is what every error of a reader wraps, as a *MalformedError, ErrRefused
// apart: the other
// side does not speak the protocol, nothing of the message counts, and the
// connection is closed with CloseMalformed.
var ErrMalformed = errors.New("malformed message")

// ErrRefused is returned for a well-formed command that has a field out of the
// bounds which its definition sets. It is counted as processed and not applied.
var ErrRefused = errors.New("command refused: a field is out of its bounds")

// MalformedError is an error of a reader: ErrMalformed with the reason.
type MalformedError struct{ Reason string }

func (e *MalformedError) Error() string { return ErrMalformed.Error() + ": " + e.Reason }

// Unwrap is ErrMalformed.
func (e *MalformedError) Unwrap() error { return ErrMalformed }

func malformed(reason string) error { return &MalformedError{reason} }

// The reasons are made once, so that a flood of bad messages makes no garbage.
var (
	errTag      = malformed("unknown or unexpected tag")
	errShort    = malformed("it ends early")
	errTrailing = malformed("bytes follow its end")
	errUvarint  = malformed("a varint is overlong or over 32 bits")
	errBool     = malformed("a bool is neither 0 nor 1")
	errStr      = malformed("a str is longer than its field")
	errUTF8     = malformed("a str is not UTF-8")
	errFinite   = malformed("a command's number is NaN or infinite")
	errStep     = malformed("a stepped number is over its greatest value")
	errMask     = malformed("a mask has bits past its fields")
	errOrder    = malformed("ids do not ascend")
	errID       = malformed("an id is over 32 bits or none of its type")
	errType     = malformed("unknown type")
	errOwner    = malformed("an owner is no player's id")
	errCommand  = malformed("unknown command")
	errSeq      = malformed("a command's seq is 0")
	errRelay    = malformed("relayed commands are out of order")
	errBounds   = malformed("a relayed command is out of its bounds")
	errVersion  = malformed("another version of the protocol")
	errRates    = malformed("rates that no definition has")

	errUnread = errors.New("an object was passed over without being read")
)

// afterTag checks p's tag and gives what follows it.
func afterTag(p []byte, t Tag) ([]byte, error) {
	if TagOf(p) != t {
		return nil, errTag
	}
	return p[1:], nil
}

// exactly checks the tag and that n bytes follow it, no more.
func exactly(p []byte, t Tag, n int) ([]byte, error) {
	p, err := afterTag(p, t)
	if err != nil {
		return nil, err
	}
	if len(p) < n {
		return nil, errShort
	}
	if len(p) > n {
		return nil, errTrailing
	}
	return p, nil
}
