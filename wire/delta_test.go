package wire

import (
	"bytes"
	"testing"
)

// appendDelta makes the message as a server does, from the rows of w and base.
func appendDelta(dst []byte, w, base *world, m Delta, sub Subset, viewer uint32, ids ...uint32) []byte {
	dst = m.Append(dst)
	var ow ObjectWriter
	for _, id := range ids {
		o, b := w.find(id), base.find(id)
		f := w.s.Seen(o.typ, sub, w.row(o), viewer)
		if b == nil {
			dst = ow.Full(dst, id, f, w.row(o))
		} else {
			dst = ow.Changes(dst, id, f, w.row(o), base.row(b))
		}
	}
	return dst
}

// deltaBase is what deltas to w start from. Of the differences some must not show:
// a server field's, and one too small to be another step. Object 10 it lacks.
func deltaBase(w *world) *world {
	base := w.edited(map[uint32]values{
		0: {"round": 6.0, "fuel": 62.6, "phase": 1.0},
		1: {"score": -70001.0, "x": 10.0, "ammo": 19.0, "bonus": 0.0},
		2: {"y": 0.0},
		3: {"ready": true, "note": "gone", "zoom": -9.0, "salt": 5.0, "mana": 0.0, "level": 299.0, "target": uint32(2)},
		6: {"charge": 299.0},
	})
	for i, o := range base.objects {
		if o.id == 10 {
			base.objects = append(base.objects[:i], base.objects[i+1:]...)
			break
		}
	}
	return base
}

func deltaVectors(w *world) (list []vector) {
	base := deltaBase(w)
	add := func(name string, m Delta, sub Subset, viewer uint32, ids ...uint32) {
		list = append(list, vector{name, naiveDelta(w, base, m, sub, viewer, ids...),
			appendDelta(nil, w, base, m, sub, viewer, ids...), map[string]any{
				"viewer": viewer, "thin": sub == Whole, "tick": m.Tick, "base": m.Base, "processed": m.Processed,
				"objects": expectEntries(w, base, sub, viewer, ids...),
			}})
	}
	add("to player 3; 2 listed with an empty mask, 10 with a full one", Delta{Tick: 902, Base: 900, Processed: 5}, Sent, 3, 0, 1, 2, 3, 6, 10)
	add("that lists nothing, over the wrap of ticks", Delta{Tick: 1, Base: 0xffffffff}, Sent, 3)
	add("to player 1, without the instance", Delta{Tick: 902, Base: 890, Processed: 300}, Sent, 1, 1, 3, 10)
	add("to player 3 as a thin client", Delta{Tick: 902, Base: 900, Processed: 5}, Whole, 3, 0, 1, 2, 3, 6, 10)
	return list
}

func TestDelta(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "delta", deltaVectors(w)...)
	base := deltaBase(w)
	ids := []uint32{0, 1, 2, 3, 6}
	m, rest, err := ParseDelta(appendDelta(nil, w, base, Delta{902, 900, 5}, Sent, 3, ids...))
	if err != nil || m != (Delta{902, 900, 5}) {
		t.Fatalf("%+v, %v", m, err)
	}
	r := NewChangesReader(rest)
	for _, id := range ids {
		if !r.Next() || r.ID() != id {
			t.Fatalf("no object %d: %v", id, r.Err())
		}
		o := w.find(id)
		f := w.s.Seen(o.typ, Sent, w.row(o), 3)
		row := base.row(base.find(id))
		if err := r.Read(f, row); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.AppendAll(nil, row), f.AppendAll(nil, w.row(o))) {
			t.Errorf("object %d is not what was sent", id)
		}
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("more follows, or %v", r.Err())
	}
	rejects(t, func(p []byte) error { _, _, err := ParseDelta(p); return err },
		bad{"short", "83 00000000 000000", errShort},
		bad{"processed", "83 00000000 00000000 ff", errShort})
	f := w.s.Fields(typeRock, Sent, false)
	rejects(t, func(p []byte) error {
		r := NewChangesReader(p)
		for r.Next() {
			r.Read(f, nil)
		}
		return r.Err()
	},
		bad{"instance twice", "00 00 00 00", errOrder},
		bad{"same id", "02 00 00 00", errOrder},
		bad{"id over 32 bits", "02 00 feffffff0f 00", errID},
		bad{"mask", "02 02", errMask},
		bad{"no mask", "02", errShort},
		bad{"short value", "02 01 000000", errShort},
		bad{"step", "02 01 a1860100", errStep})
}

func TestChangesReaderWantsEachObjectRead(t *testing.T) {
	r := NewChangesReader([]byte{2, 0, 4, 0})
	if !r.Next() || r.Next() || r.Err() != errUnread {
		t.Error(r.Err())
	}
}
