package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"gamehoster/bench/direct"
	"gamehoster/bench/latency"
	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
	"gamehoster/bench/report"
)

const (
	pilots       = 4
	rewindRooms  = 64
	rewindWarmUp = 900 // ticks; by then there are rocks of all sizes
	rewindDepth  = 8   // ticks that a late command goes back
	thinkTime    = 8   // ticks between two commands of a pilot
	lateRounds   = 15
	lateTicks    = 30 * 30 // of a round
)

func rewind(ctx context.Context, e *Env) (*report.Section, error) {
	s := &report.Section{
		Title: "Commands that come late",
		About: "64 instances of Asteroids with four pilots each, without sockets. First each instance in turn gets one command that is eight ticks " +
			"late, and the time of the tick with that rewind is compared with the tick before. Then a quarter of all commands come " +
			"100 to 250 ms late, beside the same game in which all come in time.",
		Series: pairs.Series{},
	}
	if err := rewindCost(ctx, e, s); err != nil {
		return s, err
	}
	return s, lateRun(ctx, e, s)
}

// steerOf is what a pilot does at a tick, from a hash: the fields of the steer command.
func steerOf(room int, tick uint32, p int) []byte {
	h := (uint32(room)*31+uint32(p))*0x9E3779B1 + tick*0x85EBCA6B
	h = (h ^ h>>15) * 0x2C1B3C6D
	h ^= h >> 13
	return []byte{byte(int8(h%3) - 1), byte(h >> 8 & 1), byte(min(1, h>>16&7))}
}

// thinks reports whether a pilot acts at a tick, each at others than the next.
func thinks(room int, tick uint32, p int) bool { return (int(tick)+room+5*p)%thinkTime == 0 }

func asteroidsStage(source string, rooms int) (*direct.Stage, error) {
	g, err := direct.Load(source, "games/localhost/asteroids")
	if err != nil {
		return nil, err
	}
	return direct.Open(g, direct.Options{Instances: rooms, Players: pilots, Lag: 2})
}

// inTime has the commands of the first n pilots for the next tick come in.
func inTime(s *direct.Stage, n int) {
	for i, r := range s.Rooms {
		next := r.In.Tick() + 1
		for p := range n {
			if thinks(i, next, p) {
				r.Command(p, next, 0, steerOf(i, next, p)...)
			}
		}
	}
}

// rewindCost compares ticks with a rewind and ticks without.
func rewindCost(ctx context.Context, e *Env, s *report.Section) (err error) {
	stage, err := asteroidsStage(e.Source, rewindRooms)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	// The last pilot gives late commands only: one that is late cannot go back before
	// an older one of the same pilot.
	tick := func(late bool) int64 {
		inTime(stage, pilots-1)
		for i, r := range stage.Rooms {
			if now := r.In.Tick(); late {
				r.Command(pilots-1, now+1-rewindDepth, 0, steerOf(i, now, pilots-1)...)
			}
		}
		start := machine.CPUTime()
		stage.Step()
		spent := machine.CPUTime() - start
		stage.Send()
		stage.Receive()
		return int64(spent)
	}
	for range rewindWarmUp {
		tick(false)
	}
	// States are kept at send ticks, every second one: after one of them a command that
	// is eight ticks late has one right before it.
	for !stage.Rooms[0].In.SendDue() {
		tick(false)
	}
	stats := stage.Shard.Stats()
	const pairsOfTicks = 40
	var depth pairs.Spread
	series, err := pairs.Run(ctx, e.plan(lateRounds, 1, 0, .3), pairs.Contestant{Name: "rewind", Run: func(int) (pairs.Figures, error) {
		var plain, with int64
		rewinds, replayed := stats.Rewinds, stats.Replayed
		for range pairsOfTicks {
			plain += tick(false)
			plain += tick(false)
			with += tick(true)
			with += tick(false)
		}
		// The second of each is alike; the rewind is what the first has more.
		n := float64(stats.Rewinds - rewinds)
		perRewind := float64(with-plain) / n
		perTick := float64(plain) / (2 * pairsOfTicks * rewindRooms)
		back := float64(stats.Replayed-replayed) / n
		depth = append(depth, back)
		return pairs.Figures{"tick ns": perTick, "rewind ns": perRewind, "ticks run again": back, "rewind in ticks": perRewind / perTick}, stage.Refused
	}})
	if err != nil {
		return err
	}
	of := series["rewind"]
	s.Series["a rewind"] = of
	if m := of["ticks run again"].Median(); m != rewindDepth {
		return fmt.Errorf("a rewind ran %.1f ticks again, not %d", m, rewindDepth)
	}
	s.Tables = append(s.Tables, report.Table{Title: "a command eight ticks late", Columns: []string{"a tick", "the rewind", "ticks run again", "rewind, in ticks"},
		Rows: []report.Row{{Label: "Asteroids, 4 pilots", Ours: true, Cells: []report.Cell{
			report.Fig(of["tick ns"], "ns"), report.Fig(of["rewind ns"], "ns"), report.Fig(of["ticks run again"], ""), report.Fig(of["rewind in ticks"], "")}}}})
	s.Targets = append(s.Targets, report.Target{What: "a rewind of eight ticks, in the time of one tick", Got: of["rewind in ticks"], Bound: 8.5})
	return nil
}

