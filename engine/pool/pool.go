// Package pool runs games in worker processes: it starts one when a game has no room left,
// hands it the sockets of players, watches it, and ends it when nobody plays there.
//
//	Raise --> fork, exec /proc/self/exe worker   (one game, one core)
//	            fd 3: control    fd 4: the game, sealed    fd 2: its log
//	Hand  --> Seat + descriptor ==> | worker process |
//	            Claimed, Release, Retire, ... <==  ---> the game's table, Told
//	            Load, once a second           <==  ---> heartbeat, Workers
//	            exit, or end of the socket    <==  ---> the shard is forgotten, with all in it
//
// A socket can be handed to a worker as soon as that is started: what is sent to it waits
// until it has compiled the game. The pool keeps no state of a connection once it is sent
// but how many each worker has of which address, so that the limits of addresses are right
// when the worker dies.
//
// # The life of a worker
//
//	starting --Hello--> running --no Load for 3 s--> suspect --Load--> running
//	                       |  \--nobody there for IdleGrace--> drained --> ends: Drop, Bye, exit
//	                       \--dies--> forgotten at once; the next player raises another
//
// A suspect gets no new players and is not ended: it may have been stopped, and go on. A
// worker that dies young twice in a row is not started again for a second, then two, at
// most 30. A worker that does not end when it is told to is killed.
//
// # Trust
//
// A worker runs what authors wrote, in a machine of its own. Should something break out of
// that, it has this process to talk to: messages are checked, and of the table's seats it
// can change only those of its own shard.
package pool

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/box"
	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/engine/worker"
	"gamehoster/wire"
)

// Told is told what becomes of sockets, on any goroutine. It does not block.
type Told struct {
	Opened func(worker.Reservation) // the socket of a reservation has come
	Closed func(worker.Closed)      // a socket has ended; with its worker: of its reservation only the address is known

	// Measured is told what a worker on the core cpu has counted since the last time, about
	// once a second, and Unmeasured that it is gone.
	Measured   func(shard uint32, cpu int, s *metrics.Snapshot)
	Unmeasured func(shard uint32)
}

// Config is how a Pool runs. The zero value of a field means its default.
type Config struct {
	Max       int             // worker processes, of all games together; four times the cores. As many may drain beside them
	Command   []string        // what a worker is started with; this program's "worker"
	Env       []string        // its environment, beside GOMAXPROCS; empty
	Options   control.Options // what it runs with
	IdleGrace time.Duration   // how long a worker is kept that nobody plays on; 30 s
	EndLimit  time.Duration   // how long one that is told to end has for it; 5 s
	Told      Told
	Log       *slog.Logger
}

// The defaults of Config, and what is fixed.
const (
	perCore          = 4
	defaultIdleGrace = 30 * time.Second
	defaultEndLimit  = 5 * time.Second

	watchEvery   = 500 * time.Millisecond
	suspectAfter = int64(3 * time.Second)  // without a Load: three are missing
	youngUntil   = int64(10 * time.Second) // a worker that dies before is one of a crash loop
	startLimit   = int64(60 * time.Second) // a worker that has not said hello by then is killed
)

// firstFile is the first descriptor behind the usual three.
const firstFile = 3

// self is this program, which may have been replaced where it came from.
const self = "/proc/self/exe"

// Pool is a set of worker processes. Its methods may be called from any goroutine.
type Pool struct {
	cfg  Config
	cpus []int // that this process may run on

	mu      sync.Mutex
	closed  bool
	games   map[uint64]*game
	forking map[*process]struct{} // that are not started yet
	workers map[uint32]*process   // by shard; until the process is gone
	next    uint32                // number of the next shard

	stop    chan struct{}
	running sync.WaitGroup // of every goroutine
}

// game is a game that may be played.
type game struct {
	live    *box.Live
	sealed  *os.File
	backoff backoff
	workers int    // processes, until they are gone
	drains  bool   // a newer definition has taken over
	dropped func() // called when there are none any more; nil until the game is dropped
}

