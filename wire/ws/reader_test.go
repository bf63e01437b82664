package ws

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomStream makes a mostly valid stream of client frames; some bits are flipped and the end is cut off at times.
func randomStream(rng *rand.Rand) (stream []byte) {
	texts := []string{"", "a", "plain text of some length", "µ@ß", "κόσμε", "\U0010FFFF\uFFFD", "\xed\xa0\x80", "\xf4\x90", "ok\xe2\x82"}
	open := false
	for range 1 + rng.IntN(12) {
		var payload []byte
		switch rng.IntN(4) {
		case 0:
			payload = []byte(texts[rng.IntN(len(texts))])
		case 1:
			payload = bytes.Repeat([]byte(texts[rng.IntN(6)]), rng.IntN(40))
		case 2:
			payload = make([]byte, rng.IntN(200))
			for i := range payload {
				payload[i] = byte(rng.Uint32())
			}
		}
		first := byte(bitFin)
		switch k := rng.IntN(20); {
		case k < 3:
			first |= byte(OpPing) + byte(rng.IntN(2))
			payload = payload[:min(len(payload), MaxControl)]
		case k == 3:
			first |= byte(OpClose)
			if rng.IntN(4) > 0 {
				payload = binary.BigEndian.AppendUint16(nil, uint16(990+rng.IntN(40)))
				payload = append(payload, texts[rng.IntN(len(texts))]...)
			}
			payload = payload[:min(len(payload), MaxControl)]
		case open:
			if open = rng.IntN(2) == 0; open {
				first = 0
			}
		default:
			if open = rng.IntN(3) == 0; open {
				first = 0
			}
			first |= byte(OpText) + byte(rng.IntN(2))
		}
		var key [4]byte
		binary.LittleEndian.PutUint32(key[:], rng.Uint32())
		stream = appendMasked(stream, first, key, payload)
	}
	if rng.IntN(3) == 0 {
		stream[rng.IntN(len(stream))] ^= 1 << rng.IntN(8)
	}
	if rng.IntN(4) == 0 {
		stream = stream[:1+rng.IntN(len(stream))]
	}
	return stream
}

// TestAnySplitIsTheSame compares whole, byte by byte, random pieces and the dumb twin over random streams.
func TestAnySplitIsTheSame(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	failures := map[CloseCode]int{}
	for range 3000 {
		stream := randomStream(rng)
		limit := []int{1, 125, 300, 70000}[rng.IntN(4)]
		opts := []Options{0, 0, 0, BinaryOnly, ClientSide}[rng.IntN(5)]
		want := twin(stream, limit, opts)
		if n := len(want); n > 0 && want[n-1].failed {
			failures[want[n-1].code]++
		}
		got, reason := read(stream, limit, opts, whole)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, limit %d, options %d, stream % x:\nread %v\ntwin %v", seed, limit, opts, stream, got, want)
		}
		for name, cut := range map[string]func(int) int{"bytes": oneByte, "random": randomly(rng)} {
			split, err := read(stream, limit, opts, cut)
			if !slices.Equal(split, want) || err != reason {
				t.Fatalf("seed %d, limit %d, options %d, cut %s, stream % x:\nread %v, %v\nwant %v, %v", seed, limit, opts, name, stream, split, err, want, reason)
			}
		}
	}
	for _, code := range []CloseCode{CloseProtocol, CloseUnsupported, CloseInvalidData, CloseTooBig} {
		if failures[code] == 0 {
			t.Errorf("seed %d: no stream failed with %d, the generator is too tame", seed, code)
		}
	}
}

// TestServerFramesReadBack lets a client's Reader read what the server's encoders write, at every size class.
func TestServerFramesReadBack(t *testing.T) {
	var stream []byte
	var want []happening
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 100000} {
		p := bytes.Repeat([]byte{'x'}, n)
		stream = AppendFrame(stream, OpText, p)
		stream = AppendFrame(stream, OpBinary, p)
		want = append(want, happening{op: OpText, payload: string(p)}, happening{op: OpBinary, payload: string(p)})
		if n <= MaxControl {
			stream = AppendFrame(stream, OpPong, p)
			want = append(want, happening{op: OpPong, payload: string(p)})
		}
		if header := len(AppendHeader(nil, OpBinary, n)); header != HeaderSize(n) {
			t.Errorf("header of %d bytes has %d, HeaderSize says %d", n, header, HeaderSize(n))
		}
	}
	stream = AppendClose(stream, 4007, "too slow")
	want = append(want, happening{op: OpClose, code: 4007, payload: "too slow"})
	rng := rand.New(rand.NewPCG(7, 7))
	for _, cut := range []func(int) int{whole, randomly(rng)} {
		if got, err := read(stream, 1<<20, ClientSide, cut); err != nil || !slices.Equal(got, want) {
			t.Errorf("read %v, %v", got, err)
		}
	}
}

