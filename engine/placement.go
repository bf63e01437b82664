package engine

import (
	"cmp"
	"os"
	"slices"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/pool"
)

// placement is what runs where, for whoever looks after a box: /api/stats. It is read from
// memory; no worker is asked.
type placement struct {
	Games   []placedGame `json:"games"`   // in the order of domain and name
	Workers []placedWork `json:"workers"` // in the order of their numbers
}

// placedGame is one place, with all definitions that are played there.
type placedGame struct {
	Domain      string          `json:"domain"`
	Game        string          `json:"game"`
	State       box.State       `json:"state"`
	Backoff     float64         `json:"backoff"` // seconds until a worker is started again: they die young; 0 for at once
	Definitions []placedVersion `json:"definitions"`
}

// placedVersion is one definition.
type placedVersion struct {
	Hash      string `json:"hash"`
	Draining  bool   `json:"draining"` // a newer one has taken over
	Instances int    `json:"instances"`
	Players   int    `json:"players"` // seats taken
	Waiting   int    `json:"waiting"` // places given out whose sockets have not come yet
	Workers   int    `json:"workers"` // that it has shards on
}

// placedWork is a worker process, or an event loop where the box is one process.
type placedWork struct {
	Number    uint32  `json:"number"`
	PID       int     `json:"pid"`
	CPU       int     `json:"cpu"`        // -1 if it runs on any
	Game      string  `json:"game"`       // domain/game; empty for a loop, which runs all
	Hash      string  `json:"definition"` // likewise
	Up        float64 `json:"up"`         // seconds; 0 for a loop
	State     string  `json:"state"`      // starting, ready, suspect or ending
	Instances int     `json:"instances"`
	Players   int     `json:"players"`
	Sockets   int64   `json:"sockets"`
	Tick      millis  `json:"tick"` // how long turns took, with sending
	Late      millis  `json:"late"` // how late they began
}

// millis are times in milliseconds.
type millis struct {
	Turns int64   `json:"turns"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

func inMillis(turns, p50, p99, p999, longest int64) millis {
	ms := func(ns int64) float64 { return float64(ns) / float64(time.Millisecond) }
	return millis{turns, ms(p50), ms(p99), ms(p999), ms(longest)}
}

func ofLoop(t loop.TickTimes) millis { return inMillis(t.Ticks, t.P50, t.P99, t.P999, t.Max) }

func ofWorker(t control.Times) millis {
	return inMillis(int64(t.Count), int64(t.P50), int64(t.P99), int64(t.P999), int64(t.Max))
}

// staffed is a crew of worker processes.
type staffed interface {
	Workers() []pool.Worker
	Backoffs() map[string]time.Duration
}

// placement tells what runs where.
func (b *Box) placement() (any, error) {
	staff, pooled := b.crew.(staffed)
	backoffs := map[string]time.Duration{}
	if pooled {
		backoffs = staff.Backoffs()
	}
	p := placement{Games: []placedGame{}, Workers: []placedWork{}}
	shards := map[uint32]box.ShardLoad{} // what tables have on each worker
	for _, s := range b.catalog.Statuses() {
		place := s.Place.String()
		g := placedGame{Domain: s.Place.Domain, Game: s.Place.Game, State: s.State, Backoff: backoffs[place].Seconds(), Definitions: []placedVersion{}}
		line := b.versions.at(place)
		if s.State == box.StateLive && len(line.draining) > 0 {
			g.State = box.StateRolling
		}
		if line.newest != nil {
			g.Definitions = append(g.Definitions, placed(line.newest, false, shards))
		}
		for _, v := range line.draining {
			g.Definitions = append(g.Definitions, placed(v, true, shards))
		}
		p.Games = append(p.Games, g)
	}
	// A game that was removed and is played on has no folder any more.
	for place, line := range *b.versions.lines.Load() {
		if _, ok := b.catalog.Status(place); ok || len(line.draining) == 0 {
			continue
		}
		first := line.draining[0].Place
		g := placedGame{Domain: first.Domain, Game: first.Game, State: stateRemoved, Definitions: []placedVersion{}}
		for _, v := range line.draining {
			g.Definitions = append(g.Definitions, placed(v, true, shards))
		}
		p.Games = append(p.Games, g)
	}
	slices.SortFunc(p.Games, func(a, c placedGame) int {
		return cmp.Or(cmp.Compare(a.Domain, c.Domain), cmp.Compare(a.Game, c.Game))
	})
	if !pooled {
		for i, l := range b.Loops() {
			cpu := -1
			if s, ok := shards[uint32(i)]; ok {
				cpu = s.CPU
			}
			p.Workers = append(p.Workers, placedWork{Number: uint32(i), PID: os.Getpid(), CPU: cpu, State: "ready", Sockets: l.Open, Tick: ofLoop(l.Took), Late: ofLoop(l.Late)})
		}
	} else {
		for _, w := range staff.Workers() {
			p.Workers = append(p.Workers, ofProcess(w))
		}
	}
	for i := range p.Workers {
		w := &p.Workers[i]
		w.Instances, w.Players = shards[w.Number].Instances, shards[w.Number].Seats
	}
	slices.SortFunc(p.Workers, func(a, c placedWork) int { return cmp.Compare(a.Number, c.Number) })
	return p, nil
}

// stateRemoved is a place without a folder, where some play on.
const stateRemoved box.State = "removed"

// placed counts what one definition has, and adds to what its workers have.
func placed(v *version, draining bool, shards map[uint32]box.ShardLoad) placedVersion {
	load, on := v.Table.Load(), v.Table.Shards()
	for _, s := range on {
		sum := shards[s.Shard]
		sum.CPU, sum.Instances, sum.Seats = s.CPU, sum.Instances+s.Instances, sum.Seats+s.Seats
		shards[s.Shard] = sum
	}
	return placedVersion{Hash: hexHash(v.Hash), Draining: draining, Instances: load.Instances, Players: load.Seats, Waiting: load.Pending, Workers: len(on)}
}

func ofProcess(w pool.Worker) placedWork {
	state := "ready"
	switch {
	case w.Ending:
		state = "ending"
	case w.Suspect:
		state = "suspect"
	case !w.Ready:
		state = "starting"
	}
	return placedWork{
		Number: w.Shard, PID: w.PID, CPU: w.CPU, Game: w.Game, Hash: hexHash(w.Hash), Up: w.Since.Seconds(), State: state,
		Sockets: int64(w.Load.Sockets), Tick: ofWorker(w.Load.Took), Late: ofWorker(w.Load.Late),
	}
}
