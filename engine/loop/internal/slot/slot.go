// Package slot is what the loops have in common about their connections: the slot of a
// table that one has, where it stands, why it ends, and what is counted of all of them. A
// loop's own connection begins with a Slot and adds what its way to the kernel needs.
//
//	Free --Renew--> Open --Close, Condemn--> Closing ---> Waiting --> Fin
//	  ^              |                          |            |         |
//	  |              +--------- Bury -----------+------------+---------+
//	  +--- Dead <----+
package slot

import (
	"sync/atomic"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arena"
)

// State is where a slot stands. Only open ones reach the handler.
type State uint8

// The states, in the order in which a connection goes through them.
const (
	Free    State = iota // the slot waits for a connection
	Open                 // the handler's
	Closing              // Close was called, or it is condemned with Err set
	Waiting              // closed, bytes still wait for the socket
	Fin                  // closed, all bytes and the FIN are out
	Dead                 // OnClose is due, or the kernel still has operations on it
)

// Slot is one place of a loop's table. It belongs to the loop's thread.
type Slot struct {
	Number uint32 // its place; never another
	Gen    uint32 // of the connections that have had it, the number of this one
	State  State
	Slow   bool   // named among those whose socket did not take everything
	Code   uint16 // of Close
	Err    error  // what OnClose is to say, if the loop decided it

	Piece arena.Piece // bytes of this tick
}

// Handle is the connection's name.
func (s *Slot) Handle() loop.Handle { return loop.Handle(uint64(s.Gen)<<32 | uint64(s.Number)) }

// Place is the place of the slot that h names. Whose it is now, Is tells.
func Place(h loop.Handle) uint32 { return uint32(h) }

// Is reports whether h names the connection and the handler may still use it.
func (s *Slot) Is(h loop.Handle) bool { return s.Gen == uint32(h>>32) && s.State == Open }

// Alive reports whether there is a connection that has not ended.
func (s *Slot) Alive() bool { return s.State != Free && s.State != Dead }

// Renew opens the slot to another connection, whose handle is new: those are not used again
// before 2^32 others of the slot, and no handle is ever zero.
func (s *Slot) Renew() {
	if s.Gen++; s.Gen == 0 {
		s.Gen = 1
	}
	s.State, s.Slow, s.Code, s.Err = Open, false, 0, nil
}

// Close notes that the handler wants an end with a code.
func (s *Slot) Close(code uint16) { s.State, s.Code = Closing, code }

// Condemn notes that the loop wants an end because of err. What was to be sent is dropped.
func (s *Slot) Condemn(err error, out *arena.Arena) {
	out.Drop(&s.Piece)
	s.State, s.Err = Closing, err
}

// Bury makes the connection dead. If the loop or the handler has ended it, that is why,
// otherwise err. What was to be sent is dropped. It reports false for one that was not
// alive any more.
func (s *Slot) Bury(err error, out *arena.Arena) bool {
	if !s.Alive() {
		return false
	}
	if s.Err == nil {
		s.Err = s.Reason(err)
	}
	out.Drop(&s.Piece)
	s.State, s.Slow = Dead, false
	return true
}

// Reason is why a connection ends that ends with err: what has been decided before, if
// anything has.
func (s *Slot) Reason(err error) error {
	switch {
	case s.Err != nil:
		return s.Err
	case s.State != Open:
		return &loop.CloseError{Code: s.Code}
	}
	return err
}

// Tally counts for loop.Stats. The loop counts, but for Lost; any goroutine may read.
type Tally struct {
	Open, Adopted, Lost, Overflows, Expired, In, Out atomic.Int64
	Late                                             loop.Lateness
	Took                                             loop.Times
}

// Opened counts a connection.
func (t *Tally) Opened() {
	t.Open.Add(1)
	t.Adopted.Add(1)
}

// Stats is what was counted.
func (t *Tally) Stats() loop.Stats {
	return loop.Stats{
		Open:      t.Open.Load(),
		Adopted:   t.Adopted.Load(),
		Lost:      t.Lost.Load(),
		Overflows: t.Overflows.Load(),
		Expired:   t.Expired.Load(),
		BytesIn:   t.In.Load(),
		BytesOut:  t.Out.Load(),
		Late:      t.Late.Summary(),
		Took:      t.Took.Summary(),
	}
}
