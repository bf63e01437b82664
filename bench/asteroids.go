package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gamehoster/bench/beat"
	"gamehoster/bench/bots"
	"gamehoster/bench/latency"
	"gamehoster/bench/pairs"
	"gamehoster/bench/proc"
	"gamehoster/bench/report"
)

const (
	crewSize     = 4   // players of an instance
	crewCommands = 4.0 // of a player, a second
	sendPeriod   = time.Second / 15
	pairCrews    = 500 // instances in the comparison: half a core
	pairRounds   = 2
)

// sweepCrews are the instances of the sweep; shownCrews are those of the picture over
// time.
var sweepCrews = []int{100, 250, 500, 1000}

const shownCrews = 250

func asteroids(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "Asteroids, four players an instance",
		About: "The sample game at 30 ticks and 15 sends a second, played by bots over WebSockets: each steers four times a second, acks every second send, as the client library does, and pings. " +
			"First beside other servers of the same game, about half a core of each; then more and more instances on one core.",
		Series: pairs.Series{},
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	h, err := host(filepath.Join(e.Source, "games", "localhost", "asteroids"), map[string]string{
		"playersPerInstance": strconv.Itoa(crewSize), "shardInstances": "5000"})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	if err := crewPairs(ctx, e, h, split, s); err != nil {
		return s, err
	}
	if err := crewSweep(ctx, e, h, split, s); err != nil {
		return s, err
	}
	s.Notes = append(s.Notes, split.String()+".",
		fmt.Sprintf("Nothing but the loop has the same bots, which steer, ack and ping as they do on the whole server. It sends them as many bytes as often, spread over "+
			"the tick as instances are, in one message of %d bytes; it decodes nothing, runs nothing and encodes nothing.", barePayload),
		"A tick, in the table, is what the loop does at once: the rules, the encoding and the sending of all instances that are due, until all is handed to the kernel.",
		"Processor time is that of the server's process with what the kernel does for its sockets. A command's latency is from when it was due to be sent to "+
			"the arrival of the send that says it was processed: half a send period on average goes by waiting for that.")
	return s, nil
}

// crewSpec is how bots play.
func crewSpec(crews int, settle, measure time.Duration) bots.Spec {
	players := crews * crewSize
	return bots.Spec{Bots: players, Commands: crewCommands, Connect: time.Duration(players) * time.Millisecond / 2, Settle: settle, Measure: measure}
}

// pairSpec is how they play beside others. System calls are counted in the first round.
func pairSpec(round int) bots.Spec {
	s := crewSpec(pairCrews, 3*time.Second/2, 3*time.Second)
	if round == 0 {
		s.Calls = callsTime
	}
	return s
}

// botsTurn is what a turn with bots gave.
func botsTurn(r *bots.Report) pairs.Figures {
	sends := r.Received["delta"].Messages
	return besides(r.Spec.Bots, r.Watch[0], sends, r.BytesIn, r.Late, r.RoundTrip).with(r.Bots, r.Calls, float64(sends)/r.Seconds)
}

