package ws

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf8"
)

// maskBytes is Mask as the RFC writes it.
func maskBytes(p []byte, key [4]byte, at int) {
	for i := range p {
		p[i] ^= key[(at+i)%4]
	}
}

// TestMaskAgainstBytes covers all alignments, lengths around the unrolled steps, and cuts in two.
func TestMaskAgainstBytes(t *testing.T) {
	key := [4]byte{0x12, 0x34, 0x56, 0x78}
	plain := make([]byte, 160)
	for i := range plain {
		plain[i] = byte(i * 7)
	}
	for offset := range 9 {
		for n := range 140 {
			want := bytes.Clone(plain)
			maskBytes(want[offset:offset+n], key, 0)
			for cut := 0; cut <= n; cut += 1 + n/13 {
				got := bytes.Clone(plain)
				turned := Mask(got[offset:offset+cut], binary.LittleEndian.Uint32(key[:]))
				turned = Mask(got[offset+cut:offset+n], turned)
				if !bytes.Equal(got, want) {
					t.Fatalf("offset %d, length %d, cut at %d: % x, want % x", offset, n, cut, got, want)
				}
				var next [1]byte
				Mask(next[:], turned)
				if next[0] != key[n%4] {
					t.Fatalf("offset %d, length %d, cut at %d: the key was turned wrongly", offset, n, cut)
				}
			}
		}
	}
}

// checkText feeds b whole and byte by byte and compares with the standard library, the place of the failure included.
func checkText(t *testing.T, b []byte) {
	t.Helper()
	var s utf8State
	if got := s.feed(b) && s.done(); got != utf8.Valid(b) {
		t.Fatalf("% x: valid is %v", b, got)
	}
	s = utf8Start
	for i := range b {
		if got, want := s.feed(b[i:i+1]), plausible(b[:i+1]); got != want {
			t.Fatalf("% x: hope after byte %d is %v", b, i, got)
		} else if !got {
			return
		}
	}
}

// TestTextAgainstLibrary covers every character, all pairs of bytes and all fours of the bytes at which the rules change.
func TestTextAgainstLibrary(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		b := utf8.AppendRune(nil, r)
		var s utf8State
		if !s.feed(b) || !s.done() {
			t.Fatalf("%U is refused", r)
		}
	}
	for pair := range 1 << 16 {
		checkText(t, []byte{byte(pair >> 8), byte(pair)})
	}
	edges := []byte("\x00\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF")
	for _, a := range edges {
		for _, b := range edges {
			for _, c := range edges {
				for _, d := range edges {
					checkText(t, []byte{a, b, c, d})
				}
			}
		}
	}
	long := bytes.Repeat([]byte("twelve ASCII"), 5)
	for i := range long {
		broken := bytes.Clone(long)
		broken[i] = 0xFF
		checkText(t, broken)
		copy(broken[i:], "é")
		checkText(t, broken)
	}
}
