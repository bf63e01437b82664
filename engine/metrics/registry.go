package metrics

import (
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gamehoster/tick"
	"gamehoster/wire"
)

// Registry sums up what workers tell. Its methods may be called from any goroutine.
type Registry struct {
	prom *prometheus.Registry

	mu      sync.Mutex
	live    func(game string) bool
	games   map[string]*gameSums
	loops   map[string]*Loop // by core; Open is not used
	pauses  map[string]*Histogram
	workers map[uint32]*now
}

// gameSums is what a game has counted, on all workers that it ever had.
type gameSums struct {
	stats   tick.Stats
	dropped uint64
	cores   map[string]*timings
}

type timings struct{ took, late, sent Histogram }

// now is how a worker is.
type now struct {
	core  string
	open  int64
	games []gameNow
}

type gameNow struct {
	name                        string
	instances, players, sockets int64
}

// New makes a Registry that also has what the runtime and the kernel tell of this process.
// A game's series are kept while live says that there is such a game, or a worker runs an
// instance of it. live is called now and then, by whoever asks; nil keeps all.
func New(live func(game string) bool) *Registry {
	r := &Registry{
		prom: prometheus.NewRegistry(), live: live,
		games: map[string]*gameSums{}, loops: map[string]*Loop{}, pauses: map[string]*Histogram{}, workers: map[uint32]*now{},
	}
	r.prom.MustRegister(r, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Report adds what a worker has counted since it last reported. core names the core that it
// is bound to, as a label: workers that come after one another there are one series. s stays
// the caller's.
func (r *Registry) Report(worker uint32, core string, s *Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := &now{core: core, open: s.Loop.Open}
	r.workers[worker] = w
	loop := of(r.loops, core)
	theirs := s.Loop.counters()
	for i, n := range loop.counters() {
		*n += *theirs[i]
	}
	if s.Pauses != (Histogram{}) {
		of(r.pauses, core).Add(&s.Pauses)
	}
	for i := range s.Games {
		g := &s.Games[i]
		w.games = append(w.games, gameNow{g.Name, g.Instances, g.Players, g.Sockets})
		sums := r.games[g.Name]
		if sums == nil {
			sums = &gameSums{cores: map[string]*timings{}}
			r.games[g.Name] = sums
		}
		sums.stats.Add(&g.Stats)
		sums.dropped += g.Dropped
		t := of(sums.cores, core)
		t.took.Add(&g.Took)
		t.late.Add(&g.Late)
		t.sent.Add(&g.Sent)
	}
}

// of is the element of a map, which is made if it is not there.
func of[T any](m map[string]*T, key string) *T {
	if m[key] == nil {
		m[key] = new(T)
	}
	return m[key]
}

// Pauses adds pauses of a process that reports nothing else.
func (r *Registry) Pauses(process string, h *Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of(r.pauses, process).Add(h)
}

// Gone forgets how a worker is. What it has counted stays.
func (r *Registry) Gone(worker uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.workers, worker)
}

// Value is a number with the value of its label.
type Value struct {
	Label string
	N     float64
}

// Counters has read called for counters of that name whenever somebody asks; label is what
// tells them apart. It is called before the first question.
func (r *Registry) Counters(name, help, label string, read func() []Value) {
	r.prom.MustRegister(&values{prometheus.NewDesc(name, help, []string{label}, nil), prometheus.CounterValue, read})
}

// Gauges is the same for numbers that go up and down.
func (r *Registry) Gauges(name, help, label string, read func() []Value) {
	r.prom.MustRegister(&values{prometheus.NewDesc(name, help, []string{label}, nil), prometheus.GaugeValue, read})
}

type values struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func() []Value
}

func (v *values) Describe(to chan<- *prometheus.Desc) { to <- v.desc }

func (v *values) Collect(to chan<- prometheus.Metric) {
	for _, n := range v.read() {
		to <- prometheus.MustNewConstMetric(v.desc, v.kind, n.N, n.Label)
	}
}

