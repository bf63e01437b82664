package session

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"gamehoster/tick"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

var key = [4]byte{1, 2, 3, 4}

// player answers every message with itself and fails on the message "bad".
type player struct{ got [][]byte }

func (p *player) Receive(m []byte, _ uint16, sink tick.Sink) error {
	p.got = append(p.got, bytes.Clone(m))
	if string(m) == "bad" {
		return &wire.CloseError{Code: wire.CloseMalformed, Reason: "bad"}
	}
	sink.Message(m)
	return nil
}

func frames(messages ...string) []byte {
	var b []byte
	for _, m := range messages {
		b = ws.AppendMasked(b, ws.OpBinary, key, []byte(m))
	}
	return b
}

func TestMessagesArriveWholeHoweverTheBytesAreSplit(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	stream := frames("one", "", string(make([]byte, 300)), "four")
	var want []byte
	for _, m := range []string{"one", "", string(make([]byte, 300)), "four"} {
		want = ws.AppendFrame(want, ws.OpBinary, []byte(m))
	}
	for range 200 {
		c := NewConn(&DefaultLimits, 0)
		var out Outbox
		p := &player{}
		for rest := bytes.Clone(stream); len(rest) > 0; {
			n := 1 + rnd.IntN(len(rest))
			if end, ended := c.Feed(rest[:n], 1, 0, p, &out); ended {
				t.Fatalf("ended with %+v", end)
			}
			rest = rest[n:]
		}
		if len(p.got) != 4 || !bytes.Equal(out.Take(), want) {
			t.Fatalf("%d messages arrived, or the answers differ", len(p.got))
		}
	}
}

