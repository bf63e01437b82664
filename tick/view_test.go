package tick

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// The game of views: units move over a plane and are seen within a radius unless they
// hide, ghosts are seen by their own team, banners by all.
const (
	unit   = 2
	ghost  = 3
	banner = 4

	unitX, unitY, unitHidden, unitHP, unitGold, unitLife = 0, 1, 2, 3, 4, 5

	ghostTeam, ghostMood = 0, 1

	playerPX, playerPY, playerTeam, playerGold = 0, 1, 2, 3

	viewRadius = 100
)

func viewDef(units, budget int) *schema.Definition {
	d := &schema.Definition{
		Name: "views", TickRate: 30, SendRate: 15, TimelineDepth: 8, InstancesPerShard: 2, PlayersPerInstance: 10,
		KeyframeSeconds: 1, BytesPerSend: budget,
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1, field("round", schema.U32, schema.Shared)),
		typeOf(player, "player", 10, field("x", schema.F32, schema.Shared), field("y", schema.F32, schema.Shared),
			field("team", schema.U8, schema.Sent), owned(field("gold", schema.U32, schema.Sent))),
		typeOf(unit, "unit", units, field("x", schema.F32, schema.Shared), field("y", schema.F32, schema.Shared),
			field("hidden", schema.Bool, schema.Server), field("hp", schema.U16, schema.Sent),
			owned(field("gold", schema.U32, schema.Sent)), field("life", schema.U16, schema.Shared)),
		typeOf(ghost, "ghost", 20, field("team", schema.U8, schema.Sent), field("mood", schema.U32, schema.Shared)),
		typeOf(banner, "banner", 4, field("n", schema.U32, schema.Sent)),
	}
	d.Types[unit].Owned = true
	d.Types[unit].View = &schema.ViewHint{Radius: viewRadius, X: "x", Y: "y"}
	d.Commands = []*schema.Command{
		{Index: 0, Name: "go", Fields: []*schema.Field{field("d", schema.U8, schema.Server)}},
		{Index: 1, Name: "make"},
		{Index: 2, Name: "warp"},
	}
	return d
}

