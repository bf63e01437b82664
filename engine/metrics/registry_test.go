package metrics

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gamehoster/tick"
)

// value is the number of a series as it stands in the text; false where it does not.
func value(text, series string) (string, bool) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

func listen(t *testing.T, r *Registry, ask Ask) string {
	t.Helper()
	a, err := Listen("127.0.0.1:0", r, ask, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- a.Serve() }()
	t.Cleanup(func() {
		a.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return "http://" + a.Addr().String()
}

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func TestScrape(t *testing.T) {
	live := map[string]bool{"d/a": true, "d/b": true}
	r := New(func(game string) bool { return live[game] })
	asked := 0
	base := listen(t, r, func(time.Duration) []string { asked++; return nil })

	s := &Snapshot{Loop: Loop{Open: 5, Adopted: 7, BytesOut: 1000}}
	g := s.game("d/a")
	g.Instances, g.Players, g.Sockets = 2, 3, 4
	g.Took.Observe(int64(Bound(3)), 1)
	g.Took.Observe(int64(time.Hour), 1)
	g.Late.Observe(1, 1)
	g.Sent.Observe(1, 1)
	g.Dropped = 6
	g.Stats.Snapshots[tick.CauseFresh] = 8
	g.Stats.Rewinds, g.Stats.Replayed = 2, 5
	g.Stats.Depths[0], g.Stats.Depths[2] = 1, 1
	s.Pauses.Observe(1, 1)
	s.game("d/b").Instances = 1
	r.Report(1, Core(0), s)
	r.Report(2, Core(1), s)
	r.Gone(2)
	r.Report(3, Core(1), &Snapshot{Games: []Game{{Name: "d/a", Dropped: 1}}})
	r.Counters("gamehoster_things_total", "Things.", "kind", func() []Value { return []Value{{"odd", 3}, {"even", 4}} })

	_, text := get(t, base+"/metrics")
	if asked != 1 {
		t.Errorf("the workers were asked %d times", asked)
	}
	for series, want := range map[string]string{
		`gamehoster_instances{game="d/a"}`:                                                "2",
		`gamehoster_players{game="d/a"}`:                                                  "3",
		`gamehoster_sockets{game="d/a"}`:                                                  "4",
		`gamehoster_ticks_dropped_total{game="d/a"}`:                                      "13",
		`gamehoster_tick_duration_seconds_count{game="d/a",worker="0"}`:                   "2",
		`gamehoster_tick_duration_seconds_bucket{game="d/a",worker="1",le="0.000262144"}`: "1",
		`gamehoster_tick_duration_seconds_bucket{game="d/a",worker="1",le="0.000131072"}`: "0",
		`gamehoster_tick_duration_seconds_bucket{game="d/a",worker="1",le="+Inf"}`:        "2",
		`gamehoster_tick_lateness_seconds_count{game="d/a",worker="0"}`:                   "1",
		`gamehoster_send_duration_seconds_count{game="d/a",worker="0"}`:                   "1",
		`gamehoster_snapshots_total{cause="fresh",game="d/a"}`:                            "16",
		`gamehoster_snapshots_total{cause="hash",game="d/a"}`:                             "0",
		`gamehoster_rewind_depth_ticks_sum{game="d/a"}`:                                   "10",
		`gamehoster_rewind_depth_ticks_bucket{game="d/a",le="2"}`:                         "2",
		`gamehoster_rewind_depth_ticks_count{game="d/a"}`:                                 "4",
		`gamehoster_messages_sent_total{game="d/a",type="delta"}`:                         "0",
		`gamehoster_messages_received_total{game="d/a",type="command"}`:                   "0",
		`gamehoster_workers{worker="1"}`:                                                  "1",
		`gamehoster_loop_sockets{worker="0"}`:                                             "5",
		`gamehoster_loop_bytes_total{direction="out",worker="1"}`:                         "1000",
		`gamehoster_gc_pause_seconds_count{worker="1"}`:                                   "1",
		`gamehoster_things_total{kind="even"}`:                                            "4",
		`go_goroutines`:                                                                   "",
		`process_open_fds`:                                                                "",
	} {
		got, ok := value(text, series)
		if !ok || want != "" && got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	// A game that is gone takes its series along, once nothing of it runs.
	delete(live, "d/a")
	delete(live, "d/b")
	r.Report(1, Core(0), &Snapshot{Games: []Game{{Name: "d/a", Instances: 1}}})
	_, text = get(t, base+"/metrics")
	if _, ok := value(text, `gamehoster_instances{game="d/a"}`); !ok {
		t.Error("a game that is played is not told of any more")
	}
	if strings.Contains(text, "d/b") {
		t.Error("a game that is gone is told of")
	}
}

// series is how many there are.
func series(r *Registry) (n int) {
	to := make(chan prometheus.Metric, 10_000)
	r.Collect(to)
	return len(to)
}

// TestCardinality has a thousand workers come and go, and counts the series.
func TestCardinality(t *testing.T) {
	r := New(nil)
	before := 0
	for worker := range uint32(1000) {
		s := &Snapshot{}
		s.game("d/a").Instances = 1
		r.Report(worker, Core(int(worker%2)), s)
		if worker >= 2 {
			r.Gone(worker - 2)
		}
		if worker == 10 {
			before = series(r)
		}
	}
	if n := series(r); n != before || n == 0 {
		t.Errorf("%d series, %d of the first workers", n, before)
	}
}

func TestHealth(t *testing.T) {
	var silent atomic.Pointer[[]string]
	silent.Store(&[]string{})
	base := listen(t, New(nil), func(time.Duration) []string { return *silent.Load() })
	if code, text := get(t, base+"/healthz"); code != http.StatusOK || text != `{"healthy":true,"silent":[]}`+"\n" {
		t.Errorf("%d: %s", code, text)
	}
	silent.Store(&[]string{"loop 1"})
	if code, text := get(t, base+"/healthz"); code != http.StatusServiceUnavailable || text != `{"healthy":false,"silent":["loop 1"]}`+"\n" {
		t.Errorf("%d: %s", code, text)
	}
}

// TestGuard wants no page to reach the listener by way of its visitor's browser.
func TestGuard(t *testing.T) {
	base := listen(t, New(nil), func(time.Duration) []string { return nil })
	for _, c := range []struct {
		path   string
		header []string
		want   int
	}{
		{"/healthz", nil, 200},
		{"/debug/pprof/", nil, 200},
		{"/debug/pprof/heap?debug=1", []string{"Host", "localhost:7351"}, 200},
		{"/healthz", []string{"Host", "[::1]:7351"}, 200},
		{"/healthz", []string{"Sec-Fetch-Site", "none"}, 200},
		{"/healthz", []string{"Host", "rebound.example:7351"}, 403},
		{"/debug/pprof/profile", []string{"Origin", "https://a.example"}, 403},
		{"/debug/pprof/profile", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"/", nil, 404},
	} {
		if code, _ := get(t, base+c.path, c.header...); code != c.want {
			t.Errorf("%s with %v: %d, want %d", c.path, c.header, code, c.want)
		}
	}
}
