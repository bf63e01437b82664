package tick

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gamehoster/wire"
)

// The filing is a sorted list of commands with their records, whatever the order in
// which they came, and knows which have run, ticks that wrap included.
func TestFilingKeepsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const stride = 24
	for range 300 {
		var f filing
		now := uint32(1<<32 - 5)
		seq := uint32(0)
		var want []order
		place := func(o order) {
			want = append(want, o)
			slices.SortFunc(want, func(a, b order) int {
				if a.before(&b) {
					return -1
				}
				return 1
			})
		}
		for range 40 {
			switch rng.IntN(6) {
			default:
				seq++
				o := order{tick: now + rng.Uint32N(12) - 5, player: 1 + 2*rng.Uint32N(4), seq: seq, number: rng.Uint32()}
				record := make([]byte, stride)
				stamp(record, &o)
				f.file(o, record, now)
				place(o)
			case 0: // a tick runs
				now++
				f.advance(now)
			case 1: // and those of one tick that has run are run
				tick := now - rng.Uint32N(4)
				from, to := f.span(tick)
				for i := from; i < to; i++ {
					if f.list[i].tick != tick {
						t.Fatalf("a command of tick %d among those of %d", f.list[i].tick, tick)
					}
					if !f.list[i].ran {
						f.list[i].ran = true
						f.late--
					}
				}
				for i := range want {
					want[i].ran = want[i].ran || want[i].tick == tick
				}
			case 2:
				gone := 1 + 2*rng.Uint32N(4)
				f.drop(gone)
				want = slices.DeleteFunc(want, func(o order) bool { return o.player == gone && !o.ran })
			case 3:
				earliest := now - rng.Uint32N(3)
				first, any := f.clampLate(earliest, now, make([]byte, stride))
				old := want
				want = nil
				least := now + 1
				for _, o := range old {
					if !o.ran && !wire.TickAfter(o.tick, now) {
						if wire.TickAfter(earliest, o.tick) {
							o.tick = earliest
						}
						if wire.TickAfter(least, o.tick) {
							least = o.tick
						}
					}
					place(o)
				}
				if any != (least != now+1) || any && first != least {
					t.Fatalf("the first late one is of tick %d, %v, not %d", first, any, least)
				}
			case 4:
				old := now - 3
				n := 0
				f.prune(old, func(uint32) { n++ })
				for len(want) > 0 && !wire.TickAfter(want[0].tick, old) && want[0].ran {
					want = want[1:]
					n--
				}
				if n != 0 {
					t.Fatal("not all that was forgotten was told")
				}
			}
			check(t, &f, want, now, stride)
		}
	}
}

func check(t *testing.T, f *filing, want []order, now uint32, stride int) {
	t.Helper()
	if !slices.Equal(f.list, want) {
		t.Fatalf("got %v, want %v", f.list, want)
	}
	late, next := 0, 0
	for i, o := range want {
		record := make([]byte, stride)
		stamp(record, &o)
		if !slices.Equal(f.records[i*stride:][:stride], record) {
			t.Fatalf("command %d has another one's record", i)
		}
		if !wire.TickAfter(o.tick, now) {
			next++
			if !o.ran {
				late++
			}
		}
	}
	if f.next != next || f.late != late {
		t.Fatalf("%d have run, %d of them late; not %d and %d", f.next, f.late, next, late)
	}
	for p := uint32(1); p < 9; p += 2 {
		least, behind := ^uint32(0), false
		for i, o := range want {
			if o.player == p && !o.ran {
				least = min(least, o.seq)
				behind = behind || i < next
			}
		}
		if f.least(p) != least || f.behind(p) != behind {
			t.Fatalf("player %d: the least seq is %d, behind %v; not %d, %v", p, f.least(p), f.behind(p), least, behind)
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
		stamp(record, &o)
		r.add(relayed{o, i}, record)
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