// TestFaults has one stream for each error, cut off where the error must be certain.
func TestFaults(t *testing.T) {
	cases := []struct {
		name   string
		stream string
		opts   Options
		want   *Error
	}{
		{"rsv1", "\xC1", 0, ErrReserved},
		{"rsv2", "\xA2", 0, ErrReserved},
		{"rsv3", "\x99", 0, ErrReserved},
		{"opcode 3", "\x83", 0, ErrOpcode},
		{"opcode 7 not final", "\x07", 0, ErrOpcode},
		{"opcode 11", "\x8B", 0, ErrOpcode},
		{"opcode 15", "\x8F", 0, ErrOpcode},
		{"fragmented ping", "\x09", 0, ErrControlFrame},
		{"ping of 126", "\x89\xFE", 0, ErrControlFrame},
		{"close of u64 size", "\x88\xFF", 0, ErrControlFrame},
		{"continuation of nothing", "\x80", 0, ErrNoMessage},
		{"continuation after the end", "\x01\x80kkkk\x80\x80kkkk\x00", 0, ErrNoMessage},
		{"text in text", "\x01\x80kkkk\x81", 0, ErrInterleaved},
		{"binary in text after ping", "\x01\x80kkkk\x89\x80kkkk\x02", 0, ErrInterleaved},
		{"unmasked from client", "\x82\x05", 0, ErrMasking},
		{"masked from server", "\x82\x85", ClientSide, ErrMasking},
		{"125 in two bytes", "\x82\xFE\x00\x7D", 0, ErrLength},
		{"65535 in eight bytes", "\x82\xFF\x00\x00\x00\x00\x00\x00\xFF\xFF", 0, ErrLength},
		{"highest bit of the size", "\x82\xFF\x80\x00\x00\x00\x00\x01\x00\x00", 0, ErrLength},
		{"one over the limit", "\x82\xFE\x03\xE9", 0, ErrMessageTooLong},
		{"far over the limit", "\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 0, ErrMessageTooLong},
		{"u32 wrap", "\x82\xFF\x00\x00\x00\x01\x00\x00\x00\x00", 0, ErrMessageTooLong},
		{"fragments over the limit", "\x02\x82\x00\x00\x00\x00ab\x80\xFE\x03\xE7", 0, ErrMessageTooLong},
		{"text where binary is due", "\x81", BinaryOnly, ErrText},
		{"bad text in the middle", "\x81\x85\x00\x00\x00\x00a\xFF", 0, ErrUTF8},
		{"half a character at the end", "\x81\x82\x00\x00\x00\x00a\xC3", 0, ErrUTF8},
		{"half a character before an empty end", "\x01\x81\x00\x00\x00\x00\xC3\x80\x80\x00\x00\x00\x00", 0, ErrUTF8},
		{"close of one byte", "\x88\x81\x00\x00\x00\x00\x03", 0, ErrCloseFrame},
		{"close with 1005", "\x88\x82\x00\x00\x00\x00\x03\xED", 0, ErrCloseFrame},
		{"close reason no text", "\x88\x83\x00\x00\x00\x00\x03\xE8\xFF", 0, ErrUTF8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, cut := range []func(int) int{whole, oneByte} {
				if _, err := read([]byte(c.stream), 1000, c.opts, cut); err != c.want {
					t.Errorf("got %v, want %v", err, c.want)
				}
				before := c.stream[:len(c.stream)-1]
				if _, err := read([]byte(before), 1000, c.opts, cut); err != nil {
					t.Errorf("failed a byte too early: %v", err)
				}
			}
			if !ValidCloseCode(c.want.Code) || len(c.want.Reason) > MaxCloseReason || CodeOf(c.want) != c.want.Code {
				t.Errorf("%v cannot be sent in a close", c.want)
			}
		})
	}
}