// handler answers with everything there is.
func (r *Registry) handler() http.Handler {
	return promhttp.HandlerFor(r.prom, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gamehoster_"+name, help, labels, nil)
}

// What is told of games, loops and processes.
var (
	tookDesc     = desc("tick_duration_seconds", "How long ticks of instances took, without what was sent.", "game", "worker")
	lateDesc     = desc("tick_lateness_seconds", "How much later than scheduled ticks of instances began.", "game", "worker")
	sentDesc     = desc("send_duration_seconds", "How long it took to encode a send tick for all viewers of an instance.", "game", "worker")
	instances    = desc("instances", "Instances that run.", "game")
	players      = desc("players", "Seats that are taken, those included that are kept for who may come back.", "game")
	sockets      = desc("sockets", "Sockets of players and spectators.", "game")
	droppedDesc  = desc("ticks_dropped_total", "Ticks left out of the schedule because a loop was held up.", "game")
	depthDesc    = desc("rewind_depth_ticks", "How many ticks each rewind of an instance went back; the sum is the ticks replayed.", "game")
	replayedDesc = desc("replayed_ticks_total", "Ticks run again because of late commands.", "game")
	rerunDesc    = desc("rerun_ticks_total", "Ticks run again because a body failed in them.", "game")
	skippedDesc  = desc("sends_skipped_total", "Sends skipped because a socket had not drained.", "game")
	faultsDesc   = desc("body_faults_total", "Runs of bodies that failed.", "game")
	commandsDesc = desc("commands_total", "Commands taken, by whether their tick had run already.", "game", "when")
	refusedDesc  = desc("commands_refused_total", "Commands that were well-formed and not taken, by reason.", "game", "reason")
	queuedDesc   = desc("late_commands_waited_total", "How often a late command was left waiting because its loop was behind.", "game")
	hashesDesc   = desc("state_hashes_total", "State hashes of clients, by whether they were the server's.", "game", "result")
	snapsDesc    = desc("snapshots_total", "Snapshots sent, by cause.", "game", "cause")
	inDesc       = desc("messages_received_total", "Messages of clients, by type.", "game", "type")
	inBytesDesc  = desc("message_bytes_received_total", "Their bytes, without framing.", "game", "type")
	outDesc      = desc("messages_sent_total", "Messages to clients, by type.", "game", "type")
	outBytesDesc = desc("message_bytes_sent_total", "Their bytes, without framing.", "game", "type")
	workersDesc  = desc("workers", "Workers that have reported and are not gone.", "worker")
	openDesc     = desc("loop_sockets", "Connections that are open on loops.", "worker")
	adoptedDesc  = desc("loop_sockets_total", "Connections opened on loops, and how some ended.", "worker", "event")
	bytesDesc    = desc("loop_bytes_total", "Bytes of streams, framing included.", "worker", "direction")
	pausesDesc   = desc("gc_pause_seconds", "How long the garbage collector has stopped a process.", "worker")
)

// clientTags and serverTags are the types of messages of each direction.
var (
	clientTags = []wire.Tag{wire.TagCommand, wire.TagAck, wire.TagPing, wire.TagStateHash, wire.TagResync}
	serverTags = []wire.Tag{
		wire.TagWelcome, wire.TagSnapshot, wire.TagDelta, wire.TagKeyframe, wire.TagCommands,
		wire.TagEnter, wire.TagLeave, wire.TagPong,
	}
)

// Describe implements prometheus.Collector.
func (r *Registry) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		tookDesc, lateDesc, sentDesc, instances, players, sockets, droppedDesc, depthDesc, replayedDesc, rerunDesc,
		skippedDesc, faultsDesc, commandsDesc, refusedDesc, queuedDesc, hashesDesc, snapsDesc, inDesc, inBytesDesc,
		outDesc, outBytesDesc, workersDesc, openDesc, adoptedDesc, bytesDesc, pausesDesc,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (r *Registry) Collect(to chan<- prometheus.Metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(n), labels...)
	}
	r.forget()
	games, cores := r.sumUp()
	for name, sums := range r.games {
		g := games[name]
		gauge(instances, g.instances, name)
		gauge(players, g.players, name)
		gauge(sockets, g.sockets, name)
		count(droppedDesc, sums.dropped, name)
		for core, t := range sums.cores {
			to <- t.took.metric(tookDesc, name, core)
			to <- t.late.metric(lateDesc, name, core)
			to <- t.sent.metric(sentDesc, name, core)
		}
		sums.collect(name, to, count)
	}
	for core, c := range cores {
		gauge(workersDesc, c.workers, core)
		gauge(openDesc, c.open, core)
	}
	for core, l := range r.loops {
		count(adoptedDesc, l.Adopted, core, "opened")
		count(adoptedDesc, l.Lost, core, "lost")
		count(adoptedDesc, l.Overflow, core, "overflow")
		count(adoptedDesc, l.Expired, core, "expired")
		count(bytesDesc, l.BytesIn, core, "in")
		count(bytesDesc, l.BytesOut, core, "out")
	}
	for process, h := range r.pauses {
		to <- h.metric(pausesDesc, process)
	}
}

