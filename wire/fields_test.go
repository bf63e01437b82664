package wire

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
)

// A list of any length has its changes in one form: fields past the first 56 have no bit
// in a word, those before them have.
func TestChangesOfManyFields(t *testing.T) {
	kinds := []schema.Kind{schema.U8, schema.U16, schema.F32, schema.F64, schema.Bool}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 8, 55, 56, 57, 64, 112, 113, 120} {
		var ops []op
		for i := range n {
			ops = append(ops, newOp(&schema.Field{Kind: kinds[rng.IntN(len(kinds))]}, 8+8*i))
		}
		f := newFields(ops)
		row, base := make([]byte, f.End()), make([]byte, f.End())
		for range 200 {
			mask, values := make([]byte, f.MaskLen()), []byte(nil)
			copy(base, row)
			for k := range ops {
				if rng.IntN(n) < 3 {
					row[ops[k].off] ^= 1
					mask[k/8] |= 1 << (k % 8)
					values = ops[k].append(values, row)
				}
			}
			got, want := f.AppendChanges(nil, row, base), append(mask, values...)
			if string(got) != string(want) {
				t.Fatalf("%d fields: changes are %x, want %x", n, got, want)
			}
			if f.Differ(row, base) != (len(values) > 0) {
				t.Fatalf("%d fields, changes %x: differ is %t", n, want, f.Differ(row, base))
			}
			if masked := f.AppendMasked(nil, row, mask); string(masked) != string(want) {
				t.Fatalf("%d fields: masked are %x, want %x", n, masked, want)
			}
			if !f.Few() {
				continue
			}
			if set := f.AppendSet([]byte("as"), row, f.Changed(row, base)); string(set) != "as"+string(want) {
				t.Fatalf("%d fields: the set is %x, want %x", n, set, want)
			}
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{3, 10, 60} {
		b.Run(fmt.Sprintf("all of %d fields", n), func(b *testing.B) {
			var ops []op
			for i := range n {
				ops = append(ops, newOp(&schema.Field{Kind: schema.F32}, 8+4*i))
			}
			f := newFields(ops)
			row, base, dst := make([]byte, f.End()), make([]byte, f.End()), []byte(nil)
			for i := range row {
				row[i] = byte(i)
			}
			b.ReportAllocs()
			for b.Loop() {
				dst = f.AppendChanges(dst[:0], row, base)
			}
		})
	}
}
