package bench

import (
	"context"
	"errors"
	"runtime"

	"gamehoster/bench/direct"
	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
	"gamehoster/bench/peer"
	"gamehoster/bench/report"
)

// Figures of the movers: for an entity in a viewer's state and a send.
const (
	bytesEach  = "bytes"
	findEach   = "find ns"   // to know what has changed
	encodeEach = "encode ns" // to write it
	bothEach   = "both ns"
	tickEach   = "tick ns" // the rules, too
)

// stageContestant measures a stage tick by tick. seen is how many entities the viewers
// have in view, all instances together.
func stageContestant(name string, s *direct.Stage, ticks, seen int) pairs.Contestant {
	return pairs.Contestant{Name: name, Run: func(int) (pairs.Figures, error) {
		runtime.GC() // what others left is not in the time
		bytes := s.Bytes
		var rules, find, encode, all int64
		start := machine.CPUTime()
		for range ticks {
			s.Step()
			stepped := machine.CPUTime()
			s.Commit()
			committed := machine.CPUTime()
			s.Send()
			sent := machine.CPUTime()
			s.Receive()
			received := machine.CPUTime()
			rules += int64(stepped - start)
			find += int64(committed - stepped)
			encode += int64(sent - committed)
			all += int64(received - start)
			start = received
		}
		n := float64(ticks * seen)
		return pairs.Figures{
			bytesEach: float64(s.Bytes-bytes) / n, findEach: float64(find) / n, encodeEach: float64(encode) / n,
			bothEach: float64(find+encode) / n, tickEach: float64(all) / n, "rules ns": float64(rules) / n,
		}, s.Refused
	}}
}

// peerContestant measures bench/peers/movers.mjs, which plays one of our games by name.
// What it takes to set tracked fields beyond those of plain objects is its finding.
func peerContestant(name string, p *peer.Peer, game string, ticks, seen int) pairs.Contestant {
	return pairs.Contestant{Name: name, Run: func(int) (pairs.Figures, error) {
		var a struct {
			Plain  float64 `json:"plain"`
			Move   float64 `json:"move"`
			Encode float64 `json:"encode"`
			Bytes  float64 `json:"bytes"`
			Rooms  int     `json:"rooms"`
		}
		err := p.Tell(struct {
			Game  string `json:"game"`
			Ticks int    `json:"ticks"`
		}{game, ticks}, &a)
		n := float64(ticks * seen * max(1, a.Rooms))
		return pairs.Figures{
			bytesEach: a.Bytes / n, findEach: (a.Move - a.Plain) / n, encodeEach: a.Encode / n,
			bothEach: (a.Move - a.Plain + a.Encode) / n, tickEach: (a.Move + a.Encode) / n, "rules ns": a.Plain / n,
		}, err
	}}
}

// moverCase is a game of movers, and how much of it runs.
type moverCase struct {
	label     string
	game      string // in bench/games
	instances int
	players   int
	seen      int    // entities that all viewers of an instance have in view
	ticks     int    // of a round
	peerTicks int    // of a round of the peer
	peerGame  string // what the peer plays beside it
}

const (
	moverRounds = 15
	ackLag      = 3 // sends: 150 ms at 20 Hz
	schemaName  = "@colyseus/schema"
)

var moverCases = []moverCase{
	{"60 movers, floats", "movers", 64, 1, 60, 200, 40, "movers"},
	{"60 movers, 16-bit steps", "movers-steps", 64, 1, 60, 200, 40, "movers-steps"},
	{"60 movers, predicted", "movers-shared", 64, 1, 60, 200, 40, "movers"},
	{"50 in each of 100 views", "crowd", 1, 100, 5000, 40, 40, "crowd"},
}