// New makes a pool without a worker. Close ends it.
func New(c Config) (*Pool, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("finding the cores that workers may run on: %w", err)
	}
	// What this process was born with is not a worker's: all that Go opens is closed on exec
	// anyway. Kernels before 5.11 cannot do this, and have nothing that would need it.
	_ = unix.CloseRange(firstFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	p := &Pool{cfg: c, games: map[uint64]*game{}, workers: map[uint32]*process{}, forking: map[*process]struct{}{}, next: 1, stop: make(chan struct{})}
	for cpu := 0; len(p.cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			p.cpus = append(p.cpus, cpu)
		}
	}
	if c.Max <= 0 {
		p.cfg.Max = perCore * len(p.cpus)
	}
	if len(c.Command) == 0 {
		p.cfg.Command = []string{self, "worker"}
	}
	if c.IdleGrace <= 0 {
		p.cfg.IdleGrace = defaultIdleGrace
	}
	if c.EndLimit <= 0 {
		p.cfg.EndLimit = defaultEndLimit
	}
	if c.Log == nil {
		p.cfg.Log = slog.New(slog.DiscardHandler)
	}
	p.running.Go(p.watch)
	return p, nil
}

// Start makes a game known. It is dropped before the pool is closed.
func (p *Pool) Start(live *box.Live) error {
	g := control.Game{
		Number: live.Number, Name: live.Name, Hash: live.Hash, Def: live.Def, Program: live.Program, Options: p.cfg.Options,
	}
	sealed, err := g.Seal()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.games[live.Number] = &game{live: live, sealed: sealed}
	return nil
}

// Raise starts a worker for a game and adds its shard to the game's table. cpu is the core
// that is preferred among those with the fewest workers; -1 for none. The error is
// box.ErrBoxFull, wrapped, where there can be no more now.
func (p *Pool) Raise(live *box.Live, cpu int) error {
	w, err := p.admit(live, cpu)
	if err != nil {
		return err
	}
	if err := w.start(); err != nil {
		p.cfg.Log.Error("a worker could not be started", "game", live.Name, "error", err)
		p.gone(w, true)
		return fmt.Errorf("%w: %w", box.ErrBoxFull, err)
	}
	p.cfg.Log.Info("worker started", "game", live.Name, "worker", w.shard, "pid", w.cmd.Process.Pid, "cpu", w.cpu)
	if !p.add(w) {
		w.end(wire.CloseDraining, "the game is not played any more")
		return fmt.Errorf("%w: the game is not played any more", box.ErrBoxFull)
	}
	return nil
}

// add puts a worker that has been started to work; false if its game was dropped since.
func (p *Pool) add(w *process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.forking, w)
	p.workers[w.shard] = w
	w.game.live.Table.AddShard(w.shard, w.cpu)
	p.running.Go(w.serve)
	return w.game.dropped == nil
}

// admit takes a place in the pool for a new worker.
func (p *Pool) admit(live *box.Live, cpu int) (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.games[live.Number]
	if g == nil || g.dropped != nil || p.closed {
		return nil, fmt.Errorf("%w: the game is not played any more", box.ErrBoxFull)
	}
	if wait := g.backoff.wait(loop.Now()); wait > 0 {
		return nil, fmt.Errorf("%w: its workers die; the next is started in %v", box.ErrBoxFull, wait.Round(time.Millisecond))
	}
	if p.full() {
		p.makeRoom()
		return nil, fmt.Errorf("%w: there are %d workers, as many as --max-workers allows", box.ErrBoxFull, p.cfg.Max)
	}
	w := newProcess(p, g, p.next, p.leastLoaded(cpu))
	p.next++
	p.forking[w] = struct{}{}
	g.workers++
	return w, nil
}

// full reports whether there are as many workers as may be. Those that play a replaced
// definition to its end do not take the places of those that new players come to; but of
// them, too, there are no more than that on top.
func (p *Pool) full() bool {
	all, leaving := len(p.workers)+len(p.forking), 0
	for _, g := range p.games {
		if g.drains || g.dropped != nil {
			leaving += g.workers
		}
	}
	return all-leaving >= p.cfg.Max || all >= 2*p.cfg.Max
}

// leastLoaded is the core with the fewest workers.
func (p *Pool) leastLoaded(prefer int) int {
	on := map[int]int{}
	for _, w := range p.workers {
		on[w.cpu]++
	}
	for w := range p.forking {
		on[w.cpu]++
	}
	best := p.cpus[0]
	for _, cpu := range p.cpus {
		if on[cpu] < on[best] || on[cpu] == on[best] && cpu == prefer {
			best = cpu
		}
	}
	return best
}

