// Package box is the box's small table: which games it hosts, the shards of each
// and how loaded they are, and the seats given out. It decides where a new
// player sits; the workers run what it decided.
//
//	Place --> seat reserved --> Hand (a loop has its socket) --> Claim --> Release (the player left)
//	                       \--> Expire (no socket within SeatTimeout)
//	                        \--> Cancel (the socket was refused, or is dead)
//
// A seat is counted from Place on, so two joins can never get the last one of an
// instance, and given back exactly once, by Release, by Expire or by Cancel.
//
// Once a loop has the socket, the seat waits for as long as that loop needs: it opens the
// socket and claims the seat, or finds it dead and cancels. A clock would take the seats
// of those who wait at a loop that is behind.
//
// An instance is open while the game lets players in and a seat is free. A new
// player goes to the oldest open instance, or to a fresh one on the emptiest
// shard.
//
// Shards come and go, as the processes do that run them:
//
//	AddShard --> takes new players --> DrainShard --> only who returns, or names its instance --> DropShard
//	              ^           |                                                                     ^
//	              |  Suspect  v                                                                     |
//	             nobody new, it may answer again -----------------(it died)-------------------------+
//
// A table as a whole drains when a newer definition takes its place, as if all its shards
// did. Where no shard has room for another instance, Place says ErrNoShard, and who can
// adds one and tries again.
package box

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gamehoster/engine/worker"
	"gamehoster/games/schema"
)

// SeatTimeout is how long a reserved seat waits for its socket to be handed to a loop.
const SeatTimeout = 10 * time.Second

// What Place answers when there is no seat.
var (
	ErrNoInstance = errors.New("no such instance, or it is full")            // closes with 4004
	ErrNoShard    = errors.New("no shard has room for another instance")     // one more is to be raised
	ErrBoxFull    = errors.New("the box is full")                            // closes with 4009: none can be raised
	ErrClosed     = errors.New("the definition was replaced")                // closes with 4006: the next try finds the new one
	ErrSuspect    = errors.New("the worker of the instance does not answer") // closes with 4006: it may, or the instance be gone
)

// Request is a player who wants to play.
type Request struct {
	Instance string       // the instance to join, by name; empty for any
	Resume   worker.Token // zero for none
	CPU      int          // the core that accepted the socket, where a shard of that core is preferred; -1 if unknown
	worker.Client
}

// Table is the placement table of one game definition. Its methods may be called
// from any goroutine; none blocks on anything but its lock.
type Table struct {
	def *schema.Definition

	mu        sync.Mutex
	draining  bool     // nobody new
	closed    bool     // nobody at all
	shards    []*shard // in the order in which they were added
	instances map[worker.InstanceID]*instance
	byName    map[string]*instance
	open      []*instance         // with a free seat for anybody, oldest first
	pending   map[uint64]*pending // by number
	ids       *atomic.Uint32      // of the newest instance of all tables that share it
	next      uint64              // number of the next reservation
	now       int64               // the newest time that a call had
}

// shard is who runs instances.
type shard struct {
	number    uint32
	cpu       int // -1 if it runs on any
	instances int
	idle      int64 // since when there are none
	draining  bool
	suspect   bool
}

// takes reports whether new players may be sent there.
func (s *shard) takes() bool { return !s.draining && !s.suspect }

type instance struct {
	id      worker.InstanceID
	name    string
	shard   *shard
	seats   int  // reserved and taken
	pending int  // reservations in it that wait to be claimed
	running bool // one was claimed: the worker has the instance and says when it is over
	closed  bool // by the game
}

type pending struct {
	reservation worker.Reservation
	in          *instance
	expires     int64 // never, once a loop has the socket
}

// counted reports whether the reservation has taken a seat of its own: a spectator
// has none, and who resumes has one already.
func (p *pending) counted() bool { return !p.reservation.Watch && p.reservation.Resume.IsZero() }

// NewTable makes the table of a game, which has no shard yet. The
// numbers of reservations ascend from first, so that tables of one box can share a
// number space. Instances are numbered by ids, which they share for another reason:
// a resume token names its instance by number, and one of a table that was replaced
// must not mean an instance of the new one.
func NewTable(def *schema.Definition, first uint64, ids *atomic.Uint32) *Table {
	return &Table{
		def:       def,
		instances: map[worker.InstanceID]*instance{},
		byName:    map[string]*instance{},
		pending:   map[uint64]*pending{},
		ids:       ids,
		next:      first,
	}
}

