package latency

import (
	"encoding/base64"
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 0.002*math.Abs(b)+0.002 }

func TestSummary(t *testing.T) {
	h, other := New(), New()
	for i := 1; i <= 500; i++ {
		h.Record(time.Duration(i) * time.Millisecond)
		other.Record(time.Duration(500+i) * time.Millisecond)
	}
	h.Add(other)
	s := h.Summary([]Window{other.Window(3 * time.Second)})
	if s.Count != 1000 || !near(s.P50, 500) || !near(s.P99, 990) || !near(s.Max, 1000) || !near(s.Min, 1) || !near(s.Mean, 500.5) {
		t.Errorf("%s; min %v, mean %v", s, s.Min, s.Mean)
	}
	if w := s.Windows[0]; w.At != 3 || w.Count != 500 || !near(w.P50, 750) || !near(w.Max, 1000) {
		t.Errorf("%+v", w)
	}
	if n := len(s.Curve); n < 10 || s.Curve[n-1].Part != 1 || !near(s.Curve[n-1].MS, 1000) {
		t.Errorf("%+v", s.Curve)
	}
	raw, err := base64.StdEncoding.DecodeString(s.HDR)
	if err != nil {
		t.Fatal(err)
	}
	back, err := hdrhistogram.Decode(raw)
	if err != nil || back.TotalCount() != 1000 || !near(float64(back.ValueAtPercentile(99))/1e6, 990) {
		t.Errorf("the whole histogram does not come back: %v", err)
	}
	if h.Reset(); h.Count() != 0 || h.Summary(nil).P99 != 0 {
		t.Error("something is left after a reset")
	}
}

// TestRecordCorrected checks the values that a pause leaves out: one send that is a
// second late stands for those that were due in that second.
func TestRecordCorrected(t *testing.T) {
	h := New()
	for range 99 {
		h.RecordCorrected(0, 100*time.Millisecond)
	}
	h.RecordCorrected(time.Second, 100*time.Millisecond)
	if h.Count() != 99+10 {
		t.Errorf("%d values for a pause of ten periods", h.Count())
	}
	if p := h.At(.95); p < 400*time.Millisecond {
		t.Errorf("the 95th percentile is %v", p)
	}
}

func TestRange(t *testing.T) {
	h := New()
	h.Record(-time.Second)
	h.Record(time.Hour)
	s := h.Summary(nil)
	if s.Count != 2 || s.Min != 0 || !near(s.Max, MS(Longest)) {
		t.Errorf("%+v", s)
	}
}

func TestAllocRecord(t *testing.T) {
	h := New()
	d := time.Duration(0)
	n := testing.AllocsPerRun(100, func() {
		d += 12345 * time.Nanosecond
		h.Record(d)
		h.RecordCorrected(d, time.Millisecond)
	})
	t.Logf("recording: %v allocations, budget 0", n)
	if n != 0 {
		t.Errorf("recording allocates %v times", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for i := range b.N {
		h.Record(time.Duration(i&0xfffff) * time.Microsecond / 8)
	}
}
