package tick

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// A script is what happens to an instance from outside, by the tick after which it
// does.
type script struct {
	joins  map[uint32]int
	leaves map[uint32][]int // by place in the order of joins
	sent   map[uint32][]scripted
}

// scripted is a command on its way: of the player with that place in the order of
// joins.
type scripted struct {
	player int
	tick   uint32
	number uint32
	arg    byte
}

// filedCommand is a command as it ran in the end.
type filedCommand struct {
	order
	record []byte
}

// states are hashes by tick and the last state.
type outcome struct {
	hashes map[uint32]uint64
	last   []byte
}

const scriptTicks = 220

// randomScript has players who come and go and whose commands arrive some ticks after
// they were made, each player's in order.
func randomScript(rng *rand.Rand, d *schema.Definition) *script {
	s := &script{joins: map[uint32]int{}, leaves: map[uint32][]int{}, sent: map[uint32][]scripted{}}
	joined := 0
	var here []int
	arrived := map[int]uint32{}
	for t := uint32(0); t < scriptTicks; t++ {
		if len(here) < d.PlayersPerInstance && rng.IntN(15) == 0 || t == 0 {
			s.joins[t]++
			here = append(here, joined)
			joined++
		}
		if len(here) > 1 && rng.IntN(80) == 0 {
			i := rng.IntN(len(here))
			s.leaves[t] = append(s.leaves[t], here[i])
			here = slices.Delete(here, i, i+1)
		}
		for _, p := range here {
			for rng.IntN(4) == 0 {
				late := uint32(0)
				if rng.IntN(2) == 0 {
					late = uint32(rng.IntN(d.TimelineDepth + 4))
				}
				at := max(t+late, arrived[p])
				arrived[p] = at
				s.sent[at] = append(s.sent[at], scripted{p, t + 1 + uint32(rng.IntN(3)), uint32(rng.IntN(len(d.Commands))), byte(rng.Uint32())})
			}
		}
	}
	for _, list := range s.sent {
		// Players' commands mix as they like, those of one stay in order.
		for i := len(list) - 1; i > 0; i-- {
			if j := rng.IntN(i + 1); list[i].player != list[j].player && i-j == 1 {
				list[i], list[j] = list[j], list[i]
			}
		}
	}
	return s
}

// scriptRun plays a script on an instance.
type scriptRun struct {
	t       *testing.T
	in      *Instance
	players []uint32
	seqs    map[uint32]uint32
	faults  map[string]int
}

func (r *scriptRun) start(g *gameMaker, start uint32) {
	r.seqs, r.faults = map[uint32]uint32{}, map[string]int{}
	o := Options{StartTick: start, OnFault: func(_ *Instance, f FaultReport) {
		r.faults[fmt.Sprint(f.Tick, " ", f.Body, " ", f.Actor, " ", f.All)]++
	}}
	in, err := newTestShard(r.t, g.game, o).Create("script", 5, 6)
	if err != nil {
		r.t.Fatal(err)
	}
	r.in = in
}

// come lets those come and go whom the script has for tick t.
func (r *scriptRun) come(s *script, t uint32) {
	for range s.joins[t] {
		p, err := r.in.Join("p")
		if err != nil {
			r.t.Fatal(err)
		}
		r.players = append(r.players, p)
		r.in.Attach(p, ViewerOptions{})
	}
	for _, i := range s.leaves[t] {
		r.in.Leave(r.players[i])
	}
}

func (r *scriptRun) step() {
	r.in.Step()
	if r.in.SendDue() {
		r.in.Commit()
	}
}

// canonical is all of a state but marks, which are no state.
func canonical(in *Instance) []byte {
	s := in.shard
	b := make([]byte, s.liveSize(in.block))
	s.pack(b, in.block)
	at := s.headSize()
	for i := schema.PlayerType; i < len(s.layout.Types); i++ {
		for range in.count(i) {
			clear(b[at+schema.RowMark:][:4])
			at += s.layout.Types[i].Stride
		}
	}
	clear(b[s.layout.Types[0].Rows+schema.RowMark:][:4])
	return b
}

// late plays the script with its delays and returns the commands as they ran, too.
func (r *scriptRun) late(s *script, start uint32, budget int) (o outcome, ran []filedCommand) {
	o.hashes = map[uint32]uint64{}
	known := map[[2]uint32]bool{}
	stride := r.in.shard.layout.CommandStride
	for t := uint32(0); t < scriptTicks+40; t++ {
		r.come(s, t)
		for _, c := range s.sent[t] {
			p := r.players[c.player]
			k := r.in.seat(p)
			if k == nil || k.viewer == nil {
				continue
			}
			r.seqs[p]++
			m := append(wire.CommandHeader{Tick: start + c.tick, Seq: r.seqs[p], Number: c.number}.Append(nil), c.arg)
			if err := k.viewer.Receive(m, 0, discard{}); err != nil {
				r.t.Fatal(err)
			}
		}
		switch {
		case t > scriptTicks+20:
			r.in.shard.Turn(1000) // for what still waits
		case budget > 0:
			r.in.shard.Turn(budget)
		}
		r.in.Step()
		for i, c := range r.in.filing.list {
			key := [2]uint32{c.player, c.seq}
			if c.ran && !known[key] {
				known[key] = true
				ran = append(ran, filedCommand{c, slices.Clone(r.in.filing.records[i*stride:][:stride])})
			}
		}
		if r.in.SendDue() {
			r.in.Commit()
		}
		o.hashes[r.in.Tick()] = r.in.StateHash()
	}
	o.last = canonical(r.in)
	return o, ran
}

