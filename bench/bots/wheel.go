package bots

import (
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
)

// grain is the step of the wheel. What bots do is due at multiples of it.
const grain = int64(time.Millisecond)

// wheel holds each bot at the time when it is to act next.
//
//	slot:   0    1    2   ...  wheelSlots-1
//	        |    |
//	       bots  bots            one slot a grain; a bot due later than
//	             ^ next          a turn is looked at after one
type wheel struct {
	slots [wheelSlots][]*bot
	next  int64 // the time, in grains, of the slot that is to be run next
}

const wheelSlots = 1024

func newWheel(now int64) *wheel { return &wheel{next: now/grain + 1} }

// put has b act at due, or soon if that has passed.
func (w *wheel) put(b *bot, due int64) {
	at := max((due+grain-1)/grain, w.next)
	if at >= w.next+wheelSlots {
		at = w.next + wheelSlots - 1
	}
	i := at % wheelSlots
	w.slots[i] = append(w.slots[i], b)
}

// run acts for all bots that are due at now.
func (w *wheel) run(now int64) {
	for ; w.next*grain <= now; w.next++ {
		i := w.next % wheelSlots
		due := w.slots[i]
		w.slots[i] = nil
		w.next++ // who is due at once comes into the next slot
		for _, b := range due {
			w.put(b, b.act(loop.Now()))
		}
		w.next--
		if w.slots[i] == nil {
			w.slots[i] = due[:0]
		}
	}
}

// wait sleeps until the next slot is due. The runtime's own timers are too coarse for
// this when the process is idle.
func (w *wheel) wait() {
	if d := w.next*grain - loop.Now(); d > 0 {
		t := unix.NsecToTimespec(d)
		_ = unix.Nanosleep(&t, nil)
	}
}
