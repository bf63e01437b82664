package wire

import "testing"

func appendKeyframe(dst []byte, w *world, m Keyframe, ids ...uint32) []byte {
	dst = m.Append(dst)
	var ow ObjectWriter
	for _, id := range ids {
		o := w.find(id)
		dst = ow.Full(dst, id, w.s.Fields(o.typ, Shared, false), w.row(o))
	}
	return dst
}

func keyframeVectors(w *world) (list []vector) {
	add := func(name string, m Keyframe, ids ...uint32) {
		list = append(list, vector{name, naiveKeyframe(w, m, ids...), appendKeyframe(nil, w, m, ids...),
			map[string]any{"tick": m.Tick, "objects": expectEntries(w, nil, Shared, 0, ids...)}})
	}
	add("with the instance; a negative zero and a NaN", Keyframe{902}, 0, 2, 300)
	add("of objects of each type", Keyframe{904}, 1, 3, 10, 14)
	return list
}

func TestKeyframe(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "keyframe", keyframeVectors(w)...)
	ids := []uint32{0, 1, 2, 14, 300}
	m, rest, err := ParseKeyframe(appendKeyframe(nil, w, Keyframe{9}, ids...))
	if err != nil || m.Tick != 9 {
		t.Fatalf("%+v, %v", m, err)
	}
	r := NewChangesReader(rest)
	for _, id := range ids {
		if !r.Next() || r.ID() != id {
			t.Fatalf("no object %d: %v", id, r.Err())
		}
		o := w.find(id)
		row := make([]byte, w.server.Types[o.typ].Stride)
		if err := r.Read(w.s.Fields(o.typ, Shared, false), row); err != nil {
			t.Fatal(err)
		}
		sameValues(t, w, o, Shared, 0, row)
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("more follows, or %v", r.Err())
	}
	rejects(t, func(p []byte) error { _, _, err := ParseKeyframe(p); return err },
		bad{"short", "84 000000", errShort})
}