// inTime plays it with each command filed before the tick that it ran on.
func (r *scriptRun) inTime(s *script, start uint32, ran []filedCommand) (o outcome) {
	o.hashes = map[uint32]uint64{}
	for t := uint32(0); t < scriptTicks+40; t++ {
		r.come(s, t)
		for _, c := range ran {
			if c.tick == start+t+1 {
				c.ran = false
				r.in.filing.file(c.order, c.record, r.in.tick)
			}
		}
		r.step()
		o.hashes[r.in.Tick()] = r.in.StateHash()
	}
	o.last = canonical(r.in)
	return o
}

// Whatever the game, the delays and the order of arrival: the outcome is that of the
// run in which every command had come in time, and no fault is reported twice.
func TestLateIsAsInTime(t *testing.T) {
	for _, seed := range seeds(150) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 77))
			m := &gameMaker{rng: rng, def: randomDef(rng), traps: rng.IntN(3) == 0, server: rng.IntN(2) == 0}
			m.make()
			s := randomScript(rng, m.def)
			start := uint32(0)
			if rng.IntN(4) == 0 {
				start = 1<<32 - 100
			}
			budget := 0
			if rng.IntN(3) == 0 {
				budget = 1 + rng.IntN(6)
			}
			a, b := scriptRun{t: t}, scriptRun{t: t}
			a.start(m, start)
			b.start(m, start)
			got, ran := a.late(s, start, budget)
			want := b.inTime(s, start, ran)
			x := a.in.shard.Stats()
			t.Logf("%d types, %d bodies, depth %d: %d commands, %d late, %d rewinds of %d ticks, %d times queued, %d faults",
				len(m.def.Types), len(m.game.Bodies), m.def.TimelineDepth, x.Commands, x.Late, x.Rewinds, x.Replayed, x.Queued, x.Faults)
			if a.in.filing.late > 0 || b.in.shard.stats.Rewinds > 0 {
				t.Errorf("%d commands are still late; %d rewinds in the other run", a.in.filing.late, b.in.shard.stats.Rewinds)
			}
			if !bytes.Equal(got.last, want.last) {
				t.Error("the last states differ")
			}
			for tick := start + scriptTicks + 30; tick != start+scriptTicks+40; tick++ {
				if got.hashes[tick] != want.hashes[tick] {
					t.Fatalf("tick %d: the hash differs", tick)
				}
			}
			for f, n := range a.faults {
				if n > 1 {
					t.Errorf("fault %s was reported %d times", f, n)
				}
			}
		})
	}
}

// lateRoom is an instance of the test game with two players at a send tick, whose
// commands may come late.
func lateRoom(t *testing.T, o Options, more func(g *ticktest.Game)) (in *Instance, a, b *Viewer) {
	t.Helper()
	m := calm
	g := testGame(testDef(20, 10, 3), &m)
	if more != nil {
		more(g)
	}
	in, err := newTestShard(t, g, o).Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var views []*Viewer
	for range 2 {
		p, err := in.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		views = append(views, in.Attach(p, ViewerOptions{}))
	}
	for range 20 {
		sendAll(in)
	}
	return in, views[0], views[1]
}

func receive(t *testing.T, v *Viewer, m []byte) {
	t.Helper()
	if err := v.Receive(m, 0, discard{}); err != nil {
		t.Fatal(err)
	}
}

// Past the turn's budget late commands wait, and with them the later ones of their
// seats. Others go on, and nothing is lost or comes out of order.
func TestRewindBudget(t *testing.T) {
	in, a, b := lateRoom(t, Options{}, nil)
	s := in.shard
	s.Turn(0)
	receive(t, a, command(in.tick-3, 1, move, 5, 0))
	receive(t, a, command(in.tick+1, 2, move, 6, 0))
	receive(t, b, command(in.tick+1, 1, move, 7, 0))
	score := func(v *Viewer) uint32 {
		at := s.layout.Types[player].Offsets[playerScore]
		for i := range in.count(player) {
			if row := in.row(player, i); le.Uint32(row) == v.player {
				return uint32(le.Uint16(row[at:])) - 3
			}
		}
		t.Fatal("no such player")
		return 0
	}
	for turn := range uint64(3) {
		s.Turn(0)
		sendAll(in)
		if score(a) != 0 || score(b) != 1 || a.processed() != 0 || b.processed() != 1 || s.stats.Rewinds != 0 {
			t.Fatalf("%d and %d commands ran, processed are %d and %d, %d rewinds", score(a), score(b), a.processed(), b.processed(), s.stats.Rewinds)
		}
		if want := 2*turn + 1; s.stats.Queued != want {
			t.Errorf("%d were counted as waiting, not %d", s.stats.Queued, want)
		}
	}
	s.Turn(1)
	sendAll(in)
	if score(a) != 2 || a.processed() != 2 || s.stats.Rewinds != 1 || in.filing.late != 0 {
		t.Errorf("%d commands ran, processed are %d, %d rewinds, %d late", score(a), a.processed(), s.stats.Rewinds, in.filing.late)
	}
	// What was over the budget comes off the turns to come.
	past := int(s.stats.Replayed)
	if s.turn != 1-past {
		t.Errorf("%d ticks ran again, the budget is at %d", past, s.turn)
	}
	receive(t, a, command(in.tick, 3, move, 1, 0))
	for turns := 1; score(a) == 2; turns++ {
		s.Turn(1)
		sendAll(in)
		if turns > past {
			t.Fatal("a command never got its turn")
		}
	}
}

