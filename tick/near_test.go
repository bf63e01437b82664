package tick

import (
	"fmt"
	"math"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// What a viewer costs depends on what is near it: with four times as many objects, as
// dense, no more of them are looked at, and with half the viewers half as many. Counted,
// not timed.
func TestViewersLookAtWhatIsNear(t *testing.T) {
	looks := func(units, viewers int) (near, judged float64) {
		in, views := plane(t, units, viewers, 30)
		sinks := make([]counter, viewers)
		const rounds = 10
		for range rounds {
			in.tick += in.shard.rules.perSend
			in.Commit()
			for i, v := range views {
				v.Send(&sinks[i])
				if n, held := len(in.shard.scratch.held), 0; n > 0 {
					for k := range in.history.objects {
						if v.view.held.has(in.history.objects[k].slot) {
							held++
						}
					}
					if n != held {
						t.Fatalf("%d objects are walked, %d are held", n, held)
					}
				}
			}
		}
		x := in.shard.Stats()
		return float64(x.Near) / rounds, float64(x.Judged) / rounds
	}
	near, judged := looks(2000, 100)
	t.Logf("2,000 objects, 100 viewers: %.0f distances taken and %.0f objects judged a send, of 200,000", near, judged)
	// Nine cells of a radius and an eighth have 9 * 1.27 / pi circles of 30 objects, and
	// other cells may share a list.
	if near > 100*30*9*1.27/math.Pi*1.5 || judged > 100*30*1.27*1.5 {
		t.Error("that is too many")
	}
	if n, j := looks(8000, 100); n > near*1.2 || j > judged*1.2 {
		t.Errorf("8,000 objects: %.0f and %.0f", n, j)
	}
	if n, j := looks(2000, 50); n > near*0.6 || j > judged*0.6 {
		t.Errorf("50 viewers: %.0f and %.0f", n, j)
	}
}

// crowd is an instance of objects on a line, ten apart, all of which change all the
// time, with a player at its beginning. Half of the radius they declare is far.
func crowd(t testing.TB, n, budget int) (*Instance, *Viewer) {
	t.Helper()
	d := &schema.Definition{
		Name: "crowd", TickRate: 20, SendRate: 20, InstancesPerShard: 1, PlayersPerInstance: 4, BytesPerSend: budget,
	}
	d.Types = []*schema.Type{
		typeOf(instance, "instance", 1),
		typeOf(player, "player", 4, field("x", schema.F32, schema.Server), field("y", schema.F32, schema.Server)),
		typeOf(rock, "rock", n, field("x", schema.F32, schema.Sent), field("y", schema.F32, schema.Sent), field("n", schema.U32, schema.Sent)),
	}
	d.Types[rock].View = &schema.ViewHint{Radius: float64(10 * n / 2), X: "x", Y: "y"}
	g := &ticktest.Game{Def: d, Bodies: []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			for i := range n {
				// Those with the smallest ids are the farthest.
				if r, ok := w.Spawn(rock, 0); ok {
					w.Set(r, 0, uint32(10*(n-1-i)))
				}
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: rock, Run: func(w *ticktest.World, r ticktest.Object) {
			w.Set(r, 2, w.Tick()*3+r.ID())
		}},
	}}
	in, err := newTestShard(t, g, Options{}).Create("crowd", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	return in, in.Attach(p, ViewerOptions{})
}

// Over the budget what is near goes out more often, and what is far does not starve:
// with room for c of n objects none waits longer than 5n/c sends.
func TestNearestFirst(t *testing.T) {
	const n = 80
	for _, budget := range []int{60, 150, 400} {
		for _, lag := range []int{0, 3} {
			t.Run(fmt.Sprintf("%d bytes, acks %d behind", budget, lag), func(t *testing.T) {
				in, v := crowd(t, n, budget)
				l := &listed{in: in, ids: map[uint32]bool{}}
				last, times := map[uint32]int{}, map[uint32]int{}
				const most = wire.MaxUvarint + 1 + 12
				c := max(1, budget/most)
				worst := 0
				var ticks []uint32
				for send := range 2000 {
					sendTo(in, v, l)
					if ticks = append(ticks, l.tick); len(ticks) > lag {
						receive(t, v, wire.Ack{Tick: ticks[0]}.Append(nil))
						ticks = ticks[1:]
					}
					for i := range in.count(rock) {
						id := le.Uint32(in.row(rock, i))
						if l.ids[id] || send < 3 {
							last[id] = send
							times[id]++
						}
						worst = max(worst, send-last[id])
					}
				}
				quarter := func(k int) (sum int) {
					for i := range n / 8 { // of the radius, which is half of the line
						sum += times[le.Uint32(in.row(rock, n-1-i-k*n/8))]
					}
					return sum
				}
				far := 0
				for i := range n / 2 {
					far += times[le.Uint32(in.row(rock, i))]
				}
				bound := (5*n + c - 1) / c
				t.Logf("listed by quarters of the radius: %d %d %d %d times, beyond it %d; worst wait %d sends, bound %d",
					quarter(0), quarter(1), quarter(2), quarter(3), far/4, worst, bound)
				if worst > bound {
					t.Errorf("an object waited for %d sends, the bound is %d", worst, bound)
				}
				if quarter(0) < far/4*2 || quarter(0) < quarter(3) || quarter(1) < far/4 {
					t.Error("what is near is not listed more often")
				}
			})
		}
	}
}

// Of many that come into view at once the nearest come first, and all come.
func TestNearestEntersFirst(t *testing.T) {
	d := viewDef(40, 200)
	g := viewGame(d)
	g.Bodies = []ticktest.Body{
		{Step: ticktest.Start, Side: schema.OnServer, Run: func(w *ticktest.World, _ ticktest.Object) {
			for i := range uint32(40) {
				u, _ := w.Spawn(unit, 0)
				w.Set(u, unitX, 99-i*2)
				w.Set(u, unitHidden, 1)
			}
		}},
		{Step: ticktest.Update, Side: schema.OnServer, Type: unit, Run: func(w *ticktest.World, u ticktest.Object) {
			if w.Tick() == 8 {
				w.Set(u, unitHidden, 0)
			}
		}},
		{Step: ticktest.View, Side: schema.OnServer, Type: unit, See: func(w *ticktest.World, p, u ticktest.Object, held bool) bool {
			return w.Get(u, unitHidden) == 0
		}},
	}
	in, err := newTestShard(t, g, Options{}).Create("views", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	v := in.Attach(p, ViewerOptions{})
	var came []int // sends until each came, by id, which is from far to near
	for send := range 40 {
		sendAll2(in, v, discard{})
		came = append(came[:0:0], came...)
		for i := range in.count(unit) {
			k, _ := in.history.find(le.Uint32(in.row(unit, i)))
			if len(came) <= i {
				came = append(came, 0)
			}
			if came[i] == 0 && v.view.held.has(in.history.objects[k].slot) {
				came[i] = send
			}
		}
	}
	sum := func(list []int) (n int) {
		for _, x := range list {
			n += x
		}
		return n
	}
	t.Logf("from far to near they came at sends %v", came)
	for i, x := range came {
		if x == 0 {
			t.Errorf("unit %d never came", i)
		}
	}
	if far, near := sum(came[:10]), sum(came[30:]); near >= far {
		t.Errorf("the ten nearest came at %d sends in sum, the ten farthest at %d", near, far)
	}
}
