package worker

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"gamehoster/engine/loop"
	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick"
	"gamehoster/wire"
)

// emptyGrace is how long an instance without players goes on: long enough for a
// reload of the only page.
const emptyGrace = 5 * time.Second

// faultLogPeriod is how often an error of one body is logged.
const faultLogPeriod = int64(time.Second)

// Game is a game as a loop runs it.
type Game struct {
	Number  uint64 // upper bits of its tags
	Def     *schema.Definition
	Program *body.Program
	Hash    uint64 // of the definition
	Boss    Boss
}

// shard is one game's part of a loop.
type shard struct {
	host      *Host
	game      *Game
	sim       *tick.Shard
	instances map[InstanceID]*instance
	schedule  *schedule[*instance]
	bursts    uint64 // of the schedule's, those logged
	faults    map[faultKey]*faultCount
}

type faultKey struct {
	body  int
	fault body.Fault
}

type faultCount struct {
	logged int64
	count  uint64
}

// instance is one running world and who sits in it.
type instance struct {
	shard   *shard
	id      InstanceID
	sim     *tick.Instance
	slot    int
	sockets []*socket
	chairs  []*chair
	empty   int64 // since when nobody sits here; 0 while somebody does
	open    bool  // as the boss knows it
	hashes  hashRing
}

// chair is a seat taken: by a socket, or kept for a while after its socket broke.
type chair struct {
	player uint32
	token  Token
	socket *socket
	until  int64 // while there is no socket: when the seat is given up
}

func newShard(h *Host, g *Game) *shard {
	return &shard{
		host:      h,
		game:      g,
		instances: map[InstanceID]*instance{},
		schedule:  newSchedule[*instance](g.Def.TickRate),
		faults:    map[faultKey]*faultCount{},
	}
}

// start makes the machine that the game runs on, with the first player: a game
// that nobody plays costs nothing.
func (sh *shard) start() (err error) {
	if sh.sim != nil {
		return nil
	}
	g := sh.game
	sh.sim, err = tick.NewShard(g.Def, g.Program, g.Hash, tick.Options{OnFault: sh.fault})
	if err != nil {
		return fmt.Errorf("starting a shard of %s: %w", g.Def.Name, err)
	}
	return nil
}

// sit gives a socket its seat. It returns the code to close it with where that
// cannot be.
func (sh *shard) sit(s *socket, now int64) (code uint16, reason string) {
	in := sh.instances[s.seat.Instance]
	if in == nil {
		var err error
		if in, err = sh.create(s.seat, now); err != nil {
			sh.host.opts.Log.Error("creating an instance failed", "game", sh.game.Def.Name, "error", err)
			sh.game.Boss.Retire(s.seat.Instance, true)
			return wire.CloseBoxFull, "the instance could not be started"
		}
	}
	opts := tick.ViewerOptions{Thin: s.seat.Thin, Watch: s.seat.Watch}
	if s.seat.Watch {
		s.in, s.viewer = in, in.sim.Attach(0, opts)
		in.sockets = append(in.sockets, s)
		return 0, ""
	}
	c := in.resume(s.seat.Resume)
	switch {
	case c != nil:
		if old := c.socket; old != nil {
			sh.leaveSocket(old)
			sh.host.end(old, wire.CloseTakenOver, "another connection took the seat over")
		}
	default:
		if !s.seat.Resume.IsZero() && !sh.game.Boss.Reseat(in.id) {
			return wire.CloseNoInstance, "the seat is gone and the instance is full"
		}
		player, err := in.sim.Join(s.seat.Player)
		if err != nil {
			sh.game.Boss.Release(in.id)
			return wire.CloseNoInstance, "the instance is full"
		}
		c = &chair{player: player, token: NewToken(sh.host.opts.Number, in.id, secret())}
		in.chairs = append(in.chairs, c)
	}
	opts.Token = c.token
	v := in.sim.Attach(c.player, opts)
	if v == nil { // the game removed the player while its socket was gone
		c.socket, c.until = nil, now
		in.giveUp(now)
		return wire.CloseRemoved, "removed by the game"
	}
	in.empty = 0
	c.socket, s.chair, s.in, s.viewer = s, c, in, v
	in.sockets = append(in.sockets, s)
	return 0, ""
}

func (sh *shard) create(seat Seat, now int64) (*instance, error) {
	if err := sh.start(); err != nil {
		return nil, err
	}
	sim, err := sh.sim.Create(seat.Name, secret(), secret())
	if err != nil {
		return nil, err
	}
	in := &instance{shard: sh, id: seat.Instance, sim: sim, empty: now, open: true}
	in.hashes.init(sh.host.opts.Hashes)
	in.slot = sh.schedule.add(in, now)
	sh.instances[in.id] = in
	return in, nil
}

// stand parts a socket that has ended from its instance. Its seat is kept for a
// while where its player may come back.
func (sh *shard) stand(s *socket, now int64) {
	in := s.in
	c := s.chair
	sh.leaveSocket(s)
	if c == nil || c.socket != s {
		in.checkEmpty(now)
		return
	}
	c.socket = nil
	c.until = now + int64(sh.game.Def.ResumeSeconds*1e9)
	if s.end.Peer && s.end.Code == 1000 || s.end.Code == wire.CloseRemoved || s.end.Code == wire.CloseEnded {
		c.until = now
		in.giveUp(now)
	}
}

