package tick

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
)

var (
	modelSeed  = flag.Uint64("seed", 0, "the only seed that the model tests run with")
	modelTicks = flag.Int("ticks", 600, "ticks of one run of the model tests")
)

// model runs one instance with players who come, act, lag and go, and holds every
// client against the server.
type model struct {
	t      *testing.T
	rng    *rand.Rand
	mood   mood
	module *ticktest.Module
	shard  *Shard
	in     *Instance
	ends   []*end
	ids    map[uint32]bool // ids of players ever given
	given  givenIDs
	exact  bool // worlds are equal at each send
	hashes bool // clients tell their hashes
	skips  bool // sockets do not always drain
	still  bool // nobody comes or goes
	quiet  bool // nothing new happens
	budget bool // not all that has changed has room
	late   int  // ticks that commands are late at most
}

// end is one client and what the line does to it.
type end struct {
	m      *model
	v      *Viewer
	c      *ticktest.Client
	player uint32
	seq    uint32
	lag    int  // acks that wait
	wild   bool // asks for snapshots all the time
	acks   []uint32
	sent   bool // got something at this send

	confirmed uint32          // the last own seq relayed
	snapshots int             // that the client had by then
	waiting   map[uint32]bool // objects of which it is not told the newest yet
}

// Message scans what goes out for what the viewer may not have.
func (e *end) Message(p []byte) {
	e.sent = true
	for _, k := range e.m.in.seats {
		if k.player != 0 && k.player != e.player && bytes.Contains(p, le.AppendUint32(nil, handMark|k.player)) {
			e.m.t.Errorf("a %v message to %d has what only %d may see: % x", wire.TagOf(p), e.player, k.player, p)
		}
	}
	if bytes.Contains(p, le.AppendUint32(nil, hiddenMark)) {
		e.m.t.Errorf("a %v message has what only the server may see: % x", wire.TagOf(p), p)
	}
	e.c.Message(p)
}

func newModel(t *testing.T, seed uint64, d *schema.Definition, mood mood, o Options) *model {
	return startModel(&model{exact: mood != wild}, t, seed, d, mood, o)
}

// startModel starts a model some of whose fields are set.
func startModel(m *model, t *testing.T, seed uint64, d *schema.Definition, mood mood, o Options) *model {
	m.t, m.rng, m.mood = t, rand.New(rand.NewPCG(seed, 1)), mood
	m.ids, m.given = map[uint32]bool{}, givenIDs{since: map[uint32]uint32{}}
	if !m.budget {
		d.BytesPerSend = 1 << 20
	}
	g := testGame(d, &m.mood)
	m.module, m.shard = g.Module(), newTestShard(t, g, o)
	in, err := m.shard.Create("model", seed, seed+1)
	if err != nil {
		t.Fatal(err)
	}
	m.in = in
	return m
}

func (m *model) chance(n int) bool { return m.rng.IntN(n) == 0 }

// attach adds a client: of the player or, for 0, a spectator.
func (m *model) attach(player, seq uint32) {
	thin := m.chance(3)
	c, err := m.module.NewClient(thin)
	if err != nil {
		m.t.Fatal(err)
	}
	e := &end{m: m, c: c, player: player, seq: seq, lag: m.rng.IntN(6), wild: m.chance(6), waiting: map[uint32]bool{}}
	if m.chance(8) {
		e.lag = 70 // longer than the history
	}
	e.v = m.in.Attach(player, ViewerOptions{Thin: thin, Watch: player == 0})
	if e.v == nil {
		m.t.Fatalf("no viewer for player %d", player)
	}
	m.ends = append(m.ends, e)
}

func (m *model) tick() {
	if !m.quiet {
		m.happen()
	}
	m.in.Step()
	if !m.in.SendDue() {
		return
	}
	m.in.Commit()
	m.given.check(m.t, m.in)
	kept := m.ends[:0]
	for _, e := range m.ends {
		if !e.v.Attached() {
			continue
		}
		kept = append(kept, e)
		e.sent = false
		if m.skips && !m.quiet && (m.chance(5) || e.lag == 4 && m.chance(2)) {
			e.v.Skip()
			continue
		}
		e.v.Send(e)
		m.check(e)
	}
	m.ends = kept
}

// givenIDs is the ids of objects that are no more, and since when, as far as a rewind
// that has been may have made that later.
type givenIDs struct {
	since   map[uint32]uint32
	rewinds uint64
}

// check sees to it that an id that was given back is never given again. A rewind may
// bring the object back, let it end later than it had, or turn the counter back.
func (dead *givenIDs) check(t *testing.T, in *Instance) {
	now, window := in.counters(), in.shard.rules.back+2*in.shard.rules.perSend
	if r := in.shard.Stats().Rewinds; r != dead.rewinds {
		dead.rewinds = r
		for id, since := range dead.since {
			if in.tick-since <= window {
				dead.since[id] = in.tick
			}
		}
	}
	for _, g := range in.history.gone {
		if g.send == in.sends {
			dead.since[g.id] = in.tick
		}
	}
	for id := range dead.since {
		if id&1 == 0 && id >= now[1-id>>1&1] {
			delete(dead.since, id)
		}
	}
	for _, o := range in.history.objects {
		since, was := dead.since[o.id]
		if was && (o.id&1 == 1 || in.tick-since > window) {
			t.Fatalf("id %d is back", o.id)
		}
		delete(dead.since, o.id)
	}
}

