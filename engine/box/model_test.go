package box

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"gamehoster/engine/worker"
)

// twin is what a table should hold, kept as lists that are counted anew each time.
type twin struct {
	players, instances int // of an instance, of a shard
	draining           bool
	shards             []*twinShard
	worlds             []*twinWorld // oldest first
	holds              []*hold
	newest             worker.InstanceID // that there ever was
	last               uint64            // number of a reservation that there ever was
}

type twinShard struct {
	number            uint32
	draining, suspect bool
}

type twinWorld struct {
	id              worker.InstanceID
	name            string
	shard           *twinShard
	running, closed bool
}

// hold is a promise: a reservation, or a seat that was claimed.
type hold struct {
	world   *twinWorld
	number  uint64
	claimed bool
	counted bool
	handed  bool
	expires int64
	given   worker.Reservation
}

func (m *twin) takes(s *twinShard) bool { return !s.draining && !s.suspect }

func (m *twin) seats(w *twinWorld) (n int) {
	for _, h := range m.holds {
		if h.world == w && h.counted {
			n++
		}
	}
	return n
}

func (m *twin) waiting(w *twinWorld) (n int) {
	for _, h := range m.holds {
		if h.world == w && !h.claimed {
			n++
		}
	}
	return n
}

func (m *twin) room(w *twinWorld) bool { return !w.closed && m.seats(w) < m.players }

func (m *twin) load(s *twinShard) (n int) {
	for _, w := range m.worlds {
		if w.shard == s {
			n++
		}
	}
	return n
}

// open is the oldest world for anybody, on the shard if it is not nil.
func (m *twin) open(on *twinShard) *twinWorld {
	for _, w := range m.worlds {
		if m.room(w) && m.takes(w.shard) && (on == nil || w.shard == on) {
			return w
		}
	}
	return nil
}

// least is the smallest load of a shard that may get another world; false where none may.
func (m *twin) least() (n int, ok bool) {
	for _, s := range m.shards {
		if l := m.load(s); m.takes(s) && l < m.instances && (!ok || l < n) {
			n, ok = l, true
		}
	}
	return n, ok
}

func (m *twin) world(id worker.InstanceID) *twinWorld {
	for _, w := range m.worlds {
		if w.id == id {
			return w
		}
	}
	return nil
}

func (m *twin) shard(number uint32) *twinShard {
	for _, s := range m.shards {
		if s.number == number {
			return s
		}
	}
	return nil
}

// end forgets a world and what was promised in it. Seats that were claimed there are
// somebody's still, who will give them back.
func (m *twin) end(w *twinWorld) {
	m.worlds = slices.DeleteFunc(m.worlds, func(o *twinWorld) bool { return o == w })
	m.holds = slices.DeleteFunc(m.holds, func(h *hold) bool { return h.world == w && !h.claimed })
}

// drop takes a promise back, and its world if nobody else has ever had one there.
func (m *twin) drop(h *hold) {
	m.holds = slices.DeleteFunc(m.holds, func(o *hold) bool { return o == h })
	if w := h.world; !w.running && m.waiting(w) == 0 {
		m.end(w)
	}
}

// rig is a table beside its twin.
type rig struct {
	t *testing.T
	*rand.Rand
	*twin
	tb   *Table
	ids  *atomic.Uint32
	now  int64
	next uint32 // shard
	did  map[string]int
}

// anew begins with another table, whose numbers go on.
func (r *rig) anew() {
	def := definition(3, 4)
	r.tb = NewTable(def, r.last+1, r.ids)
	r.twin = &twin{players: def.PlayersPerInstance, instances: def.ShardInstances(), newest: r.newest, last: r.last}
}

func pick[T any](r *rig, of []T) (one T, ok bool) {
	if len(of) == 0 {
		return one, false
	}
	return of[r.IntN(len(of))], true
}

// seen finds the world of a reservation in the twin; one that is new there must be one that
// could be made, on a shard of which want says whether it could be there.
func (r *rig) seen(id worker.InstanceID, name string, on uint32, want func(*twinShard) bool) *twinWorld {
	r.t.Helper()
	s := r.shard(on)
	if s == nil || id <= r.newest || !want(s) {
		r.t.Fatalf("instance %d was made on shard %d: %+v; the newest was %d", id, on, s, r.newest)
	}
	r.newest = id
	w := &twinWorld{id: id, name: name, shard: s}
	r.worlds = append(r.worlds, w)
	return w
}

