// Package control is what the backend and a worker process say to each other, over a pair
// of sockets that the worker is born with.
//
//	backend                                              worker process
//	engine/pool                                          engine/worker/process
//	   |  Start(shard)  Seat(number, who, early)+fd            |
//	   |  Reseated  Retired  Drain  Drop  Inspect  ----------> |
//	   |                                                       |
//	   | <----------  Hello  Claimed  Lost  Reseat  Release    |
//	   |              Open  Retire  Closed  Load  Inspected  Bye
//	   +--- Conn: queue, writer === SOCK_SEQPACKET === Conn ---+
//
// # Messages
//
// A message is one packet: a byte that tells its Kind and the fields one after the other,
// numbers in little endian, texts with their length in front. There is one encoding of a
// message, and none is longer than MaxMessage. Parse takes nothing else: a worker runs
// what authors have written, and what it says is checked like what a stranger says.
//
// # Descriptors
//
// A Seat carries the socket of its client as SCM_RIGHTS. Whoever sends it gives the
// descriptor away: it is closed here as soon as the kernel has it in the message. The
// pair of sockets is there before the worker is, so that a client can be handed to a
// worker that is yet to start; what the kernel's buffer has no room for waits in the
// Conn's queue, which is bounded.
//
// # Order
//
// Each direction keeps its order, and the other side's answer to a message comes after
// whatever it had sent before it took it. That is what seats are counted by: a Seat is
// Claimed before it is given back, and after Retired no Seat of that instance comes.
package control

import (
	"errors"
	"fmt"
	"time"

	"gamehoster/engine/worker"
)

// MaxMessage is the most bytes of a message. MaxEarly is the most of them that a client
// has sent before its seat, and MaxReport of a part of a report.
const (
	MaxMessage = 64 << 10
	MaxEarly   = 48 << 10
	MaxReport  = 48 << 10
)

// Bounds of texts, in bytes.
const (
	maxName   = 255
	maxReason = 1024
)

// ErrMalformed is what Parse says of bytes that are no message.
var ErrMalformed = errors.New("malformed control message")

// Kind tells messages apart.
type Kind uint8

// The kinds of messages, from the backend to a worker and, from KindHello on, back.
const (
	KindStart     Kind = 1
	KindSeat      Kind = 2
	KindReseated  Kind = 3
	KindRetired   Kind = 4
	KindDrain     Kind = 5
	KindDrop      Kind = 6
	KindInspect   Kind = 7
	KindEnd       Kind = 8
	KindHello     Kind = 65
	KindClaimed   Kind = 66
	KindLost      Kind = 67
	KindReseat    Kind = 68
	KindRelease   Kind = 69
	KindOpen      Kind = 70
	KindRetire    Kind = 71
	KindClosed    Kind = 72
	KindLoad      Kind = 73
	KindInspected Kind = 74
	KindBye       Kind = 75
)

// Message is one of the types below, as a pointer.
type Message interface {
	// Kind is the message's first byte.
	Kind() Kind
	put(w *writer)
	get(r *reader)
}

// Start is a worker's first message.
type Start struct {
	Shard uint32 // its number, unique while the backend runs; stands in resume tokens
}

// Seat hands a client over. Its socket comes with the message.
type Seat struct {
	Number      uint64 // of the reservation
	Reservation worker.Reservation
	Early       []byte // what the client has sent after its request; at most MaxEarly
}

// Reseated answers Reseat.
type Reseated struct {
	Ticket      uint32
	OK          bool
	Reservation worker.Reservation // what was asked where not OK
}

// Retired tells that an instance that was to be retired is forgotten.
type Retired struct{ Instance worker.InstanceID }

// Drain tells that a newer definition has taken over: who finds no place is outdated.
type Drain struct{}

// Drop has a worker close its sockets and end.
type Drop struct {
	Code   uint16
	Reason string
}

// Inspect asks for a report.
type Inspect struct{ Ticket uint32 }

// End has a worker close its sockets and go on.
type End struct {
	Code   uint16
	Reason string
}

// Hello tells that the worker's loop runs.
type Hello struct{ Hash uint64 } // of the definition that it runs