func (m *model) check(e *end) {
	if e.c.Err != nil {
		m.t.Fatalf("player %d: %v", e.player, e.c.Err)
	}
	if !e.sent {
		return
	}
	if m.exact && e.c.Resyncs > 0 {
		m.t.Fatalf("player %d: what came at tick %d could not be applied: %s", e.player, e.c.Tick, e.c.Lost)
	}
	clear(e.waiting)
	for _, d := range e.v.owed {
		if d.since > 0 {
			e.waiting[d.id] = true
		}
	}
	if err := e.c.Compare(m.shard.layout, m.in.block, e.waiting, nil); err != nil && m.exact {
		m.t.Fatalf("player %d: %v", e.player, err)
	}
	if e.c.Processed > e.seq {
		m.t.Fatalf("player %d: processed %d of %d", e.player, e.c.Processed, e.seq)
	}
	// Own commands are confirmed in their order, and only those that have run. A snapshot
	// may be of before some that have been.
	if e.snapshots != e.c.Snapshots {
		e.snapshots, e.confirmed = e.c.Snapshots, 0
	}
	for _, r := range e.c.Relayed {
		if r.Player != e.player {
			continue
		}
		if r.Seq <= e.confirmed || r.Seq > e.c.Processed {
			m.t.Fatalf("player %d: command %d is confirmed after %d, processed are %d", e.player, r.Seq, e.confirmed, e.c.Processed)
		}
		e.confirmed = r.Seq
	}
	e.c.Relayed = e.c.Relayed[:0]
	e.acks = append(e.acks, e.c.Acks...)
	e.c.Acks = e.c.Acks[:0]
	var msg []byte
	for len(e.acks) > 0 && (len(e.acks) > e.lag || m.quiet) {
		if !m.chance(4) || m.quiet { // the others are covered by a later one
			msg = wire.Ack{Tick: e.acks[0]}.Append(msg[:0])
			m.receive(e, msg)
		}
		e.acks = e.acks[1:]
	}
	if e.c.Resync || e.wild && !m.quiet {
		m.receive(e, wire.Resync{}.Append(msg[:0]))
	}
	if m.hashes && !e.c.Resync && m.chance(3) {
		m.receive(e, wire.StateHash{Tick: e.c.Tick, Hash: e.c.Hash()}.Append(msg[:0]))
	}
}

func (m *model) receive(e *end, msg []byte) {
	if err := e.v.Receive(msg, 0, e); err != nil {
		m.t.Fatalf("player %d: % x: %v", e.player, msg, err)
	}
}

// happen does at random what players and lines do.
func (m *model) happen() {
	if !m.still {
		m.change()
	}
	for _, e := range m.ends {
		for e.player != 0 && e.v.Attached() && e.c.Ready && m.chance(3) {
			m.act(e)
		}
	}
}

// change lets players and spectators come and go.
func (m *model) change() {
	if m.chance(12) {
		if p, err := m.in.Join(fmt.Sprint("p", m.rng.IntN(1000))); err == nil {
			if m.ids[p] {
				m.t.Fatalf("player id %d was given twice", p)
			}
			m.ids[p] = true
			m.attach(p, 0)
		}
	}
	if m.chance(60) && len(m.ends) < 12 {
		m.attach(0, 0)
	}
	if len(m.ends) == 0 {
		return
	}
	e := m.ends[m.rng.IntN(len(m.ends))]
	switch {
	case m.chance(50):
		if e.player == 0 {
			m.in.Detach(e.v)
		} else {
			m.in.Leave(e.player)
		}
	case m.chance(40) && e.player != 0 && e.v.Attached():
		seq := e.v.seat.received
		old := e.v
		m.attach(e.player, seq) // a resume: the old viewer is let go
		if old.Attached() {
			m.t.Fatal("a viewer whose seat was taken over is still attached")
		}
	}
}

// act sends a random command.
func (m *model) act(e *end) {
	e.seq++
	number := uint32(m.rng.IntN(fail + 1))
	msg := wire.CommandHeader{Tick: m.in.tick + 1 + uint32(m.rng.IntN(9+m.late)-m.late), Seq: e.seq, Number: number}.Append(nil)
	switch number {
	case move:
		msg = append(msg, byte(m.rng.IntN(120)), 0) // some are out of bounds
	case cheat, smash:
		msg = append(msg, byte(m.rng.IntN(8)))
	}
	m.receive(e, msg)
}

