package tick

import (
	"bytes"
	"errors"
	"testing"

	"gamehoster/games"
	"gamehoster/wire"
)

// send steps the session to its next send and holds every client against the server.
func (s *session) send(act bool) {
	s.t.Helper()
	for {
		for _, p := range s.players {
			if act && p.c.Ready && s.rng.IntN(6) == 0 {
				s.act(p, p.c.Tick+uint32(s.rng.IntN(4)))
			}
		}
		s.in.Step()
		if s.in.SendDue() {
			break
		}
	}
	s.in.Commit()
	for i, p := range s.players {
		p.v.Send(p.c)
		if p.c.Err != nil {
			s.t.Fatal(p.c.Err)
		}
		if !p.c.Ready {
			continue
		}
		if err := p.c.Compare(s.shard.layout, s.in.block, nil, nil); err != nil {
			s.t.Fatalf("player %d: %v", i, err)
		}
		for _, a := range p.c.Acks {
			if err := p.v.Receive(wire.Ack{Tick: a}.Append(nil), 0, discard{}); err != nil {
				s.t.Fatal(err)
			}
		}
		p.c.Acks = p.c.Acks[:0]
	}
}

// packed is all of an instance's state.
func packed(in *Instance) []byte {
	b := make([]byte, in.shard.liveSize(in.block))
	in.shard.pack(b, in.block)
	return b
}

// A world that is put into another shard goes on as if it had stayed, bit for bit, and
// its players find their seats in it.
func TestSavedWorldsGoOn(t *testing.T) {
	for _, name := range []string{"asteroids", "pong"} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, name, 2)
			for range 200 {
				s.send(true)
			}
			for range 30 { // until every command has run
				s.send(false)
			}
			saved := s.in.Save()
			stays := s.in
			// As a reload has it: the game is compiled anew.
			other := newSession(t, name, 0)
			other.in.Retire()
			in, err := other.shard.Restore(saved)
			if err != nil {
				t.Fatal(err)
			}
			for range 100 {
				if !bytes.Equal(packed(in), packed(stays)) || in.Tick() != stays.Tick() {
					t.Fatalf("the worlds differ at tick %d and %d", in.Tick(), stays.Tick())
				}
				in.Step()
				stays.Step()
				for _, i := range []*Instance{in, stays} {
					if i.SendDue() {
						i.Commit()
					}
				}
			}
			if in.Name() != stays.Name() || in.Players() != 2 || in.Open() != stays.Open() {
				t.Errorf("%s with %d players, open %t", in.Name(), in.Players(), in.Open())
			}
			other.in, other.players = in, nil
			for i, p := range saved.Players() {
				if p.ID != s.players[i].v.Player() || p.Name != []string{"player0", "player1"}[i] {
					t.Errorf("player %d is %+v", i, p)
				}
				c, err := other.module.NewClient(false)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				v := in.Attach(p.ID, ViewerOptions{})
				if v == nil {
					t.Fatalf("player %d has no seat", p.ID)
				}
				other.players = append(other.players, &sessionPlayer{v: v, c: c, seq: s.players[i].seq})
			}
			for range 200 { // late commands among them
				other.send(true)
			}
			for i, p := range other.players {
				if !p.c.Ready || p.c.Resyncs > 0 {
					t.Errorf("player %d: ready %t, %d resyncs", i, p.c.Ready, p.c.Resyncs)
				}
			}
			in.Leave(other.players[1].v.Player())
			for in.Step(); !in.SendDue(); in.Step() {
			}
			if n := in.count(1); n != 1 {
				t.Errorf("%d players are left", n)
			}
			if id, err := in.Join("new"); err != nil || id <= saved.Players()[1].ID {
				t.Error(id, err)
			}
		})
	}
}

// Joins and leaves that wait for a send tick are carried, too.
func TestSavedWithoutASend(t *testing.T) {
	s := newSession(t, "asteroids", 2)
	for range 3 {
		s.send(false)
	}
	gone := s.players[0].v.Player()
	s.in.Leave(gone)
	s.players = s.players[1:]
	late, err := s.in.Join("late")
	if err != nil {
		t.Fatal(err)
	}
	in, err := s.shard.Restore(s.in.Save())
	if err != nil {
		t.Fatal(err)
	}
	for !in.SendDue() {
		in.Step()
	}
	in.Commit()
	n := in.count(1)
	if in.Players() != 2 || n != 2 || in.hasPlayer(gone, n) || !in.hasPlayer(late, n) {
		t.Errorf("%d seats, %d players", in.Players(), n)
	}
}

func TestRestoreRefuses(t *testing.T) {
	s := newSession(t, "asteroids", 3)
	s.send(false)
	saved := s.in.Save()
	if _, err := newSession(t, "pong", 0).shard.Restore(saved); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	def := *s.game.Def
	def.PlayersPerInstance = 2
	small := compiledShard(t, &games.Game{Def: &def, Program: s.game.Program})
	if _, err := small.Restore(saved); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
	for {
		if _, err := s.shard.Restore(saved); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			break
		}
	}
	if n := s.shard.Instances(); n != s.game.Def.ShardInstances() {
		t.Errorf("%d instances", n)
	}
}

func compiledShard(t *testing.T, g *games.Game) *Shard {
	t.Helper()
	s, err := NewShard(g.Def, g.Program, g.Hash, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
