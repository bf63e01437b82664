package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/transport"
	"gamehoster/engine/metrics"
	"gamehoster/engine/worker"
)

// crew is who runs the games: the loops of this process, or worker processes. It is the
// one cut between the two; what is on this side of it is the same for both.
//
//	Start --> game's shards --> Hand: sockets --> ... --> Drop
//	              ^
//	            Raise
//
// A crew tells through its watcher what becomes of sockets, and through the game's table
// what becomes of seats and shards. Its methods may be called from any goroutine. Each part
// of a Box knows the part of it that it has to do with.
type crew interface {
	director  // rolls: games come and go
	usher     // routing: sockets find their shards
	inspector // stats and metrics
	// Run starts what the crew runs on, once. failed is told when that has ended by itself;
	// the crew is closed all the same.
	Run(failed func(error))
	// Close ends the crew, after all Drops, and waits until nothing of it is left. It may
	// be called without Run.
	Close()
}

// watcher is told by a crew what becomes of sockets, on any goroutine. It does not block.
type watcher interface {
	opened(r worker.Reservation) // the socket of a reservation has come
	closed(c worker.Closed)      // a socket has ended
	lost(number uint64)          // the socket of a reservation was dead before it could be opened
	// measured is told what a worker, or a loop of this process, has counted since the last
	// time; cpu is its core, -1 if it runs on any. unmeasured: it is gone.
	measured(worker uint32, cpu int, s *metrics.Snapshot)
	unmeasured(worker uint32)
}

// inspection is what a crew runs.
type inspection struct {
	on        Transport // what the event loops run on
	instances []worker.InstanceInfo
	faults    []worker.FaultInfo
}

// inline is the crew that is this process: each loop runs a shard of every game.
type inline struct {
	loops   []loop.Loop
	on      Transport // what the loops run on
	cpus    []int     // of each loop; -1 if it runs on any
	gauges  []*gauge  // of each loop
	log     *slog.Logger
	running sync.WaitGroup
}

// newInline makes the loops and the hosts on them.
func newInline(c Config, late loop.LateTick, told watcher) (_ *inline, err error) {
	in := &inline{log: c.Log}
	var hosts []*worker.Host
	var plans []transport.Plan
	for i := range c.Loops {
		h := worker.NewHost(worker.Options{
			Number: uint32(i), Hashes: c.hashes(), Log: c.Log, OnOpen: told.opened, OnClose: told.closed,
		})
		pin, cpu := c.Loops > 1, -1
		if pin {
			cpu = i
		}
		hosts = append(hosts, h)
		in.cpus = append(in.cpus, cpu)
		plans = append(plans, transport.Plan{Handler: h, Config: loop.Config{
			OutboundCap: worker.OutboundCap, Pin: pin, CPU: i, Lost: told.lost, Late: late, Log: c.Log,
		}})
	}
	if in.loops, in.on, err = c.Transport.Loops(plans, c.Log); err != nil {
		return nil, err
	}
	for i, h := range hosts {
		h.Bind(in.loops[i])
		in.gauges = append(in.gauges, &gauge{number: uint32(i), cpu: in.cpus[i], loop: in.loops[i], told: told})
	}
	return in, nil
}

func (in *inline) Run(failed func(error)) {
	for _, l := range in.loops {
		in.running.Go(func() {
			if err := l.Run(); err != nil {
				failed(fmt.Errorf("event loop: %w", err))
			}
		})
	}
}

func (in *inline) Start(g *box.Live) error {
	for i, l := range in.loops {
		l.Post(&worker.AddGame{Game: &g.Game})
		g.Table.AddShard(uint32(i), in.cpus[i])
	}
	return nil
}

func (in *inline) Raise(*box.Live, int) error { return box.ErrBoxFull }

func (in *inline) Hand(_ *box.Live, at box.Placement, fd int, early []byte) error {
	return in.loops[at.Shard].Adopt(fd, early, at.Number)
}

func (in *inline) Crowded(shard uint32) bool { return in.loops[shard].Crowded() }

func (in *inline) Drain(g *box.Live) { in.post(&worker.DrainGame{Number: g.Number}) }

func (in *inline) EndSockets(g *box.Live, code uint16, reason string) {
	in.post(&worker.EndSockets{Number: g.Number, Code: code, Reason: reason})
}

func (in *inline) post(m loop.Message) {
	for _, l := range in.loops {
		l.Post(m)
	}
}

func (in *inline) Drop(g *box.Live, code uint16, reason string, done func()) {
	var left atomic.Int32
	left.Store(int32(len(in.loops)))
	dropped := func() {
		if left.Add(-1) == 0 {
			done()
		}
	}
	for _, l := range in.loops {
		if !l.Post(&worker.DropGame{Number: g.Number, Code: code, Reason: reason, Done: dropped}) {
			dropped()
		}
	}
}

func (in *inline) Inspect(timeout time.Duration) (all inspection, err error) {
	var mu sync.Mutex
	got := inspection{on: in.on}
	var asked sync.WaitGroup
	for _, l := range in.loops {
		asked.Add(1)
		ok := l.Post(&worker.Inspect{Faults: func(faults []worker.FaultInfo) {
			mu.Lock()
			defer mu.Unlock()
			got.faults = append(got.faults, faults...)
		}, Reply: func(instances []worker.InstanceInfo) {
			defer asked.Done()
			mu.Lock()
			defer mu.Unlock()
			got.instances = append(got.instances, instances...)
		}})
		if !ok {
			return all, errors.New("the server is stopping")
		}
	}
	done := make(chan struct{})
	go func() { asked.Wait(); close(done) }()
	select {
	case <-done:
		return got, nil
	case <-time.After(timeout):
		return all, errors.New("an event loop does not answer")
	}
}

func (in *inline) Measure(timeout time.Duration) []string { return measure(in.gauges, timeout) }

func (in *inline) Loops() (all []loop.Stats) {
	for _, l := range in.loops {
		all = append(all, l.Stats())
	}
	return all
}

func (in *inline) Close() {
	transport.Stop(in.loops)
	in.running.Wait()
}
