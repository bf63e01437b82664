package bots

import (
	"testing"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// tell has messages come in one write, and says how many acks they were answered with.
func (b *bot) tell(messages ...[]byte) (acks int64) {
	before := b.stripe.sent[wire.TagAck].Messages
	var frames []byte
	for _, m := range messages {
		frames = ws.AppendFrame(frames, ws.OpBinary, m)
	}
	b.hear(frames, loop.Now())
	return b.stripe.sent[wire.TagAck].Messages - before
}

func snap(tick uint32) []byte        { return wire.Snapshot{Tick: tick}.Append(nil) }
func delta(tick, base uint32) []byte { return wire.Delta{Tick: tick, Base: base}.Append(nil) }

// TestSnapshotComesAgain has late commands change a bot's last snapshot, as may be of
// the send tick that was the last one, or longer ago.
func TestSnapshotComesAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream [][]byte // of a bot whose snapshot was of tick 10
		tick   uint32   // that it ends up with
		faults int
	}{
		{"at once", [][]byte{snap(10), delta(12, 10)}, 12, 0},
		{"after others", [][]byte{delta(12, 10), delta(14, 12), snap(10), delta(16, 10)}, 16, 0},
		{"twice", [][]byte{delta(12, 10), snap(10), delta(14, 10), snap(10), delta(16, 10)}, 16, 0},
		{"a newer one", [][]byte{delta(12, 10), snap(14), delta(16, 14), snap(14), delta(18, 14)}, 18, 0},
		{"of a tick that came by delta", [][]byte{delta(12, 10), snap(12)}, 12, 1},
		{"of an older snapshot", [][]byte{snap(12), snap(10)}, 12, 1},
		{"of before all", [][]byte{snap(8)}, 10, 1},
		{"and a delta of the past", [][]byte{delta(12, 10), snap(10), delta(12, 10)}, 12, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := seated(t)
			b.tell(c.stream...)
			if b.tick != c.tick || b.stripe.thin.Faults != int64(c.faults) {
				t.Errorf("it is at tick %d with the faults %q", b.tick, b.stripe.thin.Examples)
			}
		})
	}
}

// TestAcks has a bot of 30 ticks and 15 sends a second ack every second one.
func TestAcks(t *testing.T) {
	b := seated(t)
	acks := int64(0)
	for tick := uint32(12); tick <= 10+2*60; tick += 2 {
		acks += b.tell(delta(tick, tick-2))
		if late := tick - b.acked; late > 2 {
			t.Fatalf("at tick %d the newest ack is of %d", tick, b.acked)
		}
	}
	if acks != 30 {
		t.Errorf("%d acks for 60 send ticks", acks)
	}
	if n := b.tell(snap(132), snap(132)); n != 2 || b.acked != 132 {
		t.Errorf("%d acks for two snapshots, the last of tick %d", n, b.acked)
	}
	if n := b.tell(delta(134, 132)); n != 0 || b.acked != 132 {
		t.Errorf("%d acks for the send tick after a snapshot, the last of tick %d", n, b.acked)
	}
	// With nothing more to come a ping takes the last one along.
	now := loop.Now() + int64(time.Second)
	b.play(now)
	if b.acked != 134 || b.withheld {
		t.Errorf("the last ack is of tick %d", b.acked)
	}
	before := b.stripe.sent[wire.TagAck].Messages
	b.play(now + int64(time.Second))
	if n := b.stripe.sent[wire.TagAck].Messages - before; n != 0 {
		t.Errorf("%d acks of what has been acked", n)
	}
}