// viewGame is the game; every body touches its own object alone, so that what clients
// do not hold changes nothing of what they do.
func viewGame(d *schema.Definition) *ticktest.Game {
	type (
		w = *ticktest.World
		o = ticktest.Object
	)
	g := &ticktest.Game{Def: d}
	add := func(s ticktest.Step, side schema.Side, typ, command int, run func(w w, self o)) {
		g.Bodies = append(g.Bodies, ticktest.Body{Step: s, Side: side, Type: typ, Command: command, Run: run})
	}
	shared, server := schema.OnClient, schema.OnServer
	make := func(w w, owner uint32) {
		if u, ok := w.Spawn(unit, owner); ok {
			w.Set(u, unitX, w.ServerRandom(600))
			w.Set(u, unitY, w.ServerRandom(600))
			w.Set(u, unitLife, 100+w.ServerRandom(300))
			if owner != 0 {
				w.Set(u, unitGold, handMark|owner)
			}
		}
	}
	add(ticktest.Start, server, 0, 0, func(w w, in o) {
		for range d.Types[unit].Max / 2 {
			make(w, 0)
		}
		for i := range uint32(10) {
			x, _ := w.Spawn(ghost, 0)
			w.Set(x, ghostTeam, i%2)
		}
		w.Spawn(banner, 0)
	})
	add(ticktest.Join, server, 0, 0, func(w w, p o) {
		w.Set(p, playerPX, w.ServerRandom(600))
		w.Set(p, playerPY, w.ServerRandom(600))
		w.Set(p, playerTeam, p.ID()/2%2)
		w.Set(p, playerGold, handMark|p.ID())
		make(w, p.ID())
	})
	add(ticktest.Handle, shared, 0, 0, func(w w, p o) {
		w.Set(p, playerPX, (w.Get(p, playerPX)+w.Arg(0, 0)%7)%600)
	})
	add(ticktest.Handle, shared, 0, 1, func(w w, p o) {
		if u, ok := w.Spawn(unit, p.ID()); ok {
			w.Set(u, unitX, w.Get(p, playerPX)+w.Random(150))
			w.Set(u, unitY, w.Get(p, playerPY))
			w.Set(u, unitLife, 5+w.Random(60))
		}
	})
	add(ticktest.Handle, server, 0, 1, func(w w, p o) {
		w.Each(unit, func(u o) {
			if w.Get(u, unitHP) == 0 {
				w.Set(u, unitHP, 1+w.ServerRandom(500))
			}
		})
	})
	add(ticktest.Handle, server, 0, 2, func(w w, p o) {
		w.Set(p, playerPX, w.ServerRandom(600))
		w.Set(p, playerPY, w.ServerRandom(600))
	})
	add(ticktest.Update, shared, player, 0, func(w w, p o) {
		w.Set(p, playerPX, (w.Get(p, playerPX)+1)%600)
		w.Set(p, playerPY, (w.Get(p, playerPY)+w.Random(3))%600)
	})
	add(ticktest.Update, shared, unit, 0, func(w w, u o) {
		w.Set(u, unitX, (w.Get(u, unitX)+u.ID()%5)%600)
		w.Set(u, unitY, (w.Get(u, unitY)+w.Random(4))%600)
		if life := w.Get(u, unitLife); life == 0 {
			w.Remove(u)
		} else {
			w.Set(u, unitLife, life-1)
		}
	})
	add(ticktest.Update, server, unit, 0, func(w w, u o) {
		switch w.ServerRandom(200) {
		case 0:
			w.Set(u, unitHidden, 1-w.Get(u, unitHidden))
		case 1:
			w.Set(u, unitHP, w.ServerRandom(500))
		case 2:
			w.Set(u, unitX, w.ServerRandom(600))
		case 3:
			w.Remove(u)
		}
	})
	add(ticktest.Update, shared, ghost, 0, func(w w, x o) { w.Set(x, ghostMood, w.Get(x, ghostMood)*5+w.Random(9)) })
	add(ticktest.Update, server, ghost, 0, func(w w, x o) {
		if w.ServerRandom(80) == 0 {
			w.Set(x, ghostTeam, w.ServerRandom(3))
		}
	})
	add(ticktest.Update, server, instance, 0, func(w w, in o) {
		for w.Count(unit) < d.Types[unit].Max*2/3 && w.ServerRandom(3) > 0 {
			make(w, 0)
		}
	})
	g.Bodies = append(g.Bodies,
		ticktest.Body{Step: ticktest.View, Side: server, Type: unit, See: func(w *ticktest.World, p, u ticktest.Object, held bool) bool {
			return w.Get(u, unitHidden) == 0
		}},
		ticktest.Body{Step: ticktest.View, Side: server, Type: ghost, See: func(w *ticktest.World, p, x ticktest.Object, held bool) bool {
			return w.Get(x, ghostTeam) == w.Get(p, playerTeam)
		}})
	return g
}

// viewModel holds clients of the game of views against the server and against what
// they may see.
type viewModel struct {
	t      *testing.T
	rng    *rand.Rand
	in     *Instance
	module *ticktest.Module
	ends   []*viewEnd
	given  givenIDs
	late   int
	skips  bool
	tight  bool // not all has room
	worst  int  // sends that an object waited to enter
}

type viewEnd struct {
	m      *viewModel
	v      *Viewer
	c      *ticktest.Client
	player uint32
	seq    uint32
	lag    int
	acks   []uint32
	sent   bool
	held   map[uint32]bool
	waits  map[uint32]int
}

func (e *viewEnd) Message(p []byte) {
	e.sent = true
	for _, k := range e.m.in.seats {
		if k.player != 0 && k.player != e.player && bytes.Contains(p, le.AppendUint32(nil, handMark|k.player)) {
			e.m.t.Errorf("a %v message to %d has what only %d may see", wire.TagOf(p), e.player, k.player)
		}
	}
	e.c.Message(p)
}

func newViewModel(t *testing.T, seed uint64, d *schema.Definition, o Options) *viewModel {
	m := &viewModel{t: t, rng: rand.New(rand.NewPCG(seed, 5)), given: givenIDs{since: map[uint32]uint32{}}}
	g := viewGame(d)
	in, err := newTestShard(t, g, o).Create("views", seed, seed)
	if err != nil {
		t.Fatal(err)
	}
	m.in, m.module = in, g.Module()
	return m
}

func (m *viewModel) join(watch bool) {
	e := &viewEnd{m: m, lag: m.rng.IntN(5), held: map[uint32]bool{}, waits: map[uint32]int{}}
	thin := m.rng.IntN(3) == 0
	var err error
	if !watch {
		if e.player, err = m.in.Join("p"); err != nil {
			return
		}
	}
	if e.c, err = m.module.NewClient(thin); err != nil {
		m.t.Fatal(err)
	}
	e.v = m.in.Attach(e.player, ViewerOptions{Thin: thin, Watch: watch})
	m.ends = append(m.ends, e)
}

