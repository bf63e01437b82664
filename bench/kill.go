package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gamehoster/bench/bots"
	"gamehoster/bench/pairs"
	"gamehoster/bench/report"
	"gamehoster/games"
)

const (
	killPlayers  = 200 // of the game that is hit, and of the other one
	killComers   = 40  // who come to the game that is hit while it is
	killMeasure  = 3500 * time.Millisecond
	killStop     = 2 * time.Second
	killBegin    = 500 * time.Millisecond // of the measured part, before it is hit
	killOtherDir = "asteroids2"
)

// blow is what is done to a game, of which it has a worker.
type blow func(ctx context.Context, worker int, h hosted) error

func killWorker(_ context.Context, worker int, _ hosted) error {
	return syscall.Kill(worker, syscall.SIGKILL)
}

func stopWorker(ctx context.Context, worker int, _ hosted) error {
	if err := syscall.Kill(worker, syscall.SIGSTOP); err != nil {
		return err
	}
	select {
	case <-time.After(killStop):
	case <-ctx.Done():
	}
	return syscall.Kill(worker, syscall.SIGCONT)
}

// replaceGame changes the definition in its place, as an upload does.
func replaceGame(_ context.Context, _ int, h hosted) error {
	return set(filepath.Join(h.game, games.DefinitionFile), map[string]string{"resumeSeconds": "11"})
}

// killing is workers that are killed, stopped and replaced, beside others that are not to
// notice.
func killing(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "A worker is killed",
		About: fmt.Sprintf("Two games of %d players in worker processes. While they play, the worker of one is killed, or stopped for %v, or its definition is replaced; "+
			"%d more players come to it meanwhile. The other game's players are not to notice.", killPlayers, killStop, killComers),
		Series: pairs.Series{},
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	const calm, killed, stopped, rolled = "undisturbed", "kill -9", "SIGSTOP", "replaced"
	turns := 0
	contestant := func(name string, b blow) pairs.Contestant {
		return pairs.Contestant{Name: name, Run: func(int) (pairs.Figures, error) {
			turns++
			return killTurn(ctx, e, split, b)
		}}
	}
	series, err := pairs.Run(ctx, pairs.Plan{Rounds: max(1, int(e.Part+.5)), Progress: e.Progress},
		contestant(calm, nil), contestant(killed, killWorker), contestant(stopped, stopWorker), contestant(rolled, replaceGame))
	if err != nil {
		return s, err
	}
	hit := report.Table{Title: "the game that is hit", Columns: []string{"sockets lost", "seats lost", "a seat again, p50", "longest", "newcomers' seat, p50", "longest", "newcomers cut or refused"}}
	other := report.Table{Title: "the other game's players", Columns: []string{"sockets lost", "sends late p50", "p99.9", "command p50", "p99.9"}}
	for _, name := range []string{calm, killed, stopped, rolled} {
		of := series[name]
		s.Series[name] = of
		hit.Rows = append(hit.Rows, report.Row{Label: name, Ours: true, Cells: []report.Cell{
			report.Fig(of["cut"], ""), report.Fig(of["seats lost"], ""), report.Fig(of["reseat p50"], "ms"), report.Fig(of["reseat max"], "ms"),
			report.Fig(of["seat p50"], "ms"), report.Fig(of["seat max"], "ms"), report.Fig(of["refused"], "")}})
		other.Rows = append(other.Rows, report.Row{Label: name, Ours: true, Cells: []report.Cell{
			report.Fig(of["other cut"], ""), report.Fig(of["late p50"], "ms"), report.Fig(of["late p99.9"], "ms"), report.Fig(of["command p50"], "ms"), report.Fig(of["command p99.9"], "ms")}})
	}
	s.Tables = []report.Table{hit, other}
	bars := &report.Bars{Unit: "ms"}
	for _, name := range []string{calm, killed, stopped, rolled} {
		bars.Items = append(bars.Items, report.Bar{Label: name, Ours: name != calm, Spread: series[name]["late p99.9"]})
	}
	s.Charts = []report.Chart{{Title: "A send of the other game, later than it was due, p99.9", Bars: bars}}
	s.Targets = []report.Target{
		{What: "other game's sockets lost in all", Got: pairs.Spread{sum(series, "other cut")}, Bound: 0},
		{What: "seats lost to a stop of two seconds", Got: series[stopped]["seats lost"], Bound: 0},
		{What: "seats lost to a roll", Got: series[rolled]["seats lost"], Bound: 0},
		{What: "longest wait of a newcomer after kill -9", Got: series[killed]["seat max"], Bound: 1000, Unit: "ms"},
		{What: "longest time to a seat again after kill -9, with a pause of up to a second before a bot tries again", Got: series[killed]["reseat max"], Bound: 1500, Unit: "ms"},
	}
	for _, name := range []string{killed, stopped, rolled} {
		s.Targets = append(s.Targets, report.Target{What: "p99.9 of the other game's sends, " + name + " to undisturbed", Got: series.Ratio(name, calm, "late p99.9"), Bound: 1.25})
	}
	s.Notes = []string{split.String() + "; both games' workers shared the server's core, which they do not where there are more. While the hit game is gone the other one has more of it."}
	return s, nil
}

