package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gamehoster/bench/bots"
	"gamehoster/bench/latency"
	"gamehoster/bench/pairs"
	"gamehoster/bench/report"
)

const (
	matchPlayers = 2000 // in matches of ten
	nakamaMS     = 15.06
)

// match10 is small matches in which all hear what each says.
func match10(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "Matches of ten",
		About: fmt.Sprintf("%d players in matches of ten at 10 Hz: each says something ten times a second, and it goes to all ten with the next tick.", matchPlayers),
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	h, err := host(filepath.Join(e.Source, "bench", "games", "match10"), nil)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	r, err := crewRun(ctx, h, autoTransport, split, bots.Spec{Bots: matchPlayers, Commands: 10, Connect: 2 * time.Second, Settle: 3 * time.Second, Measure: 10 * time.Second},
		func(p bots.Progress) { e.Progress(p.Part) })
	if err != nil {
		return s, err
	}
	one := func(v float64, unit string) report.Cell { return report.Fig(pairs.Spread{v}, unit) }
	row := func(label string, mean, p50, p99, p999 float64) report.Row {
		return report.Row{Label: label, Ours: true, Cells: []report.Cell{one(mean, "ms"), one(p50, "ms"), one(p99, "ms"), one(p999, "ms")}}
	}
	s.Tables = []report.Table{{Title: "from the player and back", Columns: []string{"mean", "p50", "p99", "p99.9"}, Rows: []report.Row{
		row("what is said, with the wait for the tick", r.Command.Mean, r.Command.P50, r.Command.P99, r.Command.P999),
		row("a ping, which waits for none", r.RoundTrip.Mean, r.RoundTrip.P50, r.RoundTrip.P99, r.RoundTrip.P999),
		row("a send, later than it was due", r.Late.Mean, r.Late.P50, r.Late.P99, r.Late.P999),
	}}}
	s.Charts = []report.Chart{{Title: "A ping over the run", Lines: windows(r.RoundTrip.Windows)}}
	s.Targets = []report.Target{{What: "mean time of a message that waits for no tick, to what Nakama published of its match", Got: pairs.Spread{r.RoundTrip.Mean}, Bound: nakamaMS, Unit: "ms"}}
	s.Notes = []string{split.String() + fmt.Sprintf("; the server took %.0f %% of its core, the bots %.0f %% of theirs.", 100*r.Watch[0].Cores(), 100*r.Bots.Cores()),
		fmt.Sprintf("Nakama published a mean of %.2f ms for its authoritative matches of ten at 10 Hz on other machines; it does not say whether the wait for the tick, 50 ms on average, is in it. "+
			"Both of ours are given, and only the one without it can be set beside that.", nakamaMS)}
	return s, nil
}

// windows draws a latency over time.
func windows(list []latency.Window) *report.Lines {
	l := &report.Lines{XUnit: "s", YUnit: "ms", Series: []report.Line{{Label: "p50"}, {Label: "p99"}, {Label: "greatest"}}}
	for _, w := range list {
		if w.Count == 0 {
			continue
		}
		for i, v := range []float64{w.P50, w.P99, w.Max} {
			l.Series[i].Points = append(l.Series[i].Points, [2]float64{w.At, v})
		}
	}
	return l
}

const (
	stormBots   = 10_000
	stormRounds = 10
	closeTime   = 5 * time.Second // for the server to close the last sockets
	spareFiles  = 16              // descriptors that a process may have opened for itself
)

