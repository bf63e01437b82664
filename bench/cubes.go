package bench

import (
	"context"
	"errors"
	"fmt"

	"gamehoster/bench/direct"
	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
	"gamehoster/bench/report"
)

const (
	cubeCount  = 901
	cubeRate   = 60 // Hz
	cubeWarmUp = 10 * cubeRate
	cubeTicks  = cubeRate // of a round
	cubeRounds = 30

	// What Glenn Fiedler's series on snapshot compression had for its 901 cubes.
	naiveMbit = 17.37
	bestMbit  = 0.25
)

var cubeCases = []struct{ label, game string }{
	{"a pusher passes by", "cubes"},
	{"all move, all the time", "cubes-all"},
}

func cubes(ctx context.Context, e *Env) (*report.Section, error) {
	s := &report.Section{
		Title: "901 cubes at 60 Hz",
		About: "Rigid bodies that fly, bounce, slide and spin, sent whole to one viewer 60 times a second: place in steps of 1/512 m, " +
			"orientation as the three smallest parts of its quaternion in steps of 0.0028. In one game a pusher wanders through them " +
			"and they come to rest behind it; in the other none ever rests.",
		Series: pairs.Series{},
	}
	table := report.Table{Title: "one viewer", Columns: []string{"Mbit/s", "cubes that move", "bytes of a moving one", "encoding a cube"}}
	bars := &report.Bars{Unit: "Mbit/s", Items: []report.Bar{{Label: "published: naive", Spread: pairs.Spread{naiveMbit}}}}
	over := &report.Lines{XUnit: "s", YUnit: "Mbit/s"}
	for i, c := range cubeCases {
		n := float64(len(cubeCases))
		of, line, err := runCubes(ctx, e.Source, c.game, e.plan(cubeRounds, 0, float64(i)/n, float64(i+1)/n))
		if err != nil {
			return s, err
		}
		s.Series[c.game] = of
		label := c.label + ", gamehoster"
		table.Rows = append(table.Rows, report.Row{Label: label, Ours: true, Cells: []report.Cell{
			report.Fig(of["Mbit/s"], ""), report.Fig(of["moving"], ""), report.Fig(of["bytes of moving"], ""), report.Fig(of["encode ns"], "ns")}})
		bars.Items = append(bars.Items, report.Bar{Label: label, Ours: true, Spread: of["Mbit/s"]})
		over.Series = append(over.Series, report.Line{Label: label, Points: line})
		if c.game == "cubes" {
			s.Targets = append(s.Targets, report.Target{What: "bandwidth of a viewer while a pusher passes by", Got: of["Mbit/s"], Bound: 1, Unit: "Mbit/s"})
		}
	}
	bars.Items = append(bars.Items, report.Bar{Label: "published: best", Spread: pairs.Spread{bestMbit}})
	s.Charts = []report.Chart{{Title: "Bandwidth", Bars: bars}, {Title: "Bandwidth over time", Lines: over}}
	s.Tables = []report.Table{table}
	s.Notes = []string{
		fmt.Sprintf("Published figures are those of a series on snapshot compression with 901 cubes at 60 Hz: %.2f Mbit/s naive, under %.2f at best, "+
			"with its physics, bit packing and arithmetic on places that were predicted. Our fields take whole bytes. How many cubes move decides "+
			"most of it and differs from that scene, so the table says how many did.", naiveMbit, bestMbit),
		"WebSocket, TCP and IP headers are not counted: at 60 Hz they come to about 0.02 Mbit/s. Acks come three sends late.",
	}
	return s, nil
}

// runCubes gives the figures by round, one second of the game each, and the bandwidth
// over time.
func runCubes(ctx context.Context, source, game string, plan pairs.Plan) (of map[string]pairs.Spread, line [][2]float64, err error) {
	g, err := direct.Load(source, "bench/games/"+game)
	if err != nil {
		return nil, nil, err
	}
	stage, err := direct.Open(g, direct.Options{Instances: 1, Players: 1, Lag: ackLag, Count: true})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	turn := func() {
		stage.Step()
		stage.Send()
		stage.Receive()
	}
	for range cubeWarmUp {
		turn()
	}
	snapshots := stage.Snapshots()
	series, err := pairs.Run(ctx, plan, pairs.Contestant{Name: game, Run: func(round int) (pairs.Figures, error) {
		bytes, listed := stage.Bytes, stage.Listed
		var encode int64
		for range cubeTicks {
			stage.Step()
			start := machine.CPUTime()
			stage.Send()
			encode += int64(machine.CPUTime() - start)
			stage.Receive()
		}
		n := float64(stage.Bytes - bytes)
		moving := float64(stage.Listed-listed) / cubeTicks
		mbit := n * 8 * cubeRate / cubeTicks / 1e6
		line = append(line, [2]float64{float64(round), mbit})
		return pairs.Figures{
			"Mbit/s": mbit, "moving": moving, "bytes of moving": n / cubeTicks / max(1, moving),
			"encode ns": float64(encode) / (cubeTicks * cubeCount),
		}, stage.Refused
	}})
	if err == nil && stage.Snapshots() != snapshots {
		err = fmt.Errorf("%d snapshots were sent in place of deltas", stage.Snapshots()-snapshots)
	}
	return series[game], line, err
}