func (r *rig) place() {
	q := Request{CPU: r.IntN(4) - 1, Client: worker.Client{Watch: r.IntN(8) == 0}}
	some, _ := pick(r, r.worlds)
	switch r.IntN(6) {
	case 0:
		q.Instance = "nowhere"
		if some != nil && r.IntN(8) != 0 {
			q.Instance = some.name
		}
	case 1:
		q.Resume = worker.NewToken(r.Uint32(), worker.InstanceID(r.Uint32()), 1)
		if some != nil && r.IntN(8) != 0 {
			q.Resume = worker.NewToken(some.shard.number, some.id, r.Uint64()|1)
		}
	}
	p, err := r.tb.Place(q, r.now)

	// What it should have been: an error, a world that is there, or, with neither, a new one.
	var want error
	var at *twinWorld
	resumes := false
	switch {
	case !q.Resume.IsZero() && !q.Watch && some != nil && q.Resume.Instance() == some.id && q.Resume.Worker() == some.shard.number:
		at, resumes = some, true
	case q.Instance != "":
		switch {
		case some == nil || q.Instance != some.name || !q.Watch && !r.room(some):
			want = ErrNoInstance
		case some.shard.suspect:
			want = ErrSuspect
		default:
			at = some
		}
	case r.draining:
		want = ErrClosed
	default:
		if at = r.open(nil); at == nil {
			if _, ok := r.least(); !ok {
				want = ErrNoShard
			}
		}
	}
	if !errors.Is(err, want) {
		r.t.Fatalf("%+v was answered %v, want %v", q, err, want)
	}
	if want != nil {
		r.did[want.Error()]++
		return
	}
	if p.Number <= r.last {
		r.t.Fatalf("reservation %d after %d", p.Number, r.last)
	}
	r.last = p.Number
	id := p.Reservation.Instance
	if at == nil {
		least, _ := r.least()
		at = r.seen(id, p.Reservation.InstanceName, p.Shard, func(s *twinShard) bool { return r.takes(s) && r.load(s) == least })
	}
	if at.id != id || at.shard.number != p.Shard || at.name != p.Reservation.InstanceName || resumes != !p.Reservation.Resume.IsZero() {
		r.t.Fatalf("%+v was placed by %+v, want it in %+v", q, p, at)
	}
	r.holds = append(r.holds, &hold{world: at, number: p.Number, counted: !q.Watch && !resumes, expires: r.now + int64(SeatTimeout), given: p.Reservation})
	if n := r.seats(at); n > r.players {
		r.t.Fatalf("%d seats in an instance of %d", n, r.players)
	}
}

// some picks a promise, claimed or not.
func (r *rig) some(claimed bool) (*hold, bool) {
	var of []*hold
	for _, h := range r.holds {
		if h.claimed == claimed {
			of = append(of, h)
		}
	}
	return pick(r, of)
}

func (r *rig) hand() {
	if h, ok := r.some(false); ok {
		if !r.tb.Hand(h.number) {
			r.t.Fatalf("reservation %d cannot be handed on", h.number)
		}
		h.handed = true
	}
	if n := r.Uint64N(r.last + 2); r.numbered(n) == nil && r.tb.Hand(n) {
		r.t.Fatalf("reservation %d, which is gone, was handed on", n)
	}
}

// numbered is the reservation of a number; nil if there is none.
func (r *rig) numbered(n uint64) *hold {
	for _, h := range r.holds {
		if h.number == n && !h.claimed {
			return h
		}
	}
	return nil
}

