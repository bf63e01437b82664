package engine_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"gamehoster/engine"
	"gamehoster/wire/ws"
)

// TestEcho sends many small messages at once and a large one, to a server that keeps
// little for a socket, and wants all of them back in order.
func TestEcho(t *testing.T) {
	const maxMessage = 200_000
	for _, on := range []engine.Transport{engine.TransportGnet, engine.TransportUring} {
		t.Run(string(on), func(t *testing.T) {
			e, err := engine.NewEcho(engine.EchoConfig{Addr: anyPort, MaxMessage: maxMessage, Transport: on})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- e.Run(ctx) }()
			defer func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}()
			p := dial(t, e.Addr(), "/")
			rnd := rand.New(rand.NewPCG(1, 2))
			var messages [][]byte
			for range 5000 {
				messages = append(messages, make([]byte, rnd.IntN(100)))
			}
			messages = append(messages, make([]byte, maxMessage), []byte("last"))
			var frames []byte
			for _, m := range messages {
				for i := range m {
					m[i] = byte(rnd.Uint32())
				}
				frames = ws.AppendMasked(frames, ws.OpBinary, mask, m)
			}
			frames = ws.AppendMasked(frames, ws.OpClose, mask, []byte{0x03, 0xE8})
			go func() { _, _ = p.conn.Write(frames) }() // what does not come back shows it
			for i, m := range messages {
				if got := p.frame(); !bytes.Equal(got, m) {
					t.Fatalf("message %d: %d bytes, want %d", i, len(got), len(m))
				}
			}
			if p.frame() != nil || p.code != ws.CloseNormal {
				t.Errorf("closed with %d", p.code)
			}
		})
	}
	if _, err := engine.NewEcho(engine.EchoConfig{Addr: anyPort, MaxMessage: 1, Transport: "tcp"}); err == nil {
		t.Error("a transport that there is not was taken")
	}
}

// frame is the payload of the next frame with a message, nil when the server has closed.
func (p *peer) frame() []byte {
	p.t.Helper()
	for p.code == 0 {
		ev, rest, err := p.reader.Next(p.in)
		if err != nil {
			p.t.Fatalf("the server's frames: %v", err)
		}
		p.in = rest
		switch ev.Op {
		case ws.OpBinary:
			return ev.Payload
		case ws.OpClose:
			p.code = ev.Code
		case 0:
			n, err := p.read()
			if err != nil {
				p.t.Fatalf("reading: %v", err)
			}
			p.in = p.buf[:n]
		}
	}
	return nil
}
