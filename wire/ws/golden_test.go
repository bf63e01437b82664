package ws

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"
)

// TestGoldenRFCFrames reads and writes the examples of RFC 6455, section 5.7.
func TestGoldenRFCFrames(t *testing.T) {
	wide256, wide64k := bytes.Repeat([]byte{0xA5}, 256), bytes.Repeat([]byte{0x5A}, 65536)
	cases := []struct {
		name    string
		hex     string
		tail    []byte // payload after the hex
		opts    Options
		want    Event
		encoded func() []byte
	}{
		{"unmasked text", "81 05 48656c6c6f", nil, ClientSide, Event{Op: OpText, Payload: []byte("Hello")},
			func() []byte { return AppendFrame(nil, OpText, []byte("Hello")) }},
		{"masked text", "81 85 37fa213d 7f9f4d5158", nil, 0, Event{Op: OpText, Payload: []byte("Hello")},
			func() []byte { return AppendMasked(nil, OpText, [4]byte{0x37, 0xfa, 0x21, 0x3d}, []byte("Hello")) }},
		{"fragmented text", "01 03 48656c  80 02 6c6f", nil, ClientSide, Event{Op: OpText, Payload: []byte("Hello")}, nil},
		{"ping", "89 05 48656c6c6f", nil, ClientSide, Event{Op: OpPing, Payload: []byte("Hello")},
			func() []byte { return AppendFrame(nil, OpPing, []byte("Hello")) }},
		{"masked pong", "8a 85 37fa213d 7f9f4d5158", nil, 0, Event{Op: OpPong, Payload: []byte("Hello")},
			func() []byte { return AppendMasked(nil, OpPong, [4]byte{0x37, 0xfa, 0x21, 0x3d}, []byte("Hello")) }},
		{"256 bytes", "82 7e 0100", wide256, ClientSide, Event{Op: OpBinary, Payload: wide256},
			func() []byte { return AppendFrame(nil, OpBinary, wide256) }},
		{"64 KiB", "82 7f 0000000000010000", wide64k, ClientSide, Event{Op: OpBinary, Payload: wide64k},
			func() []byte { return AppendFrame(nil, OpBinary, wide64k) }},
		{"close 1000 bye", "88 05 03e8 627965", nil, ClientSide, Event{Op: OpClose, Code: CloseNormal, Payload: []byte("bye")},
			func() []byte { return AppendClose(nil, CloseNormal, "bye") }},
		{"close without code", "88 00", nil, ClientSide, Event{Op: OpClose, Code: CloseNoStatus},
			func() []byte { return AppendClose(nil, 0, "dropped") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			raw, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			raw = append(raw, c.tail...)
			if c.encoded != nil {
				if got := c.encoded(); !bytes.Equal(got, raw) {
					t.Errorf("encoded % x, want % x", got, raw)
				}
			}
			r := NewReader(1<<20, c.opts)
			ev, rest, err := r.Next(bytes.Clone(raw))
			if err != nil || ev.Op != c.want.Op || ev.Code != c.want.Code || !bytes.Equal(ev.Payload, c.want.Payload) {
				t.Errorf("read %v %d %q, %v", ev.Op, ev.Code, ev.Payload, err)
			}
			if ev, rest, err = r.Next(rest); ev.Op != 0 || len(rest) != 0 || err != nil {
				t.Errorf("after it: %v, % x, %v", ev, rest, err)
			}
		})
	}
}

// TestGoldenRFCHandshake is the handshake of RFC 6455, section 1.2 and 1.3.
func TestGoldenRFCHandshake(t *testing.T) {
	head := []byte("GET /chat HTTP/1.1\r\n" +
		"Host: server.example.com\r\n" +
		"Upgrade: websocket\r\n" +
		"Connection: Upgrade\r\n" +
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
		"Origin: http://example.com\r\n" +
		"Sec-WebSocket-Protocol: chat, superchat\r\n" +
		"Sec-WebSocket-Version: 13\r\n\r\n")
	want := "HTTP/1.1 101 Switching Protocols\r\n" +
		"Upgrade: websocket\r\n" +
		"Connection: Upgrade\r\n" +
		"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" +
		"Sec-WebSocket-Protocol: chat\r\n\r\n"
	end, err := HeadEnd(append(head, "frames"...), 0)
	if err != nil || end != len(head) {
		t.Fatalf("head ends at %d, %v", end, err)
	}
	var q Request
	if err := q.Parse(head[:end]); err != nil {
		t.Fatal(err)
	}
	if err := q.Handshake(); err != nil {
		t.Fatal(err)
	}
	if !q.Upgrade || string(q.Path) != "/chat" || q.Query != nil || string(q.Host) != "server.example.com" ||
		string(q.Origin) != "http://example.com" || !q.Offers("superchat") || q.Offers("Chat") {
		t.Errorf("parsed %+v", q)
	}
	if got := string(AppendResponse(nil, q.Key, "chat")); got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	dial := Dial{Host: "server.example.com", Target: "/chat", Nonce: [16]byte([]byte("the sample nonce"))}
	if !dial.Accepted([]byte(want)) {
		t.Error("the client does not accept the answer")
	}
}

// TestReaderSize holds the line on what an idle connection costs.
func TestReaderSize(t *testing.T) {
	if size := unsafe.Sizeof(Reader{}); size > 96 {
		t.Errorf("a Reader has %d bytes, budget 96", size)
	} else {
		t.Logf("a Reader has %d bytes, budget 96", size)
	}
}
