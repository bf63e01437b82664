package process

import (
	"errors"
	"sync"
	"time"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// overFor is how long the number of an instance that is no more is kept. A seat in it may
// have been given out before the backend heard that, and be on its way; nothing else may
// take half as long.
const overFor = int64(30 * time.Second)

// boss is the worker's side of the placement table: it knows the seats that are on their
// way and asks the backend for the rest. What it is told it passes on in the order in
// which it is told.
type boss struct {
	conn *control.Conn
	call func(func()) // on the loop

	mu      sync.Mutex
	seats   map[uint64]worker.Reservation // whose sockets are not open yet, by number
	over    map[worker.InstanceID]int64   // when an instance ended, or was allowed to
	allowed map[worker.InstanceID]int64   // when the backend said that an instance may end
	tickets map[uint32]func(worker.Reservation, bool)
	asked   map[uint32]worker.Reservation
	next    uint32
	alone   bool // the backend is gone
}

func newBoss(conn *control.Conn, call func(func())) *boss {
	return &boss{
		conn: conn, call: call,
		seats: map[uint64]worker.Reservation{}, over: map[worker.InstanceID]int64{}, allowed: map[worker.InstanceID]int64{},
		tickets: map[uint32]func(worker.Reservation, bool){}, asked: map[uint32]worker.Reservation{},
	}
}

// send sends a message. A backend that has not read so many of them for so long is as good
// as gone, and whoever reads from it finds it so.
func (b *boss) send(m control.Message) {
	if err := b.conn.Send(m, -1); errors.Is(err, control.ErrFull) {
		b.conn.Abandon()
	}
}

// expect notes a seat whose socket is about to be adopted.
func (b *boss) expect(number uint64, r worker.Reservation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seats[number] = r
}

// lost gives up a seat whose socket is dead.
func (b *boss) lost(number uint64) {
	b.mu.Lock()
	delete(b.seats, number)
	b.mu.Unlock()
	b.send(&control.Lost{Number: number})
}

// Claim gives the reservation of a number, once. It gives none in an instance that has
// ended since.
func (b *boss) Claim(number uint64) (worker.Reservation, bool) {
	b.mu.Lock()
	r, ok := b.seats[number]
	delete(b.seats, number)
	_, over := b.over[r.Instance]
	b.mu.Unlock()
	if !ok || over {
		b.send(&control.Lost{Number: number})
		return worker.Reservation{}, false
	}
	b.send(&control.Claimed{Number: number})
	return r, true
}

// Reseat asks for another place.
func (b *boss) Reseat(_ uint32, r worker.Reservation, then func(worker.Reservation, bool)) {
	b.mu.Lock()
	if b.alone {
		b.mu.Unlock()
		then(r, false)
		return
	}
	b.next++
	ticket := b.next
	b.tickets[ticket], b.asked[ticket] = then, r
	b.mu.Unlock()
	b.send(&control.Reseat{Ticket: ticket, Reservation: r})
}

// reseated passes an answer on.
func (b *boss) reseated(m *control.Reseated) {
	b.mu.Lock()
	then := b.tickets[m.Ticket]
	delete(b.tickets, m.Ticket)
	delete(b.asked, m.Ticket)
	b.mu.Unlock()
	if then != nil {
		b.call(func() { then(m.Reservation, m.OK) })
	}
}

// Release gives a seat back.
func (b *boss) Release(id worker.InstanceID) { b.send(&control.Release{Instance: id}) }

// SetOpen tells whether the game lets players in.
func (b *boss) SetOpen(id worker.InstanceID, open bool) {
	b.send(&control.Open{Instance: id, Open: open})
}

// Retire tells that an instance has ended, or asks whether it may: then the answer is no
// until the backend's has come.
func (b *boss) Retire(id worker.InstanceID, force bool) bool {
	b.mu.Lock()
	now := loop.Now()
	b.forget(now)
	_, allowed := b.allowed[id]
	may := force || b.alone || allowed
	if may {
		delete(b.allowed, id)
		b.over[id] = now
	}
	b.mu.Unlock()
	if force || !may {
		b.send(&control.Retire{Instance: id, Force: force})
	}
	return may
}

// retired notes that an instance may end.
func (b *boss) retired(id worker.InstanceID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, over := b.over[id]; !over {
		b.allowed[id] = loop.Now()
	}
}

// forget lets go of what was noted long enough ago. An answer that nobody waited for may
// be asked for again.
func (b *boss) forget(now int64) {
	for _, noted := range []map[worker.InstanceID]int64{b.over, b.allowed} {
		for id, at := range noted {
			if now-at > overFor {
				delete(noted, id)
			}
		}
	}
}

// orphaned is told that no answer comes any more.
func (b *boss) orphaned() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.alone = true
	for ticket, then := range b.tickets {
		r := b.asked[ticket]
		b.call(func() { then(r, false) })
	}
	clear(b.tickets)
	clear(b.asked)
}