// crewPairs compares with other servers of the same game.
func crewPairs(ctx context.Context, e *Env, h hosted, split cores, s *report.Section) (err error) {
	const players = pairCrews * crewSize
	var list []pairs.Contestant
	names := beat.Transports()
	for _, t := range names {
		list = append(list, pairs.Contestant{Name: "gamehoster, " + t, Run: func(round int) (f pairs.Figures, err error) {
			r, err := crewRun(ctx, h, t, split, pairSpec(round), nil)
			if err != nil {
				return nil, err
			}
			return botsTurn(r.Report), nil
		}})
	}
	// The last one is uring, where there is more than one.
	best := "gamehoster, " + names[len(names)-1]
	bare := "nothing but the loop, " + names[len(names)-1]
	list = append(list, pairs.Contestant{Name: bare, Run: func(round int) (pairs.Figures, error) {
		return bareRun(ctx, h, names[len(names)-1], split, pairSpec(round))
	}})
	dir, err := os.MkdirTemp("", "gamehoster-bench-")
	if err != nil {
		return fmt.Errorf("making a folder for peers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	others, missing := rivals(ctx, e.Source, dir)
	s.Missing = append(s.Missing, missing...)
	for _, r := range others {
		list = append(list, pairs.Contestant{Name: r.name, Run: func(round int) (pairs.Figures, error) { return r.run(ctx, split, round) }})
	}
	series, err := pairs.Run(ctx, e.plan(pairRounds, 0, 0, .5), list...)
	if err != nil {
		return err
	}
	table := report.Table{Title: fmt.Sprintf("%d players, or as said", players),
		Columns: []string{"CPU of a player, a second", "to ours", "players of a core by that", "of a core", "in the kernel", "system calls a send", "bytes/s of a player", "of all sends", "sends late, p99", "ping, p50", "resident of a player", "clients, of a core"}}
	bars := &report.Bars{Unit: "µs"}
	for _, c := range list {
		of := series[c.Name]
		s.Series["beside, "+c.Name] = of
		ours := strings.HasPrefix(c.Name, "gamehoster")
		var fit pairs.Spread
		for _, us := range of["us"] {
			fit = append(fit, 1e6/us)
		}
		table.Rows = append(table.Rows, report.Row{Label: c.Name, Ours: ours, Cells: []report.Cell{
			report.Fig(of["us"], "µs"), report.Fig(series.Ratio(c.Name, best, "us"), ""), report.Fig(fit, ""), report.Fig(of["core"], "%"), report.Fig(of["kernel"], "%"), counted(of["calls"]),
			report.Fig(of["bytes/s"], ""), report.Fig(of["sent"], "%"), report.Fig(of["late p99"], "ms"), report.Fig(of["ping p50"], "ms"), report.Fig(of["KB"], "KB"), report.Fig(of["clients"], "%")}})
		bars.Items = append(bars.Items, report.Bar{Label: c.Name, Ours: ours, Spread: of["us"]})
	}
	s.Tables = append(s.Tables, table)
	s.Charts = append(s.Charts, report.Chart{Title: "Processor time of a player, for each second of play", Bars: bars})
	s.Targets = append(s.Targets, report.Target{What: "the whole server, to nothing but its loop with the same players", Got: series.Ratio(best, bare, "us"), Bound: 1.10})
	for _, r := range others {
		if r.bound > 0 {
			s.Targets = append(s.Targets, report.Target{What: "players of a core, to " + r.name, Got: series.Ratio(r.name, best, "us"), Bound: r.bound, AtLeast: true})
			s.Notes = append(s.Notes, fmt.Sprintf("Nothing but the loop has %.2f times the players of a core that %s has: on this kernel no server that sends and takes these messages on that loop has more.",
				series.Ratio(r.name, bare, "us").Median(), r.name))
		}
		s.Notes = append(s.Notes, r.about)
	}
	s.Notes = append(s.Notes, "System calls are counted by a program in the kernel, after the measured part; a send is one to one player.")
	return err
}

// turn is what one turn of a server gave.
type turn pairs.Figures

// besides are a turn's figures. They count by what was sent, 15 sends a second of play: a
// server that was held up and sent less did less.
func besides(players int, w proc.Usage, sends, bytes int64, late, ping latency.Summary) turn {
	const perSecond = float64(time.Second / sendPeriod)
	seconds := float64(max(1, sends)) / perSecond // of play, of all players together
	return turn{
		"us": float64(w.CPU) / float64(time.Microsecond) / seconds, "bytes/s": float64(bytes) / seconds, "late p99": late.P99,
		"ping p50": ping.P50, "KB": float64(w.Resident) / 1024 / float64(players), "sent": 100 * seconds / (w.At.Seconds() * float64(players)),
		"core": 100 * w.Cores(), "kernel": 100 * float64(w.System) / float64(max(1, w.User+w.System)),
	}
}

// with adds what the clients took and the server's system calls of a send, from calls a
// second, where they were counted, and sends a second.
func (f turn) with(clients proc.Usage, calls []float64, sends float64) pairs.Figures {
	f["clients"] = 100 * clients.Cores()
	if len(calls) > 0 {
		f["calls"] = calls[0] / max(1, sends)
	}
	return pairs.Figures(f)
}

// autoTransport is what the server takes by itself.
const autoTransport = "auto"

// played is what bots saw, and what a server's garbage collections and ticks were
// meanwhile.
type played struct {
	*bots.Report
	GC    collections
	Ticks ticks
}

// crewRun has bots play on a server of their own, on a transport.
func crewRun(ctx context.Context, h hosted, transport string, split cores, spec bots.Spec, progress func(bots.Progress)) (p played, err error) {
	srv, err := h.serve(ctx, transport, split)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()
	var phase bots.Phase
	var seen error
	p.Report, seen = h.play(ctx, srv, split, spec, func(now bots.Progress) {
		// The measured part begins, or has just ended.
		if now.Phase != phase && (now.Phase == bots.Measuring || phase == bots.Measuring) {
			var failed error
			p.GC = srv.collected()
			p.Ticks, failed = srv.ticks(ctx)
			err = errors.Join(err, failed)
		}
		phase = now.Phase
		if progress != nil {
			progress(now)
		}
	})
	if err = errors.Join(err, seen); err != nil {
		return p, err
	}
	return p, faults(p.Report)
}

// crewSweep fills the server's core.
func crewSweep(ctx context.Context, e *Env, h hosted, split cores, s *report.Section) error {
	bound := float64(sendPeriod)/float64(time.Millisecond) + 5
	table := report.Table{Title: "more and more instances", Columns: []string{"of a core", "CPU of a player, a second", "command p50", "p99", "p99.9", "ticks late, p50", "p99.9", "a tick takes, p50", "p99.9", "sends late, p99.9", "of all sends", "bytes/s of a player", "resident of a player", "collections, longest pause", "bots, of a core"}}
	share := &report.Lines{XUnit: "players", YUnit: "% of a core", Series: []report.Line{{Label: "server"}, {Label: "bots"}}}
	delay := &report.Lines{XUnit: "players", YUnit: "ms", Series: []report.Line{{Label: "command, p50"}, {Label: "command, p99"}, {Label: "command, p99.9"}}}
	percentiles := &report.Lines{XUnit: "percentile", YUnit: "ms", Ticks: percentileTicks()}
	three := &report.Lines{XUnit: "percentile", YUnit: "ms", Ticks: percentileTicks()}
	kinds := &report.Stack{Unit: "B/s"}
	whose := &report.Stack{Unit: "µs", Parts: []string{"own code", "kernel"}}
	var over *report.Lines
	most := 0.0
	for i, crews := range sweepCrews {
		from, width := .5+.5*float64(i)/float64(len(sweepCrews)), .5/float64(len(sweepCrews))
		r, err := crewRun(ctx, h, autoTransport, split, crewSpec(crews, 2*time.Second, 5*time.Second), func(p bots.Progress) { e.Progress(from + width*p.Part) })
		if err != nil {
			return err
		}
		n := float64(crews * crewSize)
		w := r.Watch[0]
		of := besides(int(n), w, r.Received["delta"].Messages, r.BytesIn, r.Late, r.RoundTrip)
		one := func(v float64, unit string) report.Cell { return report.Fig(pairs.Spread{v}, unit) }
		label := fmt.Sprintf("%d instances, %d players", crews, int(n))
		table.Rows = append(table.Rows, report.Row{Label: label, Ours: true, Cells: []report.Cell{
			one(100*w.Cores(), "%"), one(of["us"], "µs"), one(r.Command.P50, "ms"), one(r.Command.P99, "ms"), one(r.Command.P999, "ms"), one(r.Ticks.Late.P50, "ms"), one(r.Ticks.Late.P999, "ms"), one(r.Ticks.Took.P50, "ms"), one(r.Ticks.Took.P999, "ms"), one(r.Late.P999, "ms"),
			one(100*float64(r.Received["delta"].Messages)/float64(time.Second/sendPeriod)/r.Seconds/n, "%"), one(of["bytes/s"], ""), one(float64(w.Resident)/1024/n, "KB"),
			report.Text("%d in %.0f s, %.2f ms", r.GC.N, r.Seconds, latency.MS(r.GC.Pause)), one(100*r.Bots.Cores(), "%")}})
		whose.Items = append(whose.Items, report.Pile{Label: label, Values: []float64{
			of["us"] * float64(w.User) / float64(max(1, w.User+w.System)), of["us"] * float64(w.System) / float64(max(1, w.User+w.System))}})
		share.Series[0].Points = append(share.Series[0].Points, [2]float64{n, 100 * w.Cores()})
		share.Series[1].Points = append(share.Series[1].Points, [2]float64{n, 100 * r.Bots.Cores()})
		for k, v := range []float64{r.Command.P50, r.Command.P99, r.Command.P999} {
			delay.Series[k].Points = append(delay.Series[k].Points, [2]float64{n, v})
		}
		line := report.Line{Label: fmt.Sprintf("%d players", int(n))}
		for _, p := range r.Command.Curve {
			if x := nines(p.Part); x <= nines(.9999) {
				line.Points = append(line.Points, [2]float64{x, p.MS})
			}
		}
		percentiles.Series = append(percentiles.Series, line)
		if crews == shownCrews {
			over = windows(r.Command.Windows)
			three.Series = []report.Line{{Label: "a tick, after it was due", Points: r.Ticks.Late.Curve}, {Label: "a tick, until it was sent", Points: r.Ticks.Took.Curve},
				{Label: "a command, until its send came", Points: line.Points}}
		}
		if i == 0 {
			pile := report.Pile{Label: label}
			for _, name := range []string{"delta", "keyframe", "commands", "enter", "leave"} {
				kinds.Parts = append(kinds.Parts, name)
				pile.Values = append(pile.Values, float64(r.Received[name].Bytes)/r.Seconds/n)
			}
			kinds.Items = append(kinds.Items, pile)
		}
		if kernel := float64(w.System) / float64(max(1, w.User+w.System)); crews == shownCrews {
			s.Notes = append(s.Notes, fmt.Sprintf("At %d players the kernel has %.0f %% of the server's time: a player's second is 15 sends and 13 messages taken in, each of which goes through TCP by itself.", int(n), 100*kernel))
		}
		s.Series["sweep, "+label] = map[string]pairs.Spread{"us": {of["us"]}, "command p99.9": {r.Command.P999}, "core": {100 * w.Cores()}}
		if r.Command.P999 <= bound {
			most = max(most, n)
		}
	}
	s.Tables = append(s.Tables, table)
	s.Charts = append(s.Charts,
		report.Chart{Title: "Share of a core", Lines: share},
		report.Chart{Title: "A command, from the player to the send that answers it", Lines: delay},
		report.Chart{Title: "The same by percentile", Lines: percentiles},
		report.Chart{Title: fmt.Sprintf("The same over time, %d players", shownCrews*crewSize), Lines: over},
		report.Chart{Title: fmt.Sprintf("The parts of it by percentile, %d players", shownCrews*crewSize), Lines: three},
		report.Chart{Title: "Processor time of a player and second", Stack: whose},
		report.Chart{Title: "Bytes of a player by message, without frames", Stack: kinds})
	got := pairs.Spread{most}
	s.Targets = append(s.Targets, report.Target{What: fmt.Sprintf("players on one core with a command's p99.9 under a send period and 5 ms, %.0f ms", bound), Got: got, Bound: 1000, AtLeast: true})
	return nil
}
