package worker

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"time"

	"gamehoster/games/body"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
	"gamehoster/tick"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// emptyGrace is how long an instance without players goes on: long enough for a
// reload of the only page.
const emptyGrace = 5 * time.Second

// faultLogPeriod is how often an error of one body is logged.
const faultLogPeriod = int64(time.Second)

// behindLogPeriod is how often a game's dropped ticks are logged, and its late commands that
// wait. A loop that cannot keep up has some in every period of its instances.
const behindLogPeriod = int64(time.Second)

// Game is a game as a loop runs it.
type Game struct {
	Number  uint64 // upper bits of its tags
	Name    string // domain/game, for logs
	Def     *schema.Definition
	Program *body.Program
	Code    *vm.Compiled // of the program; outlives the loops' use of it
	Hash    uint64       // of the definition
	Boss    Boss
	File    func(path string) string // what the log calls a file of the game; nil: its path in the game
}

// at is a position in the game's files as the log has it.
func (g *Game) at(p diag.Position) diag.Position {
	if g.File != nil {
		p.File = g.File(p.File)
	}
	return p
}

// shard is one game's part of a loop.
type shard struct {
	host      *Host
	game      *Game
	sim       *tick.Shard
	instances map[InstanceID]*instance
	schedule  *schedule[*instance]
	dropped   uint64 // of the schedule's dropped ticks, those logged
	warned    int64  // when
	replays   replays
	queued    uint64 // of the machine's count of late commands left waiting, those logged
	waited    int64  // when
	faults    map[faultKey]*faultCount
	bodyLog   bodyLog
	meter     meter
	waiting   map[*socket]struct{} // for a place of the boss's
	draining  bool                 // a newer definition takes the new players
}

type faultKey struct {
	body  int
	fault body.Fault
}

type faultCount struct {
	logged int64  // when
	count  uint64 // since then
	total  uint64
	last   FaultInfo // as logged
}

func newShard(h *Host, g *Game) *shard {
	return &shard{
		host:      h,
		game:      g,
		instances: map[InstanceID]*instance{},
		schedule:  newSchedule[*instance](g.Def.TickRate),
		faults:    map[faultKey]*faultCount{},
		waiting:   map[*socket]struct{}{},
	}
}

// start makes the machine that the game runs on, with the first player, and rest lets go
// of it with the last instance: a game that nobody plays costs nothing.
func (sh *shard) start() (err error) {
	if sh.sim != nil {
		return nil
	}
	g := sh.game
	sh.sim, err = tick.NewShard(g.Def, g.Program, g.Hash, tick.Options{OnFault: sh.fault, OnLog: sh.logged, Compiled: g.Code})
	if err != nil {
		return fmt.Errorf("starting a shard of %s: %w", g.Name, err)
	}
	return nil
}

// rest gives the memory of a shard without instances back, which was as large as its
// fullest hour wanted it.
func (sh *shard) rest() {
	if sh.sim == nil || len(sh.instances) > 0 {
		return
	}
	if err := sh.sim.Close(); err != nil {
		sh.host.opts.Log.Error("closing an empty shard failed", "game", sh.game.Name, "error", err)
	}
	sh.meter.rest(sh.sim.Stats())
	sh.sim, sh.queued = nil, 0
}

// at is the instance of a reservation, which is made for the first one.
func (sh *shard) at(r *Reservation, now int64) (*instance, error) {
	if in := sh.instances[r.Instance]; in != nil {
		return in, nil
	}
	return sh.create(r, now)
}

func (sh *shard) create(r *Reservation, now int64) (_ *instance, err error) {
	defer contained(&err)
	if err := sh.start(); err != nil {
		return nil, err
	}
	sim, err := sh.sim.Create(r.InstanceName, secret(), secret())
	if err != nil {
		return nil, err
	}
	in := &instance{shard: sh, id: r.Instance, name: r.InstanceName, sim: sim, empty: now, open: true}
	in.hashes.init(sh.host.opts.Hashes)
	in.slot = sh.schedule.add(in, now)
	sh.instances[in.id] = in
	return in, nil
}

// contained is deferred where an instance is made; see instance.contain.
func contained(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the server failed: %v\n%s", p, debug.Stack())
	}
}

// stand parts a socket that has ended from its instance. Its seat is kept for a
// while where its player may come back.
func (sh *shard) stand(s *socket, now int64) {
	in := s.in
	k := s.seat
	in.detach(s)
	if k == nil || k.socket != s {
		in.checkEmpty(now)
		return
	}
	k.socket = nil
	k.until = now + int64(sh.game.Def.ResumeSeconds*1e9)
	if s.end.Peer && s.end.Code == wire.CloseDone || s.end.Code == wire.CloseRemoved || s.end.Code == wire.CloseEnded {
		k.until = now
		in.giveUp(now, now)
	}
}

