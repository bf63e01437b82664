package pool

import (
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine/box"
	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/engine/sandbox"
	"gamehoster/engine/worker"
	"gamehoster/wire"
)

// process is a worker process and its shard.
type process struct {
	pool  *Pool
	game  *game
	shard uint32
	cpu   int
	cmd   *exec.Cmd
	conn  *control.Conn
	lines *lines // its log

	started int64

	// Of the goroutine that reads its messages.
	instances map[worker.InstanceID]struct{} // that are its own
	peers     map[netip.Addr]int             // sockets that are open, by address
	bye       bool

	mu        sync.Mutex
	handed    map[uint64]struct{} // reservations whose sockets it was sent and has not opened yet
	beat      int64               // when its last Load came
	load      control.Load
	hello     bool
	suspect   bool
	ending    bool // it was told to
	grown     bool // it has lived for so long that its death is none of a crash loop
	killer    *time.Timer
	questions map[uint32]*question
	tickets   uint32
}

func newProcess(p *Pool, g *game, shard uint32, cpu int) *process {
	now := loop.Now()
	return &process{
		pool: p, game: g, shard: shard, cpu: cpu, started: now, beat: now,
		instances: map[worker.InstanceID]struct{}{}, peers: map[netip.Addr]int{},
		handed: map[uint64]struct{}{}, questions: map[uint32]*question{},
	}
}

// start forks the worker. It is on its core, with all its threads to be, from the first
// instruction on: a child runs where the thread may that forks it.
func (w *process) start() (err error) {
	conn, theirs, err := control.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	argv := w.pool.cfg.Command
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Args[0] = "gamehoster"
	cmd.Dir = "/"
	// Two: its loop, and what the runtime does beside that, on the same core.
	cmd.Env = append([]string{"GOMAXPROCS=2"}, w.pool.cfg.Env...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, theirs, w.game.sealed)
	// A terminal's signals are for the backend, which ends its workers in order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sandbox.Attr(w.pool.cfg.Options.Sandbox, cmd.SysProcAttr)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = startOn(w.cpu, cmd)
	}
	if err != nil {
		conn.Close()
		return fmt.Errorf("starting a worker process: %w", err)
	}
	w.cmd, w.conn = cmd, conn
	w.lines = &lines{to: w.pool.cfg.Log, worker: w.shard, from: stderr, done: make(chan struct{})}
	w.pool.running.Go(w.lines.read)
	w.send(&control.Start{Shard: w.shard})
	return nil
}

// startOn starts a command on a core.
func startOn(cpu int, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("reading the thread's cores: %w", err)
	}
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("going to core %d: %w", cpu, err)
	}
	err := cmd.Start()
	if back := unix.SchedSetaffinity(0, &before); back != nil && err == nil {
		// Whatever runs on this thread would stay on the core.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("going back to the thread's cores: %w", back)
	}
	return err
}

// send sends a message that nothing waits for. A worker that takes none is a suspect, and
// is told to end one day, or killed.
func (w *process) send(m control.Message) {
	if err := w.conn.Send(m, -1); err != nil {
		w.pool.cfg.Log.Debug("a worker was not told", "worker", w.shard, "kind", m.Kind(), "error", err)
	}
}

func (w *process) hand(at box.Placement, fd int, early []byte) error {
	w.mu.Lock()
	w.handed[at.Number] = struct{}{}
	w.mu.Unlock()
	err := w.conn.Send(&control.Seat{Number: at.Number, Reservation: at.Reservation, Early: early}, fd)
	if err != nil {
		w.opened(at.Number)
		return fmt.Errorf("handing a socket to worker %d: %w", w.shard, err)
	}
	return nil
}

// opened takes a reservation off those that were handed; ok is false where it is none.
func (w *process) opened(number uint64) (ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok = w.handed[number]
	delete(w.handed, number)
	return ok
}