// line is a pilot's connection on which a quarter of the commands are late.
type line struct {
	queue []delayed
	until uint32 // when the last one comes: TCP keeps the order
}

type delayed struct {
	at, made uint32 // ticks: when it comes, when it was made
	fields   []byte
}

// lateRun plays the same game twice, side by side.
func lateRun(ctx context.Context, e *Env, s *report.Section) (err error) {
	var c [2]contest
	for i := range c {
		stage, err := asteroidsStage(e.Source, rewindRooms)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stage.Close()) }()
		c[i] = contest{stage: stage, late: i == 1, hist: latency.New(), lines: make([]line, rewindRooms*pilots)}
		for range rewindWarmUp {
			c[i].tick()
		}
		c[i].hist.Reset()
	}
	names := [2]string{"all in time", "a quarter late"}
	contestant := func(i int) pairs.Contestant {
		return pairs.Contestant{Name: names[i], Run: func(int) (pairs.Figures, error) { return c[i].round() }}
	}
	series, err := pairs.Run(ctx, e.plan(lateRounds, 1, .3, 1), contestant(0), contestant(1))
	if err != nil {
		return err
	}
	table := report.Table{Title: "64 instances, 4 pilots each", Columns: []string{"a tick, all told", "bytes/s of a pilot", "late commands", "ticks run again, of all", "p99 of a tick of all"}}
	percentiles := &report.Lines{XUnit: "percentile", YUnit: "ms", Ticks: percentileTicks()}
	for i, name := range names {
		of := series[name]
		s.Series[name] = of
		table.Rows = append(table.Rows, report.Row{Label: name, Ours: i == 1, Cells: []report.Cell{
			report.Fig(of["tick ns"], "ns"), report.Fig(of["bytes/s"], ""), report.Fig(of["late"], "%"), report.Fig(of["again"], "%"),
			report.Text("%.2f ms", latency.MS(c[i].hist.At(.99)))}})
		percentiles.Series = append(percentiles.Series, report.Line{Label: name, Points: percentileLine(c[i].hist)})
	}
	s.Tables = append(s.Tables, table)
	s.Charts = append(s.Charts,
		report.Chart{Title: "A tick of all 64 instances, with its sends", Lines: percentiles},
		report.Chart{Title: "Processor time of an instance's tick", Bars: &report.Bars{Unit: "ns", Items: []report.Bar{
			{Label: names[0], Spread: series[names[0]]["tick ns"]}, {Label: names[1], Ours: true, Spread: series[names[1]]["tick ns"]}}}},
		report.Chart{Title: "Bytes a second to a pilot", Bars: &report.Bars{Unit: "B/s", Items: []report.Bar{
			{Label: names[0], Spread: series[names[0]]["bytes/s"]}, {Label: names[1], Ours: true, Spread: series[names[1]]["bytes/s"]}}}})
	equal, err := sameWorlds(&c[0], &c[1])
	if err != nil {
		return err
	}
	s.Notes = append(s.Notes,
		fmt.Sprintf("A late run costs %s times the time and %s times the bytes of the run in time; all %d worlds have the same state hash in the end.",
			report.Fig(series.Ratio(names[1], names[0], "tick ns"), ""), report.Fig(series.Ratio(names[1], names[0], "bytes/s"), ""), equal),
		"A tick is all told: reading commands and acks, the rules, the commit and the sends to four viewers. Each pilot gives a command every eighth tick; "+
			"late ones keep what comes behind them on their connection waiting.")
	return nil
}

