package ws

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"unicode/utf8"
)

// happening is an event, kept after its payload's life; or the failure that ends a stream.
type happening struct {
	op      Opcode
	code    CloseCode // of a close event, or of the failure
	failed  bool
	payload string
}

func (h happening) String() string {
	if h.failed {
		return fmt.Sprintf("failed with %d", h.code)
	}
	shown := h.payload
	if len(shown) > 40 {
		shown = shown[:40] + "..."
	}
	return fmt.Sprintf("%v %d, %d bytes %q", h.op, h.code, len(h.payload), shown)
}

// twin is the dumb reading of a stream: it sees all of it at once, copies everything and masks byte by byte.
func twin(stream []byte, limit int, opts Options) (out []happening) {
	fail := func(code CloseCode) []happening { return append(out, happening{code: code, failed: true}) }
	var message []byte
	var kind Opcode
	for at := 0; at < len(stream); {
		get := func(n int) []byte {
			if len(stream)-at < n {
				return nil
			}
			at += n
			return stream[at-n : at]
		}
		first := get(1)[0]
		op, fin := Opcode(first&15), first >= 128
		data := op <= 2
		if first&0x70 != 0 || op >= 3 && op <= 7 || op >= 11 || !data && !fin {
			return fail(1002)
		}
		if op == 0 && kind == 0 || op != 0 && data && kind != 0 {
			return fail(1002)
		}
		if op == OpText && opts&BinaryOnly != 0 {
			return fail(1003)
		}
		second := get(1)
		if second == nil {
			return out
		}
		if masked := second[0] >= 128; masked == (opts&ClientSide != 0) {
			return fail(1002)
		}
		size := uint64(second[0] & 127)
		if size > 125 && !data {
			return fail(1002)
		}
		switch size {
		case 126:
			b := get(2)
			if b == nil {
				return out
			}
			if size = uint64(binary.BigEndian.Uint16(b)); size <= 125 {
				return fail(1002)
			}
		case 127:
			b := get(8)
			if b == nil {
				return out
			}
			if size = binary.BigEndian.Uint64(b); size <= 65535 || size>>63 != 0 {
				return fail(1002)
			}
		}
		if data && (size > uint64(limit) || uint64(len(message))+size > uint64(limit)) {
			return fail(1009)
		}
		key := []byte{0, 0, 0, 0}
		if opts&ClientSide == 0 {
			if key = get(4); key == nil {
				return out
			}
		}
		if op == OpText || op == OpBinary {
			kind = op
		}
		have := min(size, uint64(len(stream)-at))
		payload := bytes.Clone(get(int(have)))
		for i := range payload {
			payload[i] ^= key[i%4]
		}
		if data {
			message = append(message, payload...)
			if kind == OpText && !plausible(message) {
				return fail(1007)
			}
		}
		if have < size {
			return out
		}
		switch {
		case op == OpClose && size == 0:
			return append(out, happening{op: OpClose, code: CloseNoStatus})
		case op == OpClose:
			if size == 1 {
				return fail(1002)
			}
			code := CloseCode(binary.BigEndian.Uint16(payload))
			if !sendable(code) {
				return fail(1002)
			}
			if !utf8.Valid(payload[2:]) {
				return fail(1007)
			}
			return append(out, happening{op: OpClose, code: code, payload: string(payload[2:])})
		case !data:
			out = append(out, happening{op: op, payload: string(payload)})
		case fin:
			if kind == OpText && !utf8.Valid(message) {
				return fail(1007)
			}
			out = append(out, happening{op: kind, payload: string(message)})
			message, kind = nil, 0
		}
	}
	return out
}

// sendable lists the codes one by one where ValidCloseCode has ranges.
func sendable(c CloseCode) bool {
	switch c {
	case 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014:
		return true
	}
	return c/1000 == 3 || c/1000 == 4
}

// plausible says whether more bytes could make b UTF-8.
func plausible(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(b)
		}
		b = b[size:]
	}
	return true
}

// read runs a Reader over the pieces that cut makes of a copy of stream.
func read(stream []byte, limit int, opts Options, cut func(left int) int) (out []happening, err error) {
	r := NewReader(limit, opts)
	stream = bytes.Clone(stream)
	for len(stream) > 0 {
		n := cut(len(stream))
		in := stream[:n:n]
		stream = stream[n:]
		for {
			var ev Event
			if ev, in, err = r.Next(in); err != nil {
				return append(out, happening{code: CodeOf(err), failed: true}), err
			}
			if ev.Op == OpContinuation {
				if len(in) != 0 {
					panic("bytes left without an event")
				}
				break
			}
			out = append(out, happening{op: ev.Op, code: ev.Code, payload: string(ev.Payload)})
		}
	}
	return out, nil
}

func whole(left int) int   { return left }
func oneByte(left int) int { return 1 }

// randomly cuts into pieces that are mostly small, so that headers and payloads are cut in all places.
func randomly(rng *rand.Rand) func(left int) int {
	return func(left int) int {
		n := 1 + rng.IntN(8)
		if rng.IntN(3) == 0 {
			n = 1 + rng.IntN(400)
		}
		return min(n, left)
	}
}

// clientFrame is a masked frame with any first byte.
func clientFrame(first byte, payload string) []byte {
	key := [4]byte{0x9D, 0x31, byte(len(payload)) | 1, 0xE7}
	// An oversized control frame is a case to test, which the encoder refuses to make.
	if Opcode(first&0x0F).Control() && len(payload) > MaxControl {
		frame := appendMasked(nil, byte(OpBinary)|bitFin, key, []byte(payload))
		frame[0] = first
		return frame
	}
	return appendMasked(nil, first, key, []byte(payload))
}
