package worker

import "testing"

func TestACrowdLeavesOnce(t *testing.T) {
	c := Crowd{Worth: ManySockets}
	for i, step := range []struct {
		open int64
		left bool
	}{
		{0, false}, {ManySockets - 1, false}, {0, false}, // too few
		{ManySockets, false}, {10_000, false}, {2501, false}, {2500, true}, {2400, false}, {0, true}, {0, false},
		{500, false}, {0, false}, {ManySockets, false}, {ManySockets / 4, true}, {10, false},
	} {
		if got := c.Left(step.open); got != step.left {
			t.Errorf("step %d, %d open: %t", i, step.open, got)
		}
	}
}
