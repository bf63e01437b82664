package main

import (
	"errors"
	"runtime"
	"testing/fstest"
	"time"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/tick/vm"
)

// costs are what is not a tick.
type costs struct {
	Game    string `json:"game"`
	Load    spread `json:"loadMs"`    // files to game: read, check, compile both modules
	Bodies  spread `json:"bodiesMs"`  // of it, sources to both modules
	Machine spread `json:"machineMs"` // server module to machine code
	Module  int    `json:"moduleBytes"`
	Client  int    `json:"clientBytes"`
}

// compileCosts compiles a sample again and again.
func compileCosts(dir string, rounds int) (*costs, error) {
	g, list := games.Load(dir)
	if g == nil {
		return nil, list
	}
	var files []body.Source
	for _, f := range append(g.Files, g.Shared...) {
		text, _ := g.Source(f.Path)
		files = append(files, body.Source{Path: f.Path, Text: text})
	}
	c := &costs{Game: g.Name, Module: len(g.Program.Server), Client: len(g.Program.Client)}
	ms := func(s *spread, do func() error) error {
		runtime.GC() // what others left is not in the time
		start := cpuTime()
		err := do()
		*s = append(*s, float64(cpuTime()-start)/float64(time.Millisecond))
		return err
	}
	for range rounds {
		err := errors.Join(
			ms(&c.Load, func() error {
				if g, list := games.Load(dir); g == nil {
					return list
				}
				return nil
			}),
			ms(&c.Bodies, func() error {
				if p, list := body.Compile(g.Def, files, body.Options{}); p == nil {
					return list
				}
				return nil
			}),
			ms(&c.Machine, func() error {
				m, err := vm.Compile(g.Program.Server)
				if err != nil {
					return err
				}
				return m.Close()
			}))
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// emptyGame has no bodies: what a tick of it takes is the call and the driver.
func emptyGame() (*games.Game, error) {
	g, list := games.LoadFS(fstest.MapFS{games.DefinitionFile: {Data: []byte(`{"tickRate": 30, "sendRate": 15}`)}}, "empty")
	if g == nil {
		return nil, list
	}
	return g, nil
}

// callCost is a tick of a game without bodies, in ns.
func callCost(rounds int) (ns spread, err error) {
	g, err := emptyGame()
	if err != nil {
		return nil, err
	}
	c, err := vm.Compile(g.Program.Server)
	if err != nil {
		return nil, err
	}
	m, err := c.NewMachine()
	if err != nil {
		return nil, err
	}
	at, err := m.Reserve(g.Program.ServerLayout.Size)
	if err != nil {
		return nil, err
	}
	const calls = 100000
	for range rounds {
		start := cpuTime()
		for range calls {
			if f, ok := m.Tick(at, 0); !ok {
				return nil, f.Err
			}
		}
		ns = append(ns, float64(cpuTime()-start)/calls)
	}
	return ns, errors.Join(m.Close(), c.Close())
}

// allocations is what a tick of the loaded instances allocates on the Go heap.
func allocations(c contestant, instances, ticks int) (float64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Run(ticks); err != nil {
		return 0, err
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(ticks*instances), nil
}
