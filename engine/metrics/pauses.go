package metrics

import (
	"math"
	"runtime/metrics"
)

// pausesName is the runtime's histogram of how long the collector has stopped the world.
const pausesName = "/sched/pauses/total/gc:seconds"

// PauseMeter tells how long the garbage collector has stopped this process. There is one
// in a process.
type PauseMeter struct {
	told [Buckets]uint64
	has  []metrics.Sample
}

// Since is the pauses since the last call. The runtime counts them in buckets of its own,
// each of which is taken for its upper bound; their sum is as much too high.
func (m *PauseMeter) Since() (h Histogram) {
	if m.has == nil {
		m.has = []metrics.Sample{{Name: pausesName}}
	}
	metrics.Read(m.has)
	if m.has[0].Value.Kind() != metrics.KindFloat64Histogram {
		return h
	}
	all := m.has[0].Value.Float64Histogram()
	var now [Buckets]uint64
	var bounds [Buckets]uint64 // the longest of each, in nanoseconds
	for i, n := range all.Counts {
		if n == 0 {
			continue
		}
		bound := all.Buckets[i+1]
		if math.IsInf(bound, 1) {
			bound = all.Buckets[i]
		}
		d := int64(bound * 1e9)
		b := bucketOf(d)
		now[b] += n
		bounds[b] = max(bounds[b], uint64(d))
	}
	for i, n := range now {
		h.Counts[i] = n - m.told[i]
		h.Nanos += h.Counts[i] * bounds[i]
	}
	m.told = now
	return h
}
