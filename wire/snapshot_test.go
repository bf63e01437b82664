package wire

import "testing"

// appendSnapshot makes the message as a server does.
func appendSnapshot(dst []byte, w *world, m Snapshot, viewer uint32) []byte {
	dst = m.Append(dst)
	dst = w.s.Fields(0, Whole, false).AppendAll(dst, w.row(w.objects[0]))
	var ow ObjectWriter
	for _, o := range w.objects[1:] {
		dst = ow.Whole(dst, w.s, o.typ, w.row(o), viewer)
	}
	return dst
}

func snapshotVectors(w *world) (list []vector) {
	add := func(name string, w *world, m Snapshot, viewer uint32) {
		list = append(list, vector{name, naiveSnapshot(w, m, viewer), appendSnapshot(nil, w, m, viewer), map[string]any{
			"viewer": viewer, "tick": m.Tick, "seed": hex64(m.Seed), "next": m.Next, "processed": m.Processed,
			"instance": expectFields(w.naiveFields(w.objects[0], Whole, viewer), w.objects[0].v),
			"objects":  expectWhole(w, viewer, w.objects[1:]...),
		}})
	}
	add("to player 3", w, Snapshot{Tick: 900, Seed: 0x0102030405060708, Next: 302, Processed: 5}, 3)
	add("to a spectator", w, Snapshot{Tick: 900, Seed: 0x0102030405060708, Next: 302}, 0)
	add("of an empty instance", newWorld(w.def, w.objects[0]), Snapshot{Tick: 0, Seed: 1, Next: 2}, 0)
	return list
}

func TestSnapshot(t *testing.T) {
	w := fixtureWorld()
	checkVectors(t, "snapshot", snapshotVectors(w)...)
	m, rest, err := ParseSnapshot(appendSnapshot(nil, w, Snapshot{1, 2, 300, 4}, 1))
	if err != nil || m != (Snapshot{1, 2, 300, 4}) {
		t.Fatalf("%+v, %v", m, err)
	}
	row := make([]byte, w.s.MaxStride())
	if rest, err = w.s.Fields(0, Whole, false).ReadAll(rest, row); err != nil {
		t.Fatal(err)
	}
	sameValues(t, w, w.objects[0], Whole, 1, row)
	readWhole(t, w, 1, rest, w.objects[1:])
	rejects(t, func(p []byte) error { _, _, err := ParseSnapshot(p); return err },
		bad{"short", "82 00000000 00000000000000", errShort},
		bad{"next", "82 00000000 0000000000000000 8000 00", errUvarint},
		bad{"processed", "82 00000000 0000000000000000 00", errShort})
}

func TestSnapshotFitsItsBound(t *testing.T) {
	w := fixtureWorld()
	if n := len(appendSnapshot(nil, w, Snapshot{Next: 1 << 31, Processed: 1 << 31}, 3)); n > w.s.MaxSnapshot(w.def) {
		t.Errorf("%d bytes, bound %d", n, w.s.MaxSnapshot(w.def))
	}
}

// readWhole reads objects and compares them with the twin's values.
func readWhole(t *testing.T, w *world, viewer uint32, rest []byte, objects []*object) {
	t.Helper()
	r := NewWholeReader(w.s, viewer, rest)
	for _, o := range objects {
		if !r.Next() {
			t.Fatalf("it ends before object %d: %v", o.id, r.Err())
		}
		if r.Object() != (Object{o.id, o.typ, o.owner}) {
			t.Fatalf("%+v is not object %d", r.Object(), o.id)
		}
		row := make([]byte, w.server.Types[o.typ].Stride)
		if err := r.Read(row); err != nil {
			t.Fatalf("object %d: %v", o.id, err)
		}
		if le.Uint32(row) != o.id || w.server.Types[o.typ].Owner >= 0 && w.s.Owner(o.typ, row) != o.owner {
			t.Errorf("object %d: row has another id or owner", o.id)
		}
		sameValues(t, w, o, Whole, viewer, row)
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("more follows, or %v", r.Err())
	}
}

// sameValues checks that row has the values of o that viewer sees, as they arrive,
// and zeros for the rest.
func sameValues(t *testing.T, w *world, o *object, sub Subset, viewer uint32, row []byte) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range w.naiveFields(o, sub, viewer) {
		seen[f.Name] = true
	}
	for i, f := range w.def.Types[o.typ].Fields {
		want := make([]byte, f.Size())
		if seen[f.Name] {
			naiveStore(f, want, naiveArrived(f, o.v[f.Name]))
		}
		off := w.server.Types[o.typ].Offsets[i]
		if got := row[off : off+f.Size()]; string(got) != string(want) {
			t.Errorf("object %d, %s: % x, want % x", o.id, f.Name, got, want)
		}
	}
}
