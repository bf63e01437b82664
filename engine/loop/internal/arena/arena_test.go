package arena

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestTwin compares an arena with a buffer for each owner.
func TestTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	const owners = 10
	var a Arena
	var pieces [owners]Piece
	var twin [owners][]byte
	for round := range 3000 {
		for range rnd.IntN(40) {
			o := rnd.IntN(owners)
			frame := make([]byte, 1+rnd.IntN(50))
			for i := range frame {
				frame[i] = byte(rnd.Uint32())
			}
			if rnd.IntN(10) == 0 {
				a.Drop(&pieces[o])
				twin[o] = nil
				continue
			}
			a.Add(&pieces[o], uint32(o), frame)
			twin[o] = append(twin[o], frame...)
			if pieces[o].Len() != len(twin[o]) {
				t.Fatalf("round %d: %d bytes, want %d", round, pieces[o].Len(), len(twin[o]))
			}
		}
		var got [owners][]byte
		for i := range a.Runs() {
			o := a.Owner(i)
			if p := &pieces[o]; p.StartsAt(i) {
				if got[o] != nil {
					t.Fatalf("round %d: owner %d was found twice", round, o)
				}
				got[o] = a.Take(p)
			}
		}
		// Only now, as what was taken must stay while others are.
		for o := range owners {
			if !bytes.Equal(got[o], twin[o]) {
				t.Fatalf("round %d: owner %d got %x, want %x", round, o, got[o], twin[o])
			}
			twin[o] = nil
		}
		a.Reset()
		if a.Runs() != 0 {
			t.Fatalf("round %d: an empty arena was not reset", round)
		}
	}
}

func TestMemoryOfALargeTickIsLetGo(t *testing.T) {
	var a Arena
	var p, other Piece
	tick := func(n int) {
		for range n {
			a.Add(&p, 1, make([]byte, 1000))
			a.Add(&other, 2, make([]byte, 1000))
		}
		a.Take(&p)
		a.Take(&other)
		a.Reset()
	}
	tick(1000)
	for range 2 * trimEvery {
		tick(1)
	}
	if cap(a.buf) > trimAbove || cap(a.spill) > trimAbove {
		t.Errorf("%d and %d bytes are kept", cap(a.buf), cap(a.spill))
	}
}

func TestResetWaitsForWhatIsPending(t *testing.T) {
	var a Arena
	var p, other Piece
	a.Add(&p, 1, []byte("p"))
	a.Add(&other, 2, []byte("other"))
	a.Take(&p)
	a.Reset()
	if got := a.Take(&other); string(got) != "other" {
		t.Errorf("got %q", got)
	}
}

func TestAllocArena(t *testing.T) {
	var a Arena
	var pieces [100]Piece
	frame := make([]byte, 100)
	tick := func() {
		for range 2 { // chained runs
			for i := range pieces {
				a.Add(&pieces[i], uint32(i), frame)
			}
		}
		for i := range pieces {
			a.Take(&pieces[i])
		}
		a.Reset()
	}
	for range 20 {
		tick()
	}
	n := testing.AllocsPerRun(100, tick)
	t.Logf("a tick of 100 viewers: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
