package tick

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

var longTicks = flag.Int("long", 10000, "ticks of the long model test")

// longModel is a random game with eight viewers on lines of all kinds. Server bodies
// do as they like; clients drift and are mended.
type longModel struct {
	t     *testing.T
	rng   *rand.Rand
	maker *gameMaker
	in    *Instance
	ends  []*longEnd
	quiet bool
	tick  int
	flips int
}

type longEnd struct {
	m        *longModel
	player   uint32
	v        *Viewer
	c        *ticktest.Client
	up, down *ticktest.Line
	seq      uint32
	lead     uint32 // ticks that commands are stamped ahead of what is applied
	hash     int    // sends since it told its hash
}

// Message takes what the server sends, looks for what only others may see and puts it
// on the line.
func (e *longEnd) Message(p []byte) {
	for _, k := range e.m.in.seats {
		if k.player != 0 && k.player != e.player && bytes.Contains(p, le.AppendUint32(nil, handMark|k.player)) {
			e.m.t.Fatalf("a %v message to %d has what only %d may see", wire.TagOf(p), e.player, k.player)
		}
	}
	if bytes.Contains(p, le.AppendUint32(nil, hiddenMark)) {
		e.m.t.Fatalf("a %v message has what only the server may see", wire.TagOf(p))
	}
	e.down.Send(p)
}

func (m *longModel) attach(e *longEnd) {
	thin := e.v != nil && e.v.thin || e.v == nil && m.rng.IntN(4) == 0
	c, err := m.maker.game.Module().NewClient(thin)
	if err != nil {
		m.t.Fatal(err)
	}
	e.c = c
	conditions := ticktest.RandomConditions(m.rng)
	e.up, e.down = ticktest.NewLines(conditions)
	delay, jitter := int(conditions.Delay/ticktest.TickTime), int(conditions.Jitter/ticktest.TickTime)
	// Most are early enough as a rule, some always late.
	e.lead = uint32(m.rng.IntN(2*delay + 3))
	if m.rng.IntN(8) > 0 {
		e.lead = uint32(2*(delay+jitter)+4) + 2*m.in.shard.rules.perSend
	}
	e.v = m.in.Attach(e.player, ViewerOptions{Thin: thin, Watch: e.player == 0})
	if e.v == nil {
		m.t.Fatalf("no viewer for player %d", e.player)
	}
	if e.v.seat != nil {
		e.seq = e.v.seat.received
	}
}

func (m *longModel) join(watch bool) {
	e := &longEnd{m: m}
	if !watch {
		p, err := m.in.Join("p")
		if err != nil {
			return
		}
		e.player = p
	}
	m.attach(e)
	m.ends = append(m.ends, e)
}

// come lets players come, go and come back.
func (m *longModel) come() {
	if len(m.ends) < 8 {
		m.join(m.rng.IntN(6) == 0 || m.in.Players() == m.maker.def.PlayersPerInstance)
	}
	switch e := m.ends[m.rng.IntN(len(m.ends))]; m.rng.IntN(300) {
	case 0:
		if e.player != 0 {
			m.in.Leave(e.player)
		} else {
			m.in.Detach(e.v)
		}
		for i := range m.ends {
			if m.ends[i] == e {
				m.ends = append(m.ends[:i], m.ends[i+1:]...)
				break
			}
		}
	case 1, 2:
		m.attach(e) // the line broke: a resume, or another spectator
	}
}

func (e *longEnd) act() {
	m := e.m
	e.seq++
	number := m.rng.Uint32N(uint32(len(m.maker.def.Commands)))
	p := wire.CommandHeader{Tick: e.c.Tick + 1 + e.lead, Seq: e.seq, Number: number}.Append(nil)
	e.up.Send(append(p, byte(m.rng.IntN(100)))) // no bytes of the marks
}

// arrive is what the client does with one message.
func (e *longEnd) arrive(p []byte) {
	before := e.c.Tick
	e.c.Message(p)
	if e.c.Err != nil {
		e.m.t.Fatalf("player %d: %v", e.player, e.c.Err)
	}
	if e.c.Ready && before != e.c.Tick && e.m.rng.IntN(30) == 0 {
		if err := e.c.Hidden(); err != nil {
			e.m.t.Fatalf("player %d: %v", e.player, err)
		}
	}
	for _, a := range e.c.Acks {
		e.up.Send(wire.Ack{Tick: a}.Append(nil))
	}
	e.c.Acks = e.c.Acks[:0]
	if e.c.Resync && before != e.c.Tick {
		e.up.Send(wire.Resync{}.Append(nil))
	}
	if e.hash++; !e.c.Resync && before != e.c.Tick && e.hash >= 7 && !e.m.in.shard.rules.view {
		e.hash = 0
		e.up.Send(wire.StateHash{Tick: e.c.Tick, Hash: e.c.Hash()}.Append(nil))
	}
}

func (m *longModel) step() {
	m.tick++
	if !m.quiet {
		m.come()
	}
	for _, e := range m.ends {
		e.down.Tick(e.arrive)
		if !m.quiet && e.c.Ready && !e.v.thin && m.rng.IntN(200) == 0 && e.c.Flip(m.rng) {
			m.flips++
		}
		if !m.quiet && e.player != 0 && e.c.Ready && m.rng.IntN(6) == 0 {
			e.act()
		}
		e.up.Tick(func(p []byte) {
			if err := e.v.Receive(p, 0, discard{}); err != nil {
				m.t.Fatalf("player %d: %v", e.player, err)
			}
		})
	}
	m.in.Step()
	if !m.in.SendDue() {
		return
	}
	m.in.Commit()
	for _, e := range m.ends {
		if !e.down.Drained() || !m.quiet && m.rng.IntN(40) == 0 {
			e.v.Skip()
			continue
		}
		e.v.Send(e)
	}
}

