package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"gamehoster/bench/beat"
	"gamehoster/bench/limit"
	"gamehoster/bench/pairs"
	"gamehoster/bench/peer"
	"gamehoster/bench/report"
)

const (
	echoPayload = 100 // bytes to each socket on each beat
	echoRounds  = 3
	limitName   = "C, epoll"

	uringName    = "gamehoster, uring"
	giouringName = "gamehoster, uring by giouring"
	uwsName      = "uWebSockets, in Node"

	callsTime = time.Second / 2 // in which system calls are counted, beside the measured part
)

// echoCase is a number of sockets and how often each is sent to and sends.
type echoCase struct {
	sockets, hz int
	all         bool // those take part, too, that no bound is about
}

var echoCases = []echoCase{{2000, 20, true}, {8000, 5, false}}

// echoServer is a contestant: how to start it.
type echoServer struct {
	name string
	ours bool
	less bool // it is left out where not all take part
	cmd  func(ctx context.Context, hz int) (*exec.Cmd, error)
}

func echo(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "What a transport costs",
		About: "Small messages on many sockets and no game: the server sends 100 bytes to each on every beat, each sends 12 bytes in a beat's " +
			"time. What counts is the server's processor time for one message out and one in, as a ratio to a server in C that " +
			"does nothing but ask the kernel.",
		Series: pairs.Series{},
	}
	split, err := splitCores()
	if err != nil {
		return s, err
	}
	dir, err := os.MkdirTemp("", "gamehoster-bench-")
	if err != nil {
		return s, fmt.Errorf("making a folder for peers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	servers, err := echoServers(ctx, e.Source, dir, s)
	if err != nil {
		return s, err
	}
	weights, done := 0.0, 0.0
	for _, c := range echoCases {
		weights += c.weight(servers)
	}
	for _, c := range echoCases {
		var list []pairs.Contestant
		for _, srv := range servers {
			if c.takes(srv) {
				list = append(list, pairs.Contestant{Name: srv.name, Run: func(round int) (pairs.Figures, error) { return c.measure(ctx, srv, split, round) }})
			}
		}
		next := done + c.weight(servers)
		series, err := pairs.Run(ctx, e.plan(echoRounds, 0, done/weights, next/weights), list...)
		done = next
		if err != nil {
			return s, err
		}
		c.report(s, servers, series)
	}
	s.Notes = append(s.Notes, split.String()+"; the driver reads and sends once a millisecond and costs every server the same.",
		"A pair is one message of 100 bytes out and one of 12 in, with WebSocket frames. Latency is from when a beat was due to when the driver saw it, "+
			"which adds up to a millisecond; with all sockets sent to at once the last one waits for all before it.",
		"uWebSockets is the C++ library under its binding for Node, of which a build is on npm; the library alone is in no registry that this could be measured from. "+
			"An earlier probe of ours had it at 0.88 and 1.00 of C, epoll, without Node: those are the figures to beat.",
		"System calls are counted by a program in the kernel, after the measured part.",
		"The libraries are used as their documentation has it for servers with many quiet sockets: one goroutine writes the beat, reading is the library's way.")
	return s, nil
}

// echoServers are all that can be had, the limit and ours first. Peers are built into
// dir.
func echoServers(ctx context.Context, source, dir string, s *report.Section) (list []echoServer, err error) {
	for _, l := range []struct {
		name    string
		program limit.Program
	}{{limitName, limit.Epoll}, {"C, io_uring", limit.Uring}} {
		path, err := limit.Build(ctx, l.program)
		if err != nil {
			if l.name == limitName {
				return nil, err
			}
			s.Missing = append(s.Missing, l.name+": "+err.Error())
			continue
		}
		list = append(list, echoServer{name: l.name, cmd: func(ctx context.Context, hz int) (*exec.Cmd, error) {
			return limit.Command(ctx, path, 0, hz, echoPayload, limit.Beat), nil
		}})
	}
	for _, t := range beat.Transports() {
		list = append(list, echoServer{name: "gamehoster, " + t, ours: true, cmd: func(ctx context.Context, hz int) (*exec.Cmd, error) {
			return beatCommand(ctx, t, hz, echoPayload)
		}})
	}
	if path, err := giouring(source); err != nil {
		s.Missing = append(s.Missing, giouringName+": "+err.Error())
	} else {
		list = append(list, echoServer{name: giouringName, ours: true, cmd: func(ctx context.Context, hz int) (*exec.Cmd, error) {
			cmd, err := beatCommand(ctx, "uring", hz, echoPayload)
			if err == nil {
				cmd.Path, cmd.Args[0] = path, path
			}
			return cmd, err
		}})
	}
	if dir, err := peer.NPM(source); err != nil {
		s.Missing = append(s.Missing, uwsName+": "+err.Error())
	} else {
		list = append(list, echoServer{name: uwsName, cmd: func(ctx context.Context, hz int) (*exec.Cmd, error) {
			cmd := exec.CommandContext(ctx, "node", "uws.mjs", strconv.Itoa(hz), strconv.Itoa(echoPayload))
			cmd.Dir = dir
			return cmd, nil
		}})
	}
	sockets, err := peer.Build(ctx, source, "sockets", dir)
	if err != nil {
		s.Missing = append(s.Missing, "gws, gorilla, nbio: "+err.Error())
		return list, nil
	}
	for _, lib := range []string{"gws", "gorilla", "nbio"} {
		list = append(list, echoServer{name: lib, less: true, cmd: func(ctx context.Context, hz int) (*exec.Cmd, error) {
			return exec.CommandContext(ctx, sockets, lib, strconv.Itoa(hz), strconv.Itoa(echoPayload)), nil
		}})
	}
	return list, nil
}

// giouring is our program with the giouring library's ring binding in place of its own.
func giouring(source string) (path string, err error) {
	if path, err = filepath.Abs(filepath.Join(source, ".bin", "gamehoster-giouring")); err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%w (make build-giouring builds it)", err)
	}
	return path, nil
}

