package bots

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"gamehoster/bench/proc/proctest"
	"gamehoster/engine"
)

const samples = "../../games/localhost"

// serve runs a box with the sample games.
func serve(t *testing.T) (addr string, stop func()) {
	t.Helper()
	b, err := engine.New(engine.Config{Dir: samples, Addr: "127.0.0.1:0", DrainTimeout: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return b.Addr().String(), proctest.Beside(t, b.Run)
}

func play(t *testing.T, s Spec) *Report {
	t.Helper()
	addr, stop := serve(t)
	defer stop()
	s.Addr = addr
	r, err := Run(t.Context(), s, func(p Progress) { t.Log(p.Text) })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Thin.Examples {
		t.Errorf("fault: %s", f)
	}
	return r
}

func TestHonestBots(t *testing.T) {
	for _, game := range []string{"asteroids", "pong"} {
		t.Run(game, func(t *testing.T) {
			r := play(t, Spec{
				Game: samples + "/" + game, Bots: 40, Seed: 7, Commands: 20, Thin: 4,
				Connect: 200 * time.Millisecond, Settle: 300 * time.Millisecond, Measure: 2 * time.Second, Ping: 100 * time.Millisecond,
			})
			rate := 15
			if game == "pong" {
				rate = 20
			}
			t.Logf("command %s", r.Command)
			t.Logf("late %s", r.Late)
			t.Logf("trip %s; seat %s; lag %s", r.RoundTrip, r.Seat, r.Lag)
			t.Logf("%+v; sent %+v; %d bytes in; %+v", r.Received, r.Sent, r.BytesIn, r.Thin)
			sends := int64(40 * rate * 2)
			if n := r.Received["delta"].Messages + r.Received["snapshot"].Messages; n < sends/2 || n > sends*3/2 {
				t.Errorf("%d send ticks where %d were due", n, sends)
			}
			if r.Connection.Opened != 40 || len(r.Connection.Refused) != 0 || len(r.Closes) != 0 || r.Players < 35 || r.Rounds[0].Seated != 40 {
				t.Errorf("connections %+v, closes %v, %v players", r.Connection, r.Closes, r.Players)
			}
			if n := r.Command.Count; n < 40*20*2/2 || r.Unacked != 0 {
				t.Errorf("%d commands were confirmed, %d not", n, r.Unacked)
			}
			if r.Command.P50 <= 0 || r.Command.P50 > 2000/float64(rate) {
				t.Errorf("the median from command to send is %v ms", r.Command.P50)
			}
			if n := r.RoundTrip.Count; n < 40*20/4 {
				t.Errorf("%d pings were answered", n)
			}
			// Every second one, and what goes out with the pings.
			if a, p := r.Sent["ack"].Messages, r.Sent["ping"].Messages; a < sends/4 || a > sends*3/4+p {
				t.Errorf("%d acks for %d send ticks", a, sends)
			}
			if r.Thin.Bots != 10 || r.Thin.Sends < sends/4/2 || r.Thin.Objects < r.Thin.Sends || r.Thin.Faults != 0 {
				t.Errorf("thin bots: %+v", r.Thin)
			}
			if len(r.Command.Windows) < 2 || len(r.Late.Windows) < 2 || r.Command.HDR == "" {
				t.Errorf("%d and %d windows", len(r.Command.Windows), len(r.Late.Windows))
			}
		})
	}
}

// TestBadBotsHarmNobody has all kinds play beside honest bots.
func TestBadBotsHarmNobody(t *testing.T) {
	r := play(t, Spec{
		Game: samples + "/asteroids", Bots: 120, Seed: 3, Commands: 10, Thin: 5,
		Mix:     Mix{Slow: 5, Trickle: 5, Silent: 5, Hostile: 50, Restless: 10},
		Measure: 6 * time.Second,
	})
	t.Logf("command %s; late %s; reseat %s", r.Command, r.Late, r.Reseat)
	t.Logf("%+v; ends %v; hostile %v; resumed %d", r.Connection, r.Ends, r.Hostile, r.Connection.Resumed)
	for what, n := range r.Missed {
		t.Errorf("%d times: %s", n, what)
	}
	for _, name := range Tricks() {
		if len(r.Hostile[name]) == 0 {
			t.Errorf("%s was not tried", name)
		}
	}
	if len(r.Closes) != 0 || r.Unacked != 0 || r.Players < 30 {
		t.Errorf("honest bots: closes %v, %d commands not confirmed, %v players", r.Closes, r.Unacked, r.Players)
	}
	if r.Thin.Faults != 0 || r.Thin.Bots == 0 {
		t.Errorf("thin bots: %+v", r.Thin)
	}
	if r.Connection.Resumed == 0 || r.Reseat.Count == 0 {
		t.Errorf("nobody came back: %+v, %d", r.Connection, r.Reseat.Count)
	}
}

func TestRoundsLeaveNothingBehind(t *testing.T) {
	addr, stop := serve(t)
	defer stop()
	run := func(rounds int) *Report {
		r, err := Run(t.Context(), Spec{
			Addr: addr, Game: samples + "/asteroids", Bots: 50, Rounds: rounds, Measure: 100 * time.Millisecond,
			Mix: Mix{Slow: 1, Trickle: 1, Silent: 1, Hostile: 2, Restless: 2}, Watch: []int{os.Getpid()},
			Calls: 100 * time.Millisecond,
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	run(1)
	before := proctest.Now(t)
	r := run(3)
	proctest.NoMore(t, before)
	if len(r.Rounds) != 3 || r.Connection.Opened < 3*48 || len(r.Watch) != 1 || r.Watch[0].CPU <= 0 {
		t.Errorf("%+v", r)
	}
	if len(r.Calls) == 1 && r.Calls[0] < 100 { // where they can be counted
		t.Errorf("%v system calls a second", r.Calls[0])
	}
	for _, round := range r.Rounds {
		if round.Seated < 40 || len(round.Watch) != 1 || len(round.After) != 1 {
			t.Errorf("%+v", round)
		}
	}
}

func TestACancelledRunEnds(t *testing.T) {
	addr, stop := serve(t)
	defer stop()
	spec := Spec{Addr: addr, Game: samples + "/pong", Bots: 10}
	if _, err := Run(t.Context(), spec, nil); err != nil { // netpoll's own descriptors are there now
		t.Fatal(err)
	}
	before := proctest.Now(t)
	spec.Measure = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, spec, func(p Progress) {
		if p.Phase == Measuring {
			cancel()
		}
	})
	if err == nil {
		t.Error("a cancelled run gave a report")
	}
	proctest.NoMore(t, before)
}

func TestNobodyThere(t *testing.T) {
	r, err := Run(t.Context(), Spec{Addr: "127.0.0.1:1", Game: samples + "/pong", Bots: 3, Measure: 50 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Connection.Opened != 0 || r.Connection.Refused["connection refused"] < 3 || r.Players != 0 {
		t.Errorf("%+v", r.Connection)
	}
}

func TestProcess(t *testing.T) {
	addr, stop := serve(t)
	defer stop()
	spec := Spec{Addr: addr, Game: samples + "/pong", Bots: 4, Commands: 10, Measure: 300 * time.Millisecond, Every: 100 * time.Millisecond}
	var out strings.Builder
	if err := Main(t.Context(), spec.String(), &out); err != nil {
		t.Fatal(err)
	}
	var phases []Phase
	last := 0.0
	r, err := Read(strings.NewReader(out.String()), func(p Progress) {
		phases = append(phases, p.Phase)
		if p.Part < last || p.Part > 1 {
			t.Errorf("progress went from %v to %v", last, p.Part)
		}
		last = p.Part
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Command.Count == 0 || r.Spec.Bots != 4 || last != 1 || phases[0] != Connecting || phases[len(phases)-1] != Leaving {
		t.Errorf("%v, %v, %d commands", phases, last, r.Command.Count)
	}
	if _, err := Read(strings.NewReader("{}\n"), nil); err == nil {
		t.Error("no report was read as one")
	}
}

func TestSpecs(t *testing.T) {
	good := Spec{Addr: "127.0.0.1:80", Game: samples + "/pong", Bots: 1}
	for _, bad := range []func(*Spec){
		func(s *Spec) { s.Addr = "localhost:80" },
		func(s *Spec) { s.Game = "nowhere" },
		func(s *Spec) { s.Bots = 0 },
		func(s *Spec) { s.Bots = MaxBots + 1 },
		func(s *Spec) { s.Commands = -1 },
		func(s *Spec) { s.Command = "dance" },
		func(s *Spec) { s.Mix.Slow = 2 },
		func(s *Spec) { s.Mix = Mix{Slow: -1, Silent: 1} },
		func(s *Spec) { s.Late.Share = 2 },
		func(s *Spec) { s.Measure = -1 },
	} {
		s := good
		bad(&s)
		if _, err := Run(t.Context(), s, nil); err == nil {
			t.Errorf("%s was taken", s)
		}
	}
	if _, err := ParseSpec(`{"bot": 1}`); err == nil {
		t.Error("a typo was taken")
	}
	if s, err := ParseSpec(good.String()); err != nil || s.Addr != good.Addr {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMixIsExact(t *testing.T) {
	for _, c := range []struct {
		bots int
		mix  Mix
	}{
		{10, Mix{Slow: 10}}, {1000, Mix{Slow: 100}}, {7, Mix{1, 1, 1, 1, 1}}, {1000, Mix{13, 1, 40, 7, 301}}, {5, Mix{}}, {3, Mix{Hostile: 1}},
	} {
		f := &fleet{Spec: Spec{Bots: c.bots, Mix: c.mix}}
		var got Mix
		for n := range c.bots {
			switch f.kindOf(n) {
			case slow:
				got.Slow++
			case trickle:
				got.Trickle++
			case silent:
				got.Silent++
			case hostile:
				got.Hostile++
			case restless:
				got.Restless++
			}
		}
		if got != c.mix {
			t.Errorf("%d bots: %+v, want %+v", c.bots, got, c.mix)
		}
	}
}
