// Package pairs measures contestants in turns. On a machine that is shared or that
// changes its clock, a figure says little and a ratio of two that were taken one
// after the other says much: so all contestants run in every round, each next round
// in the reverse order, and what is reported is the ratio within a round.
//
//	round 0   A  B  C        what comes first in a round is warmed by nothing,
//	round 1   C  B  A        what comes last has the caches of the others: by turns
//	round 2   A  B  C        each of them is first and last
//
// A contestant gives several figures at a time (bytes, ns of this, ns of that). All
// are kept, by round, and summed up as a Spread.
package pairs

import (
	"context"
	"fmt"
	"slices"
)

// Figures are what one turn of a contestant gave, by name.
type Figures map[string]float64

// Contestant is something that can be measured again and again.
type Contestant struct {
	Name string
	// Run does one turn's work and says what it took. round counts from 0; rounds
	// below 0 are for warming up, their figures are dropped.
	Run func(round int) (Figures, error)
}

// Series is what rounds gave: by contestant, by figure, in the order of the rounds.
type Series map[string]map[string]Spread

// Plan is how a run goes.
type Plan struct {
	Rounds   int
	WarmUps  int                // rounds before, that do not count: engines compile what runs often
	Progress func(part float64) // is told the part that is done; may be nil
}

// Run runs the rounds.
func Run(ctx context.Context, p Plan, contestants ...Contestant) (Series, error) {
	s := Series{}
	for _, c := range contestants {
		s[c.Name] = map[string]Spread{}
	}
	order := slices.Clone(contestants)
	turns := (p.Rounds + p.WarmUps) * len(order)
	for round := -p.WarmUps; round < p.Rounds; round++ {
		for i, c := range order {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			f, err := c.Run(round)
			if err != nil {
				return nil, fmt.Errorf("round %d of %s: %w", round, c.Name, err)
			}
			if p.Progress != nil {
				p.Progress(float64((round+p.WarmUps)*len(order)+i+1) / float64(turns))
			}
			if round < 0 {
				continue
			}
			for name, v := range f {
				s[c.Name][name] = append(s[c.Name][name], v)
			}
		}
		slices.Reverse(order)
	}
	return s, nil
}

// Of is one figure of one contestant; empty where there is none.
func (s Series) Of(contestant, figure string) Spread { return s[contestant][figure] }

// Ratio is a contestant's figure to that of another one, round by round.
func (s Series) Ratio(contestant, to, figure string) Spread {
	return s.Of(contestant, figure).Over(s.Of(to, figure))
}
