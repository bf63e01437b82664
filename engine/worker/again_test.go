package worker

import (
	"testing"

	"gamehoster/games"
	"gamehoster/tick"
	"gamehoster/wire"
)

// TestASnapshotAgainWaitsForTheFirst has a late command come that changes a newcomer's
// snapshot while that has not drained: nothing is put behind it. What comes then is twice as
// long and has the ids of what is gone, if all the world has been replaced in the meantime:
// an outbound cap of one state would cut the connection.
func TestASnapshotAgainWaitsForTheFirst(t *testing.T) {
	b := newBenchOf(t, map[string]string{
		games.DefinitionFile: `{"tickRate": 10, "sendRate": 10, "timelineDepth": 20,
			"player": {"fields": {"n": "u32 shared"}}, "commands": {"go": {"fields": {}}},
			"entities": {"thing": {"max": 1000, "fields": {"a": "f64 shared", "b": "f64 shared"}}}}`,
		"commands.js": "export function go(player) { player.n += 1; }\n",
		"instance.server.js": `export function update() {
			for (const thing of game.things) thing.remove();
			while (game.things.count < 400) {
				const thing = game.things.spawn();
				if (!thing) break;
				thing.a = 0.1;
				thing.b = 0.2;
			}
		}
`,
	})
	old := b.join(1, 1)
	b.run(1e9)
	newcomer := b.join(2, 1)
	b.run(100e6)
	first := len(b.sent[2])
	if first < 400*16 {
		t.Fatalf("a snapshot of %d bytes", first)
	}
	b.stalled[2] = true
	stats := old.in.shard.sim.Stats()
	seq := uint32(0)
	late := func() {
		seq++
		b.feed(1, wire.CommandHeader{Tick: old.in.sim.Tick() - 8, Seq: seq}.Append(nil))
		b.run(100e6)
	}
	for range 4 {
		late()
	}
	if n := len(b.sent[2]) - first; n != 0 {
		t.Fatalf("%d bytes were put behind a snapshot that has not drained", n)
	}
	b.stalled[2] = false
	rewinds := stats.Rewinds
	late()
	n := len(b.sent[2]) - first
	t.Logf("a snapshot of %d bytes, and again one with all that has come since in %d; %d rewinds, snapshots %v", first, n, stats.Rewinds, stats.Snapshots)
	if stats.Rewinds == rewinds || stats.Snapshots[tick.CauseLate] != 1 {
		t.Errorf("no snapshot came again")
	}
	gone := int(seq) * 400 * 2 // bytes of the ids of all that came and went
	if n < 2*first-gone || n > 2*first+gone {
		t.Errorf("%d bytes came after %d", n, first)
	}
	if newcomer.ended {
		t.Errorf("closed with %d", b.closed[2])
	}
}
