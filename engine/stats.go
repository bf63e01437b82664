package engine

import (
	"fmt"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// statsTimeout is how long the crew has to answer; one that is held up longer is
// the answer.
const statsTimeout = 2 * time.Second

// inspector is the part of a crew that tells what it does.
type inspector interface {
	// Inspect asks for what runs now. It fails where not all have answered by the timeout.
	Inspect(timeout time.Duration) (inspection, error)
	// Measure has the watcher told what all have counted, as far as it is not told that by
	// and by, and names those that do not answer by the timeout.
	Measure(timeout time.Duration) (silent []string)
	// Loops are the counters of the event loops.
	Loops() []loop.Stats
}

type statsReport struct {
	Games     map[string]gameReport `json:"games"`
	Transport Transport             `json:"transport"` // gnet or uring
	Loops     []loop.Stats          `json:"loops"`
	Door      door.Stats            `json:"door"`
}

type gameReport struct {
	Hash      string           `json:"hash"` // of the definition that new players get
	Instances []instanceReport `json:"instances"`
	Faults    []faultReport    `json:"faults"` // of bodies, since the game was loaded
}

type faultReport struct {
	Error    string `json:"error"` // of the last that was logged: place, body, reason, actor, tick
	Instance string `json:"instance"`
	Times    uint64 `json:"times"`
}

type instanceReport struct {
	Name       string   `json:"name"`
	Definition string   `json:"definition"` // its hash: an older one while the game rolls
	Tick       uint32   `json:"tick"`
	Players    int      `json:"players"`
	Sockets    int      `json:"sockets"`
	Missed     uint64   `json:"missed"` // ticks dropped because the loop was held up
	Short      uint64   `json:"short"`  // turns with less replayed for late commands because of that
	Hashes     [][2]any `json:"hashes"` // [tick, hash in hexadecimal], newest last
}

// stats asks the crew what it runs.
func (b *Box) stats() (any, error) {
	report := statsReport{Games: map[string]gameReport{}, Loops: b.Loops(), Door: b.door.Stats()}
	games := map[uint64]*box.Live{}
	b.versions.each(func(v *version) {
		games[v.Number] = v.Live
		g, ok := report.Games[v.Place.Game]
		if !ok {
			g = gameReport{Instances: []instanceReport{}, Faults: []faultReport{}}
		}
		if b.versions.at(v.Place.String()).newest == v {
			g.Hash = hexHash(v.Hash)
		}
		report.Games[v.Place.Game] = g
	})
	got, err := b.crew.Inspect(statsTimeout)
	if err != nil {
		return nil, err
	}
	report.Transport = got.on
	for _, f := range got.faults {
		if l := games[f.Game]; l != nil {
			g := report.Games[l.Place.Game]
			g.Faults = append(g.Faults, faultReport{Error: f.Error, Instance: f.Instance, Times: f.Times})
			report.Games[l.Place.Game] = g
		}
	}
	for _, in := range got.instances {
		if l := games[in.Game]; l != nil {
			g := report.Games[l.Place.Game]
			g.Instances = append(g.Instances, describe(in, l.Hash))
			report.Games[l.Place.Game] = g
		}
	}
	return report, nil
}

// Loops are the counters of the event loops.
func (b *Box) Loops() []loop.Stats { return b.crew.Loops() }

func describe(in worker.InstanceInfo, definition uint64) instanceReport {
	r := instanceReport{Name: in.Name, Definition: hexHash(definition), Tick: in.Tick, Players: in.Players, Sockets: in.Sockets, Missed: in.Missed, Short: in.Short, Hashes: [][2]any{}}
	for _, h := range in.Hashes {
		r.Hashes = append(r.Hashes, [2]any{h.Tick, hexHash(h.Hash)})
	}
	return r
}

// hexHash is how a hash is shown.
func hexHash(h uint64) string { return fmt.Sprintf("%016x", h) }
