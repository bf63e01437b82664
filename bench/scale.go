package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"gamehoster/bench/bots"
	"gamehoster/bench/direct"
	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
	"gamehoster/bench/proc"
	"gamehoster/bench/report"
	"gamehoster/games"
)

// scaleRooms are the instances of each stage.
var scaleRooms = []int{100, 500, 1000, 2500, 5000}

const (
	scaleWarmUp = 300 // ticks: rocks of all sizes, and the ring of states is full
	scaleTicks  = 30  // of a round
	scaleRounds = 8
	flat        = 1.10
)

// scale is what a player costs the more there are: without sockets, where more can be had than
// two cores play with, and with sockets where nobody does anything.
func scale(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "From 100 to 5,000 instances",
		About: "Asteroids with four players an instance. First without sockets, all playing at the full rates as fast as it goes: what of a player's processor time depends on how many others there are. " +
			"Then over sockets at two ticks and one send a second, with players who only watch what they are sent: what one of 15,000 costs, and what memory a seat takes.",
		Series: pairs.Series{},
	}
	asteroids := filepath.Join(e.Source, "games", "localhost", "asteroids")
	settings := map[string]string{"playersPerInstance": strconv.Itoa(crewSize), "shardInstances": "5000"}
	playing, err := host(asteroids, settings)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, playing.remove()) }()
	g, err := direct.Load(playing.root, filepath.Join(domain, playing.name))
	if err != nil {
		return s, err
	}
	if err := scaleDirect(ctx, e, g, s); err != nil {
		return s, err
	}
	settings["tickRate"], settings["sendRate"], settings["playersPerInstance"] = "2", "1", strconv.Itoa(idleSize)
	idle, err := host(asteroids, settings)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, idle.remove()) }()
	return s, scaleIdle(ctx, e, idle, g.Program.ServerLayout.Size, s)
}

func scaleDirect(ctx context.Context, e *Env, g *games.Game, s *report.Section) (err error) {
	var list []pairs.Contestant
	var names []string
	taken := make([]float64, len(scaleRooms)) // MB
	for i, n := range scaleRooms {
		before, err := proc.Read(os.Getpid())
		if err != nil {
			return err
		}
		stage, err := direct.Open(g, direct.Options{Instances: n, Players: pilots, Lag: 2})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stage.Close()) }()
		// Games of one age are alike, on average.
		for range scaleWarmUp {
			scaleTick(stage)
		}
		after, err := proc.Read(os.Getpid())
		if err != nil {
			return err
		}
		taken[i] = float64(after.Resident-before.Resident) / (1 << 20)
		e.Progress(.2 * float64(i+1) / float64(len(scaleRooms)))
		names = append(names, fmt.Sprintf("%d instances", n))
		list = append(list, pairs.Contestant{Name: names[i], Run: func(int) (pairs.Figures, error) { return scaleRound(stage) }})
	}
	series, err := pairs.Run(ctx, e.plan(scaleRounds, 1, .2, .5), list...)
	if err != nil {
		return err
	}
	parts := []string{"commands and acks", "rules", "commit and sends"}
	table := report.Table{Title: "without sockets, a player's second", Columns: append([]string{"processor time", "to 100 instances", "memory of all"}, parts...)}
	where := &report.Stack{Unit: "µs", Parts: parts}
	for i, name := range names {
		of := series[name]
		s.Series["without sockets, "+name] = of
		row := report.Row{Label: name, Ours: true, Cells: []report.Cell{report.Fig(of["all"], "µs"), report.Fig(series.Ratio(name, names[0], "all"), ""), report.Fig(pairs.Spread{taken[i]}, "MB")}}
		pile := report.Pile{Label: name}
		for _, p := range parts {
			row.Cells = append(row.Cells, report.Fig(of[p], "µs"))
			pile.Values = append(pile.Values, of[p].Median())
		}
		table.Rows = append(table.Rows, row)
		where.Items = append(where.Items, pile)
	}
	s.Tables = append(s.Tables, table)
	s.Charts = append(s.Charts, report.Chart{Title: "Processor time of a player's second, without sockets", Stack: where})
	s.Notes = append(s.Notes, "Memory says where the step is: as long as all instances fit into the processor's last cache, a tick finds them there; more than that come from memory in every tick.")
	last := names[len(names)-1]
	s.Targets = append(s.Targets, report.Target{What: fmt.Sprintf("without sockets, a player's processor time among %s, to that among %d", last, scaleRooms[0]), Got: series.Ratio(last, names[0], "all"), Bound: flat})
	return nil
}