func sum(all pairs.Series, what string) (total float64) {
	for _, of := range all {
		for _, v := range of[what] {
			total += v
		}
	}
	return total
}

// killTurn plays both games for a while and strikes one.
func killTurn(ctx context.Context, e *Env, split cores, b blow) (f pairs.Figures, err error) {
	h, err := host(filepath.Join(e.Source, "games", "localhost", "asteroids"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.remove()) }()
	other := hosted{root: h.root, game: filepath.Join(filepath.Dir(h.game), killOtherDir), name: killOtherDir}
	if err := os.CopyFS(other.game, os.DirFS(h.game)); err != nil {
		return nil, fmt.Errorf("copying a game: %w", err)
	}
	cmd, err := part(ctx, roleServe, serveSpec{Root: h.root, Transport: autoTransport, Pool: true})
	if err != nil {
		return nil, err
	}
	srv, err := start(ctx, cmd, split.server...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, srv.stop()) }()

	// A run that goes wrong ends all of its fleets.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fleet := func(h hosted, spec bots.Spec) (<-chan crowd, <-chan struct{}) {
		done, measuring := make(chan crowd, 1), make(chan struct{})
		go func() {
			told := false
			r, err := h.play(ctx, srv, split, spec, func(p bots.Progress) {
				if p.Phase == bots.Measuring && !told {
					told = true
					close(measuring)
				}
			})
			if err != nil {
				cancel()
			}
			done <- crowd{r, err}
		}()
		return done, measuring
	}
	spec := bots.Spec{Bots: killPlayers, Commands: crewCommands, Connect: 300 * time.Millisecond, Settle: 500 * time.Millisecond, Measure: killMeasure}
	victims, begin := fleet(h, spec)
	select {
	case <-begin:
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), (<-victims).err)
	}
	workers, err := childrenOf(srv.PID)
	if err != nil || len(workers) != 1 {
		cancel()
		return nil, errors.Join(fmt.Errorf("one worker was expected, there are %v", workers), err, (<-victims).err)
	}
	spec.Connect, spec.Settle, spec.Measure = 200*time.Millisecond, 100*time.Millisecond, killMeasure-killBegin
	others, begin := fleet(other, spec)
	comers, _ := fleet(h, bots.Spec{Bots: killComers, Connect: killMeasure - killBegin, Measure: 200 * time.Millisecond})
	var struck error
	select {
	case <-begin:
		if b != nil {
			struck = b(ctx, workers[0], h)
		}
	case <-ctx.Done():
	}
	v, o, c := <-victims, <-others, <-comers
	if err := errors.Join(struck, v.err, o.err, c.err); err != nil {
		return nil, err
	}
	cut := total(v.Closes)
	return pairs.Figures{
		"cut": float64(cut), "seats lost": float64(cut - v.Connection.Resumed), "reseat p50": v.Reseat.P50, "reseat max": v.Reseat.Max,
		"seat p50": c.Seat.P50, "seat max": c.Seat.Max, "refused": float64(total(c.Connection.Refused) + total(c.Closes)),
		"other cut": float64(total(o.Closes) + total(o.Connection.Refused)),
		"late p50":  o.Late.P50, "late p99.9": o.Late.P999, "command p50": o.Command.P50, "command p99.9": o.Command.P999,
	}, nil
}

// crowd is what a fleet has seen.
type crowd struct {
	*bots.Report
	err error
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// childrenOf lists a process's children, of whichever thread.
func childrenOf(pid int) (all []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil, err
	}
	for _, name := range lists {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			all = append(all, n)
		}
	}
	return all, nil
}
