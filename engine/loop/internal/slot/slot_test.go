package slot

import (
	"errors"
	"io"
	"math"
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/internal/arena"
)

func TestHandlesNameOneConnection(t *testing.T) {
	s := Slot{Number: 7}
	if s.Is(s.Handle()) || s.Alive() {
		t.Error("a free slot has a connection")
	}
	s.Renew()
	first := s.Handle()
	if first == 0 || Place(first) != 7 || !s.Is(first) || !s.Alive() {
		t.Fatalf("handle %x", first)
	}
	s.Close(4001)
	if s.Is(first) || !s.Alive() {
		t.Error("a closing connection is the handler's, or is gone")
	}
	s.State = Free
	s.Renew()
	if s.Is(first) || !s.Is(s.Handle()) || s.Code != 0 {
		t.Error("the slot's next connection has what the last one had")
	}
	s = Slot{Gen: math.MaxUint32}
	if s.Renew(); s.Handle() == 0 {
		t.Error("a handle of zero")
	}
}

func TestWhyAConnectionEnds(t *testing.T) {
	reset := errors.New("reset")
	closed := func(err error) bool {
		c, ok := errors.AsType[*loop.CloseError](err)
		return ok && c.Code == 4001
	}
	for name, c := range map[string]struct {
		end  func(s *Slot, a *arena.Arena)
		want func(error) bool
	}{
		"the peer ended it":        {func(*Slot, *arena.Arena) {}, func(err error) bool { return err == io.EOF }},
		"the handler closed it":    {func(s *Slot, _ *arena.Arena) { s.Close(4001) }, closed},
		"the loop condemned it":    {func(s *Slot, a *arena.Arena) { s.Condemn(loop.ErrOverflow, a) }, func(err error) bool { return err == loop.ErrOverflow }},
		"it broke while it closed": {func(s *Slot, a *arena.Arena) { s.Close(4001); s.Condemn(s.Reason(reset), a) }, closed},
	} {
		var a arena.Arena
		var s Slot
		s.Renew()
		a.Add(&s.Piece, s.Number, []byte("unsent"))
		c.end(&s, &a)
		if !s.Bury(io.EOF, &a) || !c.want(s.Err) || s.State != Dead || s.Piece.Len() != 0 {
			t.Errorf("%s: %v, %d bytes are left", name, s.Err, s.Piece.Len())
		}
		if s.Bury(reset, &a) || !c.want(s.Err) {
			t.Errorf("%s: it died twice", name)
		}
	}
}