// storm is a crowd that comes at once and goes, again and again.
func storm(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "A crowd comes and goes",
		About: fmt.Sprintf("%d players join a game of Asteroids within a second, play for a moment, and leave; %d times. Nothing of them may stay.", stormBots, stormRounds),
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	h, err := host(filepath.Join(e.Source, "games", "localhost", "asteroids"), map[string]string{"shardInstances": "3000", "resumeSeconds": "0"})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	srv, err := h.serve(ctx, autoTransport, split)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	before := openFiles(srv.PID)
	r, err := h.play(ctx, srv, split, bots.Spec{Bots: stormBots, Connect: time.Second, Settle: time.Second, Measure: time.Second, Rounds: stormRounds, Commands: 1, Ping: -1},
		func(p bots.Progress) { e.Progress(p.Part) })
	if err != nil {
		return s, err
	}
	left := openFiles(srv.PID)
	for deadline := time.Now().Add(closeTime); left > before+spareFiles && time.Now().Before(deadline) && ctx.Err() == nil; left = openFiles(srv.PID) {
		time.Sleep(100 * time.Millisecond)
	}
	table := report.Table{Title: "round", Columns: []string{"seated", "until all were or gave up", "server's time of a player", "resident before", "after all had left"}}
	memory := &report.Lines{XUnit: "round", YUnit: "MB", Series: []report.Line{{Label: "resident, after all had left"}}}
	var after pairs.Spread
	const mb = 1 << 20
	for i, round := range r.Rounds {
		one := func(v float64, unit string) report.Cell { return report.Fig(pairs.Spread{v}, unit) }
		resident := float64(round.After[0].Resident) / mb
		after = append(after, resident)
		spent := round.After[0].CPU - round.Watch[0].CPU
		table.Rows = append(table.Rows, report.Row{Label: fmt.Sprint(i + 1), Ours: true, Cells: []report.Cell{
			report.Text("%d", round.Seated), one(round.Seconds, "s"), one(float64(spent.Microseconds())/float64(max(1, round.Seated)), "µs"), one(float64(round.Watch[0].Resident)/mb, "MB"), one(resident, "MB")}})
		memory.Series[0].Points = append(memory.Series[0].Points, [2]float64{float64(i + 1), resident})
	}
	seats := &report.Lines{XUnit: "percentile", YUnit: "ms", Ticks: percentileTicks(), Series: []report.Line{{Label: "a seat"}}}
	for _, p := range r.Seat.Curve {
		if x := nines(p.Part); x <= nines(.9999) {
			seats.Series[0].Points = append(seats.Series[0].Points, [2]float64{x, p.MS})
		}
	}
	s.Tables = []report.Table{table}
	s.Charts = []report.Chart{{Title: "Memory by round", Lines: memory}, {Title: "From the connection to the first state, all rounds", Lines: seats}}
	if half := len(after) / 2; half > 0 {
		// The first rounds fill what is kept for the next ones.
		s.Targets = append(s.Targets, report.Target{What: "memory after the last round, to the most in the first half", Got: pairs.Spread{after[len(after)-1] / after[:half].Max()}, Bound: 1.1})
	}
	s.Targets = append(s.Targets, report.Target{What: "open descriptors in the end, more than before the first", Got: pairs.Spread{float64(left - before)}, Bound: spareFiles})
	seated := 0
	for _, round := range r.Rounds {
		seated += round.Seated
	}
	s.Targets = append(s.Targets, report.Target{What: "seated, of those that came", Got: pairs.Spread{100 * float64(seated) / (stormBots * stormRounds)}, Bound: 99.99, AtLeast: true, Unit: "%"})
	s.Notes = []string{split.String() + ". A bot that waits for its seat counts from the start of its connection, the bots' own waiting included. " +
		"A player's time is for its coming, some seconds of play, and its going."}
	if n := len(r.Connection.Refused) + len(r.Closes); n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Connections that were refused: %v; and cut: %v. Bots try again, as browsers do.", r.Connection.Refused, r.Closes))
	}
	if r.Thin.Faults > 0 {
		err = fmt.Errorf("bots that check every byte found %d faults: %s", r.Thin.Faults, strings.Join(r.Thin.Examples, "; "))
	}
	return s, err
}

