// Package loop is the cut between the engine and the sockets: everything above
// it sees handles, bytes and the time; everything below it sees descriptors.
// One Loop is one OS thread that owns many connections and one clock. Two
// implementations live behind it, one per subpackage, so that an engine can be
// run on either and compared.
//
// # Flow
//
//	door ---- Adopt(fd, early, tag) ----+
//	others -- Post(m) ---------------+  |
//	                                 v  v
//	           +---------------- one thread -----------------+
//	socket ===>| OnOpen, OnData           Send: tick's arena |
//	timer ---->| OnTick          Handler  Flush: one write   |===> socket
//	post ----->| OnPost                   for each viewer    |
//	           | OnClose                  Close: FIN, grace  |
//	           +---------------------------------------------+
//
// # Rules
//
// The Handler is called on the loop's thread only, one call at a time, and never
// from inside a method of the Loop: a write that fails in Flush reports its
// OnClose after the handler's running call has returned. So a handler may walk
// its own lists while it sends.
//
// Each OnOpen is answered by exactly one OnClose. A Handle names a connection by
// slot and generation; one that is gone is gone for good, and Send, Close and
// Stalled on it do nothing. No descriptor number is ever used after its close,
// so a late write cannot reach another player's reused descriptor.
//
// Bytes for a connection are collected by Send and leave with the next Flush in
// one write. What the kernel does not take stays buffered, up to Config.OutboundCap
// together with the bytes of the current tick; a connection over it is cut.
//
// Datagram sockets are not part of the cut: they come with their first user.
package loop

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Handle names one connection of one Loop: its slot and the slot's generation.
// Handles are not reused; the zero Handle names nothing.
type Handle uint64

// Slot is the slot's number. They begin with 0 and those of closed connections are used
// again, so that a slice can be indexed by them.
func (h Handle) Slot() int { return int(uint32(h)) }

// Message is what Post carries to OnPost. Pointers travel without allocation;
// other values are boxed by the caller.
type Message any

// Never as a wished time means that OnTick need not be called.
const Never int64 = math.MaxInt64

// Handler receives what happens on a loop. All calls come from the loop's
// thread, one at a time.
type Handler interface {
	// OnOpen reports an adopted connection. Early bytes, if there were any,
	// follow in an OnData before anything is read from the socket.
	OnOpen(h Handle, tag uint64)

	// OnData delivers the bytes that have arrived, at least one. The handler may
	// write into p and must not keep it: it is valid during the call only. It
	// always takes all of p, and keeps an unfinished message itself.
	OnData(h Handle, p []byte)

	// OnClose ends a connection: h is dead already. err is io.EOF when the peer
	// closed, a *CloseError when the handler did (whoever finished it),
	// ErrOverflow, ErrStopped, or what the socket failed with.
	OnClose(h Handle, err error)

	// OnTick runs when the wished time has come, never earlier, and returns the
	// next one: absolute nanoseconds of Now, at once if it has passed already,
	// Never for none. now is the time of the call. It runs once at the start of
	// the loop so that the first wish can be made.
	OnTick(now int64) (next int64)

	// OnPost delivers one Message, in the order of the Post calls.
	OnPost(m Message)
}

// Loop runs sockets and ticks on one locked OS thread. Its own methods may be called
// from any goroutine, those of Sockets from inside the Handler only.
type Loop interface {
	// Run serves until Stop or a failure of the loop itself, and returns when
	// all connections have been closed and every goroutine and descriptor of the
	// loop is gone. A Loop runs once. It returns nil after a Stop.
	Run() error

	// Stop makes Run return: messages posted so far are delivered, pending bytes
	// are written if the socket takes them at once, and connections close with
	// ErrStopped. It does not wait and may be called again, also from the Handler.
	Stop()

	// Adopt takes the stream socket fd over; it is enrolled soon after the call
	// returns. tag is handed to OnOpen. early is copied. On an error (ErrStopped,
	// ErrBusy) fd still belongs to the caller. A socket that turns out to be
	// dead already is closed and counted, without an OnOpen; Config.Lost is told.
	Adopt(fd int, early []byte, tag uint64) error

	// Crowded reports whether so many adopted descriptors wait that Adopt may soon fail
	// with ErrBusy. Whoever has not promised a peer anything yet turns it away now.
	Crowded() bool

	// Post wakes the loop and runs OnPost with m there. It reports false if the
	// loop has stopped, in which case m is dropped. Posts do not overtake the sockets
	// for long: when what OnPost posts again is delivered, so has been all that had
	// arrived before the first Post, of however many connections.
	Post(m Message) bool

	// Stats are the counters since the start.
	Stats() Stats

	Sockets
}

