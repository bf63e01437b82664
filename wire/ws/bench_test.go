package ws

import (
	"fmt"
	"testing"
)

func BenchmarkMask(b *testing.B) {
	for _, n := range []int{18, 125, 1024, 65536} {
		p := make([]byte, n+1)[1:] // off the words' alignment
		b.Run(fmt.Sprintf("words/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				Mask(p, 0x12345678)
			}
		})
		b.Run(fmt.Sprintf("bytes/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				maskBytes(p, [4]byte{0x78, 0x56, 0x34, 0x12}, 0)
			}
		})
	}
}

// benchmarkNext reads a stream over and over: reading turns masked bytes into others, which are as good the next time.
func benchmarkNext(b *testing.B, opts Options, frame []byte, header int) {
	r := NewReader(1<<20, opts)
	kept := append([]byte(nil), frame[:header]...)
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		copy(frame, kept)
		if ev, _, err := r.Next(frame); err != nil || ev.Op == OpContinuation {
			b.Fatal(ev.Op, err)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	b.Run("command/12", func(b *testing.B) { benchmarkNext(b, BinaryOnly, binaryFrame("twelve bytes"), 6) })
	b.Run("binary/1024", func(b *testing.B) { benchmarkNext(b, 0, binaryFrame(string(make([]byte, 1024))), 8) })
	b.Run("ascii/1024", func(b *testing.B) {
		benchmarkNext(b, ClientSide, AppendFrame(nil, OpText, make([]byte, 1024)), 4)
	})
	b.Run("greek/1024", func(b *testing.B) {
		p := []byte{}
		for len(p) < 1023 {
			p = append(p, greek...)
		}
		benchmarkNext(b, ClientSide, AppendFrame(nil, OpText, p), 4)
	})
}

func BenchmarkAppendFrame(b *testing.B) {
	dst, payload := make([]byte, 0, 256), make([]byte, 100)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendFrame(dst[:0], OpBinary, payload)
	}
}

func BenchmarkHandshake(b *testing.B) {
	raw := []byte(upgradeWith("Origin: https://play.example", "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36",
		"Accept-Encoding: gzip, deflate, br, zstd", "Accept-Language: en-GB,en;q=0.9", "Cache-Control: no-cache", "Pragma: no-cache", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"))
	dst := make([]byte, 0, 512)
	var q Request
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		end, err := HeadEnd(raw, 0)
		if err == nil {
			err = q.Parse(raw[:end])
		}
		if err == nil {
			err = q.Handshake()
		}
		if err != nil {
			b.Fatal(err)
		}
		dst = AppendResponse(dst[:0], q.Key, "")
	}
}