func (c echoCase) takes(s echoServer) bool { return c.all || !s.less }

// weight is about how long the case takes, for the progress.
func (c echoCase) weight(servers []echoServer) (w float64) {
	for _, s := range servers {
		if c.takes(s) {
			w += 5 + float64(c.sockets)/4000
		}
	}
	return w
}

// measure is one turn of a server. Its system calls are counted in the first one, after
// all that is timed.
func (c echoCase) measure(ctx context.Context, srv echoServer, split cores, round int) (f pairs.Figures, err error) {
	cmd, err := srv.cmd(ctx, c.hz)
	if err != nil {
		return nil, err
	}
	spec := beat.Spec{Form: beat.Beat, Sockets: c.sockets, Hz: c.hz, Settle: time.Second / 2, Measure: 2 * time.Second}
	if round == 0 {
		spec.Calls = callsTime
	}
	r, err := drive(ctx, cmd, split, spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", srv.name, err)
	}
	w := r.Watch[0]
	f = pairs.Figures{
		"pair ns": r.PairNS[0], "p50 ms": r.Latency.P50, "p99 ms": r.Latency.P99, "missed": float64(r.Missed),
		"MB": float64(w.Resident) / (1 << 20), "core": 100 * w.Cores(), "driver": 100 * r.Driver.Cores(),
		"user ns": float64(w.User) * r.PairNS[0] / max(1, float64(w.User+w.System)), "system ns": float64(w.System) * r.PairNS[0] / max(1, float64(w.User+w.System)),
	}
	if len(r.Calls) > 0 {
		f["calls"] = r.Calls[0]
	}
	return f, nil
}

