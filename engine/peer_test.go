package engine_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

var mask = [4]byte{0xA1, 0x5B, 0x07, 0xEE}

// peer is a client without a game: it speaks frames and messages and keeps what comes.
type peer struct {
	t      *testing.T
	conn   net.Conn
	reader ws.Reader
	in     []byte // read and not consumed yet
	buf    []byte

	welcome wire.Welcome
	tick    uint32 // of the newest delta or snapshot
	pings   uint32
	code    ws.CloseCode // 0 while open
}

// dial opens a socket and reads the answer to the upgrade.
func dial(t *testing.T, addr netip.AddrPort, target string) *peer {
	t.Helper()
	p, err := tryDial(t, addr, target, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryDial(t *testing.T, addr netip.AddrPort, target, origin string) (*peer, error) {
	t.Helper()
	conn, err := net.Dial("tcp", addr.String())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn, reader: ws.NewReader(4<<20, ws.ClientSide), buf: make([]byte, 64<<10)}
	var nonce [16]byte
	rand.Read(nonce[:])
	d := ws.Dial{Host: addr.String(), Target: target, Origin: origin, Nonce: nonce}
	if _, err := conn.Write(d.AppendRequest(nil)); err != nil {
		return nil, err
	}
	var head []byte
	for !bytes.Contains(head, []byte("\r\n\r\n")) {
		n, err := p.read()
		if err != nil {
			return nil, fmt.Errorf("after %q: %w", head, err)
		}
		head = append(head, p.buf[:n]...)
	}
	end := bytes.Index(head, []byte("\r\n\r\n")) + 4
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
		return nil, errors.New(string(head[:bytes.IndexByte(head, '\r')]))
	}
	p.in = head[end:]
	return p, nil
}

func (p *peer) read() (int, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(await.Patience)); err != nil {
		return 0, err
	}
	return p.conn.Read(p.buf)
}

// message reads until the next message, or returns nil when the server has closed.
func (p *peer) message() []byte {
	p.t.Helper()
	for p.code == 0 {
		ev, rest, err := p.reader.Next(p.in)
		if err != nil {
			p.t.Fatalf("the server's frames: %v", err)
		}
		p.in = rest
		switch ev.Op {
		case ws.OpBinary:
			p.note(ev.Payload)
			return ev.Payload
		case ws.OpPing:
			p.write(ws.AppendMasked(nil, ws.OpPong, mask, ev.Payload))
		case ws.OpClose:
			p.code = ev.Code
		case 0:
			n, err := p.read()
			if errors.Is(err, io.EOF) || n == 0 && err != nil {
				p.code = ws.CloseAbnormal
				return nil
			}
			p.in = p.buf[:n]
		}
	}
	return nil
}

func (p *peer) note(m []byte) {
	p.t.Helper()
	switch wire.Tag(m[0]) {
	case wire.TagWelcome:
		w, err := wire.ParseWelcome(m)
		if err != nil {
			p.t.Fatal(err)
		}
		w.Name = bytes.Clone(w.Name) // a part of the frame until here
		p.welcome = w
	case wire.TagSnapshot:
		s, _, err := wire.ParseSnapshot(m)
		if err != nil {
			p.t.Fatal(err)
		}
		p.tick = s.Tick
	case wire.TagDelta:
		d, _, err := wire.ParseDelta(m)
		if err != nil {
			p.t.Fatal(err)
		}
		p.tick = d.Tick
	}
}

// until reads messages until one has the tag.
func (p *peer) until(tag wire.Tag) []byte {
	p.t.Helper()
	for {
		m := p.message()
		if m == nil {
			p.t.Fatalf("closed with %d while waiting for a %v", p.code, tag)
		}
		if wire.Tag(m[0]) == tag {
			return m
		}
	}
}

// closed reads to the end, closes too, and returns the code.
func (p *peer) closed() uint16 {
	p.t.Helper()
	for p.message() != nil {
	}
	p.conn.Close()
	return uint16(p.code)
}

func (p *peer) write(frame []byte) {
	p.t.Helper()
	if _, err := p.conn.Write(frame); err != nil {
		p.t.Fatal(err)
	}
}

// send sends one message.
func (p *peer) send(m []byte) { p.write(ws.AppendMasked(nil, ws.OpBinary, mask, m)) }

// play reads n send ticks and acks each.
func (p *peer) play(n int) {
	p.t.Helper()
	for range n {
		p.until(wire.TagDelta)
		p.send(wire.Ack{Tick: p.tick}.Append(nil))
	}
}

// now is the server's tick, asked for by a ping. What was sent before it is read.
func (p *peer) now() uint32 {
	p.t.Helper()
	p.pings++
	p.send(wire.Ping{Nonce: p.pings}.Append(nil))
	for {
		pong, err := wire.ParsePong(p.until(wire.TagPong))
		if err != nil {
			p.t.Fatal(err)
		}
		if pong.Nonce == p.pings {
			return pong.Tick
		}
	}
}
