package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
)

// lanesType is a type with fields that lanes may be made for, but for one in some seeds.
func (r dice) lanesType() []op {
	var ops []op
	off := 8
	for range 1 + r.IntN(6) {
		f := field("n", schema.F32, schema.Sent)
		switch r.IntN(7) {
		case 0, 1:
			f.Quant = &schema.Quant{Step: 0.01, Min: -float64(r.IntN(3)), Max: 400, Bytes: 2}
		case 2:
			f.Quant = &schema.Quant{Step: 0.5, Min: 0, Max: 100, Bytes: 1}
		case 3:
			f.Kind = []schema.Kind{schema.U8, schema.Bool, schema.I16}[r.IntN(3)]
		case 4:
			f.Kind = schema.F64
		}
		size := f.Kind.Size()
		if r.one(2) {
			off = (off + 3) &^ 3 // alone in half a lane
		}
		if r.one(5) {
			off += 4 // of others
		}
		off = (off + size - 1) &^ (size - 1)
		ops = append(ops, newOp(f, off))
		off += size
	}
	return ops
}

// Whoever goes through objects lane by lane finds and writes what Fields do.
func TestLanesEncodeAsFields(t *testing.T) {
	made := 0
	for seed := range uint64(2000) {
		r := dice{rand.New(rand.NewPCG(seed, 6))}
		ops := r.lanesType()
		f := newFields(ops)
		f.images = newImages(ops)
		lanes := f.Lanes()
		if lanes == nil {
			continue
		}
		made++
		n := f.End()
		row, old := make([]byte, n), make([]byte, n)
		for i := range ops {
			o := &ops[i]
			a := r.Float64()*450 - 20
			b := a
			if r.one(2) {
				b += r.Float64() * 0.02
			}
			if o.kind == schema.Bool {
				a, b = float64(r.IntN(2)), float64(r.IntN(2))
			}
			schema.StoreNumber(o.kind, row[o.off:], a)
			schema.StoreNumber(o.kind, old[o.off:], b)
		}
		g, now, was := f.Stepped(), bytes.Clone(row), bytes.Clone(old)
		if g != f {
			f.Image(now, row)
			f.Image(was, old)
		}
		fields := uint64(0)
		for i := range lanes {
			l := &lanes[i]
			x, y := l.Image(le.Uint64(row[l.Off:])), l.Image(le.Uint64(old[l.Off:]))
			if x != le.Uint64(now[l.Off:]) {
				t.Fatalf("seed %d: %x has the image %x, by lanes %x", seed, row, now, x)
			}
			fields |= l.Changed(x ^ y)
		}
		if want := g.Changed(now, was); fields != want {
			t.Fatalf("seed %d: changed is %b, by lanes %b", seed, want, fields)
		}
		out := make([]byte, f.Most()+16)
		le.PutUint64(out, fields)
		at := f.MaskLen()
		for i := range lanes {
			l := &lanes[i]
			v, n := l.Values(le.Uint64(now[l.Off:]), fields)
			le.PutUint64(out[at:], v)
			at += n
		}
		if want := f.AppendChanges(nil, row, old); !bytes.Equal(out[:at], want) {
			t.Fatalf("seed %d: changes are %x, by lanes %x", seed, want, out[:at])
		}
	}
	if made < 500 {
		t.Errorf("only %d types had lanes", made)
	}
	t.Logf("%d types had lanes", made)
}
