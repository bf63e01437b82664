package wire

import "testing"

func pongVectors() []vector {
	m := Pong{Nonce: 0xdeadbeef, Tick: 1000, Elapsed: 0x8000}
	var d dump
	d.tag(TagPong)
	d.u32(m.Nonce, "nonce of the ping")
	d.u32(m.Tick, "tick %d", m.Tick)
	d.u16(m.Elapsed, "half a tick ago")
	return []vector{{"half a tick in", d, m.Append(nil), map[string]any{"nonce": m.Nonce, "tick": m.Tick, "elapsed": m.Elapsed}}}
}

func TestPong(t *testing.T) {
	checkVectors(t, "pong", pongVectors()...)
	want := Pong{1, 2, 3}
	if m, err := ParsePong(want.Append(nil)); err != nil || m != want {
		t.Errorf("%+v, %v", m, err)
	}
	rejects(t, func(p []byte) error { _, err := ParsePong(p); return err },
		bad{"short", "88 01020304 01020304 01", errShort},
		bad{"long", "88 01020304 01020304 010203", errTrailing})
}