func (r *rig) claim() {
	if h, ok := r.some(false); ok {
		got, ok := r.tb.Claim(h.number)
		if !ok || got != h.given {
			r.t.Fatalf("claim of %+v gave %+v, %v", h, got, ok)
		}
		h.claimed, h.world.running = true, true
		if !h.counted { // what becomes of those is the worker's affair
			r.holds = slices.DeleteFunc(r.holds, func(o *hold) bool { return o == h })
			if r.IntN(2) == 0 && !h.given.Watch {
				r.reseated(h)
			}
		}
	}
	if n := r.Uint64N(r.last + 2); r.numbered(n) == nil {
		if got, ok := r.tb.Claim(n); ok {
			r.t.Fatalf("reservation %d, which is gone or claimed, was claimed: %+v", n, got)
		}
	}
}

func (r *rig) cancel() {
	if h, ok := r.some(false); ok {
		r.tb.Cancel(h.number)
		r.tb.Cancel(h.number)
		r.drop(h)
	}
	if n := r.Uint64N(r.last + 2); r.numbered(n) == nil {
		r.tb.Cancel(n)
	}
}

func (r *rig) expire() {
	r.now += r.Int64N(int64(SeatTimeout) / 4)
	want := 0
	for _, h := range slices.Clone(r.holds) {
		if !h.claimed && !h.handed && r.now >= h.expires {
			r.drop(h)
			want++
		}
	}
	if n := r.tb.Expire(r.now); n != want {
		r.t.Fatalf("%d seats expired, want %d", n, want)
	}
	r.did["expired"] += want
}

func (r *rig) release() {
	if h, ok := r.some(true); ok {
		r.tb.Release(h.world.id)
		r.holds = slices.DeleteFunc(r.holds, func(o *hold) bool { return o == h })
	}
}

// reseat has the game refuse somebody who was claimed.
func (r *rig) reseat() {
	if h, ok := r.some(true); ok {
		r.tb.Release(h.world.id)
		r.holds = slices.DeleteFunc(r.holds, func(o *hold) bool { return o == h })
		r.reseated(h)
	}
}

// reseated finds another place for who has none.
func (r *rig) reseated(h *hold) {
	s := h.world.shard
	there := r.shard(s.number) == s
	free := there && !h.given.Named && !r.draining && r.takes(s)
	var at *twinWorld
	if w := r.world(h.given.Instance); there && w != nil && r.room(w) && (h.given.Named || free) {
		at = w
	} else if free {
		at = r.open(s)
	}
	want := at != nil || free && r.load(s) < r.instances
	r.tb.Reseat(s.number, h.given, func(got worker.Reservation, ok bool) {
		if ok != want {
			r.t.Fatalf("reseating %+v: %v, want %v", h, ok, want)
		}
		if !ok {
			r.did["no other place"]++
			return
		}
		if at == nil {
			at = r.seen(got.Instance, got.InstanceName, s.number, func(*twinShard) bool { return true })
		}
		if got.Instance != at.id || !got.Resume.IsZero() {
			r.t.Fatalf("reseated by %+v, want it in %+v", got, at)
		}
		at.running = true
		r.holds = append(r.holds, &hold{world: at, claimed: true, counted: true, given: got})
	})
}

func (r *rig) setOpen() {
	if w, ok := pick(r, r.worlds); ok {
		w.closed = r.IntN(3) == 0
		r.tb.SetOpen(w.id, !w.closed)
	}
}

func (r *rig) retire() {
	w, ok := pick(r, r.worlds)
	if !ok {
		return
	}
	force := r.IntN(20) == 0
	want := force || r.seats(w) == 0 && r.waiting(w) == 0
	if r.tb.Retire(w.id, force) != want {
		r.t.Fatalf("retiring %+v with %d seats, %d reservations: want %v", w, r.seats(w), r.waiting(w), want)
	}
	if want {
		r.end(w)
		r.did["retired"]++
	}
}

