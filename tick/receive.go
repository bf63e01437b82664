package tick

import (
	"errors"

	"gamehoster/wire"
)

// mendSeconds is how long a viewer waits at least between two snapshots that its
// state hash causes.
const mendSeconds = 5

var (
	errBadSeq = &wire.CloseError{Code: wire.CloseMalformed, Reason: "commands do not ascend by one"}
	errBadTag = &wire.CloseError{Code: wire.CloseMalformed, Reason: "unknown tag"}
)

// Receive takes one message of the client. elapsed is how far the time is to the
// next tick, in 65536ths of a tick. A pong goes to sink at once. m is not kept. An
// error is a *wire.CloseError: the connection is to be closed, and nothing of m counts.
func (v *Viewer) Receive(m []byte, elapsed uint16, sink Sink) error {
	in := v.in
	if in == nil {
		return nil
	}
	s := in.shard
	t := wire.TagOf(m)
	if !t.FromClient() {
		s.stats.Malformed++
		return errBadTag
	}
	s.stats.In[slotOf(t)].add(len(m))
	if err := v.receive(t, m, elapsed, sink); err != nil {
		s.stats.Malformed++
		if bad, ok := errors.AsType[*wire.MalformedError](err); ok {
			return &wire.CloseError{Code: wire.CloseMalformed, Reason: bad.Reason}
		}
		return err
	}
	return nil
}

func (v *Viewer) receive(t wire.Tag, m []byte, elapsed uint16, sink Sink) error {
	switch t {
	case wire.TagCommand:
		return v.command(m)
	case wire.TagAck:
		a, err := wire.ParseAck(m)
		if err == nil {
			v.ack(a.Tick)
		}
		return err
	case wire.TagPing:
		p, err := wire.ParsePing(m)
		// The welcome is the first message of a connection: before it there is
		// no answer.
		if err == nil && v.welcomed {
			pong := wire.Pong{Nonce: p.Nonce, Tick: v.in.tick, Elapsed: elapsed}
			v.out(sink, pong.Append(v.in.shard.scratch.out[:0]))
		}
		return err
	case wire.TagStateHash:
		h, err := wire.ParseStateHash(m)
		if err == nil {
			v.stateHash(h.Tick, uint64(h.Hash))
		}
		return err
	default:
		_, err := wire.ParseResync(m)
		if err == nil {
			v.resync()
		}
		return err
	}
}

// resync notes that the client asks for a snapshot. A client that cannot go on asks
// once; one that asks again and again gets one a second, for a snapshot is large and
// the question five bytes.
func (v *Viewer) resync() {
	s := v.in.shard
	s.stats.Resyncs++
	if v.due != causeNone {
		return
	}
	if v.resyncedLately() {
		v.asked = true
		return
	}
	v.grantResync()
}

func (v *Viewer) resyncedLately() bool {
	return v.resynced && v.in.tick-v.resyncTick < uint32(v.in.shard.def.TickRate)
}

func (v *Viewer) grantResync() {
	v.resynced, v.resyncTick, v.asked = true, v.in.tick, false
	if v.due == causeNone {
		v.due = CauseResync
	}
}

// sendOf is the number of the send with the tick; ok is false unless it was sent
// to the viewer, lately and not before a snapshot.
func (v *Viewer) sendOf(tick uint32) (send uint64, ok bool) {
	in := v.in
	if !v.welcomed || v.last == 0 {
		return 0, false
	}
	back := wire.TickDistance(in.sendTick, tick)
	per := int32(in.shard.rules.perSend)
	if back < 0 || back%per != 0 || uint64(back/per) >= in.sends {
		return 0, false
	}
	send = in.sends - uint64(back/per)
	if send > v.last || v.last-send >= historySends {
		return 0, false
	}
	return send, v.sent>>(v.last-send)&1 == 1
}

func (v *Viewer) ack(tick uint32) {
	send, ok := v.sendOf(tick)
	if !ok || send < v.base {
		v.in.shard.stats.Acks++
		return
	}
	v.base, v.baseTick = send, tick
}

// stateHash compares a client's hash with the server's of the same tick, if that
// was taken.
func (v *Viewer) stateHash(tick uint32, hash uint64) {
	in, s := v.in, v.in.shard
	if v.thin || s.rules.view {
		return
	}
	in.hashes.want(in.sends)
	send, ok := v.sendOf(tick)
	if !ok {
		return
	}
	own, ok := in.hashes.at(send)
	if !ok {
		return
	}
	s.stats.Hashes++
	if own == hash {
		return
	}
	s.stats.Drifts++
	if v.due != causeNone || v.mend && in.tick-v.mended < uint32(mendSeconds*s.def.TickRate) {
		return
	}
	v.due = CauseHash
	v.mend, v.mended = true, in.tick
}

func (v *Viewer) command(m []byte) error {
	in, s := v.in, v.in.shard
	record := s.scratch.record
	head, err := s.wire.ParseCommand(m, record)
	refused := errors.Is(err, wire.ErrRefused)
	if err != nil && !refused {
		return err
	}
	k := v.seat
	if k == nil {
		s.stats.Refused[RefusedWatch]++
		return nil
	}
	if head.Seq != k.received+1 {
		return errBadSeq
	}
	k.received = head.Seq
	handlers := s.rules.handlers[head.Number]
	perSecond := s.def.Commands[head.Number].MaxPerSecond
	switch {
	case refused:
		s.stats.Refused[RefusedBounds]++
		return nil
	case perSecond > 0 && !k.rates[head.Number].spend(in.tick, perSecond, s.def.TickRate):
		s.stats.Refused[RefusedRate]++
		return nil
	case !handlers.Shared && !handlers.Server:
		return nil
	case k.kept == s.rules.pending || len(in.filing.list) == s.rules.pending*s.rules.seats:
		s.stats.Refused[RefusedFull]++
		return nil
	}
	o := order{tick: in.effective(k, head.Tick, handlers.Shared), player: k.player, seq: head.Seq, number: head.Number}
	stamp(record, &o)
	in.filing.file(o, record, in.tick)
	k.filed++
	k.kept++
	if !wire.TickAfter(o.tick, in.tick) {
		s.stats.Late++
	}
	s.stats.Commands++
	return nil
}

// effective is the tick that a command runs in, given the one that its player
// acted on. One that clients do not run never goes back.
func (in *Instance) effective(k *seat, tick uint32, shared bool) uint32 {
	next := in.tick + 1
	if !k.joined {
		// It joins at the next send tick and can act from the one after.
		next += in.until
	}
	if !shared {
		return next
	}
	// The bounds, in ticks after the next of the instance.
	next = in.tick + 1
	least, most := int32(in.until), int32(in.shard.rules.lead)-1
	if k.joined {
		least = wire.TickDistance(in.earliest(), next)
		// Half of all ticks after the join, it seems to be yet to come.
		if joined := wire.TickDistance(k.joinTick+1, next); joined <= 0 {
			least = max(least, joined)
		}
	}
	if last := wire.TickDistance(k.last, next); k.ordered && last <= most {
		least = max(least, last)
	}
	after := max(least, min(most, wire.TickDistance(tick, next)))
	k.ordered, k.last = true, next+uint32(after)
	return k.last
}
