package wire

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// bad is a message that a reader has to refuse, in hex, and why.
type bad struct {
	name, hex string
	want      error
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func rejects(t *testing.T, parse func([]byte) error, list ...bad) {
	t.Helper()
	for _, b := range list {
		err := parse(unhex(t, b.hex))
		if err != b.want {
			t.Errorf("%s: error %v, want %v", b.name, err, b.want)
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v does not wrap ErrMalformed", b.name, err)
		}
	}
}

// panics runs f, which breaks a writer's contract.
func panics(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// echo reads a message as its receiver would, checking everything, and writes what
// it read. Every value has one encoding, so a message that is taken at all comes
// back as it was. Deltas and keyframes are read against the objects of w.
func echo(w *world, viewer uint32, thin bool, p []byte) ([]byte, error) {
	switch TagOf(p) {
	case TagCommand:
		rec := make([]byte, w.server.CommandStride)
		h, err := w.s.ParseCommand(p, rec)
		if err != nil {
			return nil, err
		}
		return w.s.Command(h.Number).AppendAll(h.Append(nil), rec), nil
	case TagAck:
		m, err := ParseAck(p)
		return m.Append(nil), err
	case TagPing:
		m, err := ParsePing(p)
		return m.Append(nil), err
	case TagStateHash:
		m, err := ParseStateHash(p)
		return m.Append(nil), err
	case TagResync:
		m, err := ParseResync(p)
		return m.Append(nil), err
	case TagWelcome:
		m, err := ParseWelcome(p)
		return m.Append(nil), err
	case TagPong:
		m, err := ParsePong(p)
		return m.Append(nil), err
	case TagSnapshot:
		m, rest, err := ParseSnapshot(p)
		if err != nil {
			return nil, err
		}
		f := w.s.Fields(0, Whole, false)
		row := make([]byte, w.s.MaxStride())
		if rest, err = f.ReadAll(rest, row); err != nil {
			return nil, err
		}
		return echoWhole(w, viewer, rest, f.AppendAll(m.Append(nil), row))
	case TagEnter:
		m, rest, err := ParseEnter(p)
		if err != nil {
			return nil, err
		}
		return echoWhole(w, viewer, rest, m.Append(nil))
	case TagLeave:
		m, rest, err := ParseLeave(p)
		if err != nil {
			return nil, err
		}
		dst, r, ids := m.Append(nil), NewIDReader(rest), ObjectWriter{}
		for r.Next() {
			dst = ids.ID(dst, r.ID())
		}
		return dst, r.Err()
	case TagDelta:
		m, rest, err := ParseDelta(p)
		if err != nil {
			return nil, err
		}
		sub := Sent
		if thin {
			sub = Whole
		}
		return echoChanges(w, sub, viewer, rest, m.Append(nil))
	case TagKeyframe:
		m, rest, err := ParseKeyframe(p)
		if err != nil {
			return nil, err
		}
		return echoChanges(w, Shared, viewer, rest, m.Append(nil))
	case TagCommands:
		m, rest, err := ParseCommands(p)
		if err != nil {
			return nil, err
		}
		dst, cw, r := m.Append(nil), NewCommandWriter(m.Tick), NewCommandReader(w.s, m.Tick, rest)
		rec := make([]byte, w.server.CommandStride)
		for r.Next(rec) {
			c := r.Command()
			dst = w.s.Command(c.Number).AppendAll(cw.Append(dst, c), rec)
		}
		return dst, r.Err()
	}
	return nil, errTag
}

func echoWhole(w *world, viewer uint32, rest, dst []byte) ([]byte, error) {
	var ow ObjectWriter
	r := NewWholeReader(w.s, viewer, rest)
	for r.Next() {
		row := make([]byte, w.server.Types[r.Object().Type].Stride)
		if r.Read(row) != nil {
			break
		}
		dst = ow.Whole(dst, w.s, r.Object().Type, row, viewer)
	}
	return dst, r.Err()
}

var errUnknownID = errors.New("an id that the receiver does not hold")

func echoChanges(w *world, sub Subset, viewer uint32, rest, dst []byte) ([]byte, error) {
	var ow ObjectWriter
	r := NewChangesReader(rest)
	for r.Next() {
		o := w.find(r.ID())
		if o == nil {
			return nil, errUnknownID
		}
		row := w.row(o)
		f := w.s.Seen(o.typ, sub, row, viewer)
		mask := r.p[:min(len(r.p), f.MaskLen())]
		if r.Read(f, row) != nil {
			break
		}
		dst = ow.Masked(dst, o.id, f, row, mask)
	}
	return dst, r.Err()
}
