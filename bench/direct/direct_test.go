package direct

import (
	"testing"

	"gamehoster/games/schema"
)

func open(t *testing.T, game string, o Options) *Stage {
	t.Helper()
	g, err := Load("../..", game)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(g, o)
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

func turn(s *Stage) {
	s.Step()
	s.Send()
	s.Receive()
}

// What the movers' figures are divided by is what viewers really have in their deltas.
func TestMoversAreListed(t *testing.T) {
	for _, c := range []struct {
		game               string
		instances, players int
		each               uint64 // a viewer's
	}{
		{"movers", 3, 2, 60}, {"movers-steps", 3, 1, 60}, {"movers-shared", 3, 1, 0}, {"crowd", 1, 100, 50}, {"cubes-all", 1, 1, 901},
	} {
		t.Run(c.game, func(t *testing.T) {
			s := open(t, "bench/games/"+c.game, Options{Instances: c.instances, Players: c.players, Lag: 3, Count: true})
			const sends = 40
			for range 20 {
				turn(s)
			}
			s.Listed = 0
			snapshots := s.Snapshots()
			for range sends {
				turn(s)
			}
			if s.Refused != nil {
				t.Fatal(s.Refused)
			}
			if n := s.Snapshots() - snapshots; n > 0 {
				t.Errorf("%d snapshots came in place of deltas", n)
			}
			want := c.each * sends * uint64(c.instances*c.players)
			// One that is at the wall of its field, or turns around, may stand still for a send.
			if s.Listed > want || s.Listed < want*98/100 {
				t.Errorf("%d objects were listed, want %d", s.Listed, want)
			}
			if c.game == "crowd" && s.Listed != want {
				t.Errorf("%d objects were listed, want %d", s.Listed, want)
			}
		})
	}
}

// Acks come late, so deltas are made from older bases, and every command is filed.
func TestCommandsAreFiled(t *testing.T) {
	s := open(t, "games/localhost/asteroids", Options{Instances: 2, Players: 4, Lag: 2})
	for i := range 50 {
		for _, r := range s.Rooms {
			r.Command(i%4, r.In.Tick()+1, 0, 1, 1, 1)
		}
		turn(s)
	}
	if s.Refused != nil {
		t.Fatal(s.Refused)
	}
	if n := s.Shard.Stats().Commands; n != 100 {
		t.Errorf("%d commands were filed, not 100", n)
	}
	if len(s.Rooms[0].Players) != 4 || s.Rooms[0].Players[0] != schema.FirstPlayer {
		t.Errorf("players %v", s.Rooms[0].Players)
	}
}