// serve takes what the worker says until it is gone, and cleans up behind it.
func (w *process) serve() {
	for {
		m, fd, err := w.conn.Receive()
		if fd >= 0 { // workers send none
			_ = unix.Close(fd)
		}
		if err != nil {
			break
		}
		w.take(m)
	}
	// Nobody is sent there from now on. It is as good as dead, and is so soon.
	instances, seats := w.game.live.Table.DropShard(w.shard)
	// Only one that was told to end has a time for it, after which it is killed.
	w.mu.Lock()
	ends := w.ending && w.bye
	w.mu.Unlock()
	if !ends {
		w.kill()
	}
	w.conn.Close()
	for peer, n := range w.peers {
		for range n {
			w.pool.cfg.Told.Closed(worker.Closed{
				Reservation: worker.Reservation{Client: worker.Client{Peer: peer}}, Game: w.game.live.Name,
				Code: wire.CloseFailed, Reason: "its worker is gone",
			})
		}
	}
	w.unanswered()
	<-w.lines.done // before Wait, which closes the pipe
	err := w.cmd.Wait()
	w.mu.Lock()
	if w.killer != nil {
		w.killer.Stop()
	}
	ending := w.ending
	w.mu.Unlock()
	how := w.cmd.ProcessState.String()
	switch {
	case ending && err == nil:
		w.pool.cfg.Log.Info("worker ended", "game", w.game.live.Name, "worker", w.shard)
	case ending:
		w.pool.cfg.Log.Warn("worker ended", "game", w.game.live.Name, "worker", w.shard, "status", how, "instances", instances, "seats", seats)
	default:
		w.pool.cfg.Log.Error("worker died", "game", w.game.live.Name, "worker", w.shard, "status", how, "instances", instances, "seats", seats)
	}
	w.pool.gone(w, !ending)
}

// take does what a message says.
func (w *process) take(m control.Message) {
	table := w.game.live.Table
	switch m := m.(type) {
	case *control.Hello:
		w.mu.Lock()
		w.hello = true
		w.mu.Unlock()
		w.pool.cfg.Log.Info("worker is ready", "game", w.game.live.Name, "worker", w.shard,
			"after", time.Duration(loop.Now()-w.started).Round(time.Millisecond))
	case *control.Claimed:
		if !w.opened(m.Number) {
			return
		}
		if r, ok := table.Claim(m.Number); ok {
			r.Peer = r.Peer.WithZone("") // as the worker has it, which tells of its end
			w.instances[r.Instance] = struct{}{}
			w.peers[r.Peer]++
			w.pool.cfg.Told.Opened(r)
		}
	case *control.Lost:
		if w.opened(m.Number) {
			table.Cancel(m.Number)
		}
	case *control.Reseat:
		table.Reseat(w.shard, m.Reservation, func(r worker.Reservation, ok bool) {
			if ok {
				w.instances[r.Instance] = struct{}{}
			}
			w.send(&control.Reseated{Ticket: m.Ticket, OK: ok, Reservation: r})
		})
	case *control.Release:
		if w.owns(m.Instance) {
			table.Release(m.Instance)
		}
	case *control.Open:
		if w.owns(m.Instance) {
			table.SetOpen(m.Instance, m.Open)
		}
	case *control.Retire:
		if w.owns(m.Instance) && table.Retire(m.Instance, m.Force) {
			delete(w.instances, m.Instance)
			w.send(&control.Retired{Instance: m.Instance})
		}
	case *control.Closed:
		w.closed(m)
	case *control.Load:
		w.beats(m)
	case *control.Inspected:
		w.answered(m)
	case *control.Bye:
		w.bye = true
	}
}

// owns reports whether an instance is this worker's to speak of.
func (w *process) owns(id worker.InstanceID) bool {
	_, ok := w.instances[id]
	return ok
}

