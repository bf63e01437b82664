package beat

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"gamehoster/engine/lone"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetloop"
	"gamehoster/engine/loop/uring"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// ServerConfig says how a server runs.
type ServerConfig struct {
	Addr    string // host:port; port 0 takes any free one
	Hz      int    // beats a second, 1 to 1000
	Payload int    // bytes of a beat's message, MinPayload to 64 KiB

	Transport string       // the loop that is measured, one of Transports
	Log       *slog.Logger // discards where nil
}

// makers are the loops of the engine.
var makers = map[string]func(loop.Handler, loop.Config) loop.Loop{
	"gnet":  func(h loop.Handler, c loop.Config) loop.Loop { return gnetloop.New(h, c) },
	"uring": func(h loop.Handler, c loop.Config) loop.Loop { return uring.New(h, c) },
}

// Maker makes loops of a transport; nil where there is none of the name.
func Maker(transport string) func(loop.Handler, loop.Config) loop.Loop { return makers[transport] }

// Transports are the names of the loops that there are.
func Transports() []string { return slices.Sorted(maps.Keys(makers)) }

// maxMessage is the most bytes that a client may send at once.
const maxMessage = 4096

// NewServer opens the port.
func NewServer(c ServerConfig) (*lone.Server, error) {
	if c.Hz < 1 || c.Hz > 1000 || c.Payload < MinPayload || c.Payload > 1<<16 {
		return nil, fmt.Errorf("a beat server with %d beats a second of %d bytes", c.Hz, c.Payload)
	}
	mk := makers[c.Transport]
	if mk == nil {
		return nil, fmt.Errorf("a beat server on %q: the transports are %s", c.Transport, strings.Join(Transports(), ", "))
	}
	h := &handler{period: int64(time.Second) / int64(c.Hz), at: map[loop.Handle]int{}}
	h.frame = ws.AppendFrame(nil, ws.OpBinary, make([]byte, c.Payload))
	h.payload = h.frame[ws.HeaderSize(c.Payload):]
	l := mk(h, loop.Config{Log: c.Log})
	h.loop = l
	return lone.Open(c.Addr, l, c.Log)
}

// client is one socket.
type client struct {
	handle   loop.Handle
	reader   ws.Reader
	received uint32
}

type handler struct {
	loop    loop.Sockets
	period  int64
	clients []*client           // in the order in which they are sent to
	at      map[loop.Handle]int // where in clients
	frame   []byte              // of a beat; payload is a part of it
	payload []byte
	reply   []byte
	next    int64
	beat    uint32
}

func (h *handler) OnOpen(hd loop.Handle, _ uint64) {
	h.at[hd] = len(h.clients)
	h.clients = append(h.clients, &client{handle: hd, reader: ws.NewReader(maxMessage, 0)})
}

func (h *handler) OnData(hd loop.Handle, p []byte) {
	c := h.clients[h.at[hd]]
	for {
		ev, rest, err := c.reader.Next(p)
		h.reply = h.reply[:0]
		switch {
		case err != nil:
			h.end(hd, ws.AppendClose(h.reply, ws.CodeOf(err), ""), wire.CloseMalformed)
			return
		case ev.Op == ws.OpClose:
			h.end(hd, ws.AppendReply(h.reply, ev), uint16(ev.Code))
			return
		case ev.Op == ws.OpPing:
			h.loop.Send(hd, ws.AppendReply(h.reply, ev)) // goes with the next beat
		case ev.Op == 0:
			return
		case !ev.Op.Control():
			c.received++
		}
		p = rest
	}
}

func (h *handler) end(hd loop.Handle, frame []byte, code uint16) {
	h.loop.Send(hd, frame)
	h.loop.Close(hd, code)
}

func (h *handler) OnClose(hd loop.Handle, _ error) {
	i := h.at[hd]
	delete(h.at, hd)
	last := len(h.clients) - 1
	if i != last {
		h.clients[i] = h.clients[last]
		h.at[h.clients[i].handle] = i
	}
	h.clients[last] = nil
	h.clients = slices.Delete(h.clients, last, last+1)
}

// OnTick sends the beat to all.
func (h *handler) OnTick(now int64) int64 {
	if h.next == 0 {
		h.next = now + h.period
		return h.next
	}
	if now < h.next {
		return h.next
	}
	h.beat++
	m := Message{Due: h.next, Beat: h.beat}
	for _, c := range h.clients {
		m.Received = c.received
		m.Put(h.payload)
		h.loop.Send(c.handle, h.frame)
	}
	h.loop.Flush()
	h.next = max(h.next+h.period, loop.Now()) // beats that are lost are not made up for
	return h.next
}

func (h *handler) OnPost(loop.Message) {}
