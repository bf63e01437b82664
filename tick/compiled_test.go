package tick

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

// sample loads and compiles one of the games that come with the project.
func sample(t testing.TB, name string) *games.Game {
	t.Helper()
	g, list := games.Load("../games/localhost/" + name)
	for _, d := range list {
		t.Log(d)
	}
	if g == nil {
		t.Fatalf("%s does not compile", name)
	}
	return g
}

// session is an instance of a compiled game with clients that act at random.
type session struct {
	t       testing.TB
	game    *games.Game
	shard   *Shard
	in      *Instance
	module  *ticktest.Module
	players []*sessionPlayer
	rng     *rand.Rand
}

type sessionPlayer struct {
	v   *Viewer
	c   *ticktest.Client
	seq uint32
}

func newSession(t testing.TB, name string, players int) *session {
	t.Helper()
	s := &session{t: t, game: sample(t, name), rng: rand.New(rand.NewPCG(7, 7))}
	var err error
	o := Options{OnFault: func(_ *Instance, f FaultReport) { t.Error(f) }}
	if s.shard, err = NewShard(s.game.Def, s.game.Program, s.game.Hash, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.shard.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.module, err = ticktest.NewModule(s.game.Def, s.game.Program); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.module.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.in, err = s.shard.Create("room", 1, 2); err != nil {
		t.Fatal(err)
	}
	for i := range players {
		s.join(i%3 == 2)
	}
	return s
}

func (s *session) join(thin bool) {
	p, err := s.in.Join(fmt.Sprint("player", len(s.players)))
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := s.module.NewClient(thin)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	s.players = append(s.players, &sessionPlayer{v: s.in.Attach(p, ViewerOptions{Thin: thin}), c: c})
}

// act sends the player's first command with random fields in their bounds.
func (s *session) act(p *sessionPlayer, tick uint32) {
	c := s.game.Def.Commands[s.rng.IntN(len(s.game.Def.Commands))]
	p.seq++
	m := wire.CommandHeader{Tick: tick, Seq: p.seq, Number: uint32(c.Index)}.Append(nil)
	for _, f := range c.Fields {
		row := make([]byte, f.Size()+8)
		low, high := int(max(f.Min, 0)), int(min(f.Max, 1))
		if f.Kind != schema.Bool && f.Min < 0 {
			low = -1
		}
		schema.StoreNumber(f.Kind, row, float64(low+s.rng.IntN(high-low+1)))
		m = wire.AppendField(m, f, row, 0)
	}
	if err := p.v.Receive(m, 0, discard{}); err != nil {
		s.t.Fatalf("%s % x: %v", c.Name, m, err)
	}
}

// Clients that run the compiled game hold the server's state at every send.
func TestCompiledGames(t *testing.T) {
	for _, name := range []string{"asteroids", "pong"} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, name, 2)
			resyncs, drifts := 0, 0
			for tick := range 1500 {
				for _, p := range s.players {
					if p.c.Ready && s.rng.IntN(6) == 0 {
						s.act(p, p.c.Tick+uint32(s.rng.IntN(4)))
					}
				}
				s.in.Step()
				if !s.in.SendDue() {
					continue
				}
				s.in.Commit()
				for i, p := range s.players {
					p.v.Send(p.c)
					if p.c.Err != nil {
						t.Fatal(p.c.Err)
					}
					if err := p.c.Compare(s.shard.layout, s.in.block, nil, nil); err != nil {
						t.Fatalf("player %d: %v", i, err)
					}
					if uint64(p.c.Hash()) != s.in.StateHash() {
						t.Fatal("state hashes differ over equal states")
					}
					for _, a := range p.c.Acks {
						if err := p.v.Receive(wire.Ack{Tick: a}.Append(nil), 0, discard{}); err != nil {
							t.Fatal(err)
						}
					}
					p.c.Acks = p.c.Acks[:0]
					resyncs += p.c.Resyncs
				}
				if tick == 599 && s.game.Def.PlayersPerInstance > 2 {
					s.join(true)
					s.join(false)
				}
			}
			for _, p := range s.players {
				drifts += p.c.Drifts
			}
			if resyncs > 0 {
				t.Errorf("%d sends could not be applied", resyncs)
			}
			n := s.players[0].c.Objects()
			x := s.shard.Stats()
			t.Logf("%d objects in the end, drifts %d, commands %d, bytes of deltas %d, keyframes %d, commands %d", n, drifts,
				x.Commands, x.Sent(wire.TagDelta).Bytes, x.Sent(wire.TagKeyframe).Bytes, x.Sent(wire.TagCommands).Bytes)
		})
	}
}
