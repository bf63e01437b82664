// Package session is one player's connection between bytes and messages. It has
// no socket and no clock: bytes and times come in as arguments, frames go out
// into an Outbox, and what should become of the connection is returned.
//
//	bytes --> Conn.Feed --> ws.Reader --> message --> Receiver (a tick.Viewer)
//	                            |                         |
//	                       ping, close               pong, error
//	                            v                         v
//	                          Outbox <--- messages of a send tick (tick.Sink)
//
// A Conn knows three reasons of its own to end a connection: a frame or message
// that is malformed, a flood of messages or bytes, and silence.
//
// Silence is not what a client is blamed for while nobody listened: it is counted up to
// the time before which all that had arrived has been fed, which whoever reads the
// sockets has to say. An overloaded server is late with that, and finds nobody silent.
//
// What a client may send is a rate with a burst. The burst is long: when a
// connection or the server itself was held up, all that an honest client has sent
// meanwhile arrives at once, and must not be taken for a flood.
package session

import (
	"errors"
	"time"

	"gamehoster/tick"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// Limits of one connection.
type Limits struct {
	MessageSize       int           // bytes of a client message; larger closes with 1009
	MessagesPerSecond int           // sustained, pings included; more closes with 1008
	BytesPerSecond    int           // likewise, of the whole stream: frames that are no messages cost work, too
	Burst             time.Duration // so much of both rates may come at once
	Idle              time.Duration // silence after which it closes with 4008: it is pinged at half of it, and has the other half to answer
	Stall             time.Duration // how long it may not drain before it closes with 4007, beside the time that a slow line needs
}

// slowLine is what a line carries that is good enough to play on, in bytes a second. A
// snapshot may have 64 MiB, and who is taking it neither drains nor answers meanwhile.
const slowLine = 1 << 20

// DefaultLimits are those of spectators and players alike. A client may ack every
// send tick (128 a second at most), pings and sends commands.
var DefaultLimits = Limits{
	MessageSize:       wire.MaxClientMessage,
	MessagesPerSecond: 400,
	BytesPerSecond:    256 << 10,
	Burst:             10 * time.Second,
	Idle:              20 * time.Second,
	Stall:             10 * time.Second,
}

// Receiver takes the client's messages. m is valid during the call. The error is
// a *wire.CloseError where the client is to be closed with a certain code.
type Receiver interface {
	Receive(m []byte, elapsed uint16, sink tick.Sink) error
}

// Conn is the state of one connection. Times are monotonic nanoseconds.
type Conn struct {
	reader   ws.Reader
	limits   *Limits
	heard    int64 // when bytes came last
	stalled  int64 // since when the socket has not drained; 0 when it does
	unsent   int64 // bytes sent since it last had, as far as is known
	messages int64 // budget, in nanoseconds of the sustained rate
	bytes    int64 // likewise
	pinged   int64 // when, for its silence; 0 if it was not since heard
}

// NewConn begins a connection at now. The limits are shared, not copied.
func NewConn(limits *Limits, now int64) Conn {
	return Conn{
		reader: ws.NewReader(limits.MessageSize, ws.BinaryOnly),
		limits: limits,
		heard:  now,

		messages: int64(limits.Burst),
		bytes:    int64(limits.Burst),
	}
}

// End says how a connection ends: with a close frame of this code. The reason is for
// the log.
type End struct {
	Code   uint16
	Reason string
	Peer   bool // the peer asked for it
}

// Feed takes the bytes that have arrived, changes them in place, and hands each
// whole message to r. elapsed is the part of the running tick that has passed.
// Replies go to out. When the connection is to end, the close frame stands in out
// already and nothing more may be fed.
func (c *Conn) Feed(p []byte, now int64, elapsed uint16, r Receiver, out *Outbox) (end End, ended bool) {
	c.earn(now - c.heard)
	c.heard, c.pinged = now, 0
	if !spend(&c.bytes, len(p), c.limits.BytesPerSecond) {
		return c.end(out, wire.CloseFlood, "too many bytes")
	}
	for {
		ev, rest, err := c.reader.Next(p)
		if err != nil {
			return c.end(out, uint16(ws.CodeOf(err)), closeReason(err))
		}
		switch ev.Op {
		case ws.OpBinary:
			if !spend(&c.messages, 1, c.limits.MessagesPerSecond) {
				return c.end(out, wire.CloseFlood, "too many messages")
			}
			if err := r.Receive(ev.Payload, elapsed, out); err != nil {
				if ce, ok := errors.AsType[*wire.CloseError](err); ok {
					return c.end(out, ce.Code, ce.Reason)
				}
				return c.end(out, wire.CloseFailed, "server fault")
			}
		case ws.OpPing:
			if !spend(&c.messages, 1, c.limits.MessagesPerSecond) {
				return c.end(out, wire.CloseFlood, "too many pings")
			}
			out.buf = ws.AppendReply(out.buf, ev)
		case ws.OpClose:
			out.buf = ws.AppendReply(out.buf, ev)
			c.reader = ws.Reader{}
			return End{Code: uint16(ev.Code), Reason: string(ev.Payload), Peer: true}, true
		case ws.OpPong:
		default:
			return End{}, false
		}
		p = rest
	}
}

// Close ends the connection from our side: its close frame goes to out.
func (c *Conn) Close(code uint16, out *Outbox) {
	out.buf = ws.AppendClose(out.buf, ws.CloseCode(code), wire.CloseReason(code))
	c.reader = ws.Reader{}
}

// Stalled notes whether the socket has drained, once per send tick.
func (c *Conn) Stalled(stalled bool, now int64) {
	switch {
	case !stalled:
		if c.stalled != 0 && c.pinged != 0 {
			c.pinged = now // it was behind what did not drain
		}
		c.stalled, c.unsent = 0, 0
	case c.stalled == 0:
		c.stalled = now
	}
}

// Sent notes that n bytes were given to the socket.
func (c *Conn) Sent(n int) { c.unsent += int64(n) }

// Check looks at the connection's silence, about once a second. dealt is the time up to
// which its socket has had its turn: what had arrived by then has been fed, what it had
// room for has been written. It is now at most, and only what is before it counts. Check
// pings a quiet peer by way of out, and tells when the connection is to end.
func (c *Conn) Check(now, dealt int64, out *Outbox) (end End, ended bool) {
	half := int64(c.limits.Idle) / 2
	busy := c.unsent * int64(time.Second) / slowLine
	switch {
	case c.stalled != 0 && dealt-c.stalled >= int64(c.limits.Stall)+busy:
		return c.end(out, wire.CloseTooSlow, "the connection does not keep up")
	case c.pinged != 0 && dealt-c.pinged >= half+busy:
		return c.end(out, wire.CloseIdle, "nothing heard for too long")
	case c.pinged == 0 && dealt-c.heard >= half:
		c.pinged = now
		out.buf = ws.AppendFrame(out.buf, ws.OpPing, nil)
	}
	return End{}, false
}

func (c *Conn) end(out *Outbox, code uint16, reason string) (End, bool) {
	c.Close(code, out)
	return End{Code: code, Reason: reason}, true
}

// earn adds what elapsed nanoseconds bring to both budgets.
func (c *Conn) earn(elapsed int64) {
	most := int64(c.limits.Burst)
	c.messages = min(c.messages+elapsed, most)
	c.bytes = min(c.bytes+elapsed, most)
}

// spend takes n pieces from a budget, of which a second brings so many.
func spend(budget *int64, n, perSecond int) bool {
	price := int64(n) * int64(time.Second) / int64(perSecond)
	if *budget < price {
		return false
	}
	*budget -= price
	return true
}

func closeReason(err error) string {
	if e, ok := errors.AsType[*ws.Error](err); ok {
		return e.Reason
	}
	return "malformed frame"
}

// Outbox collects the frames for one connection. Its buffer is used again and again,
// so one Outbox serves all connections of a loop.
type Outbox struct{ buf []byte }

// Message adds one binary message. It makes an Outbox a tick.Sink.
func (o *Outbox) Message(m []byte) { o.buf = ws.AppendFrame(o.buf, ws.OpBinary, m) }

// Take gives the bytes collected and empties the Outbox. They are valid until the
// next frame is added.
func (o *Outbox) Take() []byte {
	b := o.buf
	o.buf = o.buf[:0]
	return b
}
