package home

import "testing"

func TestRooms(t *testing.T) {
	h := &Hall{}
	got := make([]int, 6)
	var seats []*Seat
	for i := range got {
		seats = append(seats, h.Join(func(m []byte) {
			if m[0] != tagState || len(m) < 10 {
				t.Fatalf("%v", m)
			}
			if n := 10 + 28*int(m[7]) + 11*int(m[8]) + 10*int(m[9]); n != len(m) {
				t.Fatalf("%d bytes where its numbers say %d", len(m), n)
			}
			got[i]++
		}))
	}
	if len(h.rooms) != 2 {
		t.Fatalf("%d rooms", len(h.rooms))
	}
	const ticks = 600
	for n := range ticks {
		for _, s := range seats {
			if reply := s.Receive([]byte{tagSteer, byte(n % 3), 3}); reply != nil {
				t.Fatal(reply)
			}
		}
		h.Tick()
	}
	for i, n := range got {
		if n != ticks/TicksPerSend {
			t.Errorf("%d states for player %d", n, i)
		}
	}
	g := &h.rooms[0].game
	if g.NPlayers.Live != Seats || g.Instance.Level == 0 || g.Players[0].X == g.Players[1].X && g.Players[0].Y == g.Players[1].Y {
		t.Errorf("%d ships, level %d, %+v", g.NPlayers.Live, g.Instance.Level, g.Players[0])
	}
	// A seat that is left is given to the next, with its ship.
	seats[1].Leave()
	if s := h.Join(func([]byte) {}); s.room != h.rooms[1] {
		t.Error("a seat of a full room was given though the last has some")
	}
	h.Join(func([]byte) {})
	if s := h.Join(func([]byte) {}); s.room != h.rooms[0] || s.at != 1 {
		t.Errorf("seat %d of another room", s.at)
	}
	h.Tick()
	if g.NPlayers.Live != Seats {
		t.Errorf("%d ships", g.NPlayers.Live)
	}
}

func TestMessages(t *testing.T) {
	h := &Hall{}
	s := h.Join(func([]byte) {})
	if reply := s.Receive([]byte{tagPing}); len(reply) != 1 || reply[0] != tagPing {
		t.Errorf("a ping is answered with %v", reply)
	}
	for _, m := range [][]byte{{}, {tagSteer}, {tagSteer, 3, 0}, {tagSteer, 0, 0, 0}, {9, 1, 1}} {
		if s.Receive(m) != nil || len(s.room.commands) > 0 {
			t.Errorf("%v was taken", m)
		}
	}
}

func TestAllocTick(t *testing.T) {
	h := &Hall{}
	var seats []*Seat
	for range 4 * Seats {
		seats = append(seats, h.Join(func([]byte) {}))
	}
	tick := func() {
		for _, s := range seats {
			s.Receive([]byte{tagSteer, 2, 3})
		}
		h.Tick()
	}
	for range 1000 {
		tick()
	}
	n := testing.AllocsPerRun(200, tick)
	t.Logf("a tick of %d rooms: %v allocations, budget 0", len(h.rooms), n)
	if n != 0 {
		t.Errorf("a tick allocates %v times", n)
	}
}
