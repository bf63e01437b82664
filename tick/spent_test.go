package tick

import (
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// frugal is a machine whose view bodies may judge so many objects in a send, as one has
// whose judgements take the fuel of a tick together.
type frugal struct {
	machine
	most, left int
	asked      int // calls, ever
}

func (m *frugal) View(base, viewer, typ, list, count uint32, fresh bool) (done uint32, f vm.Fault, ok bool) {
	m.asked++
	if fresh {
		m.left = m.most
	}
	n := min(count, uint32(m.left))
	if done, f, ok = m.machine.View(base, viewer, typ, list, n, fresh); !ok || n == count {
		m.left -= int(done)
		return done, f, ok
	}
	m.left = 0
	return n, vm.Fault{Kind: body.FaultTickCap}, false
}

// When the view bodies of a send have used up their fuel, what they have judged counts and
// all else is out of view, of every type and for every viewer that is left: none is asked
// again, it is said once, and the next send has fuel of its own.
func TestSpentViewsSeeNothingMore(t *testing.T) {
	const viewers = 3
	d := viewDef(4, 1<<20)
	g := viewGame(d)
	bodies := g.Bodies[:0:0]
	for _, b := range g.Bodies {
		switch {
		case b.Step == ticktest.View:
			b.See = func(*ticktest.World, ticktest.Object, ticktest.Object, bool) bool { return true }
		case b.Step == ticktest.Update && b.Side == schema.OnServer, b.Step == ticktest.Update && b.Type == unit:
			continue // all stay what they are
		}
		bodies = append(bodies, b)
	}
	g.Bodies = bodies
	d.Types[unit].View = nil // all units are judged, wherever they are
	var faults []FaultReport
	s := newTestShard(t, g, Options{OnFault: func(_ *Instance, f FaultReport) { faults = append(faults, f) }})
	m := &frugal{machine: s.machine, most: 1 << 20}
	s.machine = m
	in, err := s.Create("views", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var views [viewers]*Viewer
	var ends [viewers]*ticktest.Client
	for i := range views {
		p, err := in.Join("p")
		if err != nil {
			t.Fatal(err)
		}
		if ends[i], err = g.Module().NewClient(false); err != nil {
			t.Fatal(err)
		}
		views[i] = in.Attach(p, ViewerOptions{})
	}
	// send runs up to the next send, and returns how many units and ghosts each holds.
	send := func() (held [viewers][2]int) {
		t.Helper()
		for in.Step(); !in.SendDue(); in.Step() {
		}
		in.Commit()
		for i, v := range views {
			c := ends[i]
			if v.Send(c); c.Err != nil || c.Resyncs > 0 {
				t.Fatal(c.Err, c.Lost)
			}
			holds := func(id uint32) bool {
				k, ok := in.history.find(id)
				return ok && v.view.held.has(in.history.objects[k].slot)
			}
			if err := c.Compare(in.shard.layout, in.block, nil, holds); err != nil {
				t.Fatal(err)
			}
			for k := range in.history.objects {
				if o := &in.history.objects[k]; v.view.held.has(o.slot) && (o.typ == unit || o.typ == ghost) {
					held[i][o.typ-unit]++
				}
			}
			for _, a := range c.Acks {
				receive(t, v, wire.Ack{Tick: a}.Append(nil))
			}
			c.Acks = c.Acks[:0]
		}
		return held
	}
	send()
	units, all := in.count(unit), in.count(ghost)
	everything := [viewers][2]int{{units, all}, {units, all}, {units, all}}
	if held := send(); held != everything || len(faults) != 0 {
		t.Fatalf("of %d units and %d ghosts %v are held, faults %v", units, all, held, faults)
	}
	for _, c := range []struct {
		fuel int
		held [viewers][2]int
		asks int
	}{
		{viewers * (units + all), everything, 2 * viewers},
		{units + all + 1, [viewers][2]int{{units, all}, {1, 0}}, 3},
		{units + 3, [viewers][2]int{{units, 3}}, 2},
		{units, [viewers][2]int{{units, 0}}, 2},
		{0, [viewers][2]int{}, 1},
	} {
		m.most, m.asked, faults = c.fuel, 0, faults[:0]
		if held := send(); held != c.held {
			t.Errorf("with fuel for %d judgements %v are held, want %v", c.fuel, held, c.held)
		}
		if m.asked != c.asks {
			t.Errorf("with fuel for %d judgements the bodies were asked %d times, want %d", c.fuel, m.asked, c.asks)
		}
		spent := c.held != everything
		if spent && (len(faults) != 1 || faults[0].Fault != body.FaultTickCap || faults[0].Body != -1 || faults[0].Ended) || !spent && len(faults) > 0 {
			t.Errorf("with fuel for %d judgements it is said: %v", c.fuel, faults)
		}
		m.most = 1 << 20
		if held := send(); held != everything {
			t.Errorf("the send after one with fuel for %d judgements has %v", c.fuel, held)
		}
	}
}
