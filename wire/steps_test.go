package wire

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
)

// What comes out of images is what comes out of rows, whether an image was made of the
// row alone or from the one before.
func TestImagesEncodeAsRows(t *testing.T) {
	made := 0
	for seed := range uint64(300) {
		r := dice{rand.New(rand.NewPCG(seed, 5))}
		w := r.world(r.definition())
		base := r.changed(w)
		for i, o := range w.objects {
			row, old := w.row(o), base.row(base.objects[i])
			all := w.s.Fields(o.typ, Whole, true)
			if all.Stepped() == all {
				continue
			}
			made++
			n := all.End()
			now, was, next, last := make([]byte, n), make([]byte, n), make([]byte, n), make([]byte, n)
			all.Image(now, row)
			all.Image(was, old)
			copy(last, old)
			all.NextImage(next, row, was, last)
			if !bytes.Equal(next, now) || !bytes.Equal(last, row[:n]) {
				t.Fatalf("seed %d: the image of\n%x after\n%x is\n%x, made anew\n%x", seed, row, old, next, now)
			}
			for _, sub := range []Subset{Sent, Whole} {
				for _, owner := range []bool{false, true} {
					f := w.s.Fields(o.typ, sub, owner)
					g := f.Stepped()
					if a, b := f.AppendChanges(nil, row, old), g.AppendChanges(nil, now, was); !bytes.Equal(a, b) {
						t.Fatalf("seed %d: changes of a row %x, of images %x", seed, a, b)
					}
					if a, b := f.AppendFull(nil, row), g.AppendFull(nil, now); !bytes.Equal(a, b) {
						t.Fatalf("seed %d: a row %x, its image %x", seed, a, b)
					}
					if f.Differ(row, old) != g.Differ(now, was) {
						t.Fatalf("seed %d: images differ: %t", seed, g.Differ(now, was))
					}
					if g.End() != f.End() {
						t.Fatalf("seed %d: images end at %d, rows at %d", seed, g.End(), f.End())
					}
				}
			}
		}
	}
	if made < 100 {
		t.Errorf("only %d objects had images of their own", made)
	}
}

// twoSteps are two numbers of a row that travel as steps.
func twoSteps() *Fields {
	var ops []op
	for i := range 2 {
		f := field("n", schema.F32, schema.Sent)
		f.Quant = &schema.Quant{Step: 0.01, Max: 400, Bytes: 2}
		ops = append(ops, newOp(f, 8+4*i))
	}
	f := newFields(ops)
	f.images = newImages(ops)
	return f
}

func TestAllocImages(t *testing.T) {
	f := twoSteps()
	row, image, old, last := make([]byte, 16), make([]byte, 16), make([]byte, 16), make([]byte, 16)
	checkAllocs(t, "images", func() {
		row[8]++
		f.Image(old, row)
		row[8]++
		f.NextImage(image, row, old, last)
	})
}

// What it takes to know the steps of two numbers that have both changed.
func BenchmarkNextImage(b *testing.B) {
	f := twoSteps()
	row, image, old, last := make([]byte, 16), make([]byte, 16), make([]byte, 16), make([]byte, 16)
	b.ReportAllocs()
	x := float32(0)
	for b.Loop() {
		if x += 0.37; x > 390 {
			x = 0
		}
		le.PutUint64(row[8:], uint64(math.Float32bits(x))|uint64(math.Float32bits(x+1))<<32)
		f.NextImage(image, row, old, last)
	}
}
