package wire

import "testing"

func pingVectors() []vector {
	var d dump
	d.tag(TagPing)
	d.u32(0xdeadbeef, "nonce")
	return []vector{{"ping", d, Ping{0xdeadbeef}.Append(nil), map[string]any{"nonce": uint32(0xdeadbeef)}}}
}

func TestPing(t *testing.T) {
	checkVectors(t, "ping", pingVectors()...)
	m, err := ParsePing([]byte{3, 1, 2, 3, 4})
	if err != nil || m.Nonce != 0x04030201 {
		t.Errorf("%+v, %v", m, err)
	}
	rejects(t, func(p []byte) error { _, err := ParsePing(p); return err },
		bad{"short", "03 010203", errShort},
		bad{"long", "03 0102030405", errTrailing})
}
