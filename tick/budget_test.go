package tick

import (
	"fmt"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// busy is an instance with n objects all of whose sent fields change in every tick.
func busy(t testing.TB, n, budget int) (*Instance, *ticktest.Game) {
	t.Helper()
	d := &schema.Definition{
		Name: "busy", TickRate: 20, SendRate: 20, InstancesPerShard: 1, PlayersPerInstance: 4, BytesPerSend: budget,
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1),
		typeOf(player, "player", 4, field("x", schema.U32, schema.Sent)),
		typeOf(rock, "rock", n, field("x", schema.U32, schema.Sent), field("y", schema.U32, schema.Sent)),
	}
	g := &ticktest.Game{Def: d, Bodies: []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			for range n {
				w.Spawn(rock, 0)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: rock, Run: func(w *ticktest.World, r ticktest.Object) {
			w.Set(r, 0, w.Tick()+r.ID())
			w.Set(r, 1, w.Tick()*3)
		}},
	}}
	in, err := newTestShard(t, g, Options{}).Create("busy", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	return in, g
}

// listed is a sink that notes which objects deltas have, and how many bytes.
type listed struct {
	in    *Instance
	ids   map[uint32]bool
	bytes int
	tick  uint32
}

func (l *listed) Message(m []byte) {
	clear(l.ids)
	l.bytes = len(m)
	l.tick = le.Uint32(m[1:])
	if wire.TagOf(m) != wire.TagDelta {
		return
	}
	_, rest, err := wire.ParseDelta(m)
	if err != nil {
		panic(err)
	}
	r := wire.NewChangesReader(rest)
	for r.Next() {
		i, _ := l.in.history.find(r.ID())
		l.ids[r.ID()] = true
		if err := r.Read(l.in.shard.wire.Fields(int(l.in.history.objects[i].typ), wire.Sent, false), nil); err != nil {
			panic(err)
		}
	}
}

// With room for c of n objects that all change all the time, each is listed at least
// once in n/c sends, rounded up: nothing starves, and the budget is kept.
func TestDeferredObjectsDoNotStarve(t *testing.T) {
	const n = 100
	sends := 600
	if testing.Short() {
		sends = 150
	}
	for _, budget := range []int{20, 100, 150, 333, 700, 1200} {
		for _, lag := range []int{1, 3, 20} {
			t.Run(fmt.Sprintf("%d bytes, acks %d behind", budget, lag), func(t *testing.T) {
				in, _ := busy(t, n, budget)
				v := in.Attach(0, ViewerOptions{Watch: true})
				l := &listed{in: in, ids: map[uint32]bool{}}
				last := map[uint32]int{}
				// Of an object: its id in up to 5 bytes, counted so when it is chosen, a
				// mask and two u32.
				const most = wire.MaxUvarint + 1 + 8
				bound := (n + max(1, budget/most) - 1) / max(1, budget/most)
				worst := 0
				var ticks []uint32
				for send := range sends {
					sendTo(in, v, l)
					ticks = append(ticks, l.tick)
					if len(ticks) > lag {
						receive(t, v, wire.Ack{Tick: ticks[0]}.Append(nil))
						ticks = ticks[1:]
					}
					if send < 2 { // the snapshot
						continue
					}
					if l.bytes > max(budget, most)+16 {
						t.Fatalf("send %d: a delta of %d bytes", send, l.bytes)
					}
					for _, o := range in.history.objects[1:] {
						switch {
						case l.ids[o.id]:
							last[o.id] = send
						case send-last[o.id] > bound:
							t.Fatalf("send %d: object %d was listed %d sends ago, the bound is %d", send, o.id, send-last[o.id], bound)
						}
						worst = max(worst, send-last[o.id])
					}
				}
				t.Logf("bound %d sends, worst %d, %d left out", bound, worst, in.shard.stats.Deferred)
			})
		}
	}
}

func sendTo(in *Instance, v *Viewer, s Sink) {
	in.Step()
	in.Commit()
	v.Send(s)
}

