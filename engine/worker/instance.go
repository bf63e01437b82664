package worker

import (
	"fmt"
	"runtime/debug"
	"slices"

	"gamehoster/engine/session"
	"gamehoster/tick"
	"gamehoster/wire"
)

// instance is one running world and who sits in it.
type instance struct {
	shard   *shard
	id      InstanceID
	name    string
	sim     *tick.Instance
	slot    int
	sockets []*socket
	seats   []*seat
	empty   int64 // since when nobody sits here; 0 while somebody does
	open    bool  // as the boss knows it
	broken  bool  // given up after a panic; sim is in no state to be used
	hashes  hashRing
}

// seat is a player's place: a socket's, or kept for a while after its socket broke.
type seat struct {
	player uint32
	token  Token
	socket *socket // nil while it is kept
	until  int64   // while there is no socket: when the seat is given up
}

// over reports whether the instance runs no more ticks.
func (in *instance) over() bool { return in.broken || in.sim.Ended() }

// tellOpen tells the boss whether the game gives seats, where that has changed.
func (in *instance) tellOpen() {
	if open := !in.broken && in.sim.Open(); open != in.open {
		in.open = open
		in.shard.game.Boss.SetOpen(in.id, open)
	}
}

// seat makes a place for a new socket. It reports false where the game gives none.
func (in *instance) seat(s *socket) (ok bool) {
	defer in.contain("seating a player")
	if in.over() {
		return false
	}
	if s.reservation.Watch {
		return in.attach(s, nil)
	}
	player, err := in.sim.Join(s.reservation.Player)
	if err != nil {
		return false
	}
	k := &seat{player: player, token: NewToken(in.shard.host.opts.Number, in.id, secret())}
	in.seats = append(in.seats, k)
	return in.attach(s, k)
}

// attach lets a socket see the instance, from the seat if it is not nil. It reports
// false where the seat's player is no more.
func (in *instance) attach(s *socket, k *seat) (ok bool) {
	defer in.contain("attaching a socket")
	opts := tick.ViewerOptions{Thin: s.reservation.Thin, Watch: k == nil}
	var player uint32
	if k != nil {
		player, opts.Token = k.player, k.token
	}
	v := in.sim.Attach(player, opts)
	if v == nil {
		return false
	}
	if k != nil {
		k.socket = s
	}
	s.seat, s.in, s.viewer = k, in, v
	in.sockets = append(in.sockets, s)
	in.empty = 0
	return true
}

// feed hands a socket's bytes to its session.
func (in *instance) feed(s *socket, p []byte, now int64) (end session.End, ended bool) {
	defer in.contain("reading a client's messages")
	return s.conn.Feed(p, now, in.elapsed(now), s.viewer, &in.shard.host.out)
}

// contain is deferred where an instance is worked on. A panic there is a fault of the
// server's that whoever found it can bring about again, and it must not end the
// process with everybody's games. What the instance was in the middle of is not known,
// so the instance is given up; nothing that others use is left half done by it.
func (in *instance) contain(doing string) {
	r := recover()
	if r == nil {
		return
	}
	h := in.shard.host
	h.opts.Log.Error("an instance was given up: the server failed", "game", in.shard.game.Name,
		"instance", in.name, "doing", doing, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
	h.out.Take()
	in.broken = true
	in.tellOpen()
	for _, s := range in.sockets {
		h.end(s, wire.CloseFailed, "the server failed")
	}
}

// retire frees the instance. The memory of a broken one may not come back.
func (in *instance) retire() {
	defer in.contain("retiring it")
	in.sim.Retire()
}

// flushAbove is how many bytes of one send are written at once: what many viewers get
// in a tick is not to lie in memory twice when each of them is sent a large state.
const flushAbove = 64 << 10

// step runs one tick of an instance and, on a send tick, sends to each viewer. now is the
// time of the loop's turn. How late that is and how long it takes is counted so many times;
// if at all, start is what the time has become, and end what it is afterwards.
func (in *instance) step(now, start int64, times int) (end int64) {
	end = start
	defer in.contain("running a tick")
	sim := in.sim
	if in.over() {
		return end
	}
	clock, m := in.shard.host.opts.Now, &in.shard.meter
	sim.Step()
	if times > 0 {
		m.late.Observe(start-in.shard.schedule.slots[in.slot].last, times)
		end = clock()
		m.took.Observe(end-start, times)
	}
	if sim.SendDue() {
		sim.Commit()
		for _, s := range in.sockets {
			in.send(s, now)
		}
		in.hashes.note(sim)
		if times > 0 {
			stepped := end
			end = clock()
			m.sent.Observe(end-stepped, times)
		}
	}
	in.tellOpen()
	if sim.Ended() {
		for _, s := range in.sockets {
			in.shard.host.end(s, wire.CloseEnded, "the game is over")
		}
	}
	return end
}

// send gives one viewer its part of a send tick.
func (in *instance) send(s *socket, now int64) {
	if s.ended {
		return
	}
	h := in.shard.host
	if s.viewer.Removed() {
		h.end(s, wire.CloseRemoved, "removed by the game")
		return
	}
	stalled := h.loop.Stalled(s.handle)
	s.conn.Stalled(stalled, now)
	if stalled {
		s.viewer.Skip()
		return
	}
	s.viewer.Send(&h.out)
	b := h.out.Take()
	if len(b) == 0 {
		return
	}
	h.send(s, b)
	s.conn.Sent(len(b))
	if len(b) > flushAbove {
		h.loop.Flush()
	}
}

// detach ends the stream of a socket, once.
func (in *instance) detach(s *socket) {
	defer in.contain("detaching a socket")
	if i := slices.Index(in.sockets, s); i >= 0 {
		in.sockets = slices.Delete(in.sockets, i, i+1)
		if !in.broken {
			in.sim.Detach(s.viewer)
		}
	}
}

// giveUp lets the players leave whose seats were kept long enough, of which only the time
// up to dealt counts.
func (in *instance) giveUp(now, dealt int64) {
	defer in.contain("letting a player leave")
	kept := in.seats[:0]
	for _, k := range in.seats {
		if k.socket != nil || dealt < k.until {
			kept = append(kept, k)
			continue
		}
		if !in.broken {
			in.sim.Leave(k.player)
		}
		in.shard.game.Boss.Release(in.id)
	}
	clear(in.seats[len(kept):])
	in.seats = kept
	in.checkEmpty(now)
}

func (in *instance) checkEmpty(now int64) {
	switch {
	case len(in.seats) > 0 || len(in.sockets) > 0:
		in.empty = 0
	case in.empty == 0:
		in.empty = now
	}
}

// resume finds the seat that a token was given out for.
func (in *instance) resume(t Token) *seat {
	if t.IsZero() {
		return nil
	}
	for _, k := range in.seats {
		if k.token == t {
			return k
		}
	}
	return nil
}

// elapsed is the part of the tick that has passed, in 65536ths; 0 without an instance.
func (in *instance) elapsed(now int64) uint16 {
	if in == nil {
		return 0
	}
	return in.shard.schedule.elapsed(in.slot, now)
}