// drive starts a server and has the driver play on it, in a process of its own.
func drive(ctx context.Context, cmd *exec.Cmd, split cores, spec beat.Spec) (r *beat.Report, err error) {
	s, err := start(ctx, cmd, split.server...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	spec.Addr, spec.Watch = s.Addr.String(), []int{s.PID}
	r, err = runClients(ctx, roleDrive, spec, split, beat.Read)
	if err != nil {
		return nil, err
	}
	if r.Wrong > 0 || r.Received == 0 {
		return nil, fmt.Errorf("of %d messages %d were wrong", r.Received, r.Wrong)
	}
	return r, nil
}

// beatCommand is one of our own loops with nothing on it.
func beatCommand(ctx context.Context, transport string, hz, payload int) (*exec.Cmd, error) {
	cmd, err := part(ctx, roleBeat, beatSpec{Transport: transport, Hz: hz, Payload: payload})
	if err == nil {
		// The loop's thread waits in the kernel past the Go runtime's knowledge.
		cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	}
	return cmd, err
}

// report puts the case's figures into the section.
func (c echoCase) report(s *report.Section, servers []echoServer, series pairs.Series) {
	title := fmt.Sprintf("%d sockets at %d Hz", c.sockets, c.hz)
	table := report.Table{Title: title, Columns: []string{"to C, epoll", "a pair", "in the kernel", "system calls a pair", "of a core", "p50", "p99", "resident", "missed"}}
	bars, split := &report.Bars{}, &report.Stack{Unit: "ns", Parts: []string{"own code", "kernel"}}
	for _, srv := range servers {
		of := series[srv.name]
		if len(of["pair ns"]) == 0 {
			continue
		}
		s.Series[title+", "+srv.name] = of
		ratio := series.Ratio(srv.name, limitName, "pair ns")
		table.Rows = append(table.Rows, report.Row{Label: srv.name, Ours: srv.ours, Cells: []report.Cell{
			report.Fig(ratio, ""), report.Fig(of["pair ns"], "ns"), report.Fig(of["system ns"].Over(of["pair ns"]).Times(100), "%"), counted(of["calls"]), report.Fig(of["core"], "%"), report.Fig(of["p50 ms"], "ms"),
			report.Fig(of["p99 ms"], "ms"), report.Fig(pairs.Spread{of["MB"].Median()}, "MB"), report.Fig(pairs.Spread{of["missed"].Max()}, "")}})
		bars.Items = append(bars.Items, report.Bar{Label: srv.name, Ours: srv.ours, Spread: ratio})
		split.Items = append(split.Items, report.Pile{Label: srv.name, Values: []float64{of["user ns"].Median(), of["system ns"].Median()}})
		if bound, ok := echoBounds[srv.name][c.sockets], srv.ours; ok && bound > 0 {
			s.Targets = append(s.Targets, report.Target{What: fmt.Sprintf("%s, %d sockets: processor time to %s", srv.name, c.sockets, limitName), Got: ratio, Bound: bound})
		}
	}
	for _, name := range []string{uwsName, "gws", "gorilla", "nbio"} {
		if len(series[name]) > 0 {
			s.Targets = append(s.Targets, report.Target{What: fmt.Sprintf("%s, %d sockets: processor time to %s", uringName, c.sockets, name), Got: series.Ratio(uringName, name, "pair ns"), Bound: 1})
		}
	}
	s.Tables = append(s.Tables, table)
	s.Charts = append(s.Charts,
		report.Chart{Title: title + ": processor time of a pair, to " + limitName, Bars: bars},
		report.Chart{Title: title + ": where it goes", Stack: split})
}

// counted is a number of system calls, where they can be counted.
func counted(calls pairs.Spread) report.Cell {
	if len(calls) == 0 {
		return report.Text("not counted")
	}
	return report.Fig(calls, "")
}

// echoBounds are what our loops are held to, by sockets.
var echoBounds = map[string]map[int]float64{
	uringName:          {2000: 0.80, 8000: 0.85},
	"gamehoster, gnet": {2000: 1.35, 8000: 1.35},
}
