// Package process is the life of a worker process: one game, a shard of its instances,
// one event loop.
//
//	fd 3: control ==> reader: Seat ----> boss (who sits where) + loop.Adopt
//	                          others --> boss, loop.Post
//	fd 4: the game --> machine code --> worker.Host on the loop <== sockets
//	fd 2: log, a JSON object a line                |
//	fd 3: control <== boss: Claimed, Release, ... <+
//	              <== once a second: Load, which the loop has counted
//
// The backend starts it, with a socket of control and a sealed file with the game as its
// third and fourth descriptors, and on the core that it is to stay on. It needs nothing
// else: no files, no environment, no network but the sockets that it is handed. So it goes into
// a sandbox before it runs the game (package sandbox).
//
// Load goes through the loop, so that a worker whose loop hangs is as silent as one that
// is stopped.
//
// # The end
//
// Drop closes the sockets, and the process ends when the last is gone or has had its
// grace. When the backend dies, nobody comes any more, and the players play on: until the
// last has left, at the latest after Options.Orphaned.
package process

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/loop/transport"
	"gamehoster/engine/sandbox"
	"gamehoster/engine/worker"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// The descriptors that a worker process begins with, beside the usual three.
const (
	controlFile = 3
	gameFile    = 4
)

// beat is how often a Load is sent.
const beat = time.Second

// process is a running worker process.
type process struct {
	conn *control.Conn
	game *control.Game
	log  *slog.Logger
	loop loop.Loop
	host *handler
	boss *boss
	over atomic.Bool // the loop has ended
}

// Main runs the process as a worker until it is done. log takes the lines; it must not
// wait for whoever reads them. The error is why it could not go on.
func Main(log io.Writer) error {
	// A backend that is stopped by its terminal takes care of its workers, and so does a
	// pipe that nobody reads: of the log, once the backend is gone.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	conn, err := control.Attach(os.NewFile(controlFile, "control"))
	if err != nil {
		return fmt.Errorf("a worker is started by the backend only: %w", err)
	}
	defer conn.Close()
	sealed := os.NewFile(gameFile, "game")
	game, err := control.ReadGame(sealed)
	sealed.Close()
	if err != nil {
		return err
	}
	p := &process{
		conn: conn, game: game,
		log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: game.Options.Level})),
	}
	return p.run()
}

func (p *process) run() error {
	m, _, err := p.conn.Receive()
	start, ok := m.(*control.Start)
	if err != nil || !ok {
		return fmt.Errorf("the backend's first message is not Start but %T: %w", m, err)
	}
	code, err := vm.Compile(p.game.Program.Server)
	if err != nil {
		return fmt.Errorf("compiling %s: %w", p.game.Name, err)
	}
	p.boss = newBoss(p.conn, p.call)
	host := worker.NewHost(worker.Options{
		Number: start.Shard, Hashes: p.game.Options.Hashes, Log: p.log, OnClose: p.closed,
	})
	p.host = &handler{Host: host}
	loops, on, err := p.game.Options.Transport.Loops([]transport.Plan{{Handler: p.host, Config: loop.Config{
		OutboundCap: worker.OutboundCap, Lost: p.boss.lost, Log: p.log,
	}}}, p.log)
	if err != nil {
		return err
	}
	p.loop = loops[0]
	// All is open that will ever be, and nothing of the game has run.
	if err := sandbox.Apply(sandbox.Options{Mode: p.game.Options.Sandbox, Log: p.log}); err != nil {
		p.loop.Stop()
		return err
	}
	p.host.stop = p.loop.Stop
	host.Bind(p.loop)
	ended := make(chan error, 1)
	go func() { ended <- p.loop.Run() }()
	p.loop.Post(&worker.AddGame{Game: &worker.Game{
		Number: p.game.Number, Name: p.game.Name, Def: p.game.Def, Program: p.game.Program,
		Code: code, Hash: p.game.Hash, Boss: p.boss,
	}})
	p.boss.send(&control.Hello{Hash: p.game.Hash})
	over := make(chan struct{})
	go p.report(over)
	go p.listen(on)
	err = <-ended
	p.over.Store(true)
	close(over)
	if err != nil {
		return fmt.Errorf("event loop: %w", err)
	}
	p.boss.send(&control.Bye{})
	p.conn.Finish()
	p.conn.Wait()
	return nil
}

