package tick

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gamehoster/games"
	"gamehoster/games/body"
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

// What bodies log is told with its tick, once, however often the tick runs.
func TestLogs(t *testing.T) {
	def := testDef(20, 10, 2)
	def.Commands = def.Commands[:1]
	prog, list := body.Compile(def, []body.Source{
		{Path: "commands.js", Text: []byte("export function move(player, command) { player.x += command.dx; log(`moves by ${command.dx}`); }\n")},
		{Path: "instance.js", Text: []byte("export function update() { if (game.tick === 3) log(`three ${game.round}`); }\n")},
	}, body.Options{})
	if prog == nil {
		t.Fatal(list)
	}
	var got []string
	s, err := NewShard(def, prog, 0, Options{OnLog: func(_ *Instance, l LogReport) {
		for _, x := range l.Lines {
			got = append(got, fmt.Sprintf("%d: %s of %d", l.Tick, x.Text, x.Actor))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	in, err := s.Create("room", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Join("p")
	if err != nil {
		t.Fatal(err)
	}
	v := in.Attach(p, ViewerOptions{})
	for in.tick < 8 {
		sendAll(in)
		if in.tick == 4 || in.tick == 6 {
			receive(t, v, command(in.tick+1, (in.tick-2)/2, move, 7, 0))
		}
	}
	receive(t, v, command(3, 3, move, 9, 0))
	sendAll(in)
	sendAll(in)
	want := []string{"3: three 0 of 0", "5: moves by 7 of 1", "7: moves by 7 of 1"}
	if !slices.Equal(got, want) || s.stats.Rewinds != 1 {
		t.Errorf("logged %q after %d rewinds, not %q", got, s.stats.Rewinds, want)
	}
}
