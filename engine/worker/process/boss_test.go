package process

import (
	"testing"

	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/worker"
)

// backend is the other side of a boss.
type backend struct {
	*control.Conn
	t *testing.T
}

// stage is a boss, and a backend that it talks to. Calls on the loop are made at once.
func stage(t *testing.T) (*boss, backend) {
	t.Helper()
	ours, file, err := control.Pair()
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := control.Attach(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return newBoss(theirs, func(f func()) { f() }), backend{ours, t}
}

// hears is the next message, of a type.
func hears[M control.Message](b backend) (m M) {
	b.t.Helper()
	got, _, err := b.Receive()
	if err != nil {
		b.t.Fatal(err)
	}
	m, ok := got.(M)
	if !ok {
		b.t.Fatalf("heard %T %+v, want %T", got, got, m)
	}
	return m
}

func seatIn(id worker.InstanceID) worker.Reservation {
	return worker.Reservation{Instance: id, InstanceName: "abc"}
}

func TestASeatIsClaimedOnce(t *testing.T) {
	b, there := stage(t)
	b.expect(5, seatIn(7))
	if r, ok := b.Claim(5); !ok || r.Instance != 7 {
		t.Fatalf("%+v, %t", r, ok)
	}
	if m := hears[*control.Claimed](there); m.Number != 5 {
		t.Errorf("%+v", m)
	}
	if _, ok := b.Claim(5); ok {
		t.Error("it was claimed twice")
	}
	if m := hears[*control.Lost](there); m.Number != 5 {
		t.Errorf("%+v", m)
	}
	b.expect(6, seatIn(7))
	b.lost(6)
	if m := hears[*control.Lost](there); m.Number != 6 {
		t.Errorf("%+v", m)
	}
	if _, ok := b.Claim(6); ok {
		t.Error("one was claimed whose socket is lost")
	}
}

// TestAnInstanceEndsWhenTheBackendSaysSo wants the answer to be no until it is there, and
// no seat to be taken that was on its way when an instance ended.
func TestAnInstanceEndsWhenTheBackendSaysSo(t *testing.T) {
	b, there := stage(t)
	for range 2 { // asked for again as long as nothing is heard
		if b.Retire(7, false) {
			t.Fatal("it may end before the backend was heard")
		}
		if m := hears[*control.Retire](there); m.Instance != 7 || m.Force {
			t.Fatalf("%+v", m)
		}
	}
	b.retired(7)
	if !b.Retire(7, false) {
		t.Fatal("it may not end though the backend said so")
	}
	b.retired(7) // the answer to the second question
	if len(b.allowed) > 0 {
		t.Errorf("an answer is kept that nobody waits for: %v", b.allowed)
	}

	if !b.Retire(8, true) {
		t.Fatal("one that has ended may not end")
	}
	if m := hears[*control.Retire](there); m.Instance != 8 || !m.Force {
		t.Fatalf("%+v", m)
	}
	b.expect(9, seatIn(8))
	if _, ok := b.Claim(9); ok {
		t.Error("a seat was taken in an instance that has ended")
	}
	hears[*control.Lost](there)
	b.forget(loop.Now() + overFor + 1)
	if len(b.over) > 0 {
		t.Errorf("remembered for ever: %v", b.over)
	}
}

func TestAnotherPlaceIsAskedFor(t *testing.T) {
	b, there := stage(t)
	var got []worker.InstanceID
	then := func(r worker.Reservation, ok bool) {
		if ok {
			got = append(got, r.Instance)
		} else {
			got = append(got, 0)
		}
	}
	b.Reseat(1, seatIn(7), then)
	b.Reseat(1, seatIn(7), then)
	first, second := hears[*control.Reseat](there), hears[*control.Reseat](there)
	if first.Ticket == second.Ticket || first.Reservation != seatIn(7) {
		t.Fatalf("%+v, %+v", first, second)
	}
	b.reseated(&control.Reseated{Ticket: second.Ticket, OK: true, Reservation: seatIn(9)})
	b.reseated(&control.Reseated{Ticket: second.Ticket, OK: true, Reservation: seatIn(9)}) // once
	if len(got) != 1 || got[0] != 9 {
		t.Fatalf("%v", got)
	}
	b.orphaned()
	b.Reseat(1, seatIn(7), then)
	if len(got) != 3 || got[1] != 0 || got[2] != 0 {
		t.Errorf("without a backend: %v", got)
	}
	if !b.Retire(7, false) {
		t.Error("without a backend an instance may not end")
	}
}

// TestABackendThatReadsNothing wants a worker that has said too much to take it for gone.
func TestABackendThatReadsNothing(t *testing.T) {
	b, _ := stage(t)
	m := &control.Inspected{Part: make([]byte, control.MaxReport)}
	for range 2000 {
		b.send(m)
	}
	if _, _, err := b.conn.Receive(); err == nil {
		t.Error("it is there still")
	}
}
