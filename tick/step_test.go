package tick

import (
	"bytes"
	"errors"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/tick/vm"
)

// faulty is the test game with rocks only, whose update counts and then calls f.
func faulty(d *schema.Definition, f func(w *ticktest.World, r ticktest.Object)) *ticktest.Game {
	return &ticktest.Game{Def: d, Bodies: []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, in ticktest.Object) {
			w.Set(in, instanceClock, 7)
			for range 20 {
				w.Spawn(rock, 0)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnClient, Type: rock, Run: func(w *ticktest.World, r ticktest.Object) {
			w.Set(r, rockX, w.Get(r, rockX)+1)
			f(w, r)
		}},
		{Step: ticktest.Update, Side: schema.OnClient, Type: instance, Run: func(w *ticktest.World, in ticktest.Object) {
			w.Set(in, instanceRound, w.Get(in, instanceRound)+1)
		}},
	}}
}

func faultyInstance(t *testing.T, g *ticktest.Game) (in *Instance, reports *[]FaultReport) {
	t.Helper()
	reports = new([]FaultReport)
	s := newTestShard(t, g, Options{OnFault: func(_ *Instance, f FaultReport) { *reports = append(*reports, f) }})
	in, err := s.Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	return in, reports
}

func values(in *Instance, typ, field int) (v []uint32) {
	at := in.shard.layout.Types[typ].Offsets[field]
	for i := range in.count(typ) {
		v = append(v, le.Uint32(in.row(typ, i)[at:]))
	}
	return v
}

// A body that fails for some actors is left out for those: the others' effects are
// those of a tick in which it had not been called for them.
func TestFaultLeavesOutOneActor(t *testing.T) {
	in, reports := faultyInstance(t, faulty(testDef(10, 10, 2), func(w *ticktest.World, r ticktest.Object) {
		if r.ID()%12 == 0 {
			w.Spawn(rock, 0)
			w.Remove(r)
			w.Trap(body.FaultNull)
		}
	}))
	in.Step()
	for i, x := range values(in, rock, rockX) {
		id := uint32(4 * (i + 1))
		want := uint32(1)
		if id%12 == 0 {
			want = 0
		}
		if x != want {
			t.Errorf("rock %d has moved %d times, not %d", id, x, want)
		}
	}
	if n := in.count(rock); n != 20 {
		t.Errorf("%d rocks, not 20", n)
	}
	if next := le.Uint32(in.block[schema.HeaderNextShared:]); next != schema.FirstShared {
		t.Errorf("the failed runs took ids up to %d", next)
	}
	if len(*reports) != 6 {
		t.Fatalf("%d reports of 6 faults", len(*reports))
	}
	for i, f := range *reports {
		if f.Fault != body.FaultNull || f.Body != 1 || f.Actor != uint32(12*(i+1)) || f.Tick != 1 || f.All || f.Ended {
			t.Errorf("report %d is %+v", i, f)
		}
	}
	if in.Tick() != 1 || in.Ended() || in.shard.stats.Reruns != 6 {
		t.Errorf("tick %d, ended %v, %d reruns", in.Tick(), in.Ended(), in.shard.stats.Reruns)
	}
}

// After eight reruns for one body it is dropped for all its actors in that tick, and
// gets another chance in the next.
func TestFaultyBodyIsDropped(t *testing.T) {
	broken := true
	in, reports := faultyInstance(t, faulty(testDef(10, 10, 2), func(w *ticktest.World, r ticktest.Object) {
		if broken && r.ID() > 16 {
			w.Trap(body.FaultFuel)
		}
	}))
	in.Step()
	if n := len(*reports); n != rerunsPerBody+1 {
		t.Fatalf("%d faults in the tick, not %d", n, rerunsPerBody+1)
	}
	for i, f := range *reports {
		if f.All != (i == rerunsPerBody) {
			t.Errorf("fault %d: dropped for all is %v", i, f.All)
		}
	}
	for i, x := range values(in, rock, rockX) {
		if x != 0 {
			t.Errorf("rock %d has moved", 4*(i+1))
		}
	}
	if round := values(in, instance, instanceRound)[0]; round != 1 {
		t.Errorf("the other body ran %d times", round)
	}
	broken = false
	in.Step()
	for i, x := range values(in, rock, rockX) {
		if x != 1 {
			t.Errorf("rock %d has moved %d times", 4*(i+1), x)
		}
	}
}

