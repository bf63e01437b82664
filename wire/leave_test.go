package wire

import "testing"

func appendLeave(dst []byte, m Leave, ids ...uint32) []byte {
	dst = m.Append(dst)
	var ow ObjectWriter
	for _, id := range ids {
		dst = ow.ID(dst, id)
	}
	return dst
}

func leaveVectors() (list []vector) {
	add := func(name string, m Leave, ids ...uint32) {
		list = append(list, vector{name, naiveLeave(m, ids...), appendLeave(nil, m, ids...), map[string]any{"tick": m.Tick, "ids": ids}})
	}
	add("a player and entities", Leave{902}, 1, 2, 6, 300)
	add("the greatest id", Leave{904}, 127, 128, 0xffffffff)
	return list
}

func TestLeave(t *testing.T) {
	checkVectors(t, "leave", leaveVectors()...)
	ids := []uint32{1, 2, 300, 0xffffffff}
	m, rest, err := ParseLeave(appendLeave(nil, Leave{9}, ids...))
	if err != nil || m.Tick != 9 {
		t.Fatalf("%+v, %v", m, err)
	}
	r := NewIDReader(rest)
	for _, id := range ids {
		if !r.Next() || r.ID() != id {
			t.Fatalf("no id %d: %v", id, r.Err())
		}
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("more follows, or %v", r.Err())
	}
	rejects(t, func(p []byte) error {
		_, rest, err := ParseLeave(p)
		if err != nil {
			return err
		}
		r := NewIDReader(rest)
		for r.Next() {
		}
		return r.Err()
	},
		bad{"short", "87 000000", errShort},
		bad{"the instance", "87 00000000 00", errOrder},
		bad{"id twice", "87 00000000 02 00", errOrder},
		bad{"over 32 bits", "87 00000000 02 feffffff0f", errID},
		bad{"varint over 32 bits", "87 00000000 ffffffff1f", errUvarint},
		bad{"overlong", "87 00000000 8200", errUvarint},
		bad{"cut", "87 00000000 82", errShort})
}
