package tick

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/wire"
)

// turns is a sink that notes which objects keyframes have.
type turns struct {
	in  *Instance
	ids map[uint32]bool
}

func (s *turns) Message(m []byte) {
	if wire.TagOf(m) != wire.TagKeyframe {
		return
	}
	_, rest, err := wire.ParseKeyframe(m)
	if err != nil {
		panic(err)
	}
	r := wire.NewChangesReader(rest)
	for r.Next() {
		i, _ := s.in.history.find(r.ID())
		s.ids[r.ID()] = true
		if err := r.Read(s.in.shard.wire.Fields(int(s.in.history.objects[i].typ), wire.Shared, false), nil); err != nil {
			panic(err)
		}
	}
}

// Each object gets a keyframe once in a turn, however many there are and while others
// come and go; where the budget does not allow it, one does at each send at least.
func TestKeyframesGoRound(t *testing.T) {
	const turn = 10 // sends in a second
	for _, view := range []bool{false, true} {
		for _, n := range []int{1, 7, 40, 100} {
			for _, budget := range []int{1 << 20, 100, 1} {
				t.Run(fmt.Sprintf("%d objects, %d bytes, views %v", n, budget, view), func(t *testing.T) {
					g, do := storm(n+20, false, view)
					g.Def.BytesPerSend = 1 << 20
					in, err := newTestShard(t, g, Options{}).Create("room", 1, 2)
					if err != nil {
						t.Fatal(err)
					}
					p, err := in.Join("p")
					if err != nil {
						t.Fatal(err)
					}
					v := in.Attach(p, ViewerOptions{})
					s := &turns{in: in, ids: map[uint32]bool{}}
					do(n, 0)
					for range 4 {
						sendAll2(in, v, s)
					}
					in.shard.rules.budget = budget
					first := le.Uint32(in.row(rock, 0))
					last, worst := map[uint32]int{}, 0
					for send := range 6 * max(turn, n) {
						if send%3 == 0 {
							do(send%9, 0) // from here on the newest are not counted
						}
						clear(s.ids)
						sendAll2(in, v, s)
						receive(t, v, wire.Ack{Tick: in.sendTick}.Append(nil))
						for k := range uint32(n) {
							id := first + 4*k
							if s.ids[id] {
								last[id] = send
							}
							worst = max(worst, send-last[id])
						}
					}
					bound := turn + 1 // as the world grows on the way
					if budget < 1<<20 {
						bound = max(turn, n+22)
					}
					t.Logf("worst: %d sends, bound %d", worst, bound)
					if worst > bound {
						t.Errorf("an object had no keyframe for %d sends, the bound is %d", worst, bound)
					}
				})
			}
		}
	}
}

// What a client has got wrong by itself is right again within one turn.
func TestFlippedBitsHeal(t *testing.T) {
	const turn = 10 // sends in a second
	for _, view := range []bool{false, true} {
		t.Run(fmt.Sprint("views ", view), func(t *testing.T) {
			g, do := storm(60, false, view)
			in, err := newTestShard(t, g, Options{}).Create("room", 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			p, err := in.Join("p")
			if err != nil {
				t.Fatal(err)
			}
			c, err := g.Module().NewClient(false)
			if err != nil {
				t.Fatal(err)
			}
			v := in.Attach(p, ViewerOptions{})
			do(50, 0)
			rng := rand.New(rand.NewPCG(3, 3))
			flips := 0
			wrong := 0 // sends
			for send := range 1500 {
				if c.Ready && wrong == 0 && rng.IntN(4) == 0 && c.Flip(rng) {
					flips++
				}
				sendAll2(in, v, c)
				if c.Err != nil || c.Resyncs > 0 {
					t.Fatal(c.Err, c.Lost)
				}
				for _, a := range c.Acks {
					receive(t, v, wire.Ack{Tick: a}.Append(nil))
				}
				c.Acks = c.Acks[:0]
				if err := c.Compare(in.shard.layout, in.block, nil, func(uint32) bool { return true }); c.Ready && err != nil {
					if wrong++; wrong > turn {
						t.Fatalf("send %d: wrong for %d sends: %v", send, wrong, err)
					}
					continue
				}
				wrong = 0
			}
			t.Logf("%d bits flipped, %d keyframes were corrections", flips, c.Drifts)
			if flips < 50 || c.Drifts < flips/2 {
				t.Error("nothing was wrong")
			}
		})
	}
}
