package box

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"gamehoster/engine/worker"
	"gamehoster/games/schema"
)

func definition(players, instances int) *schema.Definition {
	return &schema.Definition{PlayersPerInstance: players, InstancesPerShard: instances}
}

// shards gives a table so many shards.
func shards(tb *Table, n int) *Table {
	for i := range n {
		tb.AddShard(uint32(i), -1)
	}
	return tb
}

func place(t *testing.T, tb *Table, r Request) (Placement, worker.Reservation) {
	t.Helper()
	p, err := tb.Place(r, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := tb.Claim(p.Number)
	if !ok {
		t.Fatal("a seat just placed cannot be claimed")
	}
	return p, s
}

func TestPlayersFillTheOldestInstanceFirst(t *testing.T) {
	tb := shards(NewTable(definition(2, 10), 1, new(atomic.Uint32)), 2)
	_, a := place(t, tb, Request{})
	_, b := place(t, tb, Request{})
	_, c := place(t, tb, Request{})
	if a.InstanceName != b.InstanceName || b.InstanceName == c.InstanceName {
		t.Fatalf("seated in %s, %s, %s: want two together and the third apart", a.InstanceName, b.InstanceName, c.InstanceName)
	}
	tb.Release(a.Instance)
	if _, d := place(t, tb, Request{}); d.InstanceName != a.InstanceName {
		t.Fatalf("seated in %s, want the free seat in %s", d.InstanceName, a.InstanceName)
	}
}

func TestFreshInstancesGoToTheEmptiestShard(t *testing.T) {
	tb := shards(NewTable(definition(1, 2), 1, new(atomic.Uint32)), 2)
	var per [2]int
	for range 4 {
		p, _ := place(t, tb, Request{})
		per[p.Shard]++
	}
	if per != [2]int{2, 2} {
		t.Fatalf("instances per shard %v, want 2 each", per)
	}
	if _, err := tb.Place(Request{}, 0); !errors.Is(err, ErrNoShard) {
		t.Fatalf("a full box answered %v", err)
	}
}

func TestCapacityInPlayersIsInWholeInstances(t *testing.T) {
	tb := shards(NewTable(&schema.Definition{PlayersPerInstance: 4, PlayersPerShard: 10}, 1, new(atomic.Uint32)), 1)
	for range 12 {
		place(t, tb, Request{})
	}
	if _, err := tb.Place(Request{}, 0); !errors.Is(err, ErrNoShard) {
		t.Fatalf("a thirteenth player of ten was answered %v", err)
	}
	if l := tb.Load(); l.Instances != 3 {
		t.Fatalf("%d instances for ten players by four", l.Instances)
	}
}

func TestJoinByName(t *testing.T) {
	tb := shards(NewTable(definition(1, 10), 1, new(atomic.Uint32)), 1)
	_, a := place(t, tb, Request{})
	if _, err := tb.Place(Request{Instance: a.InstanceName}, 0); !errors.Is(err, ErrNoInstance) {
		t.Fatalf("a full instance answered %v", err)
	}
	if _, err := tb.Place(Request{Instance: "nowhere"}, 0); !errors.Is(err, ErrNoInstance) {
		t.Fatalf("an unknown instance answered %v", err)
	}
	if _, s := place(t, tb, Request{Instance: a.InstanceName, Client: worker.Client{Watch: true}}); s.InstanceName != a.InstanceName {
		t.Fatalf("a spectator was sent to %s, want %s", s.InstanceName, a.InstanceName)
	}
}

func TestUnclaimedSeatExpiresOnce(t *testing.T) {
	tb := shards(NewTable(definition(1, 1), 1, new(atomic.Uint32)), 1)
	p, err := tb.Place(Request{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := tb.Expire(int64(SeatTimeout) - 1); n != 0 {
		t.Fatal("the seat expired early")
	}
	if n := tb.Expire(int64(SeatTimeout)); n != 1 {
		t.Fatal("the seat did not expire")
	}
	if _, ok := tb.Claim(p.Number); ok {
		t.Fatal("an expired seat was claimed")
	}
	if l := tb.Load(); l != (Load{}) {
		t.Fatalf("after all seats have expired the table counts %+v", l)
	}
	place(t, tb, Request{})
}

func TestAHandedSeatWaitsForItsLoop(t *testing.T) {
	tb := shards(NewTable(definition(2, 1), 1, new(atomic.Uint32)), 1)
	var numbers []uint64
	for range 2 {
		p, err := tb.Place(Request{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		tb.Hand(p.Number)
		numbers = append(numbers, p.Number)
	}
	tb.Hand(1 << 30)
	if n := tb.Expire(1000 * int64(SeatTimeout)); n != 0 {
		t.Fatalf("%d seats expired that a loop is about to claim", n)
	}
	if _, ok := tb.Claim(numbers[0]); !ok {
		t.Fatal("a handed seat could not be claimed")
	}
	tb.Cancel(numbers[1]) // its socket was dead
	if l := tb.Load(); l.Seats != 1 || l.Pending != 0 {
		t.Fatalf("the table counts %+v", l)
	}
}

func TestCancel(t *testing.T) {
	tb := shards(NewTable(definition(1, 1), 1, new(atomic.Uint32)), 1)
	p, err := tb.Place(Request{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	tb.Cancel(p.Number)
	tb.Cancel(p.Number)
	if l := tb.Load(); l != (Load{}) {
		t.Fatalf("after the only reservation was cancelled the table counts %+v", l)
	}
	p, s := place(t, tb, Request{})
	tb.Cancel(p.Number)
	if l := tb.Load(); l.Seats != 1 || l.Instances != 1 {
		t.Fatalf("a claimed seat of %s was cancelled: %+v", s.InstanceName, l)
	}
}

func TestResumeTakesNoSecondSeat(t *testing.T) {
	tb := shards(NewTable(definition(1, 1), 1, new(atomic.Uint32)), 1)
	p, s := place(t, tb, Request{})
	tok := worker.NewToken(p.Shard, s.Instance, 7)
	_, r := place(t, tb, Request{Resume: tok})
	if r.Instance != s.Instance || r.Resume != tok {
		t.Fatalf("a resume was sent to instance %d with token %v", r.Instance, r.Resume)
	}
	if l := tb.Load(); l.Seats != 1 {
		t.Fatalf("%d seats counted for one player", l.Seats)
	}
	if _, ok := tb.reseat(p.Shard, r); ok {
		t.Fatal("a wrong secret got a seat in a full box")
	}
}

// A client whose seat is gone is seated like any other, on the worker that has its
// socket.
func TestReseat(t *testing.T) {
	tb := shards(NewTable(definition(1, 2), 1, new(atomic.Uint32)), 2)
	p, s := place(t, tb, Request{})
	other := worker.NewToken(p.Shard, s.Instance, 7)
	_, r := place(t, tb, Request{Resume: other})
	got, ok := tb.reseat(p.Shard, r)
	if !ok || got.Instance == s.Instance || !got.Resume.IsZero() || tb.instances[got.Instance].shard.number != p.Shard {
		t.Fatalf("reseated by %+v, %v: want another instance of shard %d", got, ok, p.Shard)
	}
	if _, ok = tb.reseat(p.Shard, r); ok {
		t.Fatal("a third instance was made on a shard of two")
	}
	tb.Release(got.Instance)
	if got, ok = tb.reseat(p.Shard, r); !ok {
		t.Fatal("a free seat on the shard was not found")
	}
	r.Named = true
	tb.Release(got.Instance)
	if _, ok = tb.reseat(p.Shard, r); ok {
		t.Fatal("a client that named its instance was seated in another")
	}
	tb.Release(s.Instance)
	if got, ok = tb.reseat(p.Shard, r); !ok || got.Instance != s.Instance {
		t.Fatalf("reseated by %+v, %v: want the named instance", got, ok)
	}
	if l := tb.Load(); l.Seats != 1 || l.Pending != 0 {
		t.Fatalf("the table counts %+v", l)
	}
}

func TestTokensOfAReplacedTableMeanNothing(t *testing.T) {
	var ids atomic.Uint32
	old := shards(NewTable(definition(4, 2), 1, &ids), 1)
	p, s := place(t, old, Request{})
	old.Close()
	if _, err := old.Place(Request{}, 0); !errors.Is(err, ErrClosed) {
		t.Fatalf("a replaced table answered %v", err)
	}
	tb := shards(NewTable(definition(4, 2), 1<<40, &ids), 1)
	place(t, tb, Request{})
	if _, r := place(t, tb, Request{Resume: worker.NewToken(p.Shard, s.Instance, 7)}); !r.Resume.IsZero() {
		t.Fatal("the token of a replaced table was taken for one of the new table")
	}
}

func TestRetireLosesAgainstAJoin(t *testing.T) {
	tb := shards(NewTable(definition(2, 1), 1, new(atomic.Uint32)), 1)
	_, s := place(t, tb, Request{})
	tb.Release(s.Instance)
	if _, err := tb.Place(Request{}, 0); err != nil {
		t.Fatal(err)
	}
	if tb.Retire(s.Instance, false) {
		t.Fatal("an instance retired under a reserved seat")
	}
	if !tb.Retire(s.Instance, true) {
		t.Fatal("an ended instance did not retire")
	}
	if l := tb.Load(); l != (Load{}) {
		t.Fatalf("after retirement the table still counts %+v", l)
	}
}

func TestConcurrentJoinsForTheLastSeat(t *testing.T) {
	tb := shards(NewTable(definition(4, 1), 1, new(atomic.Uint32)), 1)
	var wg sync.WaitGroup
	got := make(chan Placement, 100)
	for range 100 {
		wg.Go(func() {
			if p, err := tb.Place(Request{}, 0); err == nil {
				got <- p
			}
		})
	}
	wg.Wait()
	close(got)
	n := 0
	for range got {
		n++
	}
	if n != 4 {
		t.Fatalf("%d seats given out of 4", n)
	}
}

func TestOfEqualShardsTheOneOfTheCoreIsTaken(t *testing.T) {
	tb := NewTable(definition(1, 2), 1, new(atomic.Uint32))
	for n := range uint32(3) {
		tb.AddShard(10+n, int(n))
	}
	for _, c := range []struct {
		cpu  int
		want uint32
	}{{2, 12}, {2, 10}, {-1, 11}, {1, 11}, {0, 10}, {0, 12}} {
		if p, _ := place(t, tb, Request{CPU: c.cpu}); p.Shard != c.want {
			t.Errorf("a socket of core %d was placed on shard %d, want %d", c.cpu, p.Shard, c.want)
		}
	}
	if _, err := tb.Place(Request{}, 0); !errors.Is(err, ErrNoShard) {
		t.Errorf("with all shards full: %v", err)
	}
}
