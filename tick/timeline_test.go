package tick

import "testing"

// The counters of ids after each of the last ticks are found where ticks wrap, too.
func TestCountersAcrossTheWrap(t *testing.T) {
	for depth := uint32(1); depth < 40; depth++ {
		for _, per := range []uint32{1, 2, 3, 7} {
			var l timeline
			l.init(&rules{rewinds: true, depth: depth, perSend: per})
			start := -(2*depth + 20)
			for n := range 4 * (depth + 20) {
				l.count(start+n, counters{2 + 4*n, 4 + 4*n}, false)
				for back := uint32(0); back <= min(n, depth+per); back++ {
					if got, want := l.shared(start+n-back), 2+4*(n-back); got != want {
						t.Fatalf("depth %d, %d ticks a send, tick %d, %d ticks ago: %d, want %d", depth, per, start+n, back, got, want)
					}
				}
			}
		}
	}
}