// Sockets is what a Handler does with its Loop.
type Sockets interface {
	// Wake moves the next OnTick forward to at, if it is wished for later than
	// that. Called in OnTick it competes with the time returned; the earlier wins.
	// 0 wishes for a tick as soon as what has come is delivered, as far as the
	// implementation knows, so that one Flush can do for many messages.
	Wake(at int64)

	// Send copies frame to the bytes that the next Flush writes to h.
	Send(h Handle, frame []byte)

	// Flush writes what has been sent since the last one, one write for each
	// connection, and returns those whose socket has not taken all its bytes,
	// from this Flush or an earlier one. The slice is valid until the next Flush.
	Flush() (stalled []Handle)

	// Stalled reports whether bytes of an earlier Flush still wait for h's socket.
	Stalled(h Handle) bool

	// Close ends h after the handler's running call: bytes sent so far are
	// written, then the sending side is shut, and OnClose follows with a
	// *CloseError when the peer has closed too, at the latest after
	// Config.Grace. From the call on, h takes no bytes and delivers none.
	Close(h Handle, code uint16)
}

// Stats counts what happened on a loop. Bytes are those of the streams, without
// the kernel's headers.
type Stats struct {
	Open      int64 // connections now
	Adopted   int64 // connections opened in all
	Lost      int64 // adopted descriptors that were dead before they could be opened
	Overflows int64 // connections cut at Config.OutboundCap
	Expired   int64 // closed connections cut because the peer did not finish within Config.Grace
	BytesIn   int64
	BytesOut  int64     // handed to Flush; of a connection that died some never left
	Late      TickTimes // how much later than wished OnTick was called, where it was for a time
	Took      TickTimes // how long it took, with the Flush in it, likewise
}

// Config is the set of limits that every implementation honours. The zero value
// of a field means its default.
type Config struct {
	// OutboundCap is the number of bytes that may wait for one connection: sent in
	// this tick, and not taken by its socket before. Default 256 KiB.
	OutboundCap int

	// Unsent is the number of bytes that the kernel may hold for one connection
	// beyond those that are on the way to the peer. The kernel's own bound is
	// megabytes: a player that reads slowly would get a minute's old news, and be
	// found stalled after that. Default 16 KiB. It is about TCP; other sockets
	// keep their bounds.
	Unsent int

	// Grace is how long a peer has to finish after Close. Default 2 s.
	Grace time.Duration

	// Pin binds the loop's thread to the core CPU; otherwise the kernel moves it.
	Pin bool
	CPU int

	// Gather is how long received bytes may wait for others to be delivered with
	// them, counted from when the loop last woke, so that what comes alone is
	// delivered at once. No tick waits for it. It bounds how often a loop wakes, where
	// the implementation can do that; the others deliver at once. Default 4 ms.
	Gather time.Duration

	// Lost is told the tag of each adopted descriptor that was not opened because it was
	// dead by then. It is called by any goroutine and must not block. The descriptors that
	// wait when the loop stops are not told. Nil: nobody is.
	Lost func(tag uint64)

	// Late is told of ticks that run late.
	Late LateTick

	// Log takes the rare failures of the loop itself; nil discards them.
	Log *slog.Logger
}

// The defaults of Config.
const (
	DefaultOutboundCap = 256 << 10
	DefaultUnsent      = 16 << 10
	DefaultGrace       = 2 * time.Second
	DefaultGather      = 4 * time.Millisecond
)

// Filled returns c with defaults in place of zero fields.
func (c Config) Filled() Config {
	if c.OutboundCap <= 0 {
		c.OutboundCap = DefaultOutboundCap
	}
	if c.Unsent <= 0 {
		c.Unsent = DefaultUnsent
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if c.Gather <= 0 {
		c.Gather = DefaultGather
	}
	if c.Lost == nil {
		c.Lost = func(uint64) {}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Errors of a connection or of a call.
var (
	// ErrStopped: the loop has been stopped.
	ErrStopped = errors.New("loop stopped")
	// ErrBusy: too many adopted descriptors wait to be enrolled.
	ErrBusy = errors.New("loop has too many adoptions waiting")
	// ErrOverflow: more bytes waited for the connection than Config.OutboundCap.
	ErrOverflow = errors.New("outbound bytes over the cap")
)

// CloseError is OnClose's error for a connection that the handler closed.
type CloseError struct {
	Code uint16 // as given to Close
}

func (e *CloseError) Error() string { return fmt.Sprintf("closed with code %d", e.Code) }
