package engine

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"gamehoster/engine/door"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// statsTimeout is how long the loops have to answer; one that is held up longer is
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

// stats asks every loop what it runs.
func (b *Box) stats() (any, error) {
	report := statsReport{Games: map[string]gameReport{}, Transport: b.on, Loops: b.Loops(), Door: b.door.Stats()}
	names := map[uint64]string{}
	for _, l := range b.catalog.Games() {
		names[l.Number] = l.Place.Game
		report.Games[l.Place.Game] = gameReport{Hash: fmt.Sprintf("%016x", l.Hash), Instances: []instanceReport{}, Faults: []faultReport{}}
	}
	var mu sync.Mutex
	var asked sync.WaitGroup
	for _, l := range b.loops {
		asked.Add(1)
		ok := l.Post(&worker.Inspect{Faults: func(all []worker.FaultInfo) {
			mu.Lock()
			defer mu.Unlock()
			for _, f := range all {
				if name, live := names[f.Game]; live {
					g := report.Games[name]
					g.Faults = append(g.Faults, faultReport{Error: f.Error, Instance: f.Instance, Times: f.Times})
					report.Games[name] = g
				}
			}
		}, Reply: func(all []worker.InstanceInfo) {
			defer asked.Done()
			mu.Lock()
			defer mu.Unlock()
			for _, in := range all {
				name, live := names[in.Game]
				if !live {
					continue
				}
				g := report.Games[name]
				g.Instances = append(g.Instances, describe(in))
				report.Games[name] = g
			}
		}})
		if !ok {
			return nil, errors.New("the server is stopping")
		}
	}
	done := make(chan struct{})
	go func() { asked.Wait(); close(done) }()
	select {
	case <-done:
		return report, nil
	case <-time.After(statsTimeout):
		return nil, errors.New("an event loop does not answer")
	}
}

// Loops are the counters of the event loops.
func (b *Box) Loops() (all []loop.Stats) {
	for _, l := range b.loops {
		all = append(all, l.Stats())
	}
	return all
}

func describe(in worker.InstanceInfo) instanceReport {
	r := instanceReport{Name: in.Name, Tick: in.Tick, Players: in.Players, Sockets: in.Sockets, Missed: in.Missed, Short: in.Short, Hashes: [][2]any{}}
	for _, h := range in.Hashes {
		r.Hashes = append(r.Hashes, [2]any{h.Tick, fmt.Sprintf("%016x", h.Hash)})
	}
	return r
}
