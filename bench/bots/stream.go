package bots

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// hear takes bytes that have come.
func (b *bot) hear(p []byte, now int64) {
	if b.kind == honest && b.fleet.measuring() {
		b.stripe.mu.Lock()
		b.stripe.bytesIn += int64(len(p))
		b.stripe.mu.Unlock()
	}
	if b.stage == idle {
		return // it is being hung up
	}
	if !b.raised {
		if p = b.answer(p); p == nil {
			return
		}
	}
	for {
		ev, rest, err := b.reader.Next(p)
		if err != nil {
			b.fault(fmt.Errorf("the server's frames: %w", err))
			return
		}
		switch ev.Op {
		case ws.OpBinary:
			if err := b.receive(ev.Payload, now); err != nil {
				b.fault(err)
				return
			}
		case ws.OpPing:
			if b.kind != silent {
				b.out = ws.AppendMasked(b.out, ws.OpPong, b.key(), ev.Payload)
			}
		case ws.OpClose:
			b.link.code = strconv.Itoa(int(ev.Code))
			if b.stage == talking && b.kind != silent {
				b.out = ws.AppendMasked(b.out, ws.OpClose, b.key(), []byte{byte(ev.Code >> 8), byte(ev.Code)})
			}
		case 0:
			b.flush(now)
			return
		}
		p = rest
	}
}

// answer takes the server's answer to the upgrade, and returns what follows it; nil
// while it is not whole, or where it is a refusal.
func (b *bot) answer(p []byte) []byte {
	b.head = append(b.head, p...)
	end, err := ws.HeadEnd(b.head, 0)
	if err != nil {
		b.refused("malformed answer")
		b.hangUp()
		return nil
	}
	if end == 0 {
		return nil
	}
	d := b.request()
	if !d.Accepted(b.head[:end]) {
		why := "not accepted"
		if len(b.head) >= 12 {
			why = "HTTP " + string(b.head[9:12])
		}
		b.refused(why)
		b.stage = idle // so that its end is not one more refusal
		b.hangUp()
		return nil
	}
	b.raised, b.stage = true, talking
	b.stripe.mu.Lock()
	b.stripe.opened++
	b.stripe.mu.Unlock()
	return b.head[end:]
}

// fault notes that the server did something wrong, and starts anew.
func (b *bot) fault(err error) {
	b.stripe.mu.Lock()
	b.stripe.fault(fmt.Sprintf("bot %d, tick %d: %v", b.number, b.tick, err))
	b.stripe.mu.Unlock()
	b.hasToken, b.stage = false, idle
	b.hangUp()
}

// What a server may not do, as far as every bot looks.
var (
	errTwice    = errors.New("a second welcome")
	errNoWelc   = errors.New("a message before the welcome")
	errPlayer   = errors.New("a player was welcomed as a spectator")
	errUnknown  = errors.New("a message that servers do not send")
	errAhead    = errors.New("more commands are processed than were sent")
	errNonce    = errors.New("it answers no ping")
	errBackward = errors.New("a send tick that is not after the one before")
)

// receive takes one message.
func (b *bot) receive(m []byte, now int64) error {
	tag := wire.TagOf(m)
	if b.kind == honest && b.fleet.measuring() {
		b.stripe.mu.Lock()
		b.stripe.received[tag].add(Traffic{1, int64(len(m))})
		b.stripe.mu.Unlock()
	}
	if !tag.FromServer() {
		return errUnknown
	}
	if (b.player == 0) != (tag == wire.TagWelcome) {
		if tag == wire.TagWelcome {
			return errTwice
		}
		return errNoWelc
	}
	if b.mirror != nil {
		if err := b.checked(m); err != nil {
			return fmt.Errorf("%v: %w", tag, err)
		}
	}
	switch tag {
	case wire.TagWelcome:
		return b.welcome(m)
	case wire.TagSnapshot:
		h, _, err := wire.ParseSnapshot(m)
		if err != nil {
			return err
		}
		if b.seated && h.Tick == b.snapshot && !wire.TickAfter(h.Tick, b.tick) {
			b.ack(h.Tick, true)
			return nil // the same again, as late commands have made it; a delta follows
		}
		b.snapshot = h.Tick
		if !b.seated {
			b.seat(now)
		}
		return b.sendTick(h.Tick, h.Processed, true, now)
	case wire.TagDelta:
		h, _, err := wire.ParseDelta(m)
		if err != nil {
			return err
		}
		return b.sendTick(h.Tick, h.Processed, false, now)
	case wire.TagPong:
		return b.pong(m, now)
	}
	return nil
}

// checked has the mirror check a message, and counts what it saw.
func (b *bot) checked(m []byte) error {
	before := b.mirror.seen
	err := b.mirror.take(m)
	s := b.stripe
	s.mu.Lock()
	s.thin.Snapshots += b.mirror.seen.Snapshots - before.Snapshots
	s.thin.Sends += b.mirror.seen.Sends - before.Sends
	s.thin.Objects += b.mirror.seen.Objects - before.Objects
	s.mu.Unlock()
	return err
}