func (m *viewModel) receive(e *viewEnd, p []byte) {
	if err := e.v.Receive(p, 0, e); err != nil {
		m.t.Fatal(err)
	}
}

func (m *viewModel) tick() {
	if m.rng.IntN(20) == 0 {
		m.join(m.rng.IntN(6) == 0)
	}
	if n := len(m.ends); n > 3 && m.rng.IntN(60) == 0 {
		if e := m.ends[m.rng.IntN(n)]; e.player != 0 {
			m.in.Leave(e.player)
		} else {
			m.in.Detach(e.v)
		}
	}
	for _, e := range m.ends {
		if e.v.Attached() && e.c.Ready && e.player != 0 && m.rng.IntN(5) == 0 {
			e.seq++
			number := uint32([]int{0, 0, 0, 1, 1, 2}[m.rng.IntN(6)])
			p := wire.CommandHeader{Tick: m.in.tick + 1 + uint32(m.rng.IntN(4+m.late)-m.late), Seq: e.seq, Number: number}.Append(nil)
			if number == 0 {
				p = append(p, byte(m.rng.Uint32()))
			}
			m.receive(e, p)
		}
	}
	m.in.Step()
	if !m.in.SendDue() {
		return
	}
	m.in.Commit()
	m.given.check(m.t, m.in)
	kept := m.ends[:0]
	for _, e := range m.ends {
		if !e.v.Attached() {
			continue
		}
		kept = append(kept, e)
		e.sent = false
		if m.skips && m.rng.IntN(6) == 0 {
			e.v.Skip()
			continue
		}
		last := e.v.last
		e.v.Send(e)
		if e.sent {
			m.check(e, last)
		}
	}
	m.ends = kept
}

// maySee is what the game's rules say, by another way than the engine's.
func (m *viewModel) maySee(e *viewEnd, o *object, held bool) bool {
	in := m.in
	value := func(id uint32, f int) float64 {
		i, _ := in.history.find(id)
		x := &in.history.objects[i]
		l := &in.shard.layout.Types[x.typ]
		return schema.LoadNumber(in.shard.def.Types[x.typ].Fields[f].Kind, in.row(int(x.typ), int(x.row))[l.Offsets[f]:])
	}
	hidden := func() bool {
		return in.row(unit, int(o.row))[in.shard.layout.Types[unit].Offsets[unitHidden]] == 1
	}
	switch {
	case o.typ != unit && o.typ != ghost:
		return true
	case e.player == 0:
		return false
	case o.typ == ghost:
		return value(o.id, ghostTeam) == value(e.player, playerTeam)
	}
	r := float64(viewRadius)
	if held {
		r *= hysteresis
	}
	d := math.Hypot(value(o.id, unitX)-value(e.player, playerPX), value(o.id, unitY)-value(e.player, playerPY))
	return d <= r && !hidden()
}

// check looks at a client after a send; last is the send before.
func (m *viewModel) check(e *viewEnd, last uint64) {
	if e.c.Err != nil {
		m.t.Fatalf("player %d: %v", e.player, e.c.Err)
	}
	if e.c.Resyncs > 0 {
		m.t.Fatalf("player %d: %s", e.player, e.c.Lost)
	}
	holds := map[uint32]bool{}
	waiting := map[uint32]bool{}
	for _, d := range e.v.owed {
		waiting[d.id] = d.since > 0
	}
	snapshot := e.v.snapSend == m.in.sends
	for i := range m.in.history.objects {
		o := &m.in.history.objects[i]
		holds[o.id] = e.v.view.held.has(o.slot)
		may := m.maySee(e, o, e.held[o.id] && o.born <= last)
		switch {
		case holds[o.id] && !may:
			m.t.Fatalf("tick %d: player %d holds %d of type %d, which it may not see", m.in.tick, e.player, o.id, o.typ)
		case !holds[o.id] && may && (snapshot || !m.tight):
			m.t.Fatalf("tick %d: player %d does not hold %d of type %d, which it may see", m.in.tick, e.player, o.id, o.typ)
		case !holds[o.id] && may:
			e.waits[o.id]++
			m.worst = max(m.worst, e.waits[o.id])
		default:
			delete(e.waits, o.id)
		}
	}
	if e.player != 0 && !holds[e.player] {
		m.t.Fatalf("player %d does not hold itself", e.player)
	}
	if err := e.c.Compare(m.in.shard.layout, m.in.block, waiting, func(id uint32) bool { return holds[id] }); err != nil {
		m.t.Fatalf("player %d: %v", e.player, err)
	}
	e.held = holds
	e.acks = append(e.acks, e.c.Acks...)
	e.c.Acks = e.c.Acks[:0]
	for len(e.acks) > e.lag {
		m.receive(e, wire.Ack{Tick: e.acks[0]}.Append(nil))
		e.acks = e.acks[1:]
	}
}