// run runs for a while and then until all is quiet, when the worlds must be equal.
func (m *model) run(ticks int) {
	for range ticks {
		m.tick()
	}
	m.quiet, m.mood = true, calm
	quiet := 2 * m.shard.def.TickRate
	if !m.exact {
		quiet *= 2 * mendSeconds
	}
	for n := 0; n < quiet || !m.in.SendDue(); n++ {
		m.tick()
	}
	for _, e := range m.ends {
		if !e.c.Ready || e.c.Resync {
			m.t.Errorf("player %d is not ready in the end", e.player)
		} else if len(e.waiting) > 0 && !(m.budget && e.v.thin) {
			// For a thin client nothing ever comes to rest.
			m.t.Errorf("player %d still waits for %d objects in the end", e.player, len(e.waiting))
		} else if err := e.c.Compare(m.shard.layout, m.in.block, e.waiting, nil); err != nil {
			m.t.Errorf("player %d in the end: %v", e.player, err)
		} else if len(e.waiting) == 0 && m.in.StateHash() != uint64(e.c.Hash()) {
			m.t.Errorf("player %d: state hashes differ over equal states", e.player)
		}
	}
}

func seeds(n uint64) (s []uint64) {
	if *modelSeed != 0 {
		return []uint64{*modelSeed}
	}
	if testing.Short() {
		n = max(2, n/4)
	}
	for i := range n {
		s = append(s, i+1)
	}
	return s
}

// Where server bodies act at the ends of send ticks, every client holds exactly
// the server's visible state at every send tick, whatever its line is like.
func TestModelExact(t *testing.T) {
	for _, rates := range [][2]int{{30, 30}, {30, 15}, {30, 10}} {
		for _, seed := range seeds(8) {
			t.Run(fmt.Sprintf("%d of %d Hz, seed %d", rates[1], rates[0], seed), func(t *testing.T) {
				m := newModel(t, seed, testDef(rates[0], rates[1], 5), tame, Options{})
				m.run(*modelTicks)
				m.log()
			})
		}
	}
}

// Where, in addition, what server bodies do does not depend on what a late command
// changes, late commands change nothing of that: server and clients go back and come
// to the same.
func TestModelLate(t *testing.T) {
	for _, rates := range [][2]int{{30, 30}, {30, 15}, {30, 10}} {
		for _, seed := range seeds(8) {
			t.Run(fmt.Sprintf("%d of %d Hz, seed %d", rates[1], rates[0], seed), func(t *testing.T) {
				m := newModel(t, seed, testDef(rates[0], rates[1], 5), pure, Options{})
				m.late = 12
				m.run(*modelTicks)
				m.log()
				if x := m.shard.Stats(); x.Rewinds == 0 || x.Late == 0 {
					t.Error("nothing came late")
				}
			})
		}
	}
}

// A client that is skipped has run on without the server's news. Where there is none
// but commands, it holds the server's state again with the next send.
func TestModelSkipped(t *testing.T) {
	for _, rates := range [][2]int{{30, 30}, {30, 10}} {
		for _, seed := range seeds(6) {
			t.Run(fmt.Sprintf("%d of %d Hz, seed %d", rates[1], rates[0], seed), func(t *testing.T) {
				m := newModel(t, seed, testDef(rates[0], rates[1], 5), calm, Options{})
				for range 100 {
					m.tick()
				}
				m.still, m.skips, m.late = true, true, 12
				m.run(*modelTicks)
				m.log()
			})
		}
	}
}

// Where not all that changes has room, what is left out is known and comes later, and
// everything else is right.
func TestModelBudget(t *testing.T) {
	for _, seed := range seeds(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := testDef(30, 15, 5)
			d.BytesPerSend = 60 + 20*int(seed%4)
			m := startModel(&model{exact: true, budget: true, late: 12}, t, seed, d, pure, Options{})
			m.run(*modelTicks)
			m.log()
			if m.shard.stats.Deferred == 0 {
				t.Error("nothing was left out")
			}
		})
	}
}

// Ticks wrap, and nobody notices.
func TestModelWrap(t *testing.T) {
	for _, seed := range seeds(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			o := Options{StartTick: 1<<32 - 200}
			m := newModel(t, seed, testDef(30, 15, 5), pure, o)
			m.late = 12
			m.run(*modelTicks)
			if m.in.Tick() > 1<<31 {
				t.Errorf("tick %d has not wrapped", m.in.Tick())
			}
		})
	}
}

// Where server bodies act at any time, clients drift and are mended.
func TestModelDrift(t *testing.T) {
	for _, seed := range seeds(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := newModel(t, seed, testDef(30, 10, 5), wild, Options{})
			m.hashes, m.skips, m.late = true, true, 12
			m.run(*modelTicks)
			m.log()
		})
	}
}

func (m *model) log() {
	resyncs, drifts := 0, 0
	for _, e := range m.ends {
		resyncs += e.c.Resyncs
		drifts += e.c.Drifts
	}
	s := m.shard.Stats()
	m.t.Logf("rewinds %d of %d ticks, late commands %d of %d", s.Rewinds, s.Replayed, s.Late, s.Commands)
	m.t.Logf("snapshots %v, acks ignored %d, refused %v, faults %d, resyncs %d, drifts %d, hashes %d of which wrong %d",
		s.Snapshots, s.Acks, s.Refused, s.Faults, resyncs, drifts, s.Hashes, s.Drifts)
}
