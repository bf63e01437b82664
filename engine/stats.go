package engine

import (
	"fmt"
	"time"

	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// statsTimeout is how long the crew has to answer; one that is held up longer is
// the answer.
const statsTimeout = 2 * time.Second

type statsReport struct {
	Games     map[string]gameReport `json:"games"`
	Transport Transport             `json:"transport"` // gnet or uring
	Loops     []loop.Stats          `json:"loops"`
	Door      door.Stats            `json:"door"`
}

type gameReport struct {
	Hash      string           `json:"hash"` // of the definition
	Instances []instanceReport `json:"instances"`
	Faults    []faultReport    `json:"faults"` // of bodies, since the game was loaded
}

type faultReport struct {
	Error    string `json:"error"` // of the last that was logged: place, body, reason, actor, tick
	Instance string `json:"instance"`
	Times    uint64 `json:"times"`
}

type instanceReport struct {
	Name    string   `json:"name"`
	Tick    uint32   `json:"tick"`
	Players int      `json:"players"`
	Sockets int      `json:"sockets"`
	Missed  uint64   `json:"missed"` // ticks dropped because the loop was held up
	Short   uint64   `json:"short"`  // turns with less replayed for late commands because of that
	Hashes  [][2]any `json:"hashes"` // [tick, hash in hexadecimal], newest last
}

// stats asks the crew what it runs.
func (b *Box) stats() (any, error) {
	report := statsReport{Games: map[string]gameReport{}, Loops: b.Loops(), Door: b.door.Stats()}
	names := map[uint64]string{}
	for _, l := range b.catalog.Games() {
		names[l.Number] = l.Place.Game
		report.Games[l.Place.Game] = gameReport{Hash: fmt.Sprintf("%016x", l.Hash), Instances: []instanceReport{}, Faults: []faultReport{}}
	}
	got, err := b.crew.Inspect(statsTimeout)
	if err != nil {
		return nil, err
	}
	report.Transport = got.on
	for _, f := range got.faults {
		if name, live := names[f.Game]; live {
			g := report.Games[name]
			g.Faults = append(g.Faults, faultReport{Error: f.Error, Instance: f.Instance, Times: f.Times})
			report.Games[name] = g
		}
	}
	for _, in := range got.instances {
		if name, live := names[in.Game]; live {
			g := report.Games[name]
			g.Instances = append(g.Instances, describe(in))
			report.Games[name] = g
		}
	}
	return report, nil
}

// Loops are the counters of the event loops.
func (b *Box) Loops() []loop.Stats { return b.crew.Loops() }

func describe(in worker.InstanceInfo) instanceReport {
	r := instanceReport{Name: in.Name, Tick: in.Tick, Players: in.Players, Sockets: in.Sockets, Missed: in.Missed, Short: in.Short, Hashes: [][2]any{}}
	for _, h := range in.Hashes {
		r.Hashes = append(r.Hashes, [2]any{h.Tick, fmt.Sprintf("%016x", h.Hash)})
	}
	return r
}