func TestEveryFaultEndsWithItsCode(t *testing.T) {
	many := func(n int) []byte {
		var b []byte
		for range n {
			b = append(b, frames("x")...)
		}
		return b
	}
	for _, c := range []struct {
		name string
		in   []byte
		code uint16
	}{
		{"text", ws.AppendMasked(nil, ws.OpText, key, []byte("hi")), wire.CloseText},
		{"unmasked", ws.AppendFrame(nil, ws.OpBinary, []byte("hi")), wire.CloseMalformed},
		{"reserved bits", []byte{0xF2, 0x80, 0, 0, 0, 0}, wire.CloseMalformed},
		{"too big", ws.AppendMasked(nil, ws.OpBinary, key, make([]byte, 4097)), wire.CloseTooBig},
		{"too big by promise", []byte{0x82, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, wire.CloseTooBig},
		{"malformed message", frames("fine", "bad", "never"), wire.CloseMalformed},
		{"flood", many(5000), wire.CloseFlood},
		{"flood of pings", bytes.Repeat(ws.AppendMasked(nil, ws.OpPing, key, nil), 5000), wire.CloseFlood},
		{"flood of pongs", bytes.Repeat(ws.AppendMasked(nil, ws.OpPong, key, make([]byte, 125)), 30_000), wire.CloseFlood},
		{"flood of empty fragments", bytes.Repeat([]byte{0, 0x80, 0, 0, 0, 0}, 500_000), wire.CloseFlood},
		{"bad close", ws.AppendMasked(nil, ws.OpClose, key, []byte{3}), wire.CloseMalformed},
	} {
		conn := NewConn(&DefaultLimits, 0)
		var out Outbox
		p := &player{}
		end, ended := conn.Feed(c.in, 1, 0, p, &out)
		if !ended || end.Code != c.code || end.Peer {
			t.Errorf("%s: ended %v with %+v, want code %d", c.name, ended, end, c.code)
		}
		sent := out.Take()
		r := ws.NewReader(1<<20, ws.ClientSide)
		var last ws.Event
		for rest := sent; ; {
			ev, next, err := r.Next(rest)
			if err != nil {
				t.Fatalf("%s: our own frames: %v", c.name, err)
			}
			if ev.Op == 0 {
				break
			}
			last, rest = ev, next
		}
		if last.Op != ws.OpClose || uint16(last.Code) != c.code {
			t.Errorf("%s: the last frame sent is %v with code %d", c.name, last.Op, last.Code)
		}
		if c.name == "malformed message" && len(p.got) != 2 {
			t.Errorf("%d messages were delivered, want none after the malformed one", len(p.got))
		}
	}
}

func TestPeerClose(t *testing.T) {
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	end, ended := c.Feed(ws.AppendMasked(nil, ws.OpClose, key, []byte{3, 232, 'b', 'y', 'e'}), 1, 0, &player{}, &out)
	if !ended || !end.Peer || end.Code != 1000 || end.Reason != "bye" {
		t.Fatalf("ended %v with %+v", ended, end)
	}
	if got := out.Take(); len(got) < 4 || got[0] != 0x88 || got[2] != 3 || got[3] != 232 {
		t.Fatalf("answered % x", got)
	}
}

// A server that stood still for a few seconds finds all at once what its clients
// have sent meanwhile: the fastest one acks 128 sends and sends 240 commands a second.
func TestABacklogIsNoFlood(t *testing.T) {
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	now := int64(0)
	var second []byte
	for range 128 + 240 {
		second = append(second, frames("twenty bytes at most")...)
	}
	for range 10 {
		now += 1e9
		c.Feed(bytes.Clone(second), now, 0, &player{}, &out)
	}
	now += 9e9
	if end, ended := c.Feed(bytes.Repeat(second, 9), now, 0, &player{}, &out); ended {
		t.Fatalf("nine seconds' messages at once: ended with %+v", end)
	}
}

func TestBudgetComesBackWithTime(t *testing.T) {
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	for ms := range int64(20_000) {
		if ms%3 != 0 {
			continue // 333 a second: under the limit for ever
		}
		if end, ended := c.Feed(frames("x"), ms*1e6, 0, &player{}, &out); ended {
			t.Fatalf("ended with %+v after %d ms", end, ms)
		}
		out.Take()
	}
}

func TestSilence(t *testing.T) {
	idle := int64(DefaultLimits.Idle)
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	if _, ended := c.Check(idle/2-1, idle/2-1, &out); ended || len(out.Take()) > 0 {
		t.Fatal("acted before half of the idle time")
	}
	if _, ended := c.Check(idle/2, idle/2, &out); ended || len(out.Take()) != 2 {
		t.Fatal("no ping at half of the idle time")
	}
	if _, ended := c.Check(idle/2+1e9, idle/2+1e9, &out); ended || len(out.Take()) > 0 {
		t.Fatal("pinged twice")
	}
	c.Feed(ws.AppendMasked(nil, ws.OpPong, key, nil), idle-1, 0, &player{}, &out)
	if _, ended := c.Check(idle, idle, &out); ended {
		t.Fatal("ended although the peer answered")
	}
	if _, ended := c.Check(2*idle, 2*idle, &out); ended || len(out.Take()) != 2 {
		t.Fatal("long silence, and no ping that it could answer")
	}
	if _, ended := c.Check(2*idle+idle/2-1, 2*idle+idle/2-1, &out); ended {
		t.Fatal("ended before half of the idle time was over after the ping")
	}
	if end, ended := c.Check(2*idle+idle/2, 2*idle+idle/2, &out); !ended || end.Code != wire.CloseIdle {
		t.Fatalf("after silence: ended %v with %+v", ended, end)
	}
}

// Time in which the socket had no turn is neither silence nor a stall.
func TestTimeThatWasNotDealtWith(t *testing.T) {
	const long = int64(time.Hour)
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	c.Stalled(true, 1)
	if _, ended := c.Check(long, 0, &out); ended || len(out.Take()) > 0 {
		t.Fatal("silent while nobody read, or stalled while nobody wrote")
	}
	c.Stalled(false, long)
	if _, ended := c.Check(long, long-1, &out); ended || len(out.Take()) != 2 {
		t.Fatal("no ping when it was seen to be silent")
	}
	if _, ended := c.Check(2*long, long, &out); ended {
		t.Fatal("its answer was not read")
	}
	if end, ended := c.Check(2*long, 2*long, &out); !ended || end.Code != wire.CloseIdle {
		t.Fatalf("ended %v with %+v", ended, end)
	}
}

func TestStall(t *testing.T) {
	stall := int64(DefaultLimits.Stall)
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	c.Stalled(true, 1)
	c.Stalled(false, 2)
	c.Stalled(true, 3)
	if _, ended := c.Check(stall+2, stall+2, &out); ended {
		t.Fatal("ended although it had drained in between")
	}
	if end, ended := c.Check(stall+3, stall+3, &out); !ended || end.Code != wire.CloseTooSlow {
		t.Fatalf("ended %v with %+v", ended, end)
	}
}

type quiet struct{}

func (quiet) Receive(m []byte, _ uint16, sink tick.Sink) error { sink.Message(m); return nil }

func TestAllocFeed(t *testing.T) {
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	stream := frames("a command", "an ack")
	in := make([]byte, len(stream))
	now := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		now += 1e9
		copy(in, stream)
		c.Feed(in, now, 0, quiet{}, &out)
		out.Take()
	}); n != 0 {
		t.Fatalf("%v allocations for two messages, budget 0", n)
	}
	t.Log("bytes to messages and back: budget 0 allocations")
}

// Who takes a large snapshot over a slow line neither drains nor answers meanwhile.
func TestALargeSendMayTakeItsTime(t *testing.T) {
	const second = int64(time.Second)
	stall, half := int64(DefaultLimits.Stall), int64(DefaultLimits.Idle)/2
	c := NewConn(&DefaultLimits, 0)
	var out Outbox
	c.Sent(30 << 20)
	c.Stalled(true, 1)
	if _, ended := c.Check(half, half, &out); ended || len(out.Take()) == 0 {
		t.Fatal("no ping")
	}
	if _, ended := c.Check(30*second, 30*second, &out); ended {
		t.Fatal("the snapshot had no time to arrive")
	}
	if end, ended := c.Check(stall+30*second+1, stall+30*second+1, &out); !ended || end.Code != wire.CloseTooSlow {
		t.Fatalf("ended %v with %+v", ended, end)
	}
	c.Stalled(false, 39*second)
	if _, ended := c.Check(48*second, 48*second, &out); ended {
		t.Fatal("the ping was behind the snapshot, so its answer has half the time from then on")
	}
	c.Stalled(true, 48*second)
	if end, ended := c.Check(49*second, 49*second, &out); !ended || end.Code != wire.CloseIdle {
		t.Fatalf("ended %v with %+v", ended, end)
	}
}