// openFiles is the number of a process's descriptors; 0 where they cannot be read.
func openFiles(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

const (
	mixedPlayers = 1000
	badOnes      = 100 // of them
	mixedRounds  = 2
)

// slow is players who stop reading, or who lie, beside others who are not to notice.
func slow(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "Some stop reading, some lie",
		About: fmt.Sprintf("%d players of Asteroids; in one turn all are honest, in the next %d of them stop reading after a while, in the next as many try one trick after another: "+
			"%d of them, floods, lies about ticks and acks, malformed frames and messages, half closes. The others are to see no difference, and the memory that waits for the slow ones has a bound.",
			mixedPlayers, badOnes, len(bots.Tricks())),
		Series: pairs.Series{},
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	h, err := host(filepath.Join(e.Source, "games", "localhost", "asteroids"), nil)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	tried, wrong := 0, map[string]int{}
	contestant := func(name string, mix bots.Mix) pairs.Contestant {
		return pairs.Contestant{Name: name, Run: func(int) (pairs.Figures, error) {
			r, err := crewRun(ctx, h, autoTransport, split, bots.Spec{Bots: mixedPlayers, Mix: mix, Commands: crewCommands,
				Connect: time.Second, Settle: 2 * time.Second, Measure: 5 * time.Second}, nil)
			if err != nil {
				return nil, err
			}
			for _, ends := range r.Hostile {
				for _, n := range ends {
					tried += n
				}
			}
			for what, n := range r.Missed {
				wrong[what] += n
			}
			return pairs.Figures{"late p50": r.Late.P50, "late p99.9": r.Late.P999, "command p50": r.Command.P50, "command p99.9": r.Command.P999, "peak MB": float64(r.Watch[0].Peak) / (1 << 20),
				"core": 100 * r.Watch[0].Cores()}, nil
		}}
	}
	const honest = "all honest"
	silent, liars := fmt.Sprintf("%d do not read", badOnes), fmt.Sprintf("%d lie", badOnes)
	series, err := pairs.Run(ctx, e.plan(mixedRounds, 0, 0, 1), contestant(honest, bots.Mix{}), contestant(silent, bots.Mix{Slow: badOnes}), contestant(liars, bots.Mix{Hostile: badOnes}))
	if err != nil {
		return s, err
	}
	table := report.Table{Title: "the honest ones", Columns: []string{"command p50", "p99.9", "sends late p50", "p99.9", "server of a core", "peak memory"}}
	bars := &report.Bars{Unit: "ms"}
	for i, name := range []string{honest, silent, liars} {
		of := series[name]
		s.Series[name] = of
		table.Rows = append(table.Rows, report.Row{Label: name, Ours: i > 0, Cells: []report.Cell{
			report.Fig(of["command p50"], "ms"), report.Fig(of["command p99.9"], "ms"), report.Fig(of["late p50"], "ms"), report.Fig(of["late p99.9"], "ms"), report.Fig(of["core"], "%"), report.Fig(of["peak MB"], "MB")}})
		bars.Items = append(bars.Items, report.Bar{Label: name, Ours: i > 0, Spread: of["command p99.9"]})
	}
	s.Tables = []report.Table{table}
	s.Charts = []report.Chart{{Title: "A command's p99.9", Bars: bars}}
	s.Targets = []report.Target{
		{What: "p99.9 of a command of those who read, to that without slow ones", Got: series.Ratio(silent, honest, "command p99.9"), Bound: 1.05},
		{What: "p99.9 of a command of honest ones beside liars, to that without", Got: series.Ratio(liars, honest, "command p99.9"), Bound: 1.05},
		{What: "peak memory with slow ones, to that without", Got: series.Ratio(silent, honest, "peak MB"), Bound: 1.25},
	}
	s.Notes = []string{split.String() + fmt.Sprintf(". %d tricks were tried to their end.", tried)}
	if len(wrong) > 0 {
		err = fmt.Errorf("tricks that ended otherwise than they should: %v", wrong)
	}
	return s, err
}
