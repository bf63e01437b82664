// Package latency collects durations in HDR histograms, from a microsecond to a minute
// with three digits, and sums them up for reports. Recording takes no memory.
//
// # Coordinated omission
//
// A server that stands still for a second delays all that should have been measured in
// that second, and a benchmark that waits for it sees one bad value instead of many.
// There are two ways to get it right, and each series here uses one of them:
//
//   - What is sent by a schedule (commands, pings) goes out on schedule whatever the
//     server does, and its latency counts from the time that the schedule named: Record.
//   - What comes by a schedule (the server's sends) leaves nothing to count while it does
//     not come. RecordCorrected adds the values that are missing.
package latency

import (
	"encoding/base64"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// What a Histogram can tell apart. Longer durations count as Longest, shorter ones as
// nothing.
const (
	Shortest = time.Microsecond
	Longest  = time.Minute

	digits = 3
)

// Histogram is many durations. It is not safe for concurrent use.
type Histogram struct{ h *hdrhistogram.Histogram }

// New makes an empty Histogram; it takes about 200 KB.
func New() *Histogram {
	return &Histogram{hdrhistogram.New(int64(Shortest), int64(Longest), digits)}
}

// Record adds a duration.
func (h *Histogram) Record(d time.Duration) {
	_ = h.h.RecordValue(clamp(d)) // cannot be out of range
}

// RecordCorrected adds by how much something that should come once a period was late,
// with the lateness of each that was due meanwhile and did not come.
func (h *Histogram) RecordCorrected(d, period time.Duration) {
	_ = h.h.RecordCorrectedValue(clamp(d), int64(period))
}

func clamp(d time.Duration) int64 { return int64(min(max(d, 0), Longest)) }

// Add adds all of o's durations.
func (h *Histogram) Add(o *Histogram) { h.h.Merge(o.h) }

// Reset forgets all.
func (h *Histogram) Reset() { h.h.Reset() }

// Count is the number of durations.
func (h *Histogram) Count() int64 { return h.h.TotalCount() }

// At is the duration that a part of all, 0 to 1, do not exceed; 0 of none.
func (h *Histogram) At(part float64) time.Duration {
	return time.Duration(h.h.ValueAtPercentile(part * 100))
}

// Summary is a Histogram in a report. Times are milliseconds.
type Summary struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	P9999 float64 `json:"p9999"`
	Max   float64 `json:"max"`

	Curve   []Point  `json:"curve,omitempty"`   // for drawing: percentiles ever closer to all
	Windows []Window `json:"windows,omitempty"` // over time
	HDR     string   `json:"hdr,omitempty"`     // the whole histogram, compressed V2 in base64, of nanoseconds
}

// Point says that Part of all, 0 to 1, took at most MS.
type Point struct {
	Part float64 `json:"part"`
	MS   float64 `json:"ms"`
}

// Window is a stretch of time, from the one before it to At seconds after the start.
type Window struct {
	At    float64 `json:"at"`
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// MS is a duration in milliseconds.
func MS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Summary sums up, with the windows given.
func (h *Histogram) Summary(windows []Window) Summary {
	s := Summary{Count: h.Count(), Windows: windows}
	if s.Count == 0 {
		return s
	}
	at := func(part float64) float64 { return MS(h.At(part)) }
	s.Mean, s.Min, s.Max = h.h.Mean()/float64(time.Millisecond), MS(time.Duration(h.h.Min())), MS(time.Duration(h.h.Max()))
	s.P50, s.P90, s.P99, s.P999, s.P9999 = at(.5), at(.9), at(.99), at(.999), at(.9999)
	for _, b := range h.h.CumulativeDistributionWithTicks(4) {
		s.Curve = append(s.Curve, Point{b.Quantile / 100, MS(time.Duration(b.ValueAt))})
	}
	if raw, err := h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err == nil {
		s.HDR = base64.StdEncoding.EncodeToString(raw)
	}
	return s
}

// Window sums up a stretch that ended at the time given, after the start.
func (h *Histogram) Window(at time.Duration) Window {
	w := Window{At: at.Seconds(), Count: h.Count()}
	if w.Count > 0 {
		w.P50, w.P99, w.Max = MS(h.At(.5)), MS(h.At(.99)), MS(time.Duration(h.h.Max()))
	}
	return w
}

// String is the usual percentiles in one line.
func (s Summary) String() string {
	return fmt.Sprintf("p50 %.2f p90 %.2f p99 %.2f p99.9 %.2f max %.2f ms of %d", s.P50, s.P90, s.P99, s.P999, s.Max, s.Count)
}
