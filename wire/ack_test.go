package wire

import "testing"

func ackVectors() (list []vector) {
	for _, tick := range []uint32{4, 0xfffffffe} {
		var d dump
		d.tag(TagAck)
		d.u32(tick, "tick %d", tick)
		name := "early"
		if tick > 4 {
			name = "before ticks wrap"
		}
		list = append(list, vector{name, d, Ack{tick}.Append(nil), map[string]any{"tick": tick}})
	}
	return list
}

func TestAck(t *testing.T) {
	checkVectors(t, "ack", ackVectors()...)
	m, err := ParseAck([]byte{2, 1, 2, 3, 4})
	if err != nil || m.Tick != 0x04030201 {
		t.Errorf("%+v, %v", m, err)
	}
	rejects(t, func(p []byte) error { _, err := ParseAck(p); return err },
		bad{"empty", "", errTag},
		bad{"another tag", "03 01020304", errTag},
		bad{"short", "02 010203", errShort},
		bad{"long", "02 0102030405", errTrailing})
}