func (b *bot) welcome(m []byte) error {
	w, err := wire.ParseWelcome(m)
	if err != nil {
		return err
	}
	if w.Player == 0 {
		return errPlayer
	}
	if b.hasToken && w.Token == b.token { // a fresh seat may be of the same number
		b.stripe.mu.Lock()
		b.stripe.resumed++
		b.stripe.mu.Unlock()
	}
	b.player = w.Player
	b.token, b.hasToken = w.Token, true
	b.seq, b.waiting = w.Received, b.waiting[:0]
	return nil
}

// seat begins to play: the first snapshot has come.
func (b *bot) seat(now int64) {
	b.seated = true
	b.fleet.count(b, 1)
	b.settle()
	s := b.stripe
	s.mu.Lock()
	s.seat.Record(time.Duration(now - b.began))
	if b.lost > 0 {
		s.reseat.Record(time.Duration(now - b.lost))
	}
	s.mu.Unlock()
	b.lost, b.tick = 0, 0
	// Somewhere in the period, so that bots which came together do not send together.
	phase := func(period int64) int64 {
		if period <= 0 {
			return now
		}
		return (now + b.rng.Int64N(period)) / grain * grain
	}
	b.commandDue, b.pingDue = phase(b.fleet.commandPeriod), phase(int64(b.fleet.Ping))
	switch b.kind {
	case restless:
		b.actDue = now + int64(b.rng.ExpFloat64()*float64(meanStay))
	default:
		b.actDue = now
	}
	b.tickAt = 0
}

// sendTick ends a send tick: what was waited for is measured, and the tick is acked if
// that is due.
func (b *bot) sendTick(tick, processed uint32, snapshot bool, now int64) error {
	f := b.fleet
	if b.tickAt > 0 && !wire.TickAfter(tick, b.tick) {
		return errBackward
	}
	if processed > b.seq && b.kind != hostile {
		return errAhead
	}
	measuring := b.kind == honest && f.measuring()
	if measuring && b.tickAt > 0 {
		late := time.Duration(now - b.tickAt - f.sendPeriod)
		b.stripe.mu.Lock()
		b.stripe.late.RecordCorrected(late, time.Duration(f.sendPeriod))
		b.stripe.lateWindow.RecordCorrected(late, time.Duration(f.sendPeriod))
		b.stripe.mu.Unlock()
	}
	b.tick, b.tickAt = tick, now
	if n := upto(b.waiting, processed); n > 0 {
		if measuring {
			b.stripe.mu.Lock()
			for _, c := range b.waiting[:n] {
				if f.measured(c.due) {
					b.stripe.command.Record(time.Duration(now - c.due))
					b.stripe.commandWindow.Record(time.Duration(now - c.due))
				}
			}
			b.stripe.mu.Unlock()
		}
		b.waiting = without(b.waiting, n)
	}
	b.ack(tick, snapshot)
	return nil
}

// ackSpacing is the least time in ticks from an acked send tick to the next one that is
// acked as it comes. It is that of the client library.
const ackSpacing = 90 * time.Millisecond

// ack acks an applied send tick, as far as the bot acks anything, or withholds that: one
// that is acked soon stands for it. A snapshot is acked at once.
func (b *bot) ack(tick uint32, snapshot bool) {
	if b.kind == silent || b.stage != talking || b.trick != nil {
		return
	}
	b.newest, b.withheld = tick, true
	passed := time.Duration(wire.TickDistance(tick, b.acked)) * time.Second
	if snapshot || passed >= ackSpacing*time.Duration(b.fleet.game.def.TickRate) {
		b.flushAck()
	}
}

// flushAck acks what is withheld, if anything is.
func (b *bot) flushAck() {
	if !b.withheld {
		return
	}
	b.acked, b.withheld = b.newest, false
	b.send(wire.Ack{Tick: b.acked}.Append(b.msg[:0]))
}

func (b *bot) pong(m []byte, now int64) error {
	p, err := wire.ParsePong(m)
	if err != nil {
		return err
	}
	n := upto(b.pings, p.Nonce)
	if n == 0 || b.pings[n-1].number != p.Nonce {
		return errNonce
	}
	if due := b.pings[n-1].due; b.kind == honest && b.fleet.measured(due) {
		b.stripe.mu.Lock()
		b.stripe.trip.Record(time.Duration(now - due))
		b.stripe.mu.Unlock()
	}
	b.pings = without(b.pings, n)
	return nil
}

// unconfirmed counts, at the end of the measured part, the commands and pings that should
// have been answered long ago, and has them take the time that they have taken so far. It takes mu.
func (b *bot) unconfirmed(now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kind != honest || !b.seated {
		return
	}
	b.stripe.mu.Lock()
	defer b.stripe.mu.Unlock()
	for _, c := range b.waiting {
		if age := now - c.due; age > int64(time.Second) && b.fleet.measured(c.due) {
			b.stripe.unacked++
			b.stripe.command.Record(time.Duration(age))
		}
	}
	for _, p := range b.pings {
		if age := now - p.due; age > int64(time.Second) && b.fleet.measured(p.due) {
			b.stripe.trip.Record(time.Duration(age))
		}
	}
}