// Placement is where a reservation was made.
type Placement struct {
	Shard       uint32             // the shard that runs the instance
	Number      uint64             // claims the reservation
	Reservation worker.Reservation // what Claim will give
}

// Place reserves a seat. now is monotonic nanoseconds. It fails with ErrNoInstance
// where the request names an instance that is gone or full, ErrSuspect where it names one
// whose shard is suspect, ErrNoShard where no shard has room for another instance, and
// ErrClosed after Close, and after Drain for who neither resumes nor names an instance.
func (t *Table) Place(r Request, now int64) (Placement, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, now)
	if t.closed {
		return Placement{}, ErrClosed
	}
	if in := t.resumed(r); in != nil {
		// The seat is counted already; the worker knows whether the secret is right.
		return t.reserve(in, r, r.Resume, now), nil
	}
	if r.Instance != "" {
		in := t.byName[r.Instance]
		switch {
		case in == nil || (!r.Watch && !t.hasRoom(in)):
			return Placement{}, ErrNoInstance
		case in.shard.suspect:
			return Placement{}, ErrSuspect
		}
		return t.reserve(in, r, worker.Token{}, now), nil
	}
	if t.draining {
		return Placement{}, ErrClosed
	}
	in := t.anyOpen(r.CPU)
	if in == nil {
		return Placement{}, ErrNoShard
	}
	return t.reserve(in, r, worker.Token{}, now), nil
}

// Knows reports whether a request is for an instance of this table: one that it resumes in
// or names. A moment later the instance may be gone.
func (t *Table) Knows(r Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.resumed(r) != nil || r.Instance != "" && t.byName[r.Instance] != nil
}

// resumed is the instance that a request has a token of; nil if there is none.
func (t *Table) resumed(r Request) *instance {
	if r.Resume.IsZero() || r.Watch {
		return nil
	}
	if in := t.instances[r.Resume.Instance()]; in != nil && in.shard.number == r.Resume.Worker() {
		return in
	}
	return nil
}

// Reseat finds another place on a shard for a client that was claimed there and has
// none: the seat that it wanted to resume is gone, or the game has closed the instance
// meanwhile. It is the same instance where that has room, and else, unless the client
// named it, any open or fresh one. The seat is counted; who reseats a client that had
// a counted one releases that first. then is called before Reseat returns, with false
// where there is no room, and where no new players are taken there any more.
func (t *Table) Reseat(shard uint32, r worker.Reservation, then func(worker.Reservation, bool)) {
	then(t.reseat(shard, r))
}

func (t *Table) reseat(number uint32, r worker.Reservation) (_ worker.Reservation, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sh := t.shard(number)
	if sh == nil || t.closed {
		return r, false
	}
	fresh := !r.Named && !t.draining && sh.takes()
	in := t.instances[r.Instance]
	if in == nil || in.shard != sh || !t.hasRoom(in) || !r.Named && !fresh {
		if !fresh {
			return r, false
		}
		if in = t.openOn(sh); in == nil {
			return r, false
		}
	}
	in.running = true
	if !r.Watch {
		t.take(in)
	}
	r.Instance, r.InstanceName, r.Resume = in.id, in.name, worker.Token{}
	return r, true
}

// Claim hands a reservation to its worker, once.
func (t *Table) Claim(number uint64) (worker.Reservation, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[number]
	if p == nil {
		return worker.Reservation{}, false
	}
	delete(t.pending, number)
	p.in.pending--
	p.in.running = true
	return p.reservation, true
}

// Release gives one seat of an instance back.
func (t *Table) Release(id worker.InstanceID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if in := t.instances[id]; in != nil {
		t.give(in)
	}
}

// SetOpen tells whether the game lets new players into an instance.
func (t *Table) SetOpen(id worker.InstanceID, open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.instances[id]
	if in == nil || in.closed == !open {
		return
	}
	in.closed = !open
	t.list(in)
}

// Retire asks to end an instance that is empty. It reports false when a seat was
// given out meanwhile: the instance goes on. With force (the instance has ended)
// it is forgotten in any case, and so are the seats reserved in it.
func (t *Table) Retire(id worker.InstanceID, force bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	in := t.instances[id]
	if in == nil {
		return true
	}
	if !force && (in.seats > 0 || in.pending > 0) {
		return false
	}
	t.forget(in)
	return true
}

// forget takes an instance out of the table, and what was reserved in it.
func (t *Table) forget(in *instance) {
	if in.pending > 0 { // rare: an instance ends once
		for n, p := range t.pending {
			if p.in == in {
				delete(t.pending, n)
			}
		}
	}
	if in.shard.instances--; in.shard.instances == 0 {
		in.shard.idle = t.now
	}
	delete(t.instances, in.id)
	delete(t.byName, in.name)
	in.closed = true
	t.list(in)
}