// Random games with random views and commands, eight viewers on random lines with
// memories that fail now and then, ten thousand ticks: no message ever has what its
// viewer may not see, nothing comes that cannot be read, and when all is quiet each
// client's state is the server's, bit for bit. A third of the games has no views, a
// third views, and a third views over a grid; budgets go down to a few objects.
func TestModelLong(t *testing.T) {
	for _, seed := range seeds(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			def := randomDef(rng)
			def.PlayersPerInstance = 7
			def.Player().Max = 7
			def.BytesPerSend = []int{30, 60, 200, 3000}[rng.IntN(4)]
			if seed%3 == 2 {
				for _, ty := range def.Types[1:] {
					if rng.IntN(3) > 0 {
						ty.View = &schema.ViewHint{Radius: float64(int(200) << rng.IntN(12)), X: "f0", Y: "f0"}
					}
				}
			}
			maker := &gameMaker{rng: rng, def: def, traps: rng.IntN(2) == 0, server: true, views: seed%3 > 0}
			maker.make()
			mark(maker)
			m := &longModel{t: t, rng: rng, maker: maker}
			in, err := newTestShard(t, maker.game, Options{StartTick: rng.Uint32()}).Create("long", seed, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			m.in = in
			for range 8 {
				m.join(rng.IntN(6) == 0)
			}
			ticks := *longTicks
			if testing.Short() {
				ticks = min(ticks, 1000)
			}
			for range ticks {
				m.step()
			}
			m.settle()
			x := in.shard.Stats()
			t.Logf("seed %d, %d types, %d bodies, depth %d, views %v: %d commands, %d late, %d rewinds of %d ticks, snapshots %v, skipped %d, faults %d, resyncs %d, hashes %d, drifts %d, budget %d, waiting %d, left out %d, near %d, judged %d, flips %d",
				seed, len(def.Types), len(maker.game.Bodies), def.TimelineDepth, maker.views, x.Commands, x.Late, x.Rewinds, x.Replayed,
				x.Snapshots, x.Skipped, x.Faults, x.Resyncs, x.Hashes, x.Drifts, def.BytesPerSend, x.Waiting, x.Deferred, x.Near, x.Judged, m.flips)
		})
	}
}

// mark adds fields to look for on the wire: one of each object that only its owner may
// see and one that nobody may.
func mark(m *gameMaker) {
	for _, t := range m.def.Types[1:] {
		hidden := field("hidden", schema.U32, schema.Server)
		hidden.Default = hiddenMark
		t.Fields = append(t.Fields, hidden)
		if t.Owned || t.Index == player {
			t.Fields = append(t.Fields, owned(field("mine", schema.U32, schema.Sent)))
		}
		for i, f := range t.Fields {
			f.Index = i
		}
	}
	// Written where the engine does not see by whom: a field of the owner's is the
	// owner's whoever writes it.
	m.game.Bodies = append(m.game.Bodies, ticktest.Body{Step: ticktest.Update, Side: schema.OnServer, Type: instance,
		Run: func(w world, _ ticktest.Object) {
			for _, t := range m.def.Types[1:] {
				f := t.Field("mine")
				if f == nil {
					continue
				}
				w.Each(t.Index, func(o ticktest.Object) {
					owner := o.ID()
					if t.Owned {
						owner = w.Owner(o)
					}
					if owner != 0 {
						w.Set(o, f.Index, handMark|owner)
					}
				})
			}
		}})
}

// settle lets everything come to rest and compares.
func (m *longModel) settle() {
	m.quiet, m.maker.still = true, true
	for _, e := range m.ends {
		e.up.Calm()
		e.down.Calm()
	}
	for range 40 * mendSeconds * m.maker.def.TickRate / m.maker.def.SendRate {
		m.step()
	}
	for !m.in.SendDue() {
		m.step()
	}
	for _, e := range m.ends {
		e.down.Tick(e.arrive) // the last send
		if e.c.Tick != m.in.Tick() {
			m.t.Fatalf("player %d is at tick %d of %d", e.player, e.c.Tick, m.in.Tick())
		}
		var holds func(id uint32) bool
		if m.in.shard.rules.view {
			held := map[uint32]bool{}
			for i := range m.in.history.objects {
				o := &m.in.history.objects[i]
				held[o.id] = e.v.view.held.has(o.slot)
			}
			holds = func(id uint32) bool { return held[id] }
		}
		// What shared bodies write goes on changing, and under a small budget there is
		// never room for all.
		waiting := map[uint32]bool{}
		for _, d := range e.v.owed {
			waiting[d.id] = d.since > 0
		}
		if e.c.Resync {
			m.t.Errorf("player %d waits for a snapshot in the end: %s", e.player, e.c.Lost)
		} else if err := e.c.Compare(m.in.shard.layout, m.in.block, waiting, holds); err != nil {
			m.t.Errorf("player %d (thin %v) in the end: %v", e.player, e.v.thin, err)
		}
	}
}