// closed passes the end of a socket on. Only one that was opened counts for its address.
func (w *process) closed(m *control.Closed) {
	c := worker.Closed{
		Reservation: m.Reservation, Game: w.game.live.Name,
		Player: m.Player, Code: m.Code, Reason: m.Reason, Duration: m.Duration, BytesIn: m.BytesIn, BytesOut: m.BytesOut,
	}
	switch n := w.peers[m.Reservation.Peer]; {
	case m.Reservation.Instance == 0 || n == 0:
		c.Reservation.Peer = netip.Addr{}
	case n == 1:
		delete(w.peers, m.Reservation.Peer)
	default:
		w.peers[m.Reservation.Peer]--
	}
	w.pool.cfg.Told.Closed(c)
}

// beats takes a Load.
func (w *process) beats(m *control.Load) {
	w.mu.Lock()
	w.load, w.beat = *m, loop.Now()
	was := w.suspect
	w.suspect = false
	w.mu.Unlock()
	if was {
		w.game.live.Table.Suspect(w.shard, false)
		w.pool.cfg.Log.Info("worker answers again", "game", w.game.live.Name, "worker", w.shard)
	}
	w.measured(m.Counts)
}

// measured passes on what a worker has counted. It runs one game, whatever it says.
func (w *process) measured(counts []byte) {
	tell := w.pool.cfg.Told.Measured
	if tell == nil {
		return
	}
	s, err := metrics.ParseSnapshot(counts)
	if err != nil {
		w.pool.cfg.Log.Error("a worker's counters cannot be read", "game", w.game.live.Name, "worker", w.shard, "error", err)
		return
	}
	s.Games = s.Games[:min(len(s.Games), 1)]
	for i := range s.Games {
		s.Games[i].Name = w.game.live.Name
	}
	tell(w.shard, w.cpu, &s)
}

// watch looks at the worker now and then.
func (w *process) watch(now int64) {
	w.mu.Lock()
	silent := now - w.beat
	waiting := !w.hello && now-w.started < startLimit
	stuck := !w.hello && !waiting && !w.ending
	suspicious := !waiting && !w.suspect && silent >= suspectAfter
	if suspicious {
		w.suspect = true
	}
	grown := w.hello && !w.grown && now-w.started >= youngUntil
	w.grown = w.grown || grown
	w.mu.Unlock()
	switch {
	case stuck:
		w.pool.cfg.Log.Error("a worker does not start; it is killed", "game", w.game.live.Name, "worker", w.shard)
		w.kill()
	case suspicious:
		w.game.live.Table.Suspect(w.shard, true)
		w.pool.cfg.Log.Warn("worker does not answer; it gets no new players", "game", w.game.live.Name, "worker", w.shard,
			"silent", time.Duration(silent).Round(time.Millisecond))
	}
	if grown {
		w.pool.mu.Lock()
		w.game.backoff.lived()
		w.pool.mu.Unlock()
	}
	w.retire(w.pool.cfg.IdleGrace)
}

// retire ends the worker if it has had no instance for so long.
func (w *process) retire(grace time.Duration) bool {
	table := w.game.live.Table
	idle := func() bool {
		since, ok := table.Idle(w.shard)
		return ok && loop.Now()-max(since, w.started) >= int64(grace)
	}
	w.mu.Lock()
	ending := w.ending
	w.mu.Unlock()
	if ending || !idle() {
		return false
	}
	table.DrainShard(w.shard)
	if !idle() { // somebody came in between; the worker is retired after that
		return false
	}
	table.DropShard(w.shard)
	w.end(wire.CloseDraining, "the worker retires")
	return true
}

// end has the worker close its sockets with code and end, in time or not.
func (w *process) end(code uint16, reason string) {
	w.mu.Lock()
	if w.ending {
		w.mu.Unlock()
		return
	}
	w.ending = true
	w.killer = time.AfterFunc(w.pool.cfg.EndLimit, w.kill)
	w.mu.Unlock()
	w.send(&control.Drop{Code: code, Reason: reason})
}

// kill ends the process now. What it leaves is cleaned up by serve.
func (w *process) kill() {
	_ = w.cmd.Process.Kill() // it may be gone already
}
