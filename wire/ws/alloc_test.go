package ws

import (
	"bytes"
	"testing"
)

// noAllocs asserts that f takes nothing from the heap, after a first run that may.
func noAllocs(t *testing.T, what string, f func()) {
	t.Helper()
	got := testing.AllocsPerRun(200, f)
	t.Logf("%s: %v allocations, budget 0", what, got)
	if got != 0 {
		t.Errorf("%s takes %v allocations, budget 0", what, got)
	}
}

func TestAllocNext(t *testing.T) {
	stream := bytes.Join([][]byte{text("Hello, wörld"), binaryFrame("command"), ping("p"), pong("")}, nil)
	r := NewReader(4096, 0)
	scratch := make([]byte, len(stream))
	noAllocs(t, "reading whole frames", func() {
		copy(scratch, stream)
		events := 0
		for in := scratch; ; events++ {
			ev, rest, err := r.Next(in)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Op == OpContinuation {
				break
			}
			in = rest
		}
		if events != 4 {
			t.Fatalf("%d events", events)
		}
	})
}

func TestAllocNextInPieces(t *testing.T) {
	stream := bytes.Join([][]byte{first("Hello, "), ping("ping"), last("wörld"), binaryFrame("command")}, nil)
	r := NewReader(4096, 0)
	scratch := make([]byte, len(stream))
	noAllocs(t, "reading single bytes", func() {
		copy(scratch, stream)
		events := 0
		for i := range scratch {
			ev, _, err := r.Next(scratch[i : i+1])
			if err != nil {
				t.Fatal(err)
			}
			if ev.Op != OpContinuation {
				events++
			}
		}
		if events != 3 {
			t.Fatalf("%d events", events)
		}
	})
}

func TestAllocFailure(t *testing.T) {
	dst := make([]byte, 0, 200)
	noAllocs(t, "failing and closing", func() {
		r := NewReader(4096, BinaryOnly)
		in := [1]byte{0x81}
		_, _, err := r.Next(in[:])
		if dst = AppendClose(dst[:0], CodeOf(err), err.(*Error).Reason); len(dst) < 4 {
			t.Fatal("no close frame")
		}
	})
}

func TestAllocMask(t *testing.T) {
	p, key := make([]byte, 1021), uint32(0x12345678)
	noAllocs(t, "masking", func() { key = Mask(p, key) })
}

func TestAllocAppend(t *testing.T) {
	dst, payload := make([]byte, 0, 8192), make([]byte, 200)
	noAllocs(t, "writing frames", func() {
		dst = AppendFrame(dst[:0], OpBinary, payload)
		dst = append(AppendHeader(dst, OpText, len(payload)), payload...)
		dst = AppendMasked(dst, OpBinary, [4]byte{1, 2, 3, 4}, payload)
		dst = AppendReply(dst, Event{Op: OpPing, Payload: payload[:10]})
		dst = AppendReply(dst, Event{Op: OpClose, Code: CloseNormal})
		dst = AppendClose(dst, CloseGoingAway, "the server stops")
	})
}

func TestAllocHandshake(t *testing.T) {
	raw := []byte(upgradeWith("Origin: https://play.example", "Sec-WebSocket-Protocol: a, b", "X-Forwarded-For: 192.0.2.1"))
	dst := make([]byte, 0, 512)
	var q Request
	noAllocs(t, "handshake", func() {
		end, err := HeadEnd(raw, 0)
		if err == nil {
			err = q.Parse(raw[:end])
		}
		if err == nil {
			err = q.Handshake()
		}
		if err != nil || !q.Upgrade || !q.Offers("b") || len(q.ForwardedFor.Last()) == 0 {
			t.Fatal(err)
		}
		dst = AppendResponse(dst[:0], q.Key, "b")
	})
}

func TestAllocRefusal(t *testing.T) {
	raw := []byte(upgradeWith("Host: again"))
	dst := make([]byte, 0, 512)
	var q Request
	noAllocs(t, "refusal", func() { dst = AppendRefusal(dst[:0], q.Parse(raw)) })
}
