package wire

import "testing"

func appendEnter(dst []byte, w *world, m Enter, viewer uint32, objects ...*object) []byte {
	dst = m.Append(dst)
	var ow ObjectWriter
	for _, o := range objects {
		dst = ow.Whole(dst, w.s, o.typ, w.row(o), viewer)
	}
	return dst
}

func enterVectors(w *world) (list []vector) {
	add := func(name string, m Enter, viewer uint32, ids ...uint32) {
		var objects []*object
		for _, id := range ids {
			objects = append(objects, w.find(id))
		}
		list = append(list, vector{name, naiveEnter(w, m, viewer, objects...), appendEnter(nil, w, m, viewer, objects...),
			map[string]any{"viewer": viewer, "tick": m.Tick, "objects": expectWhole(w, viewer, objects...)}})
	}
	add("a player and its bullet, seen by another", Enter{902}, 3, 1, 10)
	add("the viewer's own bullet, nobody's bullet and a type without visible fields", Enter{902}, 3, 4, 6, 14)
	return list
}

func TestEnter(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "enter", enterVectors(w)...)
	for _, viewer := range []uint32{0, 1, 3} {
		m, rest, err := ParseEnter(appendEnter(nil, w, Enter{9}, viewer, w.objects[1:]...))
		if err != nil || m.Tick != 9 {
			t.Fatalf("%+v, %v", m, err)
		}
		readWhole(t, w, viewer, rest, w.objects[1:])
	}
	rejects(t, func(p []byte) error { _, _, err := ParseEnter(p); return err },
		bad{"short", "86 000000", errShort})
	rejects(t, func(p []byte) error {
		r := NewWholeReader(w.s, 3, p)
		for r.Next() {
		}
		return r.Err()
	},
		bad{"the instance", "00 00", errOrder},
		bad{"id twice", "04 04 00 04", errOrder},
		bad{"id over 32 bits", "04 04 fcffffff0f 04", errID},
		bad{"type of the instance", "02 00", errType},
		bad{"unknown type", "02 05", errType},
		bad{"a rock with a player's id", "01 02", errID},
		bad{"a player with an entity's id", "02 01", errID},
		bad{"no type", "02", errShort},
		bad{"no owner", "02 03", errShort},
		bad{"owner", "02 03 02", errOwner},
		bad{"bool", "02 02 00000000 00000000 00 0000000000000000 00 02 00000000", errBool},
		bad{"str", "02 02 00000000 00000000 00 0000000000000000 05 6161616161 00 00000000", errStr},
		bad{"utf-8", "02 02 00000000 00000000 00 0000000000000000 01 80 00 00000000", errUTF8},
		bad{"short", "02 02 00000000 00000000 00 0000000000000000 00 01 000000", errShort})
}

func TestWholeReaderPassesOverWhatIsNotRead(t *testing.T) {
	w := fixtureWorld()
	_, rest, _ := ParseEnter(appendEnter(nil, w, Enter{9}, 3, w.objects[1:]...))
	r, n := NewWholeReader(w.s, 3, rest), 0
	for r.Next() {
		n++
	}
	if n != len(w.objects)-1 || r.Err() != nil {
		t.Errorf("%d objects, %v", n, r.Err())
	}
}

func TestObjectWriterTakesBackWhatItWrote(t *testing.T) {
	w := fixtureWorld()
	var ow ObjectWriter
	if !ow.Empty() {
		t.Error("not empty at the start")
	}
	dst := ow.Whole(nil, w.s, typePlayer, w.row(w.find(1)), 3)
	mark, n := ow, len(dst)
	dst = ow.Whole(dst, w.s, typeRock, w.row(w.find(2)), 3)
	ow, dst = mark, dst[:n]
	dst = ow.Whole(dst, w.s, typePlayer, w.row(w.find(3)), 3)
	want := appendEnter(nil, w, Enter{}, 3, w.find(1), w.find(3))[5:]
	if string(dst) != string(want) {
		t.Errorf("% x, want % x", dst, want)
	}
}

func TestObjectWriterInsistsOnOrder(t *testing.T) {
	panics(t, "same id", func() {
		var ow ObjectWriter
		ow.ID(ow.ID(nil, 4), 4)
	})
	panics(t, "instance second", func() {
		var ow ObjectWriter
		ow.ID(ow.ID(nil, 0), 0)
	})
}
