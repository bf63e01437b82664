package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/engine/worker"
)

// DefaultAdmin is where the operator's listener is, unless that is taken: a second box on
// the machine goes without one rather than not at all.
const DefaultAdmin = "127.0.0.1:7351"

// meters is what a box knows of how it fares.
type meters struct {
	registry *metrics.Registry
	admin    *metrics.Admin // nil for none
	origins  atomic.Int64   // sockets refused because of the page they came from

	mu     sync.Mutex // held while the workers are asked
	pauses metrics.PauseMeter
}

// init makes the sums, before anybody reports.
func (m *meters) init(b *Box) {
	m.registry = metrics.New(func(game string) bool {
		for _, l := range b.catalog.Games() {
			if l.Name == game {
				return true
			}
		}
		return false
	})
	m.registry.Counters("gamehoster_handoffs_total", "Connections handed on by the door, and those that failed to be.", "to", func() []metrics.Value {
		s := b.door.Stats()
		return []metrics.Value{{Label: "game", N: float64(s.Upgraded)}, {Label: "http", N: float64(s.HTTP)}, {Label: "nobody", N: float64(s.Failed)}}
	})
	m.registry.Counters("gamehoster_door_connections_total", "Connections that came to the door, and what became of those that it did not hand on.", "result", func() []metrics.Value {
		s := b.door.Stats()
		return []metrics.Value{
			{Label: "accepted", N: float64(s.Accepted)}, {Label: "refused", N: float64(s.Refused)},
			{Label: "malformed", N: float64(s.Malformed)}, {Label: "too long", N: float64(s.TooLong)},
			{Label: "timed out", N: float64(s.TimedOut)}, {Label: "evicted", N: float64(s.Evicted)},
			{Label: "crowded", N: float64(s.Crowded)}, {Label: "address", N: float64(s.PerAddr)},
			{Label: "descriptors", N: float64(s.Full)},
		}
	})
	m.registry.Gauges("gamehoster_door_pending", "Connections at the door now.", "state", func() []metrics.Value {
		return []metrics.Value{{Label: "pending", N: float64(b.door.Stats().Pending)}}
	})
	m.registry.Counters("gamehoster_origin_drops_total", "Sockets refused because of the page that they came from.", "stage", func() []metrics.Value {
		return []metrics.Value{{Label: "user", N: float64(m.origins.Load())}}
	})
	m.registry.Counters("gamehoster_address_refusals_total", "Sockets refused because their address has or asks for too many.", "stage", func() []metrics.Value {
		return []metrics.Value{{Label: "user", N: float64(b.gate.Refused())}}
	})
	if l := b.cfg.Logs; l != nil {
		m.registry.Counters("gamehoster_log_lines_lost_total", "Lines that found no room on their way to the disk.", "log", func() []metrics.Value {
			return []metrics.Value{{Label: "web", N: float64(l.Web.Lost())}, {Label: "server", N: float64(l.Server.Lost())}}
		})
	}
}

// listen opens the operator's listener, if there is to be one.
func (m *meters) listen(b *Box) (err error) {
	addr := b.cfg.Admin
	if addr == "" {
		return nil
	}
	m.admin, err = metrics.Listen(addr, m.registry, m.ask(b.crew), b.log)
	if addr == DefaultAdmin && errors.Is(err, syscall.EADDRINUSE) {
		b.log.Warn("no metrics: another program listens there; choose another address with --admin", "address", addr)
		return nil
	}
	if err != nil {
		return fmt.Errorf("--admin: listening on %s: %w", addr, err)
	}
	return nil
}

// ask is what the listener does for a request.
func (m *meters) ask(c inspector) metrics.Ask {
	return func(timeout time.Duration) (silent []string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		h := m.pauses.Since()
		m.registry.Pauses("backend", &h)
		return c.Measure(timeout)
	}
}

// measured takes what a worker has counted.
func (b *Box) measured(worker uint32, cpu int, s *metrics.Snapshot) {
	b.meters.registry.Report(worker, metrics.Core(cpu), s)
}

// unmeasured forgets a worker that is gone.
func (b *Box) unmeasured(worker uint32) { b.meters.registry.Gone(worker) }

// Admin is the operator's listener's address; empty where there is none.
func (b *Box) Admin() string {
	if b.meters.admin == nil {
		return ""
	}
	return b.meters.admin.Addr().String()
}

// gauge has a loop of this process tell what it has counted. However often it is asked, it
// is asked once at a time: one that hangs is not made to do it all when it goes on.
type gauge struct {
	number uint32
	cpu    int
	loop   loop.Loop
	told   watcher

	mu      sync.Mutex
	meter   metrics.LoopMeter
	waiting chan struct{} // closed when it has answered; nil while it is not asked
}

// ask returns what is closed when the loop has answered; nil where it has stopped.
func (g *gauge) ask() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.waiting != nil {
		return g.waiting
	}
	if !g.loop.Post(&worker.Measure{Reply: func(games []metrics.Game) { go g.answered(games) }}) {
		return nil
	}
	g.waiting = make(chan struct{})
	return g.waiting
}

// answered passes on what a loop has told, on a goroutine that is no loop's.
func (g *gauge) answered(games []metrics.Game) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.told.measured(g.number, g.cpu, &metrics.Snapshot{Loop: g.meter.Since(g.loop.Stats()), Games: games})
	close(g.waiting)
	g.waiting = nil
}

// measure asks all of them and names those that have not answered by the timeout.
func measure(all []*gauge, timeout time.Duration) (silent []string) {
	late := time.NewTimer(timeout)
	defer late.Stop()
	var waiting []<-chan struct{}
	for _, g := range all {
		waiting = append(waiting, g.ask())
	}
	over := false
	for i, answered := range waiting {
		if !over {
			select {
			case <-answered:
				continue
			case <-late.C:
				over = true
			}
		}
		select {
		case <-answered:
		default:
			silent = append(silent, fmt.Sprintf("event loop %d", all[i].number))
		}
	}
	return silent
}