func movers(ctx context.Context, e *Env) (s *report.Section, err error) {
	s = &report.Section{
		Title: "Encoding what moves",
		About: "60 entities walk about in each of 64 instances at 20 Hz, all of them in view; and 1,040 circle around " +
			"camps of which each of 100 players sees five, so that it has 50 of them in view. No sockets: what counts is the " +
			"time that finding the changes and encoding them takes, and how many bytes come out.",
		Series: pairs.Series{},
	}
	var other *peer.Peer
	if dir, missing := peer.NPM(e.Source); missing != nil {
		s.Missing = append(s.Missing, schemaName+": "+missing.Error())
	} else {
		if other, err = peer.Start(ctx, dir, "node", "movers.mjs"); err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, other.Close()) }()
	}
	table := report.Table{Title: "an entity in view, each send",
		Columns: []string{"bytes", "finding changes", "encoding", "both", "with the rules"}}
	ratios := report.Table{Title: "time of " + schemaName + ", to ours", Columns: []string{"finding and encoding", "its encoding alone, to our both"}}
	bytes, times := &report.Bars{Unit: "bytes"}, &report.Bars{Unit: "ns"}
	for i, c := range moverCases {
		var series pairs.Series
		n := float64(len(moverCases))
		if series, err = c.run(ctx, e.Source, other, e.plan(moverRounds, 2, float64(i)/n, float64(i+1)/n)); err != nil {
			return s, err
		}
		for _, who := range []string{"gamehoster", schemaName} {
			name := c.game + ", " + who
			of := series[name]
			if of == nil {
				continue
			}
			s.Series[name] = of
			label, ours := c.label+", "+who, who == "gamehoster"
			if !ours && c.peerGame != c.game {
				continue // its floats are in the table already
			}
			table.Rows = append(table.Rows, report.Row{Label: label, Ours: ours, Cells: []report.Cell{
				report.Fig(of[bytesEach], ""), report.Fig(of[findEach], "ns"), report.Fig(of[encodeEach], "ns"),
				report.Fig(of[bothEach], "ns"), report.Fig(of[tickEach], "ns")}})
			bytes.Items = append(bytes.Items, report.Bar{Label: label, Ours: ours, Spread: of[bytesEach]})
			times.Items = append(times.Items, report.Bar{Label: label, Ours: ours, Spread: of[bothEach]})
		}
		if other == nil {
			continue
		}
		us, them := c.game+", gamehoster", c.game+", "+schemaName
		all := series.Ratio(them, us, bothEach)
		s.Targets = append(s.Targets,
			report.Target{What: c.label + ": bytes, to those of " + schemaName, Got: series.Ratio(us, them, bytesEach), Bound: 0.999},
			report.Target{What: c.label + ": its time to find changes and encode them, to ours", Got: all, Bound: 5, AtLeast: true})
		ratios.Rows = append(ratios.Rows, report.Row{Label: c.label, Cells: []report.Cell{
			report.Fig(all, ""), report.Fig(series[them][encodeEach].Over(series[us][bothEach]), "")}})
	}
	s.Charts = []report.Chart{{Title: "Bytes of an entity", Bars: bytes},
		{Title: "Processor time of finding that an entity has changed and encoding it", Bars: times}}
	s.Tables = []report.Table{table}
	if other != nil {
		s.Tables = append(s.Tables, ratios)
	}
	if other != nil {
		s.Notes = append(s.Notes, "The peer is "+other.About+": a room's state in a map, changed through its setters, encoded as a room does at each "+
			"patch; its patches are read by its own decoder before the run and must give the state back. Its clients' views do not change, "+
			"so keeping them costs it nothing, while our views are judged anew in each send.",
			"Finding changes is, here, the commit, which compares all rows with what was sent last; there it is done by the setters, "+
				"while the rules run. The peer's is a difference: in each tick it moves plain objects by the same rules, too, each kind with code "+
				"compiled for it alone, and what the tracked objects' move takes more than that counts as finding. It has in it all that "+
				"getters and setters do: checks, the store in an array of values behind the object, the garbage of that, for steps also their rounding.",
			"Encoding is, here, the send to each viewer; there, encode, encodeView for each client, and discardChanges. The last column of the "+
				"second table is what reports had before finding was measured: without the peer's setters, but with our commit.")
	}
	s.Notes = append(s.Notes, "Floats are two f32 of each entity, which the peer sends the same way. Predicted movers are computed by the browsers, too, "+
		"and only corrected; the peer has nothing like it. Acks come three sends late. Frames and the kernel come on top for both.")
	return s, nil
}

func (c moverCase) run(ctx context.Context, source string, other *peer.Peer, plan pairs.Plan) (_ pairs.Series, err error) {
	g, err := direct.Load(source, "bench/games/"+c.game)
	if err != nil {
		return nil, err
	}
	stage, err := direct.Open(g, direct.Options{Instances: c.instances, Players: c.players, Lag: ackLag})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	list := []pairs.Contestant{stageContestant(c.game+", gamehoster", stage, c.ticks, c.seen*c.instances)}
	if other != nil {
		list = append(list, peerContestant(c.game+", "+schemaName, other, c.peerGame, c.peerTicks, c.seen))
	}
	return pairs.Run(ctx, plan, list...)
}
