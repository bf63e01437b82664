package tick

import (
	"errors"
	"fmt"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// watched is an instance with a client that runs its bodies and a thin one, both of
// which must hold the server's state at each send. In games with view bodies they are
// players, which see everything.
type watched struct {
	t     *testing.T
	in    *Instance
	views []*Viewer
	ends  []*ticktest.Client
}

func watch(t *testing.T, g *ticktest.Game, o Options) *watched {
	t.Helper()
	in, err := newTestShard(t, g, o).Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{t: t, in: in}
	for _, thin := range []bool{false, true} {
		c, err := g.Module().NewClient(thin)
		if err != nil {
			t.Fatal(err)
		}
		w.ends = append(w.ends, c)
		p := uint32(0)
		if in.shard.rules.view {
			if p, err = in.Join("p"); err != nil {
				t.Fatal(err)
			}
		}
		w.views = append(w.views, in.Attach(p, ViewerOptions{Watch: p == 0, Thin: thin}))
	}
	return w
}

func (w *watched) tick() {
	w.t.Helper()
	w.in.Step()
	if !w.in.SendDue() {
		return
	}
	w.in.Commit()
	for i, c := range w.ends {
		w.views[i].Send(c)
		if c.Err != nil || c.Resyncs > 0 {
			w.t.Fatalf("tick %d: %v, %s", w.in.tick, c.Err, c.Lost)
		}
		var holds func(id uint32) bool
		if w.in.shard.rules.view {
			holds = func(uint32) bool { return true }
		}
		if err := c.Compare(w.in.shard.layout, w.in.block, nil, holds); err != nil && c.Ready {
			w.t.Fatal(err)
		}
		for _, a := range c.Acks {
			receive(w.t, w.views[i], wire.Ack{Tick: a}.Append(nil))
		}
		c.Acks = c.Acks[:0]
	}
}

// A thousand times a player comes and goes: each gets an id of its own, everybody is
// told of all of it, and what the instance remembers does not grow.
func TestThousandPlayersComeAndGo(t *testing.T) {
	m := calm
	w := watch(t, testGame(testDef(20, 10, 3), &m), Options{})
	last := uint32(0)
	size := func() int {
		h := &w.in.history
		return len(h.objects) + len(h.gone) + len(h.undo.ring) + len(h.images[player].buf) + cap(w.in.filing.arrivals) + cap(w.in.filing.list)
	}
	early := 0
	for round := range 1000 {
		p, err := w.in.Join(fmt.Sprint(round))
		if err != nil {
			t.Fatal(err)
		}
		if p <= last || p&1 != 1 {
			t.Fatalf("player %d after %d", p, last)
		}
		last = p
		v := w.in.Attach(p, ViewerOptions{})
		for range 2 {
			w.tick()
		}
		receive(t, v, command(w.in.tick+1, 1, move, 1, 0))
		for range 2 {
			w.tick()
		}
		w.in.Leave(p)
		if round%3 > 0 {
			w.tick()
			w.tick()
		}
		if round == 100 {
			early = size()
		}
	}
	if now := size(); now > early {
		t.Errorf("the instance has grown from %d to %d", early, now)
	}
	if w.in.Players() != 0 {
		t.Errorf("%d seats are taken", w.in.Players())
	}
}

// A thousand times an object goes out of view and comes back.
func TestThousandTimesInAndOutOfView(t *testing.T) {
	d := viewDef(4, 1<<20)
	seen := true
	g := viewGame(d)
	var bodies []ticktest.Body
	for _, b := range g.Bodies {
		switch {
		case b.Step == ticktest.View && b.Type == ghost:
			b.See = func(w *ticktest.World, p, x ticktest.Object, held bool) bool { return seen }
		case b.Step == ticktest.Update && b.Side == schema.OnServer, b.Step == ticktest.Update && b.Type == unit:
			continue
		}
		bodies = append(bodies, b)
	}
	g.Bodies = bodies
	in, err := newTestShard(t, g, Options{}).Create("views", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Module().NewClient(false)
	if err != nil {
		t.Fatal(err)
	}
	v := in.Attach(p, ViewerOptions{})
	ghosts := 0
	for i := range 2000 {
		seen = i%2 == 0
		sendAll2(in, v, c)
		if c.Err != nil || c.Resyncs > 0 {
			t.Fatal(c.Err, c.Lost)
		}
		for _, a := range c.Acks {
			if i%5 == 0 {
				receive(t, v, wire.Ack{Tick: a}.Append(nil))
			}
		}
		c.Acks = c.Acks[:0]
		ghosts = in.count(ghost)
		n := 0
		for k := range in.history.objects {
			if o := &in.history.objects[k]; o.typ == ghost && v.view.held.has(o.slot) {
				n++
			}
		}
		if seen && n != ghosts || !seen && n > 0 {
			t.Fatalf("send %d: %d of %d ghosts are held, seen %v", i, n, ghosts, seen)
		}
		if err := c.Compare(in.shard.layout, in.block, nil, func(id uint32) bool {
			k, ok := in.history.find(id)
			return ok && v.view.held.has(in.history.objects[k].slot)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if x := in.shard.Stats(); x.Sent(wire.TagEnter).Messages < 990 || x.Sent(wire.TagLeave).Messages < 990 || len(v.owed) > 2*ghosts+4 {
		t.Errorf("%d enters, %d leaves, %d objects remembered", x.Sent(wire.TagEnter).Messages, x.Sent(wire.TagLeave).Messages, len(v.owed))
	}
}

// sendAll2 runs ticks up to the next send and sends to one viewer.
func sendAll2(in *Instance, v *Viewer, s Sink) {
	for in.Step(); !in.SendDue(); in.Step() {
	}
	in.Commit()
	v.Send(s)
}

// storm is a game in which a type's objects all go and come at once, with a view body
// that sees them all if asked for.
func storm(most int, shared, view bool) (g *ticktest.Game, do func(spawn, remove int)) {
	d := testDef(20, 10, 4)
	d.BytesPerSend = 1 << 20
	d.Types[rock].Max = most
	side := schema.OnServer
	if shared {
		side = schema.OnClient
	}
	spawn, remove := map[uint32]int{}, map[uint32]int{}
	var tick uint32
	g = &ticktest.Game{Def: d, Bodies: []ticktest.Body{
		{Step: ticktest.Update, Side: side, Type: instance, Run: func(w *ticktest.World, in ticktest.Object) {
			if side == schema.OnServer || w.Tick() > tick {
				tick = max(tick, w.Tick())
			}
			n := remove[w.Tick()]
			w.Each(rock, func(r ticktest.Object) {
				if n > 0 {
					w.Remove(r)
					n--
				}
			})
			for range spawn[w.Tick()] {
				if r, ok := w.Spawn(rock, 0); ok {
					w.Set(r, rockX, w.Tick())
				}
			}
		}},
		{Step: ticktest.Update, Side: schema.OnClient, Type: rock, Run: func(w *ticktest.World, r ticktest.Object) {
			w.Set(r, rockX, w.Get(r, rockX)+1)
		}},
	}}
	if view {
		g.Bodies = append(g.Bodies, ticktest.Body{Step: ticktest.View, Side: schema.OnServer, Type: rock,
			See: func(*ticktest.World, ticktest.Object, ticktest.Object, bool) bool { return true }})
	}
	return g, func(s, r int) { spawn[tick+1], remove[tick+1] = s, r }
}

// kinds are the ways in which objects are made and told of.
var kinds = []struct {
	name         string
	shared, view bool
}{{"server", false, false}, {"shared", true, false}, {"server, views", false, true}, {"shared, views", true, true}}

// Whole types go and come in one tick, made by shared bodies or by the server's.
func TestRemovalStorms(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			const most = 300
			g, do := storm(most, k.shared, k.view)
			w := watch(t, g, Options{})
			for range 2 {
				w.tick()
			}
			rest := len(w.in.history.objects)
			rounds := 60
			if testing.Short() {
				rounds = 6
			}
			for round := range rounds {
				do(most, 0)
				w.tick()
				if round%3 == 0 {
					do(0, most) // before anybody has been told
				}
				w.tick()
				do(most/2, most)
				w.tick()
				w.tick()
				do(0, most)
				w.tick()
				w.tick()
				if n := w.in.count(rock); n != 0 {
					t.Fatalf("round %d: %d are left", round, n)
				}
			}
			if len(w.in.history.gone) > 4*most || len(w.in.history.objects) != rest || w.in.history.slots > uint32(2*most+rest) {
				t.Errorf("%d objects and %d removals are remembered, in %d slots", len(w.in.history.objects), len(w.in.history.gone), w.in.history.slots)
			}
		})
	}
}

// Exactly as many objects as there may be, one less, and one more, which is none.
func TestMostObjects(t *testing.T) {
	for _, k := range kinds {
		for _, most := range []int{1, 2, 63, 64, 65} {
			for _, spawn := range []int{most - 1, most, most + 1} {
				t.Run(fmt.Sprintf("%d of %d, %s", spawn, most, k.name), func(t *testing.T) {
					g, do := storm(most, k.shared, k.view)
					w := watch(t, g, Options{})
					for range 4 {
						w.tick()
					}
					do(spawn, 0)
					for range 4 {
						w.tick()
					}
					if n := w.in.count(rock); n != min(spawn, most) {
						t.Fatalf("%d objects", n)
					}
					// One goes and two would come: room is made at the tick's end.
					do(2, 1)
					w.tick()
					do(2, 0)
					for range 4 {
						w.tick()
					}
					want := min(spawn, most)
					want = want - min(want, 1) + min(2, most-want)
					want = min(most, want+2)
					if n := w.in.count(rock); n != want {
						t.Fatalf("%d objects, not %d", n, want)
					}
				})
			}
		}
	}
}

// Who joins at tick 10,000,000 plays within a second: it holds the world with the first
// send after its join, and its first command runs where it was meant to.
func TestLateJoin(t *testing.T) {
	for _, view := range []bool{false, true} {
		t.Run(fmt.Sprint("views ", view), func(t *testing.T) { lateJoin(t, view) })
	}
}

func lateJoin(t *testing.T, view bool) {
	m := tame
	d := testDef(30, 15, 4)
	d.BytesPerSend = 1 << 20
	g := testGame(d, &m)
	if view {
		// Where existence is the server's, bodies do not do things to others.
		g, _ = storm(20, false, true)
		d = g.Def
		all := testGame(d, &m).Bodies
		for _, b := range all {
			if b.Step == ticktest.Handle && b.Command == move || b.Step == ticktest.Start {
				g.Bodies = append(g.Bodies, b)
			}
		}
	}
	w := watch(t, g, Options{StartTick: 10_000_000 - 200})
	for w.in.tick < 10_000_000 {
		w.tick()
	}
	p, err := w.in.Join("late")
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.Module().NewClient(false)
	if err != nil {
		t.Fatal(err)
	}
	v := w.in.Attach(p, ViewerOptions{})
	w.ends, w.views = append(w.ends, c), append(w.views, v)
	joined := w.in.tick
	for !c.Ready {
		w.in.Step()
		if w.in.SendDue() {
			w.in.Commit()
			for i, c := range w.ends {
				w.views[i].Send(c)
			}
		}
	}
	if c.Tick-joined > uint32(d.TicksPerSend()) {
		t.Errorf("ready at tick %d, %d after the join", c.Tick, c.Tick-joined)
	}
	receive(t, v, command(c.Tick+1, 1, move, 50, 0))
	for len(c.Relayed) == 0 && w.in.tick < joined+uint32(d.TickRate) {
		w.tick()
	}
	if len(c.Relayed) != 1 || c.Relayed[0].Tick != joined+uint32(d.TicksPerSend())+1 {
		t.Errorf("relayed are %v", c.Relayed)
	}
}

// Nobody watches an instance beside MaxSpectators; players always see theirs, and who
// goes makes room.
func TestMostSpectators(t *testing.T) {
	m := calm
	in, err := newTestShard(t, testGame(testDef(20, 10, 3), &m), Options{}).Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var first *Viewer
	for range MaxSpectators {
		if v := in.Attach(0, ViewerOptions{Watch: true}); first == nil {
			first = v
		}
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	if in.Attach(0, ViewerOptions{Watch: true}) != nil || in.shard.stats.Crowded != 1 || in.Spectators() != MaxSpectators {
		t.Errorf("one too many watches; %d do, %d were turned away", in.Spectators(), in.shard.stats.Crowded)
	}
	if in.Attach(p, ViewerOptions{}) == nil {
		t.Error("a player does not see its game")
	}
	in.Detach(first)
	if in.Attach(0, ViewerOptions{Watch: true, Thin: true}) == nil || in.Attach(0, ViewerOptions{Watch: true}) != nil {
		t.Error("the place of one that went is not given again, or twice")
	}
}

// Sends that go over the budget and sends of views take no memory once they have what
// they need.
func TestAllocBudgetAndViews(t *testing.T) {
	busy, _ := busy(t, 60, 200)
	d := viewDef(80, 60)
	g := viewGame(d)
	s, err := newShard(d, g.Program(), 0, Options{}, seeing{g.NewGuest(schema.OnServer)}) // a Go function's call would count
	if err != nil {
		t.Fatal(err)
	}
	views, err := s.Create("views", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		p, err := views.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		views.Attach(p, ViewerOptions{Thin: p == 3})
		busy.Attach(0, ViewerOptions{Watch: true})
	}
	for name, in := range map[string]*Instance{"over the budget": busy, "views": views} {
		sinks := make([]counter, len(in.viewers))
		send := func() {
			in.Commit()
			for i, v := range in.viewers {
				v.Send(&sinks[i])
			}
		}
		round := func(f func()) {
			for in.Step(); !in.SendDue(); in.Step() {
			}
			f()
			for i, v := range in.viewers {
				receive(t, v, wire.Ack{Tick: sinks[i].tick}.Append(nil))
			}
		}
		for range 1500 {
			round(send)
		}
		most := leastAllocs(func() []uint64 {
			n := []uint64{0}
			for range 200 {
				round(func() { n[0] += countAllocs([]timed{{"", send}}, 1)[0] })
			}
			return n
		})[0]
		t.Logf("%s: %d allocations in 200 sends to %d viewers, budget 0", name, most, len(in.viewers))
		if most > 0 {
			t.Fail()
		}
	}
	if busy.shard.stats.Deferred == 0 || views.shard.stats.Waiting == 0 {
		t.Error("there was room for everything")
	}
}

// Ids are never given twice: an instance that has none left is over, and a player for
// whom there is none is turned away.
func TestIDsAreUsedUp(t *testing.T) {
	for _, at := range []int{schema.HeaderNextShared, schema.HeaderNextServer} {
		var reports []FaultReport
		in, a, _ := lateRoom(t, Options{OnFault: func(_ *Instance, f FaultReport) { reports = append(reports, f) }}, nil)
		first := le.Uint32(in.block[at:])
		near := lastID - 2*in.shard.rules.idsPerTick | first&3
		le.PutUint32(in.block[at:], near)
		if at == schema.HeaderNextShared {
			in.history.nextShare, in.history.given = near, near
		}
		for seq := uint32(1); !in.Ended(); seq++ {
			if le.Uint32(in.block[at:]) >= lastID {
				t.Fatal("an id that clients take for their own was given")
			}
			if seq > 10_000 {
				t.Fatal("it goes on")
			}
			receive(t, a, command(in.tick+1, seq, fire))
			if at == schema.HeaderNextServer {
				le.PutUint32(in.block[at:], le.Uint32(in.block[at:])+4*schema.IDStep) // as server bodies would
			}
			in.Step()
			if in.SendDue() && !in.Ended() {
				in.Commit()
			}
		}
		if !in.SendDue() || len(reports) == 0 || !reports[len(reports)-1].Ended || reports[len(reports)-1].String() != errIDs.Error() {
			t.Errorf("ended with %v", reports)
		}
	}
	in, _, _ := lateRoom(t, Options{}, nil)
	in.nextPlayer = lastID + 1
	if _, err := in.Join("late"); !errors.Is(err, ErrFull) {
		t.Errorf("joined with %v", err)
	}
}