// call runs f on the loop. What is sent there leaves soon.
func (p *process) call(f func()) { p.loop.Post(call(f)) }

// listen does what the backend says, until that is gone.
func (p *process) listen(on transport.Name) {
	for {
		m, fd, err := p.conn.Receive()
		switch {
		case err == nil:
		case p.over.Load():
			return
		default:
			p.orphaned(err)
			return
		}
		p.take(m, fd, on)
	}
}

func (p *process) take(m control.Message, fd int, on transport.Name) {
	if s, ok := m.(*control.Seat); ok {
		p.seat(s, fd)
		return
	}
	if fd >= 0 {
		_ = syscall.Close(fd) // comes with seats only
	}
	switch m := m.(type) {
	case *control.Reseated:
		p.boss.reseated(m)
	case *control.Retired:
		p.boss.retired(m.Instance)
	case *control.Drain:
		p.loop.Post(&worker.DrainGame{Number: p.game.Number})
	case *control.End:
		p.loop.Post(&worker.EndSockets{Number: p.game.Number, Code: m.Code, Reason: m.Reason})
	case *control.Inspect:
		p.inspect(m.Ticket, on)
	case *control.Drop:
		p.drop(m.Code, m.Reason)
	}
}

// seat takes a socket over.
func (p *process) seat(s *control.Seat, fd int) {
	p.boss.expect(s.Number, s.Reservation)
	err := errors.New("the process has no descriptor left for it")
	if fd >= 0 {
		if err = p.loop.Adopt(fd, s.Early, s.Number); err == nil {
			return
		}
		_ = syscall.Close(fd)
	}
	p.boss.lost(s.Number)
	p.log.Warn("a socket that was handed over is lost", "game", p.game.Name, "peer", s.Reservation.Peer, "reason", err)
}

// closed tells of the end of a socket.
func (p *process) closed(c worker.Closed) {
	p.boss.send(&control.Closed{
		Reservation: c.Reservation, Player: c.Player, Code: c.Code, Reason: c.Reason, Duration: c.Duration,
		BytesIn: c.BytesIn, BytesOut: c.BytesOut,
	})
}

// drop ends the game, and with it the process.
func (p *process) drop(code uint16, reason string) {
	p.loop.Post(&worker.DropGame{Number: p.game.Number, Code: code, Reason: reason, Done: p.host.close})
}

// orphaned goes on without a backend. Should one be there that cannot be understood, it has
// to find this worker gone: it would go on sending players who are never let in.
func (p *process) orphaned(why error) {
	p.conn.Abandon()
	p.boss.orphaned()
	p.log.Warn("the backend is gone; the players play on for a while", "game", p.game.Name,
		"reason", why, "limit", p.game.Options.Orphaned)
	p.call(p.host.close)
	time.AfterFunc(p.game.Options.Orphaned, func() { p.drop(wire.CloseStopping, "the server is gone") })
}

// handler is the Host, and knows how many sockets it has.
type handler struct {
	*worker.Host
	stop    func()
	open    int
	closing bool // stop with the last socket
}

// call is a Message that is a call.
type call func()

// OnPost takes a message, which may be a call.
func (h *handler) OnPost(m loop.Message) {
	if f, ok := m.(call); ok {
		f()
		return
	}
	h.Host.OnPost(m)
}

// OnOpen counts.
func (h *handler) OnOpen(hd loop.Handle, tag uint64) {
	h.open++
	h.Host.OnOpen(hd, tag)
}

// OnClose counts.
func (h *handler) OnClose(hd loop.Handle, err error) {
	h.Host.OnClose(hd, err)
	if h.open--; h.open == 0 && h.closing {
		h.stop()
	}
}

// close stops the loop with the last socket. It is called on the loop.
func (h *handler) close() {
	h.closing = true
	if h.open == 0 {
		h.stop()
	}
}