// Hand notes that a loop is about to get the reservation's socket, which now waits for
// Claim or Cancel without end. It reports false for one that is not there any more, whose
// socket nobody may get.
func (t *Table) Hand(number uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pending[number]
	if p == nil {
		return false
	}
	p.expires = math.MaxInt64
	return true
}

// Cancel gives a reservation back whose socket will not come. One that is not there any
// more is ignored.
func (t *Table) Cancel(number uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pending[number]; p != nil {
		t.cancel(number, p)
	}
}

// Expire gives back the reservations whose sockets were not handed on.
func (t *Table) Expire(now int64) (expired int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = max(t.now, now)
	for n, p := range t.pending {
		if now >= p.expires {
			t.cancel(n, p)
			expired++
		}
	}
	return expired
}

// cancel gives a reservation back, and forgets its instance if it was the last one and
// no worker has heard of it.
func (t *Table) cancel(number uint64, p *pending) {
	delete(t.pending, number)
	p.in.pending--
	if p.counted() {
		t.give(p.in)
	}
	if !p.in.running && p.in.pending == 0 {
		t.forget(p.in)
	}
}

// Drain lets in only who resumes a seat or names an instance: a newer definition takes the
// new players.
func (t *Table) Drain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draining = true
}

// Close ends the giving out of seats.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// Load is how much a table holds.
type Load struct {
	Instances, Seats, Pending int
}

// Load counts what is placed now. In a table that drains, no instances means that nobody
// can come any more.
func (t *Table) Load() (l Load) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, in := range t.instances {
		l.Seats += in.seats
	}
	l.Instances, l.Pending = len(t.instances), len(t.pending)
	return l
}

// reserve makes the reservation of a client in an instance.
func (t *Table) reserve(in *instance, r Request, resume worker.Token, now int64) Placement {
	p := &pending{
		reservation: worker.Reservation{
			Instance: in.id, InstanceName: in.name, Named: r.Instance != "", Resume: resume, Client: r.Client,
		},
		in:      in,
		expires: now + int64(SeatTimeout),
	}
	in.pending++
	if p.counted() {
		t.take(in)
	}
	n := t.next
	t.next++
	t.pending[n] = p
	return Placement{Shard: in.shard.number, Number: n, Reservation: p.reservation}
}

// anyOpen is the oldest open instance, or a fresh one on the emptiest shard; nil where
// no shard has room.
func (t *Table) anyOpen(cpu int) *instance {
	if len(t.open) > 0 {
		return t.open[0]
	}
	if sh := t.emptiest(cpu); sh != nil {
		return t.fresh(sh)
	}
	return nil
}

// openOn is anyOpen of one shard.
func (t *Table) openOn(sh *shard) *instance {
	for _, in := range t.open {
		if in.shard == sh {
			return in
		}
	}
	return t.fresh(sh)
}

// fresh makes an instance; nil where the shard has no room.
func (t *Table) fresh(sh *shard) *instance {
	if sh.instances >= t.def.ShardInstances() {
		return nil
	}
	in := &instance{id: worker.InstanceID(t.ids.Add(1)), name: t.newName(), shard: sh}
	sh.instances++
	t.instances[in.id] = in
	t.byName[in.name] = in
	t.list(in)
	return in
}

func (t *Table) hasRoom(in *instance) bool {
	return !in.closed && in.seats < t.def.PlayersPerInstance
}

func (t *Table) take(in *instance) {
	in.seats++
	t.list(in)
}

func (t *Table) give(in *instance) {
	in.seats--
	t.list(in)
}

// list keeps the list of open instances right after in or its shard has changed.
func (t *Table) list(in *instance) {
	i, listed := slices.BinarySearchFunc(t.open, in.id, func(o *instance, id worker.InstanceID) int {
		return int(int64(o.id) - int64(id))
	})
	switch room := t.hasRoom(in) && in.shard.takes(); {
	case room && !listed:
		t.open = slices.Insert(t.open, i, in)
	case !room && listed:
		t.open = slices.Delete(t.open, i, i+1)
	}
}

// newName makes a short name that nobody guesses: it lets friends in.
func (t *Table) newName() string {
	for {
		var b [5]byte
		rand.Read(b[:])
		name := strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
		if t.byName[name] == nil {
			return name
		}
	}
}
