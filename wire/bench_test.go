package wire

import (
	"testing"

	"gamehoster/games/schema"
)

// Costs per object, on the fixture's players: 13 visible fields, 10 of them sent.

func perObject(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/object")
}

func BenchmarkSnapshot(b *testing.B) {
	sc := newAllocScene()
	b.ReportAllocs()
	for b.Loop() {
		sc.dst = sc.snapshot(sc.dst[:0])
	}
	b.SetBytes(int64(len(sc.dst)))
	perObject(b, len(sc.rows))
}

func BenchmarkSnapshotRead(b *testing.B) {
	sc := newAllocScene()
	p := sc.snapshot(nil)
	b.ReportAllocs()
	for b.Loop() {
		_, rest, _ := ParseSnapshot(p)
		rest, _ = sc.w.s.Fields(schema.InstanceType, Whole, false).ReadAll(rest, sc.scratch)
		r := NewWholeReader(sc.w.s, 3, rest)
		for r.Next() {
			if r.Read(sc.scratch) != nil {
				b.Fatal(r.Err())
			}
		}
	}
	b.SetBytes(int64(len(p)))
	perObject(b, len(sc.rows))
}

func BenchmarkDelta(b *testing.B) {
	for _, c := range []struct {
		name string
		edit values
	}{
		{"unchanged", values{}},
		{"one field of ten", values{"score": 99.0}},
		{"half the fields", values{"score": 99.0, "note": "?", "zoom": 3.0, "mana": 9.0, "bonus": 7.0}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := fixtureWorld()
			row := w.row(w.find(3))
			old := w.edited(map[uint32]values{3: c.edit})
			base := old.row(old.find(3))
			f := w.s.Fields(typePlayer, Sent, true)
			dst := make([]byte, 0, 4096)
			const objects = 64
			b.ReportAllocs()
			for b.Loop() {
				dst = Delta{1, 0, 3}.Append(dst[:0])
				var ow ObjectWriter
				for i := range uint32(objects) {
					dst = ow.Changes(dst, 1+2*i, f, row, base)
				}
			}
			perObject(b, objects)
		})
	}
}

func BenchmarkDiffer(b *testing.B) {
	w := fixtureWorld()
	row, base := w.row(w.find(3)), w.row(w.find(3))
	f := w.s.Fields(typePlayer, Sent, true)
	b.ReportAllocs()
	for b.Loop() {
		if f.Differ(row, base) {
			b.Fatal("they do not")
		}
	}
}

func BenchmarkStateHash(b *testing.B) {
	sc := newAllocScene()
	b.ReportAllocs()
	var h Hash
	for b.Loop() {
		h = NewHash()
		for i, o := range sc.w.objects[1:] {
			h = h.Object(sc.w.s, o.typ, sc.rows[i+1])
		}
	}
	if h == 0 {
		b.Error("no hash")
	}
	perObject(b, len(sc.rows))
}

func BenchmarkParseCommand(b *testing.B) {
	w := fixtureWorld()
	p := appendCommand(nil, w, CommandHeader{5, 6, cmdFire}, fireAhead)
	rec := make([]byte, w.server.CommandStride)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.s.ParseCommand(p, rec); err != nil {
			b.Fatal(err)
		}
	}
}
