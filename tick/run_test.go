package tick

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// twin is one of two instances to which the same happens. One goes through its objects in
// runs, the other one by one.
type twin struct {
	in    *Instance
	views []*Viewer
	out   []byte // of a send
}

func (w *twin) Message(m []byte) { w.out = append(w.out, m...) }

// newTwin makes one with objects of many types that change, come and go as seed has it.
func newTwin(t *testing.T, seed uint64, runs bool) *twin {
	t.Helper()
	d := &schema.Definition{
		Name: "twin", TickRate: 20, SendRate: 20, InstancesPerShard: 1, PlayersPerInstance: 8, BytesPerSend: 1 << 20, KeyframeSeconds: 1,
	}
	step := func(name string) *schema.Field { return stepped(field(name, schema.F32, schema.Sent), 0.5, 0, 400, 2) }
	const most = 40
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1),
		typeOf(player, "player", 8, field("x", schema.F32, schema.Sent)),
		typeOf(2, "float", most, field("x", schema.F32, schema.Sent), field("y", schema.F32, schema.Sent), field("hp", schema.U8, schema.Sent)),
		typeOf(3, "step", most, step("x"), step("y"), field("hp", schema.U16, schema.Sent), field("z", schema.F32, schema.Shared)),
		typeOf(4, "wide", most, field("x", schema.F64, schema.Sent), step("y"), field("on", schema.Bool, schema.Sent)),
		typeOf(5, "point", most, field("x", schema.F32, schema.Sent), field("y", schema.F32, schema.Sent), field("z", schema.F32, schema.Shared)),
		typeOf(6, "corner", most, step("x"), step("y"), field("z", schema.F32, schema.Shared)),
		typeOf(7, "text", most, field("x", schema.F32, schema.Sent), field("name", schema.Str, schema.Sent)),
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	const (
		still = iota // nothing changes
		some
		moves // all numbers do
		moods
	)
	mood, coming := rng.IntN(moods), rng.IntN(3) > 0
	g := &ticktest.Game{Def: d}
	var w twin
	g.Bodies = []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			typ := 2
			for range 6 * most {
				if rng.IntN(4) == 0 {
					typ = 2 + rng.IntN(6)
				}
				w.Spawn(typ, 0)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: instance, Run: func(world *ticktest.World, _ ticktest.Object) {
			if rng.IntN(30) == 0 {
				mood = rng.IntN(moods)
			}
			for coming && rng.IntN(3) == 0 {
				world.Spawn(2+rng.IntN(6), 0)
			}
			for typ := 2; typ < 8; typ++ {
				for i := range w.in.count(typ) {
					for k, f := range d.Types[typ].Fields {
						if f.Kind == schema.Str || mood == still || mood == some && rng.IntN(4) > 0 {
							continue
						}
						v := float64(rng.IntN(3) * 200)
						if rng.IntN(2) == 0 {
							v = rng.Float64()*440 - 20
						}
						if f.Kind == schema.Bool {
							v = float64(rng.IntN(2))
						}
						schema.StoreNumber(f.Kind, w.in.row(typ, i)[w.in.shard.layout.Types[typ].Offsets[k]:], v)
					}
				}
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: 2, Run: func(world *ticktest.World, o ticktest.Object) {
			if coming && rng.IntN(80) == 0 {
				world.Remove(o)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: 5, Run: func(world *ticktest.World, o ticktest.Object) {
			if coming && rng.IntN(80) == 0 {
				world.Remove(o)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: 3, Run: func(world *ticktest.World, o ticktest.Object) {
			if coming && rng.IntN(80) == 0 {
				world.Remove(o)
			} else if rng.IntN(60) == 0 {
				world.Set(o, 3, rng.Uint32()) // it is marked
			}
		}},
	}
	var err error
	if w.in, err = newTestShard(t, g, Options{}).Create("twin", 1, 2); err != nil {
		t.Fatal(err)
	}
	if !runs {
		for i := range w.in.shard.plans {
			w.in.shard.plans[i].lanes.list = nil
		}
	}
	for range 3 {
		p, err := w.in.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		w.views = append(w.views, w.in.Attach(p, ViewerOptions{}))
	}
	return &w
}

// turn runs a tick and gives what is sent. Acks are late by how many sends each of the
// viewers has with lag; one may come that is thin.
func (w *twin) turn(lag []int) []byte {
	w.out = w.out[:0]
	w.in.Step()
	w.in.Commit()
	for i, v := range w.views {
		v.Send(w)
		if w.in.sends > 70 {
			_ = v.Receive(wire.Ack{Tick: w.in.tick - uint32(lag[i])}.Append(nil), 0, w)
		}
	}
	return w.out
}

// What is found and sent is the same whether objects are gone through in runs or not.
func TestRunsSendWhatOneByOneDoes(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		a, b := newTwin(t, seed, true), newTwin(t, seed, false)
		lag := []int{0, 0, 0, 0}
		for tick := range 250 {
			if tick%40 == 0 {
				for i := range lag {
					lag[i] = []int{0, 0, 3, rng.IntN(8)}[rng.IntN(4)]
				}
			}
			switch tick {
			case 150: // images go as far as shared fields now
				a.views = append(a.views, a.in.Attach(0, ViewerOptions{Thin: true, Watch: true}))
				b.views = append(b.views, b.in.Attach(0, ViewerOptions{Thin: true, Watch: true}))
			case 200:
				a.in.Detach(a.views[3])
				b.in.Detach(b.views[3])
				a.views, b.views = a.views[:3], b.views[:3]
			}
			if x, y := a.turn(lag), b.turn(lag); !bytes.Equal(x, y) {
				t.Fatalf("seed %d, tick %d: in runs %d bytes are sent, one by one %d:\n% x\n% x", seed, tick, len(x), len(y), x, y)
			}
			if x, y := a.in.StateHash(), b.in.StateHash(); x != y {
				t.Fatalf("seed %d, tick %d: worlds differ: the test is at fault", seed, tick)
			}
		}
	}
}
