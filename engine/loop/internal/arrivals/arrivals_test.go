package arrivals

import (
	"errors"
	"math/rand/v2"
	"testing"

	"gamehoster/engine/loop"
)

// TestQueue puts and takes at random, beside a plain list.
func TestQueue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var q Queue
	var model []Arrival
	next := 0
	for range 20_000 {
		for range rnd.IntN(40) {
			early := make([]byte, rnd.IntN(3))
			if err := q.Put(next, early, uint64(next)); err != nil {
				if len(model) < Most {
					t.Fatalf("with %d waiting: %v", len(model), err)
				}
				continue
			}
			model = append(model, Arrival{FD: next, Tag: uint64(next), Early: early})
			next++
		}
		got := q.Take(nil, rnd.IntN(42))
		for i, a := range got {
			if w := model[i]; a.FD != w.FD || a.Tag != w.Tag || len(a.Early) != len(w.Early) {
				t.Fatalf("took %v, want %v", a, w)
			}
		}
		if model = model[len(got):]; q.Len() != len(model) {
			t.Fatalf("%d wait, want %d", q.Len(), len(model))
		}
	}
	q.Take(nil, q.Len())
	if q.bytes != 0 || cap(q.list) > kept {
		t.Errorf("empty, it holds %d bytes and room for %d", q.bytes, cap(q.list))
	}
}

func TestBounds(t *testing.T) {
	var q Queue
	for i := range Most {
		if want := i >= Most*7/8; q.Crowded() != want {
			t.Fatalf("crowded with %d: %t", i, !want)
		}
		if err := q.Put(i, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Put(0, nil, 0); !errors.Is(err, loop.ErrBusy) {
		t.Errorf("over the bound: %v", err)
	}
	q.Take(nil, Most)
	large := make([]byte, MostBytes/16)
	for range 16 {
		if err := q.Put(1, large, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Put(1, large[:1], 0); !errors.Is(err, loop.ErrBusy) || !q.Crowded() {
		t.Errorf("over the bound of bytes: %v", err)
	}
	if err := q.Put(1, nil, 0); err != nil {
		t.Errorf("without a byte: %v", err)
	}
}
