package worker

import (
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// lost is a token of a seat that is gone.
var lost = NewToken(0, 1, 7)

// comeBack opens a socket that has a token and has to wait for the boss, who answers when
// answer is called.
func (b *bench) comeBack(h loop.Handle) (answer func(Reservation, bool)) {
	b.t.Helper()
	if b.asked == nil {
		b.asked = &[]func(Reservation, bool){}
	}
	before := len(*b.asked)
	tag := 1<<GameShift | uint64(h)
	b.seats[tag] = Reservation{Instance: 1, InstanceName: "i", Resume: lost}
	b.host.OnOpen(h, tag)
	if s := b.host.sockets.get(h); len(*b.asked) != before+1 || s == nil || s.ended || !s.waiting {
		b.t.Fatalf("the boss was asked %d times, the socket was closed with %d", len(*b.asked)-before, b.closed[h])
	}
	return (*b.asked)[before]
}

// pings is the bytes of so many pings.
func pings(n int) (all []byte) {
	for i := range n {
		all = ws.AppendMasked(all, ws.OpBinary, [4]byte{1, 2, 3, 4}, wire.Ping{Nonce: uint32(i)}.Append(nil))
	}
	return all
}

func TestWhoWaitsForAPlaceIsHeard(t *testing.T) {
	b := newBench(t)
	answer := b.comeBack(1)
	for _, p := range pings(3) { // in pieces, as they may come
		b.host.OnData(1, []byte{p})
	}
	b.run(1e9)
	if n := len(b.sent[1]); n != 0 || b.closed[1] != 0 {
		t.Fatalf("%d bytes were sent to who waits, closed with %d", n, b.closed[1])
	}
	b.run(int64(emptyGrace))
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	if s := b.host.sockets.get(1); s.in == nil || s.in.id != 5 || s.held != nil {
		t.Fatalf("seated in %+v", s.in)
	}
	b.run(1e9)
	if len(b.sent[1]) == 0 || b.closed[1] != 0 {
		t.Errorf("%d bytes were sent, closed with %d", len(b.sent[1]), b.closed[1])
	}
	// What came meanwhile is judged when there is somebody to hear it.
	answer = b.comeBack(2)
	b.host.OnData(2, pings(2))
	b.host.OnData(2, ws.AppendMasked(nil, ws.OpText, [4]byte{1, 2, 3, 4}, []byte("hello")))
	if b.closed[2] != 0 {
		t.Fatalf("closed with %d before it sat", b.closed[2])
	}
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	if b.closed[2] != wire.CloseText {
		t.Errorf("a text was answered with %d", b.closed[2])
	}
}

func TestWhoWaitsForAPlaceIsBounded(t *testing.T) {
	b := newBench(t)
	answer := b.comeBack(1)
	all := pings(2000)
	b.host.OnData(1, all[:heldMost])
	if b.closed[1] != 0 {
		t.Fatalf("closed with %d over what is kept", b.closed[1])
	}
	b.host.OnData(1, all[heldMost:heldMost+1])
	if b.closed[1] != wire.CloseDraining {
		t.Fatalf("closed with %d", b.closed[1])
	}
	b.host.OnClose(1, nil)
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	b.wantGivenBack(5)
}

// wantGivenBack wants one seat of an instance that is not there to be given back, and the
// boss to be asked to forget it.
func (b *bench) wantGivenBack(id InstanceID) {
	b.t.Helper()
	if len(b.released) != 1 || b.released[0] != id || len(b.retired) != 1 || b.retired[0] != id {
		b.t.Errorf("released %v, retired %v, want %d each", b.released, b.retired, id)
	}
	if n := len(b.host.games[1].waiting); n != 0 {
		b.t.Errorf("%d sockets are waited for", n)
	}
}

// A place that is found for who has gone meanwhile is given back, once.
func TestAPlaceForWhoHasGoneIsGivenBack(t *testing.T) {
	b := newBench(t)
	answer := b.comeBack(1)
	b.host.OnClose(1, nil)
	b.run(1e9)
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	b.wantGivenBack(5)

	b = newBench(t)
	b.join(2, 5)
	answer = b.comeBack(1)
	b.host.OnClose(1, nil)
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	if len(b.released) != 1 || len(b.retired) != 0 {
		t.Errorf("released %v, retired %v under a player", b.released, b.retired)
	}

	b = newBench(t)
	answer = b.comeBack(1)
	b.host.OnClose(1, nil)
	answer(Reservation{}, false)
	if len(b.released) != 0 || len(b.retired) != 0 {
		t.Errorf("released %v, retired %v of nothing", b.released, b.retired)
	}
}

func TestNoPlaceIsFound(t *testing.T) {
	b := newBench(t)
	b.comeBack(1)(Reservation{}, false)
	b.host.OnPost(&DrainGame{Number: 1})
	b.comeBack(2)(Reservation{}, false)
	if b.closed[1] != wire.CloseBoxFull || b.closed[2] != wire.CloseOutdated {
		t.Errorf("closed with %d, and when a newer definition was there with %d", b.closed[1], b.closed[2])
	}
}

// A game that ends takes those with it who wait for a place in it.
func TestWhoWaitsEndsWithTheGame(t *testing.T) {
	b := newBench(t)
	answer := b.comeBack(1)
	b.host.OnPost(&DropGame{Number: 1, Code: wire.CloseOutdated})
	if b.closed[1] != wire.CloseOutdated {
		t.Fatalf("closed with %d", b.closed[1])
	}
	b.host.OnClose(1, nil)
	answer(Reservation{Instance: 5, InstanceName: "five"}, true)
	if len(b.released) != 1 || b.released[0] != 5 {
		t.Errorf("released %v", b.released)
	}
}

// The instance that is found may close as its client comes: then others are tried, until
// it has been enough.
func TestPlacesThatCloseAreLeft(t *testing.T) {
	b := newBench(t)
	for in := range InstanceID(4) {
		b.join(loop.Handle(10+in), 10+in)
		b.host.games[1].instances[10+in].broken = true
	}
	answer := b.comeBack(1)
	for i := range sitTries {
		answer(Reservation{Instance: InstanceID(10 + i), InstanceName: "i"}, true)
		if want := InstanceID(10 + i); len(b.released) != i+1 || b.released[i] != want {
			t.Fatalf("released %v after %d places", b.released, i+1)
		}
		if i < sitTries-1 {
			answer = (*b.asked)[i+1]
		}
	}
	if b.closed[1] != wire.CloseDraining || len(*b.asked) != sitTries {
		t.Errorf("closed with %d, the boss was asked %d times", b.closed[1], len(*b.asked))
	}
}
