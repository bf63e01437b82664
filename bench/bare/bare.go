// Package bare is the server of Asteroids without the game: the loop of the engine with
// the same sockets, the same traffic at the same times, and nothing that reads, runs or
// encodes anything. What a server takes over it is the engine's own; what it takes itself
// is the kernel's and the loop's, below which nothing on that loop can come.
//
//	            bare                               bots (bench/bots)
//	upgrade:    welcome, snapshot without objects --->
//	send k:     one frame of Payload bytes        --->  ack
//	            not looked at                     <---  acks, commands
//	            pong                              <---  ping
//
// The sockets are sent to as the engine does it: by instances of Crew, which are spread
// evenly over the send period in slots as far apart as the engine's, one flush a slot.
// To the bots a send is a delta, of which they read the front; bots that check every
// byte find nothing they could check, so Spec.Thin has to be off.
//
// Of what comes the length and three bytes are looked at, as far as it takes to answer a
// ping that comes alone and to hang up when a client does.
package bare

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"gamehoster/engine/lone"
	"gamehoster/engine/loop"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// Config says how a server runs.
type Config struct {
	Addr     string // host:port; port 0 takes any free one
	TickRate int    // of the game that it stands for, Hz, a multiple of SendRate
	SendRate int    // Hz
	Crew     int    // sockets of an instance
	Payload  int    // bytes of a send, without its frame: MinPayload to 125

	Loop func(loop.Handler, loop.Config) loop.Loop // makes the loop that is measured
	Log  *slog.Logger                              // discards where nil
}

// MinPayload has room for the front of a delta.
const MinPayload = 1 + 4 + 4 + 1

// slotSpacing is about how far apart the slots are, as in the engine's schedule.
const slotSpacing = 2 * time.Millisecond

// player is what every bot is told it is; they do not meet.
const player = 1

// New opens the port.
func New(c Config) (*lone.Server, error) {
	if c.TickRate < 1 || c.SendRate < 1 || c.TickRate%c.SendRate != 0 || c.Crew < 1 || c.Payload < MinPayload || c.Payload > 125 || c.Loop == nil {
		return nil, fmt.Errorf("a bare server with %d ticks and %d sends a second of %d bytes to crews of %d", c.TickRate, c.SendRate, c.Payload, c.Crew)
	}
	period := time.Second / time.Duration(c.SendRate)
	h := &handler{
		period: int64(period), ticks: uint32(c.TickRate / c.SendRate), crew: c.Crew,
		slots: make([][]loop.Handle, max(period/slotSpacing, 1)),
		at:    map[loop.Handle]place{},
	}
	h.frame = ws.AppendFrame(nil, ws.OpBinary, make([]byte, c.Payload))
	h.payload = h.frame[ws.HeaderSize(c.Payload):]
	w := wire.Welcome{Player: player, TickRate: uint16(c.TickRate), SendRate: uint16(c.SendRate)}
	h.hello = ws.AppendFrame(nil, ws.OpBinary, w.Append(nil))
	h.hello = ws.AppendFrame(h.hello, ws.OpBinary, wire.Snapshot{}.Append(nil))
	l := c.Loop(h, loop.Config{Log: c.Log})
	h.loop = l
	return lone.Open(c.Addr, l, c.Log)
}

// place is where a socket is in the handler's slots.
type place struct{ slot, index int }

type handler struct {
	loop   loop.Sockets
	period int64  // between two sends to a socket, ns
	ticks  uint32 // of the game, in that time
	crew   int
	slots  [][]loop.Handle
	at     map[loop.Handle]place
	opened int // sockets, in all

	start   int64  // when slot 0 had its first turn
	turn    int64  // the next one: of slot turn modulo slots
	frame   []byte // of a send; payload is a part of it
	payload []byte
	hello   []byte // what a socket is sent first
	reply   []byte
	answer  bool // something was sent that has yet to be flushed
}

func (h *handler) OnOpen(hd loop.Handle, _ uint64) {
	slot := h.opened / h.crew % len(h.slots)
	h.opened++
	h.at[hd] = place{slot, len(h.slots[slot])}
	h.slots[slot] = append(h.slots[slot], hd)
	h.send(hd, h.hello)
}

// send sends outside of a slot's turn, together with whatever else is sent so.
func (h *handler) send(hd loop.Handle, frame []byte) {
	h.loop.Send(hd, frame)
	h.answer = true
	h.loop.Wake(0)
}

// The frames of clients that are known by their length and first bytes.
const (
	maskedHead = 2 + 4
	pingFrame  = maskedHead + wire.PingSize
	closeByte  = 0x80 | byte(ws.OpClose)
)

func (h *handler) OnData(hd loop.Handle, p []byte) {
	switch {
	case p[0] == closeByte:
		h.loop.Send(hd, ws.AppendClose(h.reply[:0], ws.CloseCode(wire.CloseDone), ""))
		h.loop.Close(hd, wire.CloseDone)
	case len(p) == pingFrame && wire.Tag(p[maskedHead]^p[2]) == wire.TagPing:
		m := p[maskedHead:]
		ws.Mask(m, binary.LittleEndian.Uint32(p[2:]))
		pong := wire.Pong{Nonce: binary.LittleEndian.Uint32(m[1:]), Tick: h.tick()}
		var room [wire.PongSize]byte
		h.reply = ws.AppendFrame(h.reply[:0], ws.OpBinary, pong.Append(room[:0]))
		h.send(hd, h.reply)
	}
}

// tick is the game's tick that the next send is of.
func (h *handler) tick() uint32 { return uint32(h.turn/int64(len(h.slots))+1) * h.ticks }

func (h *handler) OnClose(hd loop.Handle, _ error) {
	p := h.at[hd]
	delete(h.at, hd)
	list := h.slots[p.slot]
	last := len(list) - 1
	if p.index != last {
		list[p.index] = list[last]
		h.at[list[p.index]] = p
	}
	h.slots[p.slot] = list[:last]
}

// OnTick sends to the slots that are due.
func (h *handler) OnTick(now int64) int64 {
	if h.start == 0 {
		h.start = now
	}
	for ; h.due() <= now; h.turn++ {
		tick := h.tick()
		// The front is written over the last one's; nobody applies what is behind it.
		wire.Delta{Tick: tick, Base: tick - h.ticks}.Append(h.payload[:0])
		for _, hd := range h.slots[h.turn%int64(len(h.slots))] {
			h.loop.Send(hd, h.frame)
		}
		h.answer = true
	}
	if h.answer {
		h.answer = false
		h.loop.Flush()
	}
	return h.due()
}

// due is when the next turn is.
func (h *handler) due() int64 { return h.start + h.turn*h.period/int64(len(h.slots)) }

func (h *handler) OnPost(loop.Message) {}