// collect tells of what the machines of a game have counted.
func (s *gameSums) collect(name string, to chan<- prometheus.Metric, count func(d *prometheus.Desc, n uint64, labels ...string)) {
	st := &s.stats
	count(replayedDesc, st.Replayed, name)
	count(rerunDesc, st.Reruns, name)
	count(skippedDesc, st.Skipped, name)
	count(faultsDesc, st.Faults, name)
	count(queuedDesc, st.Queued, name)
	count(commandsDesc, st.Commands-st.Late, name, "in time")
	count(commandsDesc, st.Late, name, "late")
	count(hashesDesc, st.Hashes-st.Drifts, name, "same")
	count(hashesDesc, st.Drifts, name, "other")
	depths := map[float64]uint64{}
	total := uint64(0)
	for i, n := range st.Depths {
		total += n
		depths[float64(tick.DepthBound(i))] = total
	}
	to <- prometheus.MustNewConstHistogram(depthDesc, st.Rewinds, float64(st.Replayed), depths, name)
	for _, r := range tick.Refusals() {
		count(refusedDesc, st.Refused[r], name, r.String())
	}
	for _, c := range tick.Causes() {
		count(snapsDesc, st.Snapshots[c], name, c.String())
	}
	for _, t := range clientTags {
		n := st.Received(t)
		count(inDesc, n.Messages, name, t.String())
		count(inBytesDesc, n.Bytes, name, t.String())
	}
	for _, t := range serverTags {
		n := st.Sent(t)
		count(outDesc, n.Messages, name, t.String())
		count(outBytesDesc, n.Bytes, name, t.String())
	}
}

// coreNow is the workers of a core.
type coreNow struct{ workers, open int64 }

// sumUp is how all games and cores are.
func (r *Registry) sumUp() (games map[string]gameNow, cores map[string]coreNow) {
	games, cores = map[string]gameNow{}, map[string]coreNow{}
	for _, w := range r.workers {
		c := cores[w.core]
		c.workers++
		c.open += w.open
		cores[w.core] = c
		for _, n := range w.games {
			g := games[n.name]
			g.instances += n.instances
			g.players += n.players
			g.sockets += n.sockets
			games[n.name] = g
		}
	}
	return games, cores
}

// forget drops the games that are no more.
func (r *Registry) forget() {
	if r.live == nil {
		return
	}
	games, _ := r.sumUp()
	maps.DeleteFunc(r.games, func(name string, _ *gameSums) bool {
		return games[name].instances == 0 && !r.live(name)
	})
}

// metric is the histogram as Prometheus has it, in seconds.
func (h *Histogram) metric(d *prometheus.Desc, labels ...string) prometheus.Metric {
	buckets := make(map[float64]uint64, Buckets-1)
	total := uint64(0)
	for i, n := range h.Counts {
		total += n
		if i < Buckets-1 {
			buckets[Bound(i).Seconds()] = total
		}
	}
	return prometheus.MustNewConstHistogram(d, total, float64(h.Nanos)/1e9, buckets, labels...)
}

// Core is the label of a core; of none where it is negative.
func Core(cpu int) string {
	if cpu < 0 {
		return "any"
	}
	return strconv.Itoa(cpu)
}
