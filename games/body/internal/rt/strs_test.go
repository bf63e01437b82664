package rt_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"gamehoster/games/schema"
)

// randomStr is valid UTF-8 of at most most bytes, often alike.
func randomStr(r *rand.Rand, most int) string {
	runes := []rune{'a', 'a', 'b', 0, 0x7f, 'é', 0x7ff, 0x800, '名', 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, '🚀', 0x10ffff}
	var b []byte
	for range r.IntN(12) {
		c := utf8.AppendRune(nil, runes[r.IntN(len(runes))])
		if len(b)+len(c) > most {
			break
		}
		b = append(b, c...)
	}
	return string(b)
}

func TestStrs(t *testing.T) {
	def, r := define(t)
	equal, compare, length, keep := r.EqualStr(), r.CompareStr(), r.LengthStr(), r.CopyStr()
	m := load(t, def, r, schema.OnServer, equal, compare, length, keep)
	random := rand.New(rand.NewPCG(4, 1))
	at := func(i uint32) uint32 { return m.heap + 512*i }
	put := func(i uint32, s string) { m.write(at(i), append([]byte{byte(len(s))}, s...)) }
	for range 4000 {
		a := randomStr(random, 255)
		b := a
		if random.IntN(4) > 0 {
			b = randomStr(random, 255)
		}
		// What is behind a str is no part of it.
		m.write(at(0), bytes.Repeat([]byte{byte(random.IntN(256))}, 1024))
		put(0, a)
		put(1, b)
		if got := m.call(equal, uint64(at(0)), uint64(at(1))) == 1; got != (a == b) {
			t.Fatalf("%q === %q is %v", a, b, got)
		}
		ua, ub := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
		want := slices.Compare(ua, ub)
		got := int32(uint32(m.call(compare, uint64(at(0)), uint64(at(1)))))
		if got < 0 && want >= 0 || got > 0 && want <= 0 || got == 0 && want != 0 {
			t.Fatalf("%q to %q is %d, want %d", a, b, got, want)
		}
		if got := m.call(length, uint64(at(0))); int(got) != len(ua) {
			t.Fatalf("the length of %q is %d, want %d", a, got, len(ua))
		}
		m.call(keep, uint64(at(2)), uint64(at(0)))
		if got := m.read(at(2), 1+len(a)); string(got[1:]) != a || int(got[0]) != len(a) {
			t.Fatalf("%q was kept as %q", a, got)
		}
	}
}

// A field takes as many whole code points as fit, and is zero behind them.
func TestSetStr(t *testing.T) {
	def, r := define(t)
	set := r.SetStr()
	m := load(t, def, r, schema.OnServer, set)
	random := rand.New(rand.NewPCG(5, 1))
	from, to := m.heap, m.heap+1024
	for range 4000 {
		s, room := randomStr(random, 255), 1+random.IntN(20)
		m.write(from, append([]byte{byte(len(s))}, s...))
		m.write(to, bytes.Repeat([]byte{0xaa}, 64))
		m.call(set, uint64(to), uint64(room), uint64(from))
		want := s
		for len(want) > room {
			_, size := utf8.DecodeLastRuneInString(want)
			want = want[:len(want)-size]
		}
		field := make([]byte, 1+room)
		field[0] = byte(copy(field[1:], want))
		if got := m.read(to, 1+room); !bytes.Equal(got, field) {
			t.Fatalf("%q in %d bytes is %q, want %q", s, room, got, field)
		}
		if got := m.read(to+1+uint32(room), 1)[0]; got != 0xaa {
			t.Fatalf("%q in %d bytes wrote behind its field", s, room)
		}
	}
	m.write(from, []byte("\x04abcd"))
	if m.call(set, uint64(from), 4, uint64(from)); string(m.read(from, 5)) != "\x04abcd" {
		t.Error("a str that is set to itself changed")
	}
}