func scaleTick(s *direct.Stage) (in, step, send time.Duration) {
	a := machine.CPUTime()
	inTime(s, pilots)
	b := machine.CPUTime()
	s.Step()
	c := machine.CPUTime()
	s.Send()
	d := machine.CPUTime()
	s.Receive()
	return b - a + machine.CPUTime() - d, c - b, d - c
}

func scaleRound(s *direct.Stage) (pairs.Figures, error) {
	var in, step, send time.Duration
	for range scaleTicks {
		i, t, o := scaleTick(s)
		in, step, send = in+i, step+t, send+o
	}
	us := func(d time.Duration) float64 {
		seconds := float64(scaleTicks) / float64(s.Game.Def.TickRate)
		return float64(d) / float64(time.Microsecond) / seconds / float64(len(s.Rooms)*pilots)
	}
	return pairs.Figures{"all": us(in + step + send), "commands and acks": us(in), "rules": us(step), "commit and sends": us(send)}, s.Refused
}

// idleCrews are the instances of the part with sockets.
var idleCrews = [2]int{100, 5000}

const (
	idleSize = 3 // players of an instance: a process may often open 20,000 descriptors and no more
	seatKB   = 4 // of a player, over the state
)

// scaleIdle has players who do nothing. state is the size of an instance's state in bytes.
func scaleIdle(ctx context.Context, e *Env, h hosted, state int, s *report.Section) error {
	split, err := splitCores()
	if err != nil {
		return err
	}
	table := report.Table{Title: "over sockets, idle", Columns: []string{"of a core", "CPU of a player, a second", "in the kernel", "all sends", "sends late, p99", "resident", "resident of a player"}}
	var cpu, resident [2]float64
	for i, crews := range idleCrews {
		n := crews * idleSize
		from := .5 + .25*float64(i)
		r, err := crewRun(ctx, h, autoTransport, split, bots.Spec{Bots: n, Ping: -1, Connect: time.Second + time.Duration(n)*time.Millisecond/3, Settle: 4 * time.Second, Measure: 5 * time.Second},
			func(p bots.Progress) { e.Progress(from + .25*p.Part) })
		if err != nil {
			return err
		}
		w := r.Watch[0]
		cpu[i] = float64(w.CPU.Microseconds()) / w.At.Seconds() / float64(n)
		resident[i] = float64(w.Resident)
		one := func(v float64, unit string) report.Cell { return report.Fig(pairs.Spread{v}, unit) }
		table.Rows = append(table.Rows, report.Row{Label: fmt.Sprintf("%d instances, %d players", crews, n), Ours: true, Cells: []report.Cell{
			one(100*w.Cores(), "%"), one(cpu[i], "µs"), one(100*float64(w.System)/float64(max(1, w.User+w.System)), "%"),
			one(100*float64(r.Received["delta"].Messages)/r.Seconds/float64(n), "%"), one(r.Late.P99, "ms"), one(resident[i]/(1<<20), "MB"), one(resident[i]/1024/float64(n), "KB")}})
	}
	s.Tables = append(s.Tables, table)
	more := float64((idleCrews[1] - idleCrews[0]) * idleSize)
	seat := (resident[1]-resident[0])/more - float64(state)/idleSize
	s.Targets = append(s.Targets,
		report.Target{What: fmt.Sprintf("over sockets, an idle player's processor time among %d instances, to that among %d", idleCrews[1], idleCrews[0]), Got: pairs.Spread{cpu[1] / cpu[0]}, Bound: flat},
		report.Target{What: "resident memory of a seated idle player over the state", Got: pairs.Spread{seat / 1024}, Bound: seatKB, Unit: "KB"})
	s.Notes = append(s.Notes, split.String()+".",
		"Two cores cannot play 20,000 at 30 ticks and 15 sends a second, so flatness is shown in two parts: what the rules, the commit and the encoding of a player cost, without sockets; "+
			"and what the loop and the kernel cost where little is sent.",
		fmt.Sprintf("A seat's memory is what the server takes more with %.0f players more, and the state of an instance, %d bytes, is taken off; what the server keeps of former states for deltas and late commands is a part of the seat's.", more, state))
	return nil
}