// contest is one of the two runs.
type contest struct {
	stage *direct.Stage
	late  bool
	lines []line
	hist  *latency.Histogram // of a tick of all instances
}

func (c *contest) round() (pairs.Figures, error) {
	s := c.stage
	runtime.GC()
	stats := s.Shard.Stats()
	bytes, late, commands, replayed := s.Bytes, stats.Late, stats.Commands, stats.Replayed
	start := machine.CPUTime()
	for range lateTicks {
		c.tick()
	}
	n := float64(lateTicks * rewindRooms)
	seconds := float64(lateTicks) / float64(s.Game.Def.TickRate)
	return pairs.Figures{
		"tick ns": float64(machine.CPUTime()-start) / n,
		"bytes/s": float64(s.Bytes-bytes) / seconds / (rewindRooms * pilots),
		"late":    100 * float64(stats.Late-late) / float64(stats.Commands-commands),
		"again":   100 * float64(stats.Replayed-replayed) / n,
	}, s.Refused
}

// tick lets a tick of everything pass.
func (c *contest) tick() {
	start := machine.CPUTime()
	rate := uint32(c.stage.Game.Def.TickRate)
	for i, r := range c.stage.Rooms {
		next := r.In.Tick() + 1
		for p := range pilots {
			l := &c.lines[i*pilots+p]
			if thinks(i, next, p) {
				d := delayed{at: next, made: next, fields: steerOf(i, next, p)}
				if h := (next*0x9E3779B1 ^ uint32(i*pilots+p)*0x85EBCA6B) * 0xC2B2AE35; c.late && h>>30 == 0 {
					// 100 to 250 ms are 3 to 7 ticks, and some.
					d.at += rate/10 + (h>>8)%(rate*15/100+1)
				}
				l.until = max(l.until, d.at)
				d.at = l.until
				l.queue = append(l.queue, d)
			}
			for len(l.queue) > 0 && l.queue[0].at <= next {
				r.Command(p, l.queue[0].made, 0, l.queue[0].fields...)
				l.queue = l.queue[:copy(l.queue, l.queue[1:])]
			}
		}
	}
	c.stage.Step()
	c.stage.Send()
	c.stage.Receive()
	c.hist.Record(machine.CPUTime() - start)
}

// sameWorlds runs both until nothing is on its way and compares the worlds.
func sameWorlds(a, b *contest) (worlds int, err error) {
	for _, c := range []*contest{a, b} {
		was := c.late
		for range c.stage.Game.Def.TickRate {
			c.late = false // what is on its way comes in, and nothing is held up any more
			c.tick()
		}
		c.late = was
	}
	for i := range a.stage.Rooms {
		x, y := a.stage.Rooms[i].In, b.stage.Rooms[i].In
		if x.Tick() != y.Tick() || x.StateHash() != y.StateHash() {
			return worlds, fmt.Errorf("instance %d is another world at tick %d where commands were late", i, y.Tick())
		}
		worlds++
	}
	return worlds, nil
}