// run steps every instance whose turn has come.
func (sh *shard) run(now int64) (ran bool) {
	due, _ := sh.schedule.next()
	for {
		sl, ok := sh.schedule.take(now)
		if !ok {
			break
		}
		if !ran {
			sh.sim.Turn(sh.replays.allow(now-due, sh.schedule.rate))
		}
		ran = true
		sample := sampleOf(len(sl.members))
		clock := sh.host.opts.Now()
		sl.each(func(in *instance) {
			times := sample.next()
			if times > 1 {
				clock = sh.host.opts.Now()
			}
			clock = in.step(now, clock, times)
		})
	}
	if ran {
		sh.tellBehind(now)
	}
	return ran
}

// tellBehind logs what a loop that was held up has not done: now and then, as it goes on.
func (sh *shard) tellBehind(now int64) {
	log := sh.host.opts.Log
	if dropped := sh.schedule.dropped; dropped != sh.dropped && now-sh.warned >= behindLogPeriod {
		sh.warned = now
		log.Warn("ticks dropped after the loop was held up", "game", sh.game.Name, "ticks", dropped-sh.dropped)
		sh.dropped = dropped
	}
	queued := sh.sim.Stats().Queued
	if sh.replays.short == 0 { // the whole bound was used up: nothing is wrong
		sh.queued = queued
	}
	if queued != sh.queued && now-sh.waited >= behindLogPeriod {
		sh.waited = now
		log.Warn("late commands wait because the loop is behind", "game", sh.game.Name,
			"times", queued-sh.queued, "replayed a turn at most", replayTicks-sh.replays.short)
		sh.queued = queued
	}
}

// sweep gives up seats whose players did not come back and instances that are empty.
// Of seats only time counts that the loop has dealt with: a player may be waiting at a
// loop that is behind.
func (sh *shard) sweep(now, dealt int64) {
	for id, in := range sh.instances {
		in.giveUp(now, dealt)
		ended := in.over()
		if !ended && (in.empty == 0 || now-in.empty < int64(emptyGrace)) {
			continue
		}
		if len(in.sockets) > 0 || !sh.game.Boss.Retire(id, ended) {
			continue
		}
		sh.schedule.remove(in, in.slot)
		in.retire()
		delete(sh.instances, id)
	}
	sh.tellFaults(now)
	sh.rest()
}

// fault logs an error of a body, once a second for each body, with the number of
// times it happened since.
func (sh *shard) fault(in *tick.Instance, f tick.FaultReport) {
	now := sh.host.opts.Now()
	k := faultKey{f.Body, f.Fault}
	c := sh.faults[k]
	if c == nil {
		c = &faultCount{logged: now - faultLogPeriod}
		sh.faults[k] = c
	}
	c.count++
	c.total++
	if now-c.logged < faultLogPeriod {
		return
	}
	f.Pos = sh.game.at(f.Pos)
	c.last = FaultInfo{Game: sh.game.Number, Instance: in.Name(), Error: f.String()}
	sh.logFault(c, now)
}

func (sh *shard) logFault(c *faultCount, now int64) {
	sh.host.opts.Log.Error("a body failed; its effects were dropped for that actor and tick",
		"game", sh.game.Name, "instance", c.last.Instance, "error", c.last.Error, "times", c.count)
	c.logged, c.count = now, 0
}

// tellFaults logs how often those bodies failed again that have stopped failing since.
func (sh *shard) tellFaults(now int64) {
	for _, c := range sh.faults {
		if c.count > 0 && now-c.logged >= faultLogPeriod {
			sh.logFault(c, now)
		}
	}
}

// close ends every socket of the shard and frees its memory.
func (sh *shard) close(code uint16, reason string) error {
	for s := range sh.waiting {
		sh.host.end(s, code, reason)
	}
	for _, in := range sh.instances {
		for _, s := range in.sockets {
			sh.host.end(s, code, reason)
		}
		for _, s := range in.sockets {
			s.in = nil
		}
		sh.game.Boss.Retire(in.id, true)
		in.retire()
	}
	clear(sh.instances)
	if sh.sim == nil {
		return nil
	}
	if err := sh.sim.Close(); err != nil {
		return fmt.Errorf("closing a shard of %s: %w", sh.game.Name, err)
	}
	return nil
}

func secret() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
