// Package worker runs games on one event loop: it seats the players whose sockets
// it gets, steps each instance when its tick is due, and sends every viewer its
// stream.
//
//	loop.OnOpen  --> seat claimed --> instance, player, viewer
//	loop.OnData  --> session.Conn.Feed --> tick.Viewer.Receive
//	loop.OnTick  --> schedule: due slots --> Instance.Step
//	                   send tick --> Commit, Viewer.Send per viewer --> loop.Send
//	             --> one loop.Flush for everything that was sent
//	loop.OnClose --> the seat is kept for resumeSeconds, then the player leaves
//
// Everything here runs on the loop's thread. Who sits where is decided elsewhere and
// arrives as a Reservation; what becomes of seats is told to the Boss. In one process the
// boss is the placement table itself.
//
// A Host owns one loop and the shards on it, one for each game that is being
// played there. A shard owns its instances; an instance owns its seats.
package worker

import (
	"log/slog"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/engine/session"
	"gamehoster/tick"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// Boss is told what becomes of the seats of one game. Its methods may be called
// from any loop and do not block.
type Boss interface {
	// Claim gives the reservation of a number, once.
	Claim(number uint64) (Reservation, bool)
	// Reseat finds another place on the shard for a client that has none. then is called on
	// the loop that asked, once: before Reseat returns, or some time later.
	Reseat(shard uint32, r Reservation, then func(r Reservation, ok bool))
	// Release gives a counted seat back.
	Release(id InstanceID)
	// SetOpen tells whether the game lets new players in.
	SetOpen(id InstanceID, open bool)
	// Retire asks to end an instance and reports whether it may end; one that was refused
	// is asked for again. With force it ends in any case.
	Retire(id InstanceID, force bool) bool
}

// GameShift is how far to the left the game's number stands in a socket's tag. The
// whole tag is the number of a reservation, of which a game has 2^GameShift.
const GameShift = 40

// sweepPeriod is how often silent sockets, kept seats and empty instances are
// looked at.
const sweepPeriod = int64(time.Second)

// Options of a Host.
type Options struct {
	Number  uint32 // of this worker; goes out in resume tokens
	Limits  session.Limits
	Hashes  int // how many recent state hashes an instance keeps for Inspect; 0 for none
	Log     *slog.Logger
	OnOpen  func(Reservation) // the socket of a reservation has come; nil for none
	OnClose func(Closed)      // a socket has ended; nil for none
	Now     func() int64      // the loop's time; nil for loop.Now
}

// Closed is the end of one socket, for the log.
type Closed struct {
	Reservation Reservation // as OnOpen was told; zero where it was not
	Game        string      // domain/game; empty likewise
	Player      uint32      // id; 0 for a spectator and where there was no seat
	Code        uint16      // of the close frame; 1006 where the connection broke
	Reason      string
	Duration    time.Duration
	BytesIn     uint64 // of the stream, behind the handshake
	BytesOut    uint64 // likewise; of a connection that broke some never left
}

// Host is the handler of one loop.
type Host struct {
	opts    Options
	loop    Loop
	games   map[uint64]*shard // by game number
	sockets socketTable
	out     session.Outbox
	sweep   int64 // when the next one is due
	owed    bool  // answers were sent and not flushed
	probe   probe
	dropped []metrics.Game // what games that are gone have counted and was not told yet
}

// Loop is what a Host does with the loop that calls it.
type Loop interface {
	loop.Sockets
	Post(m loop.Message) bool
}

// probe finds out up to when the sockets have had their turns. It goes through the loop
// twice as a post: what a socket has when the first is sent is before the second in what
// the loop does, however far that is behind. Were time counted in which a starved loop
// did not read, it would find all its players silent.
type probe struct {
	hops  int   // that it has to go; 0 if it is not under way
	sent  int64 // when it started
	dealt int64 // when the last one that came through did
}

const probeHops = 2

// NewHost makes the handler of a loop that is bound to it with Bind.
func NewHost(o Options) *Host {
	if o.Limits == (session.Limits{}) {
		o.Limits = session.DefaultLimits
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = loop.Now
	}
	return &Host{opts: o, games: map[uint64]*shard{}}
}

// Bind names the loop that calls the Host, before it runs.
func (h *Host) Bind(l Loop) { h.loop = l }

// socket is one player's or spectator's connection.
type socket struct {
	handle      loop.Handle
	conn        session.Conn
	reservation Reservation
	game        string    // its name, for the log; empty where it is not known
	in          *instance // nil where it could not be seated
	seat        *seat     // nil for a spectator
	viewer      *tick.Viewer
	opened      int64
	received    uint64 // bytes
	sent        uint64
	waiting     bool   // for another place: there is neither in nor an end
	held        []byte // what came meanwhile
	ended       bool
	end         session.End // valid once ended
}

// socketTable finds sockets by the slots of their handles.
type socketTable struct {
	slots []*socket // nil where there is none
	n     int
}

// get is the socket of a handle; nil if there is none.
func (t *socketTable) get(hd loop.Handle) *socket {
	if i := hd.Slot(); i < len(t.slots) {
		if s := t.slots[i]; s != nil && s.handle == hd {
			return s
		}
	}
	return nil
}

func (t *socketTable) put(s *socket) {
	i := s.handle.Slot()
	for len(t.slots) <= i {
		t.slots = append(t.slots, nil)
	}
	t.slots[i] = s
	t.n++
}

func (t *socketTable) remove(s *socket) {
	t.slots[s.handle.Slot()] = nil
	t.n--
}

// OnOpen seats a socket that was handed over.
func (h *Host) OnOpen(hd loop.Handle, tag uint64) {
	now := h.opts.Now()
	s := &socket{handle: hd, opened: now, conn: session.NewConn(&h.opts.Limits, now)}
	h.sockets.put(s)
	sh := h.games[tag>>GameShift]
	if sh == nil {
		h.end(s, wire.CloseDraining, "the game was reloaded")
		return
	}
	s.game = sh.game.Name
	reservation, ok := sh.game.Boss.Claim(tag)
	if !ok {
		h.end(s, wire.CloseDraining, "the seat was given up before its socket came")
		return
	}
	s.reservation = reservation
	if h.opts.OnOpen != nil {
		h.opts.OnOpen(reservation)
	}
	sh.sit(s, now)
	h.loop.Wake(now + sweepPeriod)
}

// OnData feeds what has arrived to the socket's session.
func (h *Host) OnData(hd loop.Handle, p []byte) {
	s := h.sockets.get(hd)
	if s == nil || s.ended {
		return
	}
	s.received += uint64(len(p))
	if s.waiting {
		h.hold(s, p)
		return
	}
	end, ended := s.in.feed(s, p, h.opts.Now())
	b := h.out.Take()
	switch {
	case s.ended: // with its instance
	case ended:
		h.send(s, b)
		h.shut(s, end)
	case len(b) > 0 && !h.loop.Stalled(hd):
		// One that does not take what it is sent gets no answers on top: what waits
		// for a socket is what one send has written.
		// A flush is for all whose turn it is, not for each.
		h.send(s, b)
		h.owed = true
		h.loop.Wake(0)
	}
}

// heldMost is how much of what a client sends is kept while it waits for its place. An
// honest one waits for its snapshot, too, before it has much to say.
const heldMost = 8 << 10

// hold keeps what comes from a client that waits for its place.
func (h *Host) hold(s *socket, p []byte) {
	if len(s.held)+len(p) > heldMost {
		h.end(s, wire.CloseDraining, "it sent too much before it had its place")
		return
	}
	s.held = append(s.held, p...)
}

// OnClose gives up a socket that is gone.
func (h *Host) OnClose(hd loop.Handle, err error) {
	s := h.sockets.get(hd)
	if s == nil {
		return
	}
	h.sockets.remove(s)
	if !s.ended {
		s.ended = true
		s.end = session.End{Code: uint16(ws.CloseAbnormal), Reason: "the connection broke"}
		if err != nil {
			s.end.Reason = err.Error()
		}
	}
	now := h.opts.Now()
	if s.in != nil {
		s.in.shard.stand(s, now)
	}
	if h.opts.OnClose == nil {
		return
	}
	c := Closed{
		Reservation: s.reservation, Game: s.game,
		Code: s.end.Code, Reason: s.end.Reason, Duration: time.Duration(now - s.opened),
		BytesIn: s.received, BytesOut: s.sent,
	}
	if s.seat != nil {
		c.Player = s.seat.player
	}
	h.opts.OnClose(c)
}

// OnTick runs what is due, sends it in one batch and says when it is next needed.
func (h *Host) OnTick(now int64) (next int64) {
	if h.owed { // before the ticks, which take their time
		h.owed = false
		h.loop.Flush()
	}
	next = loop.Never
	ran := false
	for _, sh := range h.games {
		if sh.run(now) {
			ran = true
		}
	}
	if now >= h.sweep {
		h.sweepAll(now)
		ran = true
		h.sweep = now + sweepPeriod
	}
	if ran {
		h.loop.Flush()
	}
	for _, sh := range h.games {
		if at, ok := sh.schedule.next(); ok {
			next = min(next, at)
		}
	}
	if h.sockets.n > 0 || next != loop.Never || h.holding() {
		next = min(next, h.sweep)
	}
	return next
}

func (h *Host) holding() bool {
	for _, sh := range h.games {
		if len(sh.instances) > 0 {
			return true
		}
	}
	return false
}

// sweepAll looks at what goes on without any event: silence, kept seats, empty
// instances.
func (h *Host) sweepAll(now int64) {
	dealt := h.probe.dealt
	if h.probe.hops == 0 {
		h.probe.sent = now
		h.hop(probeHops)
	}
	for _, s := range h.sockets.slots {
		if s == nil || s.ended {
			continue
		}
		end, ended := s.conn.Check(now, dealt, &h.out)
		if b := h.out.Take(); len(b) > 0 {
			h.send(s, b)
		}
		if ended {
			h.shut(s, end)
		}
	}
	for _, sh := range h.games {
		sh.sweep(now, dealt)
	}
}

// hop sends the probe on its way again, or takes note that it has come through.
func (h *Host) hop(left int) {
	h.probe.hops = left
	if left == 0 {
		h.probe.dealt = h.probe.sent
	} else {
		h.loop.Post(&h.probe) // a loop that has stopped sweeps no more either
	}
}

// send gives bytes to a socket, which the next flush writes.
func (h *Host) send(s *socket, b []byte) {
	s.sent += uint64(len(b))
	h.loop.Send(s.handle, b)
}

// end closes a socket from our side.
func (h *Host) end(s *socket, code uint16, reason string) {
	if s.ended {
		return
	}
	s.conn.Close(code, &h.out)
	h.send(s, h.out.Take())
	h.shut(s, session.End{Code: code, Reason: reason})
}

// shut closes a socket whose close frame has been sent.
func (h *Host) shut(s *socket, end session.End) {
	s.end, s.ended = end, true
	h.loop.Close(s.handle, end.Code)
}