// What the game did when it removed a player stays: its seat is free, and nothing is
// filed before that tick any more.
func TestRemovedPlayersStayRemoved(t *testing.T) {
	in, a, b := lateRoom(t, Options{}, func(g *ticktest.Game) {
		g.Bodies = append(g.Bodies, ticktest.Body{Step: ticktest.Update, Side: schema.OnServer, Type: player,
			Run: func(w *ticktest.World, p ticktest.Object) {
				// Player 3 is lost unless somebody has smashed something.
				if p.ID() == 3 && w.Tick() >= 24 && w.Get(w.Instance(), instanceClock) == 0 {
					w.Remove(p)
				}
			}}, ticktest.Body{Step: ticktest.Handle, Side: schema.OnServer, Command: move,
			Run: func(w *ticktest.World, p ticktest.Object) {
				if w.Arg(move, 0) == 99 {
					w.Set(w.Instance(), instanceClock, 1)
				} else if w.Arg(move, 0) == 98 {
					w.Each(player, func(o ticktest.Object) {
						if o.ID() > 3 {
							w.Remove(o)
						}
					})
				}
			}})
	})
	for in.tick < 26 {
		sendAll(in)
	}
	if b.Attached() || !b.Removed() || in.Players() != 1 {
		t.Fatal("the player was not removed")
	}
	receive(t, a, command(22, 1, move, 99, 0))
	if got := a.seat.last; got != 25 {
		t.Errorf("a command of tick 22 was filed on %d, not on 25, after the removal", got)
	}
	sendAll(in)
	if in.count(player) != 1 || in.Players() != 1 || in.shard.stats.Rewinds != 1 {
		t.Error("the removed player is back")
	}
	// A removal in a tick that runs again holds from now on.
	p, err := in.Join("c")
	if err != nil {
		t.Fatal(err)
	}
	c := in.Attach(p, ViewerOptions{})
	for in.tick < 40 {
		sendAll(in)
	}
	receive(t, a, command(37, 2, move, 98, 0))
	in.Step()
	if c.Attached() || !c.Removed() || in.Players() != 1 || in.count(player) != 1 {
		t.Error("the player is there though a late command removed it")
	}
	receive(t, a, command(38, 3, move, 1, 0))
	if got := a.seat.last; got != in.tick+1 && got != in.tick {
		t.Errorf("a command was filed on %d, before the removal took effect in %d", got, in.tick)
	}
	for range 10 {
		sendAll(in)
	}
}

// An instance that fails in a tick that runs again is over with the last state that
// it had.
func TestInstanceEndsInTheMiddleOfARewind(t *testing.T) {
	in, a, _ := lateRoom(t, Options{}, nil)
	receive(t, a, command(in.tick-2, 1, fail))
	for i := range in.filing.list {
		in.filing.list[i].number = loop // traps as one does that used up the tick's fuel
		le.PutUint32(in.filing.records[schema.CommandNumber:], loop)
	}
	before, tick := canonical(in), in.tick
	in.Step()
	if !in.Ended() || in.tick != tick || !in.SendDue() || !bytes.Equal(before, canonical(in)) {
		t.Errorf("ended %v at tick %d of %d, due %v", in.Ended(), in.tick, tick, in.SendDue())
	}
	in.Commit()
	a.Send(discard{})
}

// A game without commands that clients run keeps no past.
func TestNoPastWithoutUse(t *testing.T) {
	for name, change := range map[string]func(g *ticktest.Game){
		"no shared handlers": func(g *ticktest.Game) {
			g.Bodies = slices.DeleteFunc(g.Bodies, func(b ticktest.Body) bool { return b.Step == ticktest.Handle && b.Side == schema.OnClient })
		},
		"no depth": func(g *ticktest.Game) { g.Def.TimelineDepth = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			in, a, _ := lateRoom(t, Options{}, change)
			receive(t, a, command(in.tick-3, 1, move, 5, 0))
			for range 10 {
				sendAll(in)
			}
			if in.timeline.n != 0 || in.shard.stats.Late != 0 || a.processed() != 1 || len(in.filing.list)+len(in.filing.arrivals) != 0 {
				t.Errorf("%d states, %d late commands, processed %d, %d commands kept", in.timeline.n, in.shard.stats.Late, a.processed(), len(in.filing.list))
			}
		})
	}
}