// Claimed tells that the socket of a reservation is open.
type Claimed struct{ Number uint64 }

// Lost tells that the socket of a reservation was dead.
type Lost struct{ Number uint64 }

// Reseat asks for another place for a client.
type Reseat struct {
	Ticket      uint32 // chosen by the worker
	Reservation worker.Reservation
}

// Release gives a seat back.
type Release struct{ Instance worker.InstanceID }

// Open tells whether the game lets players into an instance.
type Open struct {
	Instance worker.InstanceID
	Open     bool
}

// Retire asks to forget an instance, or tells that it is no more.
type Retire struct {
	Instance worker.InstanceID
	Force    bool
}

// Closed is the end of a socket.
type Closed struct {
	Reservation worker.Reservation // zero where the socket was never claimed
	Player      uint32
	Code        uint16
	Reason      string
	Duration    time.Duration
	BytesIn     uint64
	BytesOut    uint64
}

// Load is a worker's state, sent each second. Its coming is the worker's heartbeat.
type Load struct {
	Instances, Players, Sockets uint32
	Adopted, Gone               uint64 // sockets opened, and dead before they could be
	Overflows, Expired          uint64
	BytesIn, BytesOut           uint64
	Late, Took                  Times // of ticks: how late they ran, and how long
	Dropped                     uint64
	Memory                      uint64 // bytes that the runtime has from the system
	Counts                      []byte // a metrics.Snapshot, at most MaxReport bytes
}

// Times sums up how long something took, in nanoseconds.
type Times struct{ Count, P50, P99, P999, Max uint64 }

// Inspected is a part of a report, which is a JSON text.
type Inspected struct {
	Ticket uint32
	More   bool   // another part follows
	Part   []byte // at most MaxReport bytes
}

// Bye is a worker's last message: its sockets are closed, and it ends.
type Bye struct{}

var kinds = map[Kind]func() Message{
	KindStart:     func() Message { return new(Start) },
	KindSeat:      func() Message { return new(Seat) },
	KindReseated:  func() Message { return new(Reseated) },
	KindRetired:   func() Message { return new(Retired) },
	KindDrain:     func() Message { return new(Drain) },
	KindDrop:      func() Message { return new(Drop) },
	KindInspect:   func() Message { return new(Inspect) },
	KindEnd:       func() Message { return new(End) },
	KindHello:     func() Message { return new(Hello) },
	KindClaimed:   func() Message { return new(Claimed) },
	KindLost:      func() Message { return new(Lost) },
	KindReseat:    func() Message { return new(Reseat) },
	KindRelease:   func() Message { return new(Release) },
	KindOpen:      func() Message { return new(Open) },
	KindRetire:    func() Message { return new(Retire) },
	KindClosed:    func() Message { return new(Closed) },
	KindLoad:      func() Message { return new(Load) },
	KindInspected: func() Message { return new(Inspected) },
	KindBye:       func() Message { return new(Bye) },
}

// Append encodes a message behind dst. Texts that are too long are cut; bytes that are
// (Early, Part, Counts) are an error, which leaves dst as it was.
func Append(dst []byte, m Message) ([]byte, error) {
	w := writer{b: append(dst, byte(m.Kind()))}
	m.put(&w)
	if w.err != nil {
		return dst, fmt.Errorf("encoding control message %d: %w", m.Kind(), w.err)
	}
	return w.b, nil
}

// Parse decodes a message. It keeps nothing of p. The error is ErrMalformed, wrapped.
func Parse(p []byte) (Message, error) {
	if len(p) == 0 || len(p) > MaxMessage {
		return nil, fmt.Errorf("%w: %d bytes", ErrMalformed, len(p))
	}
	make := kinds[Kind(p[0])]
	if make == nil {
		return nil, fmt.Errorf("%w: of unknown kind %d", ErrMalformed, p[0])
	}
	m := make()
	r := reader{p: p[1:]}
	m.get(&r)
	if r.bad || len(r.p) > 0 {
		return nil, fmt.Errorf("%w: of kind %d, %d bytes", ErrMalformed, p[0], len(p))
	}
	return m, nil
}
