package pairs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTurns(t *testing.T) {
	var order []string
	c := func(name string, v float64) Contestant {
		return Contestant{name, func(round int) (Figures, error) {
			if round >= 0 {
				order = append(order, name)
			}
			return Figures{"ns": v * float64(round+1)}, nil
		}}
	}
	last := 0.0
	s, err := Run(t.Context(), Plan{Rounds: 3, WarmUps: 2, Progress: func(part float64) {
		if part <= last || part > 1 {
			t.Errorf("progress went from %v to %v", last, part)
		}
		last = part
	}}, c("a", 2), c("b", 4))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(order, ""); got != "abbaab" {
		t.Errorf("the order was %s", got)
	}
	if last != 1 {
		t.Errorf("progress ended at %v", last)
	}
	if got := s.Ratio("a", "b", "ns"); !slices.Equal(got, Spread{.5, .5, .5}) {
		t.Errorf("ratio %v", got)
	}
	if got := s.Of("b", "bytes"); got.Median() != 0 || got.Min() != 0 || got.Max() != 0 {
		t.Errorf("a figure that there is none of: %v", got)
	}
}

func TestTurnsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	stop := Contestant{"stop", func(int) (Figures, error) {
		if n++; n == 3 {
			cancel()
		}
		return nil, nil
	}}
	if _, err := Run(ctx, Plan{Rounds: 10}, stop); !errors.Is(err, context.Canceled) || n != 3 {
		t.Errorf("%v after %d turns", err, n)
	}
	bad := errors.New("broken")
	if _, err := Run(t.Context(), Plan{Rounds: 1}, Contestant{"x", func(int) (Figures, error) { return nil, bad }}); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}

func TestSpread(t *testing.T) {
	s := Spread{4, 1, 3, 2}
	if s.Median() != 2.5 || s.Min() != 1 || s.Max() != 4 {
		t.Errorf("%v %v %v", s.Median(), s.Min(), s.Max())
	}
	if got := s.Over(Spread{2, 0, 6}); !slices.Equal(got, Spread{2, .5}) {
		t.Errorf("%v", got)
	}
	b, err := json.Marshal(Spread{1.23456789, 0})
	if err != nil || string(b) != `{"median":0.617284,"min":0,"max":1.23457,"rounds":[1.23457,0]}` {
		t.Errorf("%s %v", b, err)
	}
	var back Spread
	if err := json.Unmarshal(b, &back); err != nil || !slices.Equal(back, Spread{1.23457, 0}) {
		t.Errorf("%v %v", back, err)
	}
}
