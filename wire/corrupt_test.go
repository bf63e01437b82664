package wire

import (
	"bytes"
	"errors"
	"testing"
)

// checkEcho is what holds for any bytes at all: a reader either refuses them or
// takes them for what they are, so that writing what it read gives them back.
func checkEcho(t *testing.T, w *world, p []byte) (taken bool) {
	t.Helper()
	for _, viewer := range []uint32{0, 1, 3} {
		for _, thin := range []bool{false, true} {
			back, err := echo(w, viewer, thin, p)
			switch {
			case err == nil && !bytes.Equal(back, p):
				t.Fatalf("% x is taken for % x", p, back)
			case err == nil:
				taken = true
			case !errors.Is(err, ErrMalformed) && err != ErrRefused && err != errUnknownID:
				t.Fatalf("% x: %v", p, err)
			}
		}
	}
	return taken
}

func TestEveryVectorIsTaken(t *testing.T) {
	w := fixtureWorld()
	for _, v := range corpus(t) {
		if !checkEcho(t, w, v.b) {
			t.Errorf("%s is refused", v.name)
		}
	}
}

func TestEveryTruncation(t *testing.T) {
	w := fixtureWorld()
	for _, v := range corpus(t) {
		for n := range v.b {
			taken := checkEcho(t, w, v.b[:n:n])
			// Only an entry of a leave message is a byte long.
			if taken && n == len(v.b)-1 && TagOf(v.b) != TagLeave {
				t.Errorf("%s is taken without its last byte", v.name)
			}
		}
	}
}

func TestEveryByteChanged(t *testing.T) {
	w := fixtureWorld()
	for _, v := range corpus(t) {
		p := bytes.Clone(v.b)
		for i, was := range p {
			for x := range 256 {
				if p[i] = byte(x); p[i] != was {
					checkEcho(t, w, p)
				}
			}
			p[i] = was
		}
	}
}

func TestBytesAfterTheEnd(t *testing.T) {
	w := fixtureWorld()
	for _, v := range corpus(t) {
		for x := range 256 {
			checkEcho(t, w, append(bytes.Clone(v.b), byte(x)))
		}
	}
}
