package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

const fixtureHash = 0x0123456789abcdef

func welcomeVectors() (list []vector) {
	add := func(name string, m Welcome) {
		var d dump
		d.tag(TagWelcome)
		d.u8(1, "protocol version")
		d.u32(m.Tick, "tick %d", m.Tick)
		d.u64(m.Hash, "definition hash %#x", m.Hash)
		d.uv(m.Player, "player %d", m.Player)
		d.uv(m.Received, "received %d", m.Received)
		d.uv(uint32(len(m.Name)), "instance name, %d bytes", len(m.Name))
		d.add(m.Name, "  %q", m.Name)
		d.add(m.Token[:], "resume token")
		d.u16(m.TickRate, "tickRate %d", m.TickRate)
		d.u16(m.SendRate, "sendRate %d", m.SendRate)
		d.u16(m.TimelineDepth, "timelineDepth %d", m.TimelineDepth)
		list = append(list, vector{name, d, m.Append(nil), map[string]any{
			"version": 1, "tick": m.Tick, "hash": hex64(m.Hash), "player": m.Player, "received": m.Received,
			"instance": string(m.Name), "token": hex.EncodeToString(m.Token[:]),
			"tickRate": m.TickRate, "sendRate": m.SendRate, "timelineDepth": m.TimelineDepth,
		}})
	}
	add("a fresh seat", Welcome{Tick: 0, Hash: fixtureHash, Player: 3, Name: []byte("k3v9"),
		Token: [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, TickRate: 30, SendRate: 15, TimelineDepth: 32})
	add("a resumed seat", Welcome{Tick: 900, Hash: fixtureHash, Player: 301, Received: 70000, Name: []byte("Größe"),
		Token: [16]byte{0xff, 15: 0xfe}, TickRate: 128, SendRate: 1, TimelineDepth: 0})
	add("a spectator", Welcome{Tick: 5, Hash: fixtureHash, Name: []byte("a"), TickRate: 30, SendRate: 15, TimelineDepth: 256})
	return list
}

func TestWelcome(t *testing.T) {
	checkVectors(t, "welcome", welcomeVectors()...)
	want := Welcome{Tick: 1, Hash: 2, Player: 5, Received: 4, Name: bytes.Repeat([]byte("x"), MaxName),
		Token: [16]byte{7}, TickRate: 60, SendRate: 20, TimelineDepth: 8}
	p := want.Append(nil)
	if len(p) > MaxWelcome {
		t.Errorf("%d bytes, over MaxWelcome", len(p))
	}
	m, err := ParseWelcome(p)
	if err != nil || !bytes.Equal(m.Name, want.Name) || m.Tick != 1 || m.Hash != 2 || m.Player != 5 ||
		m.Received != 4 || m.Token != want.Token || m.TickRate != 60 || m.SendRate != 20 || m.TimelineDepth != 8 {
		t.Errorf("%+v, %v", m, err)
	}
	const token = "000102030405060708090a0b0c0d0e0f"
	head := "81 01 00000000 0000000000000000"
	tail := token + "1e00 0f00 2000"
	rejects(t, func(p []byte) error { _, err := ParseWelcome(p); return err },
		bad{"short", "81 01 00000000 00000000", errShort},
		bad{"version", "81 02 00000000 0000000000000000", errVersion},
		bad{"player", head + "02 00 00" + tail, errID},
		bad{"name", head + "01 00 8101" + strings.Repeat("61", 129) + tail, errStr},
		bad{"utf-8", head + "01 00 01ff" + tail, errUTF8},
		bad{"no rates", head + "01 00 00" + token, errShort},
		bad{"trailing", head + "01 00 00" + tail + "00", errTrailing},
		bad{"rate 0", head + "01 00 00" + token + "1e00 0000 2000", errRates},
		bad{"rates", head + "01 00 00" + token + "1e00 0700 2000", errRates})
}

func TestWelcomeRefusesToWriteALongName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	m := Welcome{Name: make([]byte, MaxName+1)}
	m.Append(nil)
}

func TestErrorsAreMalformed(t *testing.T) {
	if _, err := ParseWelcome(nil); !errors.Is(err, ErrMalformed) || errors.Is(err, ErrRefused) {
		t.Error(err)
	}
}