func (r *rig) changeShards() {
	s, ok := pick(r, r.shards)
	switch n := r.IntN(10); {
	case !ok || n < 4 && len(r.shards) < 4:
		r.next++
		cpu := r.IntN(4) - 1
		r.tb.AddShard(r.next, cpu)
		r.tb.AddShard(r.next, cpu) // said twice it is still one
		r.shards = append(r.shards, &twinShard{number: r.next})
	case n < 8:
		s.suspect = !s.suspect
		r.tb.Suspect(s.number, s.suspect)
	case n < 9:
		s.draining = true
		r.tb.DrainShard(s.number)
	default:
		instances, seats := 0, 0
		for _, w := range slices.Clone(r.worlds) {
			if w.shard == s {
				instances++
				seats += r.seats(w)
				r.end(w)
			}
		}
		r.shards = slices.DeleteFunc(r.shards, func(o *twinShard) bool { return o == s })
		if i, n := r.tb.DropShard(s.number); i != instances || n != seats {
			r.t.Fatalf("dropped %d instances and %d seats, want %d and %d", i, n, instances, seats)
		}
		r.did["seats dropped"] += seats
	}
}

// compare wants the table to hold what its twin does.
func (r *rig) compare() {
	var want Load
	per := make([]ShardLoad, len(r.shards))
	for i, s := range r.shards {
		per[i] = ShardLoad{Shard: s.number, CPU: 0, Draining: s.draining || r.draining, Suspect: s.suspect}
	}
	for _, w := range r.worlds {
		n := r.seats(w)
		want.Seats += n
		want.Pending += r.waiting(w)
		for i, s := range r.shards {
			if s == w.shard {
				per[i].Instances++
				per[i].Seats += n
			}
		}
		if !w.running && r.waiting(w) == 0 {
			r.t.Fatalf("%+v is there, which nobody ever came to or will", w)
		}
	}
	want.Instances = len(r.worlds)
	if l := r.tb.Load(); l != want {
		r.t.Fatalf("the table counts %+v, want %+v", l, want)
	}
	got := r.tb.Shards()
	for i := range got {
		got[i].CPU = 0
	}
	if !slices.Equal(got, per) {
		r.t.Fatalf("the shards are %+v, want %+v", got, per)
	}
	for _, s := range r.shards {
		if _, idle := r.tb.Idle(s.number); idle != (r.load(s) == 0) {
			r.t.Fatalf("shard %d with %d instances is idle: %v", s.number, r.load(s), idle)
		}
	}
}

// TestRandomOperations runs the table against a dumb twin: no seat is given twice or counted
// twice, none stays behind, and what nobody came to does not stay.
func TestRandomOperations(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := &rig{t: t, Rand: rand.New(rand.NewPCG(seed, 0)), twin: &twin{}, ids: new(atomic.Uint32), did: map[string]int{}}
	r.anew()
	tables := 1
	for op := range 100_000 {
		switch r.IntN(24) {
		case 0, 1, 2, 3, 4, 5, 6:
			r.place()
		case 7, 8, 9:
			r.claim()
		case 10, 11:
			r.hand()
		case 12, 13:
			r.cancel()
		case 14:
			r.expire()
		case 15, 16, 17:
			r.release()
		case 18, 19:
			r.reseat()
		case 20:
			r.setOpen()
		case 21, 22:
			r.retire()
		default:
			r.changeShards()
		}
		switch op % 1000 {
		case 900:
			r.tb.Drain()
			r.draining = true
		case 999:
			r.compare()
			tables++
			r.leave()
			r.anew()
		}
		r.compare()
	}
	t.Logf("%d tables; %v", tables, r.did)
	for _, what := range []string{ErrNoInstance.Error(), ErrNoShard.Error(), ErrClosed.Error(), ErrSuspect.Error(), "expired", "retired", "seats dropped", "no other place"} {
		if r.did[what] == 0 {
			t.Errorf("it never came to %q", what)
		}
	}
}

// leave has everybody go: nothing is left.
func (r *rig) leave() {
	for _, h := range slices.Clone(r.holds) {
		if h.claimed {
			r.tb.Release(h.world.id)
			r.holds = slices.DeleteFunc(r.holds, func(o *hold) bool { return o == h })
		} else {
			r.tb.Cancel(h.number)
			r.drop(h)
		}
	}
	for _, w := range slices.Clone(r.worlds) {
		if !r.tb.Retire(w.id, false) {
			r.t.Fatalf("%+v does not retire with nobody there", w)
		}
		r.end(w)
	}
	if l := r.tb.Load(); l != (Load{}) {
		r.t.Fatalf("when all have left the table counts %+v", l)
	}
}
