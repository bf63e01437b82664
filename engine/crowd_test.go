package engine

import "testing"

func TestACrowdLeavesOnce(t *testing.T) {
	c := crowd{worth: manySockets}
	for i, step := range []struct {
		open int64
		left bool
	}{
		{0, false}, {manySockets - 1, false}, {0, false}, // too few
		{manySockets, false}, {10_000, false}, {2501, false}, {2500, true}, {2400, false}, {0, true}, {0, false},
		{500, false}, {0, false}, {manySockets, false}, {manySockets / 4, true}, {10, false},
	} {
		if got := c.left(step.open); got != step.left {
			t.Errorf("step %d, %d open: %t", i, step.open, got)
		}
	}
}
