package bench

import (
	"math"

	"gamehoster/bench/latency"
	"gamehoster/bench/report"
)

// shownPercentiles are those on the x axis of a picture, which is the number of nines:
// what is rare has as much room as what is common.
var shownPercentiles = []struct {
	part  float64
	label string
}{{0, "0"}, {.5, "50"}, {.9, "90"}, {.99, "99"}, {.999, "99.9"}, {.9999, "99.99"}}

// nines is where a part of all is on that axis: 1 for 90 %, 2 for 99 %.
func nines(part float64) float64 { return -math.Log10(1 - part) }

func percentileTicks() (list []report.XTick) {
	for _, p := range shownPercentiles {
		list = append(list, report.XTick{At: nines(p.part), Label: p.label})
	}
	return list
}

// percentileLine is a histogram by percentile in ms, as far as there are enough values
// to speak of one.
func percentileLine(h *latency.Histogram) (points [][2]float64) {
	return percentileCurve(h.Count(), func(part float64) float64 { return latency.MS(h.At(part)) })
}