func TestTickCapEndsTheInstance(t *testing.T) {
	broken := false
	in, reports := faultyInstance(t, faulty(testDef(10, 5, 2), func(w *ticktest.World, _ ticktest.Object) {
		if broken {
			w.Trap(body.FaultTickCap)
		}
	}))
	in.Step()
	before := bytes.Clone(in.block)
	broken = true
	in.Step()
	if !in.Ended() || in.Open() || in.Tick() != 1 || !in.SendDue() {
		t.Errorf("ended %v, open %v, tick %d, send due %v", in.Ended(), in.Open(), in.Tick(), in.SendDue())
	}
	if !bytes.Equal(before, in.block) {
		t.Error("the failed tick left something behind")
	}
	if len(*reports) != 1 || !(*reports)[0].Ended || (*reports)[0].Body != -1 {
		t.Errorf("reports: %+v", *reports)
	}
	in.Step()
	if in.Tick() != 1 || in.SendDue() {
		t.Error("an ended instance ran a tick")
	}
	if _, err := in.Join("late"); !errors.Is(err, ErrClosed) {
		t.Errorf("joining an ended instance: %v", err)
	}
}

// A trap of a body that was to be left out, or of one that does not exist, is the
// machine's fault. It must not be run again for ever.
func TestBrokenMachineEndsTheInstance(t *testing.T) {
	g := faulty(testDef(10, 10, 2), func(*ticktest.World, ticktest.Object) {})
	m := &deaf{Guest: g.NewGuest(schema.OnServer)}
	s, err := newShard(g.Def, g.Program(), 0, Options{}, m)
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	in.Step()
	if !in.Ended() || m.runs != 2 {
		t.Errorf("ended %v after %d runs", in.Ended(), m.runs)
	}
}

// A start body that fails has no effect; the defaults are there.
func TestFaultInStart(t *testing.T) {
	g := faulty(testDef(10, 10, 2), func(*ticktest.World, ticktest.Object) {})
	g.Def.Types[instance].Fields[instanceClock].Default = 33
	start := g.Bodies[0].Run
	g.Bodies[0].Run = func(w *ticktest.World, in ticktest.Object) {
		start(w, in)
		w.Trap(body.FaultName)
	}
	in, reports := faultyInstance(t, g)
	if in.Ended() || in.count(rock) != 0 || len(*reports) != 1 || (*reports)[0].Body != 0 {
		t.Errorf("ended %v, %d rocks, reports %+v", in.Ended(), in.count(rock), *reports)
	}
	at := in.shard.layout.Types[instance].Offsets[instanceClock]
	if clock := le.Uint16(in.row(instance, 0)[at:]); clock != 33 {
		t.Errorf("the clock is %d, its default is 33", clock)
	}
	in.Step()
	if in.Tick() != 1 {
		t.Error("the instance does not run")
	}
}

func TestInstancesComeAndGo(t *testing.T) {
	quiet := calm
	def := testDef(10, 10, 2)
	def.InstancesPerShard = 3
	s := newTestShard(t, testGame(def, &quiet), Options{})
	var all []*Instance
	for range 3 {
		in, err := s.Create("room", 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	if _, err := s.Create("room", 1, 2); !errors.Is(err, ErrFull) {
		t.Errorf("a fourth of three: %v", err)
	}
	first := bytes.Clone(all[0].block)
	p, err := all[1].Join("ada")
	if err != nil {
		t.Fatal(err)
	}
	v := all[1].Attach(p, ViewerOptions{})
	for range 5 {
		for _, in := range all {
			in.Step()
			in.Commit()
		}
		v.Send(discard{})
	}
	all[1].Retire()
	all[1].Retire()
	if s.Instances() != 2 || v.Attached() || !all[1].Ended() || all[1].Tick() != 5 || all[1].Name() != "room" {
		t.Error("a retired instance is not gone")
	}
	v.Send(discard{})
	v.Skip()
	if err := v.Receive([]byte{0xff}, 0, discard{}); err != nil {
		t.Errorf("a viewer of a retired instance: %v", err)
	}
	all[1].Step()
	all[1].Commit()
	all[1].Leave(p)
	if all[1].Attach(p, ViewerOptions{}) != nil || all[1].Attach(0, ViewerOptions{Watch: true}) != nil {
		t.Error("a viewer of a retired instance")
	}
	again, err := s.Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.block, first) {
		t.Error("a block given again is not like new")
	}
	if all[0].StateHash() != all[2].StateHash() {
		t.Error("a neighbour changed")
	}
}

// deaf traps in the same body run whatever it is told to leave out.
type deaf struct {
	*ticktest.Guest
	runs int
}

func (d *deaf) Tick(_, _ uint32) (vm.Fault, bool) {
	d.runs++
	return vm.Fault{Kind: body.FaultNull, Body: 1, Actor: 4}, false
}
