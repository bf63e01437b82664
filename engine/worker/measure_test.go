package worker

import (
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/games"
	"gamehoster/wire"
)

// measured asks the host what was counted.
func (b *bench) measured() (all []metrics.Game) {
	b.host.OnPost(&Measure{Reply: func(g []metrics.Game) { all = g }})
	return all
}

func count(h *metrics.Histogram) (n uint64) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// TestMeasure wants nothing to be told twice and nothing to be lost, when machines rest
// and games go.
func TestMeasure(t *testing.T) {
	b := newBench(t)
	b.join(1, 1)
	b.join(2, 1)
	b.join(3, 2)
	b.run(1e9)
	all := b.measured()
	if len(all) != 1 {
		t.Fatalf("%d games", len(all))
	}
	g := all[0]
	if g.Name != "game" || g.Instances != 2 || g.Players != 3 || g.Sockets != 3 {
		t.Errorf("%s has %d instances, %d players, %d sockets", g.Name, g.Instances, g.Players, g.Sockets)
	}
	ticks := g.Stats.Ticks
	if ticks < 18 || count(&g.Took) != ticks || count(&g.Late) != ticks || count(&g.Sent) != ticks {
		t.Errorf("%d ticks; %d took, %d were late, %d sends", ticks, count(&g.Took), count(&g.Late), count(&g.Sent))
	}
	if g.Stats.Sent(wire.TagWelcome).Messages != 3 || g.Stats.Received(wire.TagPing).Messages != 0 {
		t.Error("three welcomes were sent and no ping came")
	}
	b.feed(1, wire.Ping{Nonce: 1}.Append(nil))
	g = b.measured()[0]
	if g.Stats.Ticks != 0 || g.Stats.Sent(wire.TagWelcome).Messages != 0 || g.Stats.Received(wire.TagPing).Messages != 1 || count(&g.Took) != 0 {
		t.Errorf("told again, or not told: %+v", g.Stats)
	}

	// The machine goes with the last instance.
	b.run(1e9)
	for h := range loop.Handle(3) {
		b.host.OnClose(h+1, nil)
	}
	b.run(3*int64(emptyGrace) + int64(b.host.games[1].game.Def.ResumeSeconds*1e9))
	if b.host.games[1].sim != nil {
		t.Fatal("the machine is still there")
	}
	g = b.measured()[0]
	if g.Stats.Ticks < 20 || count(&g.Took) != g.Stats.Ticks || g.Instances != 0 || g.Players != 0 {
		t.Errorf("%d ticks of a machine that rests, %d took, %d instances, %d players", g.Stats.Ticks, count(&g.Took), g.Instances, g.Players)
	}
	b.join(4, 3)
	b.run(1e9)
	b.host.OnPost(&DropGame{Number: 1, Code: wire.CloseStopping})
	all = b.measured()
	if len(all) != 1 || all[0].Stats.Ticks < 9 || all[0].Stats.Ticks > 11 || all[0].Instances != 0 {
		t.Errorf("of a game that is gone: %d ticks", all[0].Stats.Ticks)
	}
	if all = b.measured(); len(all) != 0 {
		t.Errorf("again: %+v", all)
	}
}

// TestSample wants every tick of a turn to be timed, or another one to stand for it.
func TestSample(t *testing.T) {
	for n := range 200 {
		s := sampleOf(n)
		timed, sum := 0, 0
		for range n {
			times := s.next()
			if times > 0 {
				timed++
			}
			sum += times
		}
		if sum != n || timed > mostTimed || timed < min(n, mostTimed/2) {
			t.Errorf("of %d ticks %d are timed and stand for %d", n, timed, sum)
		}
	}
	b := newBench(t)
	for h := range loop.Handle(400) {
		b.join(h+1, InstanceID(h+1))
	}
	b.run(1e9)
	if g := b.measured()[0]; g.Instances != 400 || count(&g.Took) != g.Stats.Ticks || count(&g.Late) != g.Stats.Ticks {
		t.Errorf("%d ticks, %d took, %d were late", g.Stats.Ticks, count(&g.Took), count(&g.Late))
	}
}