// Every client holds exactly what it may see and the server's values of it, at each
// send, whatever comes late and whatever is skipped.
func TestModelViews(t *testing.T) {
	for _, c := range []struct {
		name   string
		late   int
		skips  bool
		budget int
		start  uint32
	}{
		{"in time", 0, false, 1 << 20, 0}, {"late", 10, false, 1 << 20, 0}, {"skipped", 0, true, 1 << 20, 0},
		{"late and skipped", 10, true, 1 << 20, 0}, {"tight", 10, true, 150, 0}, {"wrap", 10, true, 400, 1<<32 - 150},
	} {
		for _, seed := range seeds(5) {
			t.Run(fmt.Sprintf("%s, seed %d", c.name, seed), func(t *testing.T) {
				m := newViewModel(t, seed, viewDef(60, c.budget), Options{StartTick: c.start})
				m.late, m.skips, m.tight = c.late, c.skips, c.budget < 1000
				for range *modelTicks / 2 {
					m.tick()
				}
				x := m.in.shard.Stats()
				t.Logf("%d viewers, %d objects, rewinds %d, snapshots %v, enters %v, leaves %v, waiting %d, %d sends at most, left out %d", len(m.ends),
					len(m.in.history.objects), x.Rewinds, x.Snapshots, x.Sent(wire.TagEnter), x.Sent(wire.TagLeave), x.Waiting, m.worst, x.Deferred)
				// However late commands come, nobody gets a snapshot for that.
				if n := x.Snapshots[CauseLate] + x.Snapshots[CauseMissed]; n > 0 || c.late > 0 && x.Rewinds == 0 {
					t.Errorf("%d rewinds, %d snapshots because of them", x.Rewinds, n)
				}
				if !m.tight && x.Waiting+x.Deferred > 0 {
					t.Errorf("%d waited, %d were left out", x.Waiting, x.Deferred)
				}
			})
		}
	}
}

// A view body that fails sees nothing, for that object, and after some failures in one
// send for all of the type. Everything else goes on.
func TestFailingView(t *testing.T) {
	d := viewDef(60, 1<<20)
	g := viewGame(d)
	bad := uint32(0)
	for i := range g.Bodies {
		if b := &g.Bodies[i]; b.Step == ticktest.View && b.Type == ghost {
			b.See = func(w *ticktest.World, p, x ticktest.Object, held bool) bool {
				if bad != 0 && x.ID()%bad == 0 {
					w.Trap(body.FaultNull)
				}
				return true
			}
		}
	}
	var faults []FaultReport
	in, err := newTestShard(t, g, Options{OnFault: func(_ *Instance, f FaultReport) { faults = append(faults, f) }}).Create("views", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	v := in.Attach(p, ViewerOptions{})
	ghosts := func() (n int) {
		for i := range in.history.objects {
			if o := &in.history.objects[i]; o.typ == ghost && v.view.held.has(o.slot) {
				n++
			}
		}
		return n
	}
	for range 8 {
		sendAll(in)
	}
	all := in.count(ghost)
	if ghosts() != all || len(faults) > 0 {
		t.Fatalf("%d of %d ghosts, %d faults", ghosts(), all, len(faults))
	}
	first := le.Uint32(in.row(ghost, 0))
	bad = first
	sendAll(in)
	sendAll(in)
	want := all
	for i := range all {
		if le.Uint32(in.row(ghost, i))%first == 0 {
			want--
		}
	}
	if ghosts() != want || len(faults) != all-want || faults[0].Actor != first || faults[0].Fault != body.FaultNull || faults[0].Name != "view.13" {
		t.Errorf("%d of %d ghosts, faults %+v", ghosts(), all, faults)
	}
	bad, faults = 1, nil
	sendAll(in)
	sendAll(in)
	if ghosts() != 0 || len(faults) != rerunsPerBody+1 || !faults[rerunsPerBody].All {
		t.Errorf("%d of %d ghosts, %d faults", ghosts(), all, len(faults))
	}
	bad = 0
	sendAll(in)
	sendAll(in)
	if ghosts() != all {
		t.Errorf("%d of %d ghosts after all was well", ghosts(), all)
	}
}