// TestLimitIsInclusive takes a message of exactly the limit, in one frame and in fragments.
func TestLimitIsInclusive(t *testing.T) {
	full := string(bytes.Repeat([]byte{'x'}, 1000))
	stream := clientFrame(0x82, full)
	stream = append(stream, clientFrame(0x02, full[:400])...)
	stream = append(stream, clientFrame(0x89, full[:125])...)
	stream = append(stream, clientFrame(0x00, full[400:])...)
	stream = append(stream, clientFrame(0x80, "")...)
	want := []happening{{op: OpBinary, payload: full}, {op: OpPing, payload: full[:125]}, {op: OpBinary, payload: full}}
	if got, err := read(stream, 1000, 0, whole); err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v", got, err)
	}
}

// TestFailureStays checks that nothing is read after an error, and nothing told after a close.
func TestFailureStays(t *testing.T) {
	r := NewReader(100, 0)
	if _, rest, err := r.Next([]byte("\xFF")); err != error(ErrReserved) || len(rest) != 0 {
		t.Fatalf("got %v, rest % x", err, rest)
	}
	if ev, rest, err := r.Next(clientFrame(0x82, "x")); err != error(ErrReserved) || ev.Op != 0 || len(rest) != 0 {
		t.Errorf("after the error: %v, rest % x, %v", ev, rest, err)
	}
	r = NewReader(100, 0)
	in := append(clientFrame(0x88, "\x03\xE8"), clientFrame(0x82, "x")...)
	if ev, _, err := r.Next(in); ev.Op != OpClose || ev.Code != CloseNormal || err != nil {
		t.Fatalf("close: %v, %v", ev, err)
	}
	if ev, rest, err := r.Next([]byte("\xFF\xFF\xFF")); ev.Op != 0 || len(rest) != 0 || err != nil {
		t.Errorf("after the close: %v, rest % x, %v", ev, rest, err)
	}
}

// TestWholeMessageIsNotCopied looks at whose memory the payloads are.
func TestWholeMessageIsNotCopied(t *testing.T) {
	in := append(clientFrame(0x82, "first"), clientFrame(0x89, "ping")...)
	in = append(in, clientFrame(0x82, "third")...)
	r := NewReader(100, 0)
	rest := in
	for i, want := range []int{6, 6 + 5 + 6, 6 + 5 + 6 + 4 + 6} {
		var ev Event
		var err error
		if ev, rest, err = r.Next(rest); err != nil || &ev.Payload[0] != &in[want] {
			t.Errorf("message %d is %q, %v, and not the input's own bytes", i, ev.Payload, err)
		}
	}
	if r.buf != nil {
		t.Errorf("the reader took a buffer of %d bytes", cap(r.buf))
	}
}

// TestPayloadLivesUntilNext takes a split message and a split ping inside it, whose payloads must be whole when told.
func TestPayloadLivesUntilNext(t *testing.T) {
	r := NewReader(100, 0)
	feed := func(in []byte) (ev Event) {
		for i := range in {
			var rest []byte
			var err error
			if ev, rest, err = r.Next(in[i : i+1]); err != nil || len(rest) > 0 {
				t.Fatalf("byte %d: rest % x, %v", i, rest, err)
			}
			if ev.Op != 0 && i < len(in)-1 {
				t.Fatalf("event %v after byte %d", ev, i)
			}
		}
		return ev
	}
	if ev := feed(clientFrame(0x01, "Hel")); ev.Op != 0 {
		t.Fatalf("event %v of a fragment", ev)
	}
	if ev := feed(clientFrame(0x89, "still there?")); ev.Op != OpPing || string(ev.Payload) != "still there?" {
		t.Fatalf("ping is %v %q", ev.Op, ev.Payload)
	}
	if ev := feed(clientFrame(0x80, "lo")); ev.Op != OpText || string(ev.Payload) != "Hello" {
		t.Fatalf("message is %v %q", ev.Op, ev.Payload)
	}
	if ev := feed(clientFrame(0x82, "next")); ev.Op != OpBinary || string(ev.Payload) != "next" {
		t.Fatalf("message is %v %q", ev.Op, ev.Payload)
	}
}

