package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// patience bounds every wait.
const patience = 20 * time.Second

// eventually waits for a condition that nothing signals.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	next := time.NewTicker(5 * time.Millisecond)
	defer next.Stop()
	for end := time.Now().Add(patience); !cond(); <-next.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// player is at the other end of a game's socket.
type player struct {
	conn    net.Conn
	reader  ws.Reader
	in, buf []byte

	id    uint32
	token string
	tick  uint32        // of the newest world
	ended *ws.CloseCode // nil while the socket is open
}

var playerMask = [4]byte{3, 1, 4, 1}

// join asks for a socket and reads on to the first world.
func join(addr, target string) (*player, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	p := &player{conn: conn, reader: ws.NewReader(1<<20, ws.ClientSide), buf: make([]byte, 64<<10)}
	d := ws.Dial{Host: addr, Target: target}
	rand.Read(d.Nonce[:])
	if _, err = conn.Write(d.AppendRequest(nil)); err == nil {
		err = p.head()
	}
	if err == nil {
		err = p.plays(1)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("joining %s: %w", target, err)
	}
	return p, nil
}

func (p *player) read() ([]byte, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	n, err := p.conn.Read(p.buf)
	return p.buf[:n], err
}

func (p *player) head() error {
	var head []byte
	for !bytes.Contains(head, []byte("\r\n\r\n")) {
		more, err := p.read()
		if err != nil {
			return fmt.Errorf("after %q: %w", head, err)
		}
		head = append(head, more...)
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) {
		return errors.New(string(head[:bytes.IndexByte(head, '\r')]))
	}
	p.in = head[bytes.Index(head, []byte("\r\n\r\n"))+4:]
	return nil
}

// plays takes so many worlds, each of which it acks.
func (p *player) plays(worlds int) error {
	for worlds > 0 {
		ev, rest, err := p.reader.Next(p.in)
		if err != nil {
			return err
		}
		p.in = rest
		switch ev.Op {
		case ws.OpBinary:
			is, err := p.note(ev.Payload)
			if err != nil {
				return err
			}
			if is {
				worlds--
				if _, err := p.conn.Write(ws.AppendMasked(nil, ws.OpBinary, playerMask, wire.Ack{Tick: p.tick}.Append(nil))); err != nil {
					return err
				}
			}
		case ws.OpClose:
			p.ended = &ev.Code
			p.conn.Close()
			return fmt.Errorf("closed with %d", ev.Code)
		case 0:
			if p.in, err = p.read(); err != nil {
				return err
			}
		}
	}
	return nil
}

// note keeps what a message says, and reports whether it is a world.
func (p *player) note(m []byte) (world bool, err error) {
	switch wire.Tag(m[0]) {
	case wire.TagWelcome:
		w, err := wire.ParseWelcome(m)
		p.id, p.token = w.Player, fmt.Sprintf("%x", w.Token)
		return false, err
	case wire.TagSnapshot:
		s, _, err := wire.ParseSnapshot(m)
		p.tick = s.Tick
		return true, err
	case wire.TagDelta:
		d, _, err := wire.ParseDelta(m)
		p.tick = d.Tick
		return true, err
	}
	return false, nil
}

// joins is join, in a test that cannot go on without.
func joins(t *testing.T, b *program, target string) *player {
	t.Helper()
	p, err := join(b.addr, target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.conn.Close() })
	return p
}

func (p *player) must(t *testing.T, worlds int) {
	t.Helper()
	if err := p.plays(worlds); err != nil {
		t.Fatal(err)
	}
}

// end plays until the socket ends.
func (p *player) end() error {
	for {
		if err := p.plays(1); err != nil {
			return err
		}
	}
}