func TestDroppedTicksAreMeasured(t *testing.T) {
	b := newBench(t)
	b.join(1, 1)
	b.run(1e9)
	b.measured()
	b.now += 3e9
	b.host.OnTick(b.now)
	g := b.measured()[0]
	late := uint64(0)
	for i, n := range g.Late.Counts {
		if i > 0 && int64(metrics.Bound(i-1)) >= 100e6 {
			late += n
		}
	}
	if g.Dropped < 24 || g.Dropped > 26 || late < 3 {
		t.Errorf("%d ticks dropped, %d late", g.Dropped, late)
	}
}

func TestClosedTellsBytes(t *testing.T) {
	b := newBench(t)
	var closed Closed
	b.host.opts.OnClose = func(c Closed) { closed = c }
	b.join(1, 1)
	b.run(1e9)
	frame := len(b.sent[1])
	b.feed(1, wire.Ping{Nonce: 1}.Append(nil))
	b.host.OnClose(1, nil)
	if closed.BytesOut != uint64(len(b.sent[1])) || len(b.sent[1]) == frame || closed.BytesIn != uint64(len(wire.Ping{}.Append(nil))+6) {
		t.Errorf("%d bytes in, %d out of %d", closed.BytesIn, closed.BytesOut, len(b.sent[1]))
	}
}

// TestFaultsThatStopAreTold wants the number of times in the log to be that of the times,
// though nothing fails any more that could tell of it.
func TestFaultsThatStopAreTold(t *testing.T) {
	b := newBenchOf(t, map[string]string{
		games.DefinitionFile: `{"tickRate": 10, "sendRate": 10, "player": {"fields": {"n": "u32 shared"}}}`,
		"player.js":          "export function update(player) { while (game.tick < 25) player.n += 1; }\n",
	})
	b.join(1, 1)
	b.run(10e9)
	failed := b.measured()[0].Stats.Faults
	if failed < 20 || failed > 30 {
		t.Fatalf("%d faults", failed)
	}
	left := uint64(0)
	for _, c := range b.host.games[1].faults {
		left += c.count
	}
	if left != 0 {
		t.Errorf("%d of %d faults were not told of:\n%s", left, failed, b.log.String())
	}
}

// mute is a loop that takes everything and keeps nothing.
type mute struct{ *wires }

func (mute) Send(loop.Handle, []byte) {}

func (m mute) Post(p loop.Message) bool { m.posts = append(m.posts[:0], p); return true }

// TestAllocTurn wants a turn of a host that ticks, sends and counts to need no memory.
func TestAllocTurn(t *testing.T) {
	const budget = 0
	b := newBench(t)
	b.host.Bind(mute{&b.wires})
	for h := range loop.Handle(8) {
		b.join(h+1, InstanceID(h/4+1))
	}
	ping := wire.Ping{Nonce: 1}.Append(nil)
	turn := func() {
		b.now += 100e6
		b.host.OnTick(b.now)
		for len(b.posts) > 0 {
			p := b.posts[0]
			b.wires.posts = b.posts[:0]
			b.host.OnPost(p)
		}
	}
	for range 200 {
		turn()
	}
	for h := range loop.Handle(8) { // so that nobody is silent while it is measured
		b.feed(h+1, ping)
	}
	if n := testing.AllocsPerRun(90, turn); n > budget {
		t.Errorf("%v allocations a turn, budget %d", n, budget)
	}
	t.Logf("budget %d", budget)
	if g := b.measured()[0]; g.Stats.Ticks == 0 || g.Sockets != 8 {
		t.Errorf("%d ticks were counted for %d sockets", g.Stats.Ticks, g.Sockets)
	}
}
