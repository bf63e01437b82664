package main

import (
	"fmt"
	"slices"
	"time"
)

// entry is a contestant in the table.
type entry struct {
	Key   string
	Label string
	game  contestant
	share int // it runs one in so many of the others' ticks, as it is slow
	every int // it takes part in one of so many rounds
}

// spread is a list of measurements.
type spread []float64

func (s spread) median() float64 {
	if len(s) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(s))
	return (t[len(t)/2] + t[(len(t)-1)/2]) / 2
}

func (s spread) min() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Min(s)
}

func (s spread) max() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Max(s)
}

// series is what rounds gave: by contestant, ns for a tick of an instance.
type series struct {
	Instances int                `json:"instances"`
	NS        map[string]spread  `json:"ns"`     // in the order of the rounds
	Ratio     map[string]spread  `json:"ratio"`  // to the game by hand, in the same round
	VsOurs    map[string]spread  `json:"vsOurs"` // to the compiled game, in the same round
	Memory    map[string]float64 `json:"memory"` // bytes for an instance
}

func newSeries(n int) *series {
	return &series{Instances: n, NS: map[string]spread{}, Ratio: map[string]spread{}, VsOurs: map[string]spread{}, Memory: map[string]float64{}}
}

const (
	byHand = "native"
	ours   = "compiled"
)

// round runs each contestant once and files what it took.
func (s *series) round(number, ticks int, entries []entry, before func(entry) error) error {
	took := map[string]float64{}
	order := slices.Clone(entries)
	if number%2 == 1 {
		slices.Reverse(order)
	}
	for _, e := range order {
		if number%e.every != 0 {
			continue
		}
		if before != nil {
			if err := before(e); err != nil {
				return err
			}
		}
		n := max(1, ticks/e.share)
		spent, err := e.game.Run(n)
		if err != nil {
			return fmt.Errorf("running %s: %w", e.Label, err)
		}
		took[e.Key] = float64(spent) / float64(time.Nanosecond) / float64(n*s.Instances)
	}
	for key, ns := range took {
		s.NS[key] = append(s.NS[key], ns)
		s.Ratio[key] = append(s.Ratio[key], ns/took[byHand])
		s.VsOurs[key] = append(s.VsOurs[key], ns/took[ours])
	}
	return nil
}

// alone measures one instance, which stays in the caches: every round is another
// one, and all contestants play the same stretch of it.
func alone(entries []entry, states [][]byte, rounds, ticks int) (*series, error) {
	s := newSeries(1)
	load := func(i int) func(entry) error {
		return func(e entry) error { return e.game.Load(states[i:i+1], i) }
	}
	for _, e := range entries { // engines that compile while they run get there
		if err := load(0)(e); err != nil {
			return nil, err
		}
		if _, err := e.game.Run(max(1, 2*ticks/e.share)); err != nil {
			return nil, err
		}
	}
	for r := range rounds {
		if err := s.round(r, ticks, entries, load(r*37%len(states))); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// crowd measures many instances, stepped one after the other as a shard does.
func crowd(entries []entry, states [][]byte, rounds, ticks int) (*series, error) {
	s := newSeries(len(states))
	for _, e := range entries {
		if err := e.game.Load(states, 0); err != nil {
			return nil, err
		}
		bytes, err := e.game.Memory()
		if err != nil {
			return nil, err
		}
		s.Memory[e.Key] = bytes / float64(len(states))
		if e.every == 1 {
			if _, err := e.game.Run(4); err != nil {
				return nil, err
			}
		}
	}
	for r := range rounds {
		if err := s.round(r, ticks, entries, nil); err != nil {
			return nil, err
		}
	}
	return s, nil
}
