package tick

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Commands come out in order of tick, player and seq with the records that they
// went in with, whatever the order in which they came, ticks that wrap included.
func TestFilingKeepsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const stride = 24
	for range 200 {
		var f filing
		base := uint32(1<<32 - 5)
		var want []order
		for i := range uint32(30) {
			o := order{tick: base + rng.Uint32N(10), player: 1 + 2*rng.Uint32N(4), seq: i, number: rng.Uint32()}
			record := make([]byte, stride)
			stamp(record, o)
			f.file(o, record)
			want = append(want, o)
		}
		gone := 1 + 2*rng.Uint32N(4)
		f.drop(gone)
		want = slices.DeleteFunc(want, func(o order) bool { return o.player == gone })
		slices.SortFunc(want, func(a, b order) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		n := int(rng.Uint32N(uint32(len(want) + 1)))
		f.take(n, stride)
		want = want[n:]
		if !slices.Equal(f.waiting, want) {
			t.Fatalf("got %v, want %v", f.waiting, want)
		}
		for i, o := range want {
			record := make([]byte, stride)
			stamp(record, o)
			if !slices.Equal(f.records[i*stride:][:stride], record) {
				t.Fatalf("command %d has another one's record", i)
			}
		}
	}
}

func TestRelayKeepsOrderWhileItGrows(t *testing.T) {
	var r relay
	const stride = 16
	next := uint64(0)
	for i := range uint32(5000) {
		o := order{tick: i, player: 1, seq: i + 1}
		record := make([]byte, stride)
		stamp(record, o)
		r.add(o, record)
		if i%7 == 0 && i > 40 {
			r.prune(i-(20+i%60), stride)
		}
		for ; next < r.from; next++ {
		}
		for n := r.from; n < r.to; n++ {
			o, record := r.at(n, stride)
			if o.tick != uint32(n) || le.Uint32(record[4:]) != uint32(n)+1 {
				t.Fatalf("number %d is tick %d", n, o.tick)
			}
		}
	}
	if len(r.ring) > 128 {
		t.Errorf("%d places for some 80 commands", len(r.ring))
	}
}

func TestRateIsABucketOfOneSecond(t *testing.T) {
	const hz, most = 30, 4
	r := rate{units: most * hz}
	spent := 0
	for range 10 {
		if r.spend(100, most, hz) {
			spent++
		}
	}
	if spent != most {
		t.Errorf("%d at once, not %d", spent, most)
	}
	spent = 0
	for tick := uint32(101); tick < 101+10*hz; tick++ {
		if r.spend(tick, most, hz) {
			spent++
		}
	}
	if spent < 10*most-1 || spent > 10*most {
		t.Errorf("%d in ten seconds, not %d", spent, 10*most)
	}
	// A long rest, over the wrap, fills it once.
	spent = 0
	for range 10 {
		if r.spend(7, most, hz) {
			spent++
		}
	}
	if spent != most {
		t.Errorf("%d after a rest, not %d", spent, most)
	}
}
