package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"gamehoster/games/schema"
)

func TestUvarint(t *testing.T) {
	for _, v := range []uint32{0, 1, 127, 128, 16383, 16384, 1<<21 - 1, 1 << 21, 1<<28 - 1, 1 << 28, math.MaxUint32} {
		p := AppendUvarint(nil, v)
		if want := binary.AppendUvarint(nil, uint64(v)); !bytes.Equal(p, want) {
			t.Errorf("%d: % x, want % x", v, p, want)
		}
		if SizeUvarint(v) != len(p) {
			t.Errorf("%d: size %d", v, SizeUvarint(v))
		}
		got, rest, err := ReadUvarint(append(p, 0x55))
		if got != v || !bytes.Equal(rest, []byte{0x55}) || err != nil {
			t.Errorf("%d: %d, % x, %v", v, got, rest, err)
		}
		for n := range p {
			if _, _, err := ReadUvarint(p[:n]); err != errShort {
				t.Errorf("%d cut at %d: %v", v, n, err)
			}
		}
	}
	rejects(t, func(p []byte) error { _, _, err := ReadUvarint(p); return err },
		bad{"0 in two bytes", "8000", errUvarint},
		bad{"1 in two bytes", "8100", errUvarint},
		bad{"128 in three bytes", "808100", errUvarint},
		bad{"five bytes, the last empty", "8080808000", errUvarint},
		bad{"33 bits", "ffffffff1f", errUvarint},
		bad{"six bytes", "ffffffff8f01", errUvarint},
		bad{"endless", "ffffffffffffffffffff", errUvarint})
}

func TestStr(t *testing.T) {
	p := append(AppendStr(nil, []byte("häß")), 1)
	text, rest, err := ReadStr(p, 5)
	if string(text) != "häß" || len(rest) != 1 || err != nil {
		t.Errorf("%q, % x, %v", text, rest, err)
	}
	rejects(t, func(p []byte) error { _, _, err := ReadStr(p, 3); return err },
		bad{"empty", "", errShort},
		bad{"too long", "04 61616161", errStr},
		bad{"far too long", "ffffffff0f", errStr},
		bad{"cut", "03 6161", errShort},
		bad{"not UTF-8", "01 80", errUTF8},
		bad{"overlong UTF-8", "02 c0af", errUTF8})
}

func TestTicksWrap(t *testing.T) {
	for _, c := range []struct {
		a, b uint32
		d    int32
	}{{5, 3, 2}, {3, 5, -2}, {1, 0xffffffff, 2}, {0xfffffff0, 4, -20}, {7, 7, 0}} {
		if d := TickDistance(c.a, c.b); d != c.d {
			t.Errorf("%d to %d: %d", c.b, c.a, d)
		}
		if TickAfter(c.a, c.b) != (c.d > 0) {
			t.Errorf("%d after %d", c.a, c.b)
		}
	}
}

// TestFieldsOneByOne reads and writes every kind at each of its ends.
func TestFieldsOneByOne(t *testing.T) {
	for _, c := range []struct {
		f    *schema.Field
		v    any
		wire string
	}{
		{field("", schema.Bool, schema.Sent), true, "01"},
		{field("", schema.I8, schema.Sent), -1.0, "ff"},
		{field("", schema.U8, schema.Sent), 255.0, "ff"},
		{field("", schema.I16, schema.Sent), -2.0, "feff"},
		{field("", schema.U16, schema.Sent), 258.0, "0201"},
		{field("", schema.I32, schema.Sent), -2.0, "feffffff"},
		{field("", schema.U32, schema.Sent), 16909060.0, "04030201"},
		{field("", schema.F32, schema.Sent), 1.0, "0000803f"},
		{field("", schema.F64, schema.Sent), 1.0, "000000000000f03f"},
		{field("", schema.F64, schema.Shared), math.Inf(-1), "000000000000f0ff"},
		{field("", schema.Str, schema.Sent, length(200)), "abc", "03616263"},
		{field("", schema.Ref, schema.Sent), uint32(300), "ac02"},
		{field("", schema.F64, schema.Sent, step(0.1, -1, 1, 1)), 0.04, "0a"},
		{field("", schema.F64, schema.Sent, step(0.1, -1, 1, 1)), 0.06, "0b"},
		{field("", schema.F64, schema.Sent, step(0.1, -1, 1, 1)), 5.0, "14"},
		{field("", schema.F64, schema.Sent, step(0.1, -1, 1, 1)), -5.0, "00"},
		{field("", schema.F64, schema.Sent, step(0.1, -1, 1, 1)), math.NaN(), "00"},
		{field("", schema.I16, schema.Sent, step(10, -1000, 1000, 1)), -994.0, "01"},
		{field("", schema.I8, schema.Sent, step(1, -100, 100, 1)), -99.0, "01"},
		{field("", schema.U16, schema.Sent, step(1, 0, 60000, 2)), 59999.0, "5fea"},
		{field("", schema.I32, schema.Sent, step(1, -2147483648, 2147483647, 4)), 2147483647.0, "ffffffff"},
		{field("", schema.U32, schema.Sent, step(1, 0, 4294967295, 4)), 4294967295.0, "ffffffff"},
	} {
		row := make([]byte, 3+c.f.Size())
		naiveStore(c.f, row[3:], c.v)
		p := AppendField(nil, c.f, row, 3)
		if want := unhex(t, c.wire); !bytes.Equal(p, want) {
			t.Errorf("%s %v: % x, want % x", c.f.Kind, c.v, p, want)
			continue
		}
		want := make([]byte, len(row))
		naiveStore(c.f, want[3:], naiveArrived(c.f, c.v))
		got := bytes.Repeat([]byte{0xee}, len(row))
		copy(got, make([]byte, 3))
		rest, err := ReadField(c.f, append(p, 9), got, 3)
		if err != nil || !bytes.Equal(rest, []byte{9}) || !bytes.Equal(got, want) {
			t.Errorf("%s %v: row % x, want % x; rest % x, %v", c.f.Kind, c.v, got, want, rest, err)
		}
		if rest, err := ReadField(c.f, p, nil, 3); err != nil || len(rest) != 0 {
			t.Errorf("%s %v, checked only: % x, %v", c.f.Kind, c.v, rest, err)
		}
		for n := range p {
			if _, err := ReadField(c.f, p[:n], nil, 0); err != errShort {
				t.Errorf("%s cut at %d: %v", c.f.Kind, n, err)
			}
		}
	}
}

func TestWriterKeepsAStrInItsField(t *testing.T) {
	f := field("", schema.Str, schema.Sent, length(3))
	panics(t, "length over the field's", func() { AppendField(nil, f, []byte{4, 'a', 'b', 'c', 'd'}, 0) })
}
