package beat

import (
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/wire/ws"
)

// sink is a loop without sockets.
type sink struct {
	loop.Sockets
	frames, bytes int
}

func (s *sink) Send(_ loop.Handle, frame []byte) { s.frames, s.bytes = s.frames+1, s.bytes+len(frame) }
func (s *sink) Flush() []loop.Handle             { return nil }

func TestAllocServer(t *testing.T) {
	s := &sink{}
	h := &handler{loop: s, period: 1, at: map[loop.Handle]int{}, frame: ws.AppendFrame(nil, ws.OpBinary, make([]byte, 100))}
	h.payload = h.frame[2:]
	const sockets = 10
	for i := range sockets {
		h.OnOpen(loop.Handle(i+1), 0)
	}
	key := [4]byte{1, 2, 3, 4}
	in := ws.AppendMasked(nil, ws.OpBinary, key, make([]byte, 12))
	buf := make([]byte, len(in))
	h.OnTick(0)
	runs := 0
	n := testing.AllocsPerRun(200, func() {
		runs++
		for i := range sockets {
			copy(buf, in) // it is unmasked in place
			h.OnData(loop.Handle(i+1), buf)
		}
		h.OnTick(h.next)
	})
	t.Logf("a beat: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("a beat allocates %v times", n)
	}
	if s.frames != sockets*runs || s.bytes != 102*s.frames || h.clients[3].received != uint32(runs) {
		t.Errorf("%d frames of %d bytes in %d beats", s.frames, s.bytes, runs)
	}
	h.OnClose(4, nil)
	h.OnClose(10, nil)
	for hd, i := range h.at {
		if h.clients[i].handle != hd {
			t.Errorf("socket %d stands where %d should", h.clients[i].handle, hd)
		}
	}
	if len(h.clients) != sockets-2 {
		t.Errorf("%d sockets", len(h.clients))
	}
}