// An object that waited is listed in full, and so it is until the base is that
// listing: the client may have another value after an older one.
func TestDeferredObjectsAreListedInFull(t *testing.T) {
	in, g := busy(t, 40, 200)
	c, err := g.Module().NewClient(false)
	if err != nil {
		t.Fatal(err)
	}
	v := in.Attach(0, ViewerOptions{Watch: true})
	var acks []uint32
	waiting := map[uint32]bool{}
	for send := range 300 {
		sendTo(in, v, c)
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		clear(waiting)
		for _, d := range v.owed {
			if d.since > 0 {
				waiting[d.id] = true
			}
		}
		if err := c.Compare(in.shard.layout, in.block, waiting, nil); err != nil {
			t.Fatalf("send %d: %v", send, err)
		}
		acks = append(acks, c.Acks...)
		c.Acks = c.Acks[:0]
		// Acks come in bursts.
		if send%7 == 0 {
			for _, a := range acks {
				receive(t, v, wire.Ack{Tick: a}.Append(nil))
			}
			acks = acks[:0]
		}
	}
	if len(waiting) == 0 || in.shard.stats.Deferred == 0 {
		t.Error("everything had room")
	}
}

// What viewers have in common is encoded once: the whole delta of those who hold
// everything and have acked the same tick, and each object where they hold different
// ones.
func TestEqualViewsShareOneEncode(t *testing.T) {
	in, views := movers(t, 60, 20, 60, false)
	b := &in.shard.scratch
	sinks := make([]counter, len(views))
	round := func(ack func(i int) bool) (made int) {
		in.Step()
		in.Commit()
		before := b.made
		for i, v := range views {
			v.Send(&sinks[i])
			if in.sends > 1 && ack(i) {
				receive(t, v, wire.Ack{Tick: sinks[i].tick}.Append(nil))
			}
		}
		return b.made - before
	}
	all := func(int) bool { return true }
	for range 5 {
		round(all)
	}
	if n := round(all); n != 1 {
		t.Errorf("%d encodings for 20 viewers with one base", n)
	}
	round(func(i int) bool { return i%2 == 0 })
	if n := round(all); n != 2 {
		t.Errorf("%d encodings for 20 viewers with two bases", n)
	}

	in, views = plane(t, 1000, 30, 30)
	sinks = make([]counter, len(views))
	l := &in.shard.layout.Types[unit]
	for send := range 4 {
		in.tick += in.shard.rules.perSend
		for i := range in.count(unit) {
			le.PutUint16(in.row(unit, i)[l.Offsets[unitHP]:], uint16(7*send+i))
		}
		in.Commit()
		seen, listed := map[uint32]bool{}, 0
		for i, v := range views {
			v.Send(&sinks[i])
			for k := range v.size() {
				if o := v.object(k); o.typ == unit {
					seen[o.id] = true
					listed++
				}
			}
		}
		if send == 0 {
			continue
		}
		e := views[0].encoding()
		made := 0
		for _, x := range e.pieces {
			if x.at < x.until {
				made++
			}
		}
		if made > len(seen) || listed <= made {
			t.Errorf("%d objects were encoded %d times for %d listings", len(seen), made, listed)
		}
	}
}

// movers is an instance with objects of which some move all the time, owned by the
// players if asked for, and its viewers.
func movers(t testing.TB, objects, viewers, moving int, owners bool) (*Instance, []*Viewer) {
	t.Helper()
	d := &schema.Definition{
		Name: "movers", TickRate: 20, SendRate: 20, InstancesPerShard: 1, PlayersPerInstance: 256, BytesPerSend: 1 << 20, KeyframeSeconds: 1,
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1),
		typeOf(player, "player", 256, field("x", schema.U32, schema.Sent)),
		typeOf(rock, "rock", objects, field("x", schema.F32, schema.Sent), field("y", schema.F32, schema.Sent), field("hp", schema.U8, schema.Sent)),
	}
	if owners {
		d.Types[player].Fields[0].Audience = schema.Owner
	}
	g := &ticktest.Game{Def: d, Bodies: []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			for range objects {
				w.Spawn(rock, 0)
			}
		}},
	}}
	in, err := newTestShard(t, g, Options{}).Create("movers", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The rows are moved here, as functions are no measure of what bodies cost.
	g.Bodies = append(g.Bodies, ticktest.Body{Step: ticktest.Update, Side: schema.OnServer, Type: instance,
		Run: func(w *ticktest.World, _ ticktest.Object) {
			l := &in.shard.layout.Types[rock]
			for i := range moving {
				row := in.row(rock, i)
				le.PutUint32(row[l.Offsets[0]:], w.Tick()*7+uint32(i)<<8)
				le.PutUint32(row[l.Offsets[1]:], w.Tick()*5+uint32(i)<<9)
			}
		}})
	var views []*Viewer
	for range viewers {
		p, err := in.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, in.Attach(p, ViewerOptions{}))
	}
	return in, views
}