// makeRoom ends a worker that nobody plays on, if there is one. Whoever wanted its place
// has to come again.
func (p *Pool) makeRoom() {
	for _, w := range p.workers {
		if w.retire(0) {
			return
		}
	}
}

// Hand passes a socket on to the worker of its placement. It owns fd from then on, unless
// it returns an error. early is copied.
func (p *Pool) Hand(at box.Placement, fd int, early []byte) error {
	w := p.worker(at.Shard)
	if w == nil {
		return errors.New("the worker has died")
	}
	return w.hand(at, fd, early)
}

// Crowded reports whether so many sockets wait for a worker that Hand may soon fail.
func (p *Pool) Crowded(shard uint32) bool {
	w := p.worker(shard)
	return w != nil && w.conn.Crowded()
}

func (p *Pool) worker(shard uint32) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers[shard]
}

// of is the workers of a game; all if it is nil.
func (p *Pool) of(live *box.Live) (all []*process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if live == nil || w.game.live == live {
			all = append(all, w)
		}
	}
	return all
}

// Drain tells a game's workers that a newer definition has taken over.
func (p *Pool) Drain(live *box.Live) {
	p.mu.Lock()
	if g := p.games[live.Number]; g != nil {
		g.drains = true
	}
	p.mu.Unlock()
	p.tell(live, &control.Drain{})
}

// EndSockets closes a game's sockets.
func (p *Pool) EndSockets(live *box.Live, code uint16, reason string) {
	p.tell(live, &control.End{Code: code, Reason: reason})
}

func (p *Pool) tell(live *box.Live, m control.Message) {
	for _, w := range p.of(live) {
		w.send(m)
	}
}

// Drop ends a game's workers, whose sockets close with code. done is called, once, when
// they are gone.
func (p *Pool) Drop(live *box.Live, code uint16, reason string, done func()) {
	p.mu.Lock()
	g := p.games[live.Number]
	if g == nil || g.dropped != nil { // it could not be started
		p.mu.Unlock()
		done()
		return
	}
	g.dropped = done
	none := g.workers == 0
	if none {
		p.forget(g)
	}
	p.mu.Unlock()
	if none {
		done()
		return
	}
	for _, w := range p.of(live) {
		w.end(code, reason)
	}
}

// forget lets go of a game that is dropped.
func (p *Pool) forget(g *game) {
	g.sealed.Close()
	delete(p.games, g.live.Number)
}

// Silent names the workers that do not answer.
func (p *Pool) Silent() (all []string) {
	for _, w := range p.of(nil) {
		w.mu.Lock()
		silent := w.suspect
		w.mu.Unlock()
		if silent {
			all = append(all, fmt.Sprintf("worker %d of %s", w.shard, w.game.live.Name))
		}
	}
	return all
}

// gone takes a worker out of the pool whose process is no more, or could not be started.
// died says whether that was against the pool's will.
func (p *Pool) gone(w *process, died bool) {
	p.mu.Lock()
	g := w.game
	delete(p.workers, w.shard)
	delete(p.forking, w)
	g.workers--
	if died {
		if wait := g.backoff.died(w.started, loop.Now()); wait > 0 {
			p.cfg.Log.Error("a game's workers die young; no more are started for a while", "game", g.live.Name, "times", g.backoff.deaths, "wait", wait)
		}
	}
	var done func()
	if g.dropped != nil && g.workers == 0 {
		done = g.dropped
		p.forget(g)
	}
	p.mu.Unlock()
	if tell := p.cfg.Told.Unmeasured; tell != nil {
		tell(w.shard)
	}
	if done != nil {
		done()
	}
}

// watch looks after the workers until the pool is closed.
func (p *Pool) watch() {
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-every.C:
			for _, w := range p.of(nil) {
				w.watch(loop.Now())
			}
		}
	}
}

// Close kills what is left and waits until nothing of the pool is.
func (p *Pool) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	for _, g := range p.games {
		if g.dropped == nil { // the pool's owner has failed before it dropped it
			g.dropped = func() {}
			if g.workers == 0 {
				p.forget(g)
			}
		}
	}
	p.mu.Unlock()
	close(p.stop)
	for _, w := range p.of(nil) {
		w.kill()
	}
	p.running.Wait()
}
