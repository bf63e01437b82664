package engine

import (
	"fmt"
	"log/slog"

	"gamehoster/engine/lone"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/transport"
	"gamehoster/wire/ws"
)

// EchoConfig says how an Echo runs.
type EchoConfig struct {
	Addr       string       // host:port; port 0 takes any free one
	MaxMessage int          // bytes, 1 to 1 GiB
	Transport  Transport    // what the loop runs on; auto
	Log        *slog.Logger // discards where nil
}

// Echo is a server that answers every message with itself, on the same frame code,
// loop and door as the games. Conformance suites and benchmarks talk to it.
type Echo struct{ *lone.Server }

// NewEcho opens the port.
func NewEcho(c EchoConfig) (*Echo, error) {
	if c.MaxMessage < 1 || c.MaxMessage > 1<<30 {
		return nil, fmt.Errorf("--max-message: %d is not between 1 and 1 GiB", c.MaxMessage)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &echoHandler{limit: c.MaxMessage, readers: map[loop.Handle]*ws.Reader{}}
	// Whole messages may wait for a slow reader: some of the largest, or many small ones.
	loops, _, err := c.Transport.Loops([]transport.Plan{{Handler: h, Config: loop.Config{OutboundCap: 4*c.MaxMessage + 1<<16, Log: c.Log}}}, c.Log)
	if err != nil {
		return nil, err
	}
	h.loop = loops[0]
	server, err := lone.Open(c.Addr, loops[0], c.Log)
	if err != nil {
		transport.Stop(loops)
		return nil, err
	}
	return &Echo{server}, nil
}

type echoHandler struct {
	loop    loop.Sockets
	limit   int
	readers map[loop.Handle]*ws.Reader
	out     []byte
	pending int // bytes sent since the last flush
}

func (h *echoHandler) OnOpen(hd loop.Handle, _ uint64) {
	r := ws.NewReader(h.limit, 0)
	h.readers[hd] = &r
}

func (h *echoHandler) OnData(hd loop.Handle, p []byte) {
	r := h.readers[hd]
	h.out = h.out[:0]
	code := ws.CloseCode(0)
	for code == 0 {
		ev, rest, err := r.Next(p)
		p = rest
		switch {
		case err != nil:
			code = ws.CodeOf(err)
			h.out = ws.AppendClose(h.out, code, "")
		case ev.Op == ws.OpText || ev.Op == ws.OpBinary:
			h.out = ws.AppendFrame(h.out, ev.Op, ev.Payload)
		case ev.Op == ws.OpPing:
			h.out = ws.AppendReply(h.out, ev)
		case ev.Op == ws.OpClose:
			h.out = ws.AppendReply(h.out, ev)
			code = ev.Code
		case ev.Op == 0:
			h.send(hd)
			return
		}
	}
	h.send(hd)
	h.loop.Close(hd, uint16(code))
}

// OnTick sends what the messages that came together have caused.
func (h *echoHandler) OnTick(int64) int64 {
	h.flush()
	return loop.Never
}

func (h *echoHandler) flush() {
	h.loop.Flush()
	h.pending = 0
}

// flushAt is how many bytes wait for those that come with them.
const flushAt = 32 << 10

// keepEcho is the greatest capacity of the output buffer, in bytes, that is kept.
const keepEcho = 1 << 20

// send has what is due sent with the next tick, which is at once; a large message does not
// keep its buffer for ever.
func (h *echoHandler) send(hd loop.Handle) {
	if len(h.out) > 0 {
		h.loop.Send(hd, h.out)
		if h.pending += len(h.out); h.pending >= flushAt {
			h.flush()
		} else {
			h.loop.Wake(0)
		}
	}
	if cap(h.out) > keepEcho {
		h.out = nil
	}
}

func (h *echoHandler) OnClose(hd loop.Handle, _ error) { delete(h.readers, hd) }
func (h *echoHandler) OnPost(loop.Message)             {}