// leaveSocket ends the stream of a socket, once.
func (sh *shard) leaveSocket(s *socket) {
	for i, o := range s.in.sockets {
		if o == s {
			s.in.sockets = append(s.in.sockets[:i], s.in.sockets[i+1:]...)
			s.in.sim.Detach(s.viewer)
			return
		}
	}
}

// run steps every instance whose turn has come.
func (sh *shard) run(now int64) (ran bool) {
	for {
		sl, ok := sh.schedule.take(now)
		if !ok {
			break
		}
		ran = true
		for _, in := range sl.members {
			in.step(now)
		}
	}
	if sh.schedule.bursts != sh.bursts {
		sh.bursts = sh.schedule.bursts
		sh.host.opts.Log.Warn("ticks dropped after the loop was held up", "game", sh.game.Def.Name, "dropped", sh.schedule.dropped)
	}
	return ran
}

// step runs one tick of an instance and, on a send tick, sends to each viewer.
func (in *instance) step(now int64) {
	sim := in.sim
	if sim.Ended() {
		return
	}
	sim.Step()
	if sim.SendDue() {
		sim.Commit()
		for _, s := range in.sockets {
			in.send(s, now)
		}
		in.hashes.note(sim)
	}
	if open := sim.Open(); open != in.open {
		in.open = open
		in.shard.game.Boss.SetOpen(in.id, open)
	}
	if sim.Ended() {
		for _, s := range in.sockets {
			in.shard.host.end(s, wire.CloseEnded, "the game is over")
		}
	}
}

// send gives one viewer its part of a send tick.
func (in *instance) send(s *socket, now int64) {
	if s.ended {
		return
	}
	h := in.shard.host
	if s.viewer.Removed() {
		h.end(s, wire.CloseRemoved, "removed by the game")
		return
	}
	stalled := h.loop.Stalled(s.handle)
	s.conn.Stalled(stalled, now)
	if stalled {
		s.viewer.Skip()
		return
	}
	s.viewer.Send(&h.out)
	if b := h.out.Take(); len(b) > 0 {
		h.loop.Send(s.handle, b)
	}
}

// sweep gives up seats whose players did not come back and instances that are empty.
func (sh *shard) sweep(now int64) {
	for id, in := range sh.instances {
		in.giveUp(now)
		ended := in.sim.Ended()
		if !ended && (in.empty == 0 || now-in.empty < int64(emptyGrace)) {
			continue
		}
		if len(in.sockets) > 0 || !sh.game.Boss.Retire(id, ended) {
			continue
		}
		sh.schedule.remove(in, in.slot)
		in.sim.Retire()
		delete(sh.instances, id)
	}
}

// giveUp lets the players leave whose seats were kept long enough.
func (in *instance) giveUp(now int64) {
	kept := in.chairs[:0]
	for _, c := range in.chairs {
		if c.socket != nil || now < c.until {
			kept = append(kept, c)
			continue
		}
		in.sim.Leave(c.player)
		in.shard.game.Boss.Release(in.id)
	}
	clear(in.chairs[len(kept):])
	in.chairs = kept
	in.checkEmpty(now)
}

func (in *instance) checkEmpty(now int64) {
	switch {
	case len(in.chairs) > 0 || len(in.sockets) > 0:
		in.empty = 0
	case in.empty == 0:
		in.empty = now
	}
}

// resume finds the seat that a token was given out for.
func (in *instance) resume(t Token) *chair {
	if t.IsZero() {
		return nil
	}
	for _, c := range in.chairs {
		if c.token == t {
			return c
		}
	}
	return nil
}

func (in *instance) elapsed(now int64) uint16 {
	if in == nil {
		return 0
	}
	return in.shard.schedule.elapsed(in.slot, now)
}

// fault logs an error of a body, once a second for each body, with the number of
// times it happened since.
func (sh *shard) fault(in *tick.Instance, f tick.FaultReport) {
	now := loop.Now()
	k := faultKey{f.Body, f.Fault}
	c := sh.faults[k]
	if c == nil {
		c = &faultCount{logged: now - faultLogPeriod}
		sh.faults[k] = c
	}
	c.count++
	if now-c.logged < faultLogPeriod {
		return
	}
	sh.host.opts.Log.Error("a body failed; its effects were dropped for that actor and tick",
		"game", sh.game.Def.Name, "instance", in.Name(), "error", f.String(), "times", c.count)
	c.logged, c.count = now, 0
}

// close ends every socket of the shard and frees its memory.
func (sh *shard) close(code uint16, reason string) error {
	for _, in := range sh.instances {
		for _, s := range in.sockets {
			sh.host.end(s, code, reason)
		}
		for _, s := range in.sockets {
			in.sim.Detach(s.viewer)
			s.in, s.chair = nil, nil
		}
		sh.game.Boss.Retire(in.id, true)
		in.sim.Retire()
	}
	clear(sh.instances)
	if sh.sim == nil {
		return nil
	}
	if err := sh.sim.Close(); err != nil {
		return fmt.Errorf("closing a shard of %s: %w", sh.game.Def.Name, err)
	}
	return nil
}

func secret() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