// TestMemoryFollowsBytes holds the buffer against what came, not what was promised, and sees large ones let go.
func TestMemoryFollowsBytes(t *testing.T) {
	const limit = 16 << 20
	r := NewReader(limit, 0)
	header := []byte("\x82\xFF\x00\x00\x00\x00\x01\x00\x00\x00kkkk") // promises all of the limit
	if _, _, err := r.Next(header); err != nil || cap(r.buf) != 0 {
		t.Fatalf("a header alone took %d bytes, %v", cap(r.buf), err)
	}
	piece, got := make([]byte, 1500), 0
	for got+len(piece) < limit {
		if _, _, err := r.Next(piece); err != nil {
			t.Fatal(err)
		}
		got += len(piece)
		if cap(r.buf) > 2*got {
			t.Fatalf("%d bytes came, the buffer has %d", got, cap(r.buf))
		}
	}
	if cap(r.buf) > limit {
		t.Errorf("the buffer has %d bytes for a message of %d", cap(r.buf), limit)
	}
	ev, _, err := r.Next(piece[:limit-got])
	if err != nil || ev.Op != OpBinary || len(ev.Payload) != limit {
		t.Fatalf("got %v of %d bytes, %v", ev.Op, len(ev.Payload), err)
	}
	if ev, _, err = r.Next(nil); ev.Op != 0 || err != nil || r.buf != nil {
		t.Errorf("idle with a buffer of %d bytes", cap(r.buf))
	}

	// Many fragments of a byte each: the buffer doubles, it is not made anew for each.
	r = NewReader(limit, 0)
	made, last := 0, 0
	for i := range 100000 {
		first := byte(0x00)
		if i == 0 {
			first = 0x02
		}
		if _, _, err := r.Next(clientFrame(first, "x")); err != nil {
			t.Fatal(err)
		}
		if cap(r.buf) != last {
			made, last = made+1, cap(r.buf)
		}
	}
	if made > 20 || last > 200000 {
		t.Errorf("100,000 fragments of a byte took %d buffers, the last of %d bytes", made, last)
	}
}

// TestReplies covers what the events demand.
func TestReplies(t *testing.T) {
	cases := []struct {
		ev   Event
		want string
	}{
		{Event{Op: OpText, Payload: []byte("x")}, ""},
		{Event{Op: OpPong, Payload: []byte("x")}, ""},
		{Event{}, ""},
		{Event{Op: OpPing, Payload: []byte("abc")}, "\x8A\x03abc"},
		{Event{Op: OpClose, Code: CloseNoStatus}, "\x88\x00"},
		{Event{Op: OpClose, Code: 4001, Payload: []byte("why")}, "\x88\x02\x0F\xA1"},
	}
	for _, c := range cases {
		if got := string(AppendReply([]byte("before "), c.ev)); got != "before "+c.want {
			t.Errorf("reply to %v is %q", c.ev, got)
		}
	}
}

// TestCloseReasonIsCut keeps a reason within 123 bytes and at a character's end.
func TestCloseReasonIsCut(t *testing.T) {
	long := string(bytes.Repeat([]byte("ä"), 100))
	for reason, want := range map[string]int{"": 0, "short": 5, long: 122, "ok\xFFrest": 2} {
		frame := AppendClose(nil, CloseInternal, reason)
		if got := len(frame) - 4; got != want {
			t.Errorf("%q was cut to %d bytes, want %d", reason, got, want)
		}
	}
}

// TestCallersContract sees the encoders refuse what must not be sent.
func TestCallersContract(t *testing.T) {
	over := int64(1) << 31 // negative where an int has 32 bits
	for name, call := range map[string]func(){
		"close with 1006":  func() { AppendClose(nil, CloseAbnormal, "") },
		"close with 12":    func() { AppendClose(nil, 12, "") },
		"ping of 126":      func() { AppendFrame(nil, OpPing, make([]byte, 126)) },
		"negative size":    func() { AppendHeader(nil, OpBinary, -1) },
		"limit of zero":    func() { NewReader(0, 0) },
		"limit over 2^31":  func() { NewReader(int(over), 0) },
		"negative control": func() { AppendHeader(nil, OpClose, -5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}

// TestCodeOf covers wrapped and foreign errors.
func TestCodeOf(t *testing.T) {
	if got := CodeOf(errors.Join(errors.New("reading"), ErrText)); got != CloseUnsupported {
		t.Errorf("wrapped: %d", got)
	}
	if got := CodeOf(errors.New("other")); got != CloseInternal {
		t.Errorf("foreign: %d", got)
	}
}
