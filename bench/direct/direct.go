// Package direct drives instances of a game without sockets, loops or clocks: what is
// measured is package tick alone. A Stage holds instances of one game with viewers
// whose acks come back some sends later, as they do over a network.
//
//	Step     every instance runs a tick
//	Commit   those due find out what has changed; Send does it where it was not done
//	Send     each viewer is sent what it is to have
//	Receive  the viewers' acks come in, those of Lag sends ago
//
// They are called one after the other so that each can be timed by itself, over
// all instances at once: one instance's part is too short for a clock.
package direct

import (
	"errors"
	"fmt"
	"path/filepath"

	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/tick"
	"gamehoster/wire"
)

// Options say what a stage is like.
type Options struct {
	Instances int
	Players   int // of an instance, each with a viewer
	Lag       int // sends that an ack takes; at least 1
	// Count has the deltas read, in Receive, and their objects counted. The game must
	// have one entity type.
	Count bool
}

// Stage is instances with their viewers. It is used on one goroutine.
type Stage struct {
	Game    *games.Game
	Shard   *tick.Shard
	Rooms   []*Room
	Bytes   uint64 // sent to all viewers so far, WebSocket frames not counted
	Listed  uint64 // objects in the deltas so far; counted only where Options say so
	Refused error  // the first error of a message, either way

	count bool
	wire  *wire.Schema
	row   []byte // for reading
}

// Room is one instance and who is in it.
type Room struct {
	In      *tick.Instance
	Players []uint32
	seats   []*seat
}

// seat is a viewer and the sink of what it is sent.
type seat struct {
	stage  *Stage
	viewer *tick.Viewer
	acks   []uint32 // send ticks not acked yet, a ring
	sent   int      // send ticks
	delta  []byte   // the last one, to be read
	buf    []byte
	seq    uint32
}

// Load reads a game of the benchmarks, games/NAME in the project's folder source, or
// one of the samples.
func Load(source, name string) (*games.Game, error) {
	dir := filepath.Join(source, filepath.FromSlash(name))
	g, list := games.Load(dir)
	if g == nil {
		return nil, fmt.Errorf("loading the game %s: %w", dir, list)
	}
	return g, nil
}

// Open makes a stage and runs it until every viewer has its first state.
func Open(g *games.Game, o Options) (*Stage, error) {
	s := &Stage{Game: g, count: o.Count, wire: wire.NewSchema(g.Def, g.Program.ClientLayout)}
	s.row = make([]byte, s.wire.MaxStride())
	var err error
	if s.Shard, err = tick.NewShard(g.Def, g.Program, g.Hash, tick.Options{}); err != nil {
		return nil, err
	}
	for i := range o.Instances {
		room, err := s.room(i, o)
		if err != nil {
			return nil, fmt.Errorf("filling instance %d: %w", i, err)
		}
		s.Rooms = append(s.Rooms, room)
	}
	for range 4 * g.Def.TicksPerSend() {
		s.Step()
		s.Send()
		s.Receive()
	}
	return s, s.Refused
}

func (s *Stage) room(i int, o Options) (*Room, error) {
	seed := uint64(i+1) * 0x9E3779B97F4A7C15
	in, err := s.Shard.Create(fmt.Sprint("room ", i), seed, ^seed)
	if err != nil {
		return nil, err
	}
	r := &Room{In: in}
	for range o.Players {
		p, err := in.Join("player")
		if err != nil {
			return nil, err
		}
		r.Players = append(r.Players, p)
		r.seats = append(r.seats, &seat{stage: s, viewer: in.Attach(p, tick.ViewerOptions{}), acks: make([]uint32, max(1, o.Lag))})
	}
	return r, nil
}

// Close frees all.
func (s *Stage) Close() error { return s.Shard.Close() }

// Step runs one tick of every instance.
func (s *Stage) Step() {
	for _, r := range s.Rooms {
		r.In.Step()
	}
}

// Commit commits what is due.
func (s *Stage) Commit() {
	for _, r := range s.Rooms {
		if r.In.SendDue() {
			r.In.Commit()
		}
	}
}

// Send sends what is due, committed where it is not yet.
func (s *Stage) Send() {
	for _, r := range s.Rooms {
		if !r.In.SendDue() {
			continue
		}
		r.In.Commit()
		for _, k := range r.seats {
			k.viewer.Send(k)
		}
	}
}

// Message is a seat's sink.
func (k *seat) Message(m []byte) {
	k.stage.Bytes += uint64(len(m))
	t := wire.TagOf(m)
	if t == wire.TagDelta || t == wire.TagSnapshot {
		k.sent++
	}
	if t == wire.TagDelta && k.stage.count {
		k.delta = append(k.delta[:0], m...)
	}
}

// read counts the objects of the last delta.
func (k *seat) read() {
	s := k.stage
	if len(k.delta) == 0 {
		return
	}
	_, rest, err := wire.ParseDelta(k.delta)
	k.delta = k.delta[:0]
	r := wire.NewChangesReader(rest)
	for err == nil && r.Next() {
		err = r.Read(s.wire.Fields(typeOf(r.ID()), wire.Sent, r.ID() == k.viewer.Player()), s.row)
		s.Listed++
	}
	if err = errors.Join(err, r.Err()); err != nil && s.Refused == nil {
		s.Refused = fmt.Errorf("reading a delta: %w", err)
	}
}

// typeOf is the type of an object in a game with one entity type.
func typeOf(id uint32) int {
	switch {
	case id == 0:
		return schema.InstanceType
	case id%2 == schema.FirstPlayer:
		return schema.PlayerType
	}
	return schema.PlayerType + 1
}

// Receive has the acks of this send tick come in.
func (s *Stage) Receive() {
	for _, r := range s.Rooms {
		if r.In.SendDue() {
			for _, k := range r.seats {
				k.read()
				k.ack(r.In.Tick())
			}
		}
	}
}

// ack notes the send tick just sent and acks the one that was sent Lag sends ago.
func (k *seat) ack(tick uint32) {
	if k.sent == 0 {
		return // it has not joined yet
	}
	at := &k.acks[k.sent%len(k.acks)]
	due := *at
	*at = tick
	if k.sent > len(k.acks) {
		k.buf = wire.Ack{Tick: due}.Append(k.buf[:0])
		k.receive()
	}
}

// Command has a player's command come in. tick is the one it acted on; fields are the
// command's as the protocol has them.
func (r *Room) Command(player int, tick, number uint32, fields ...byte) {
	k := r.seats[player]
	k.seq++
	k.buf = wire.CommandHeader{Tick: tick, Seq: k.seq, Number: number}.Append(k.buf[:0])
	k.buf = append(k.buf, fields...)
	k.receive()
}

func (k *seat) receive() {
	if err := k.viewer.Receive(k.buf, 0, k); err != nil && k.stage.Refused == nil {
		k.stage.Refused = fmt.Errorf("a message of player %d was refused: %w", k.viewer.Player(), err)
	}
}

// Snapshots is how many viewers were sent a whole state in place of a delta.
func (s *Stage) Snapshots() (n uint64) {
	for _, c := range tick.Causes() {
		n += s.Shard.Stats().Snapshots[c]
	}
	return n
}
