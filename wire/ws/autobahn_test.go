package ws

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A conformance case by its number in the Autobahn suite's list: what is sent, in the pieces that the
// suite sends, and what an echo server must answer. A case that stays legal is ended by a close 1000,
// which must be answered with 1000.
type conformance struct {
	number string
	steps  [][]byte
	want   []happening // what the server sends, its close frame left out
	code   CloseCode   // of the server's close frame; CloseNoStatus if it has none
	// failsAt is the step, counted from 1, after which the server must have given up, while it had
	// not after the step before; 0 if that does not matter.
	failsAt int
	large   bool // too large for every split
}

// echo is a server without a socket: bytes in, bytes out.
type echo struct {
	r    Reader
	out  []byte
	done bool // a close frame went out
}

func (e *echo) feed(in []byte) {
	for !e.done {
		ev, rest, err := e.r.Next(in)
		switch {
		case err != nil:
			e.out = AppendClose(e.out, CodeOf(err), err.(*Error).Reason)
			e.done = true
		case ev.Op == OpContinuation:
			return
		case ev.Op.Control():
			e.out = AppendReply(e.out, ev)
			e.done = ev.Op == OpClose
		default:
			e.out = AppendFrame(e.out, ev.Op, ev.Payload)
		}
		in = rest
	}
}

// Builders of cases. A step is what one write of the suite's client carries.

func steps(parts ...[]byte) [][]byte { return parts }

// together is all frames in one write.
func together(frames ...[]byte) [][]byte { return steps(bytes.Join(frames, nil)) }

// chopped is the frames in writes of n bytes.
func chopped(n int, frames ...[]byte) [][]byte {
	return slices.Collect(slices.Chunk(bytes.Join(frames, nil), n))
}

const final = bitFin

func text(p string) []byte        { return clientFrame(final|byte(OpText), p) }
func binaryFrame(p string) []byte { return clientFrame(final|byte(OpBinary), p) }
func ping(p string) []byte        { return clientFrame(final|byte(OpPing), p) }
func pong(p string) []byte        { return clientFrame(final|byte(OpPong), p) }
func first(p string) []byte       { return clientFrame(byte(OpText), p) }
func more(p string) []byte        { return clientFrame(byte(OpContinuation), p) }
func last(p string) []byte        { return clientFrame(final|byte(OpContinuation), p) }
func rsv(bits byte, f []byte) []byte {
	f = bytes.Clone(f)
	f[0] |= bits << 4
	return f
}
func closing(code CloseCode, reason string) []byte {
	return clientFrame(final|byte(OpClose), string(binary.BigEndian.AppendUint16(nil, uint16(code)))+reason)
}

// fragments is a message in frames of n payload bytes.
func fragments(op Opcode, p string, n int) (frames [][]byte) {
	for begin := 0; begin == 0 || begin < len(p); begin += n {
		end, b0 := min(begin+n, len(p)), byte(0)
		if begin == 0 {
			b0 = byte(op)
		}
		if end == len(p) {
			b0 |= final
		}
		frames = append(frames, clientFrame(b0, p[begin:end]))
	}
	return frames
}

func says(op Opcode, p string) happening { return happening{op: op, payload: p} }

// legal is a case in which everything is answered with want.
func legal(number string, steps [][]byte, want ...happening) conformance {
	return conformance{number: number, steps: append(steps, closing(CloseNormal, "")), want: want, code: CloseNormal}
}

// illegal is a case that ends with the server's close of that code, after it answered with want.
func illegal(number string, code CloseCode, steps [][]byte, want ...happening) conformance {
	return conformance{number: number, steps: steps, want: want, code: code}
}

// Groups 1 and 2: framing, pings and pongs.
func casesFraming() (cases []conformance) {
	for group, op := range []Opcode{OpText, OpBinary} {
		for i, n := range []int{0, 125, 126, 127, 128, 65535, 65536, 65536} {
			p := strings.Repeat([]string{"*", "\xFE"}[group], n)
			sent := together(clientFrame(final|byte(op), p))
			if i == 7 {
				sent = chopped(997, sent[0])
			}
			cases = append(cases, legal(fmt.Sprintf("1.%d.%d", group+1, i+1), sent, says(op, p)))
		}
	}
	var ten [][]byte
	var tenPongs []happening
	for i := range 10 {
		p := fmt.Sprintf("payload-%d", i)
		ten, tenPongs = append(ten, ping(p)), append(tenPongs, says(OpPong, p))
	}
	notText, full := "\x00\xFF\xFE\xFD\xFC\xFB\x00\xFF", strings.Repeat("\xFE", 125)
	return append(cases,
		legal("2.1", steps(ping("")), says(OpPong, "")),
		legal("2.2", steps(ping("Hello, world!")), says(OpPong, "Hello, world!")),
		legal("2.3", steps(ping(notText)), says(OpPong, notText)),
		legal("2.4", steps(ping(full)), says(OpPong, full)),
		illegal("2.5", CloseProtocol, steps(ping(full+"\xFE"))),
		legal("2.6", chopped(1, ping(full)), says(OpPong, full)),
		legal("2.7", steps(pong(""))),
		legal("2.8", steps(pong("unsolicited pong payload"))),
		legal("2.9", steps(pong("unsolicited pong payload"), ping("ping payload")), says(OpPong, "ping payload")),
		legal("2.10", ten, tenPongs...),
		legal("2.11", chopped(1, ten...), tenPongs...),
	)
}

// Groups 3 and 4: reserved bits and opcodes.
func casesReserved() []conformance {
	const hello = "Hello, world!"
	echoed := says(OpText, hello)
	cases := []conformance{
		illegal("3.1", CloseProtocol, steps(rsv(1, text(hello)))),
		illegal("3.2", CloseProtocol, together(text(hello), rsv(2, text(hello)), ping("")), echoed),
		illegal("3.3", CloseProtocol, steps(text(hello), rsv(3, text(hello)), ping("")), echoed),
		illegal("3.4", CloseProtocol, chopped(1, text(hello), rsv(4, text(hello)), ping("")), echoed),
		illegal("3.5", CloseProtocol, steps(rsv(5, binaryFrame("\x00\xFF\xFE\xFD\xFC\xFB\x00\xFF")))),
		illegal("3.6", CloseProtocol, steps(rsv(6, ping(hello)))),
		illegal("3.7", CloseProtocol, steps(rsv(7, clientFrame(0x88, "")))),
	}
	for group, op := range []byte{3, 11} {
		reserved := func(i byte, p string) []byte { return clientFrame(final|(op+i), p) }
		number := func(i int) string { return fmt.Sprintf("4.%d.%d", group+1, i) }
		cases = append(cases,
			illegal(number(1), CloseProtocol, steps(reserved(0, ""))),
			illegal(number(2), CloseProtocol, steps(reserved(1, "reserved opcode payload"))),
			illegal(number(3), CloseProtocol, steps(text(hello), reserved(2, ""), ping("")), echoed),
			illegal(number(4), CloseProtocol, steps(text(hello), reserved(3, hello), ping("")), echoed),
			illegal(number(5), CloseProtocol, chopped(1, text(hello), reserved(4, hello), ping("")), echoed),
		)
	}
	return cases
}

// Group 5: fragmentation.
func casesFragmentation() []conformance {
	both, ponged := says(OpText, "fragment1fragment2"), says(OpPong, "ping payload")
	two := [][]byte{first("fragment1"), last("fragment2")}
	around := [][]byte{first("fragment1"), ping("ping payload"), last("fragment2")}
	orphan := [][]byte{last("non-continuation payload"), text("Hello, world!")}
	open := [][]byte{more("non-continuation payload"), text("Hello, world!")}
	five := [][]byte{first("fragment1"), more("fragment2"), ping("pongme 1!"), more("fragment3"), more("fragment4"), ping("pongme 2!"), last("fragment5")}
	fiveWant := []happening{says(OpPong, "pongme 1!"), says(OpPong, "pongme 2!"), says(OpText, "fragment1fragment2fragment3fragment4fragment5")}
	return []conformance{
		illegal("5.1", CloseProtocol, steps(clientFrame(byte(OpPing), "fragment1"), last("fragment2"))),
		illegal("5.2", CloseProtocol, steps(clientFrame(byte(OpPong), "fragment1"), last("fragment2"))),
		legal("5.3", together(two...), both),
		legal("5.4", slices.Clone(two), both),
		legal("5.5", chopped(1, two...), both),
		legal("5.6", together(around...), ponged, both),
		legal("5.7", slices.Clone(around), ponged, both),
		legal("5.8", chopped(1, around...), ponged, both),
		illegal("5.9", CloseProtocol, together(orphan...)),
		illegal("5.10", CloseProtocol, orphan),
		illegal("5.11", CloseProtocol, chopped(1, orphan...)),
		illegal("5.12", CloseProtocol, together(open...)),
		illegal("5.13", CloseProtocol, open),
		illegal("5.14", CloseProtocol, chopped(1, open...)),
		illegal("5.15", CloseProtocol, together(first("fragment1"), last("fragment2"), more("fragment3"), text("fragment4")), both),
		illegal("5.16", CloseProtocol, steps(more("fragment1"), first("fragment2"), last("fragment3"), more("fragment4"), first("fragment5"), last("fragment6"))),
		illegal("5.17", CloseProtocol, steps(last("fragment1"), first("fragment2"), last("fragment3"), last("fragment4"), first("fragment5"), last("fragment6"))),
		illegal("5.18", CloseProtocol, together(first("fragment1"), text("fragment2"))),
		legal("5.19", together(five...), fiveWant...),
		legal("5.20", slices.Clone(five), fiveWant...),
	}
}

// Sequences of groups 6.5 to 6.23, after Markus Kuhn's stress test for UTF-8 decoders. Bytes are written
// out where they are no text.
var (
	greek = "κ\u1F79σμε" // the second letter is the one of three bytes

	sequences = [][]string{
		5:  {"hello$world", "hello¢world", "hello€world", "hello\U00024B62world", greek},
		6:  { /* all prefixes of greek */ },
		7:  {"\x00", "\u0080", "\u0800", "\U00010000"},
		8:  {"\xF8\x88\x80\x80\x80", "\xFC\x84\x80\x80\x80\x80"},
		9:  {"\x7F", "\u07FF", "\uFFFF", "\U0010FFFF"},
		10: {"\xF7\xBF\xBF\xBF", "\xFB\xBF\xBF\xBF\xBF", "\xFD\xBF\xBF\xBF\xBF\xBF"},
		11: {"\uD7FF", "\uE000", "\uFFFD", "\U0010FFFF", "\xF4\x90\x80\x80"},
		12: {"\x80", "\xBF", "\x80\xBF", "\x80\xBF\x80", "\x80\xBF\x80\xBF", "\x80\xBF\x80\xBF\x80", "\x80\xBF\x80\xBF\x80\xBF", span(0x80, 0xBF, "")},
		13: {span(0xC0, 0xDF, " "), span(0xE0, 0xEF, " "), span(0xF0, 0xF7, " "), span(0xF8, 0xFB, " "), span(0xFC, 0xFD, " ")},
		14: incomplete,
		15: {strings.Join(incomplete, "")},
		16: {"\xFE", "\xFF", "\xFE\xFE\xFF\xFF"},
		17: {"\xC0\xAF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF", "\xF8\x80\x80\x80\xAF", "\xFC\x80\x80\x80\x80\xAF"},
		18: {"\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF8\x87\xBF\xBF\xBF", "\xFC\x83\xBF\xBF\xBF\xBF"},
		19: {"\xC0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80", "\xF8\x80\x80\x80\x80", "\xFC\x80\x80\x80\x80\x80"},
		20: {"\xED\xA0\x80", "\xED\xAD\xBF", "\xED\xAE\x80", "\xED\xAF\xBF", "\xED\xB0\x80", "\xED\xBE\x80", "\xED\xBF\xBF"},
		21: {"\xED\xA0\x80\xED\xB0\x80", "\xED\xA0\x80\xED\xBF\xBF", "\xED\xAD\xBF\xED\xB0\x80", "\xED\xAD\xBF\xED\xBF\xBF",
			"\xED\xAE\x80\xED\xB0\x80", "\xED\xAE\x80\xED\xBF\xBF", "\xED\xAF\xBF\xED\xB0\x80", "\xED\xAF\xBF\xED\xBF\xBF"},
		22: { /* the last two characters of each plane */ },
		23: {"\uFFF9", "\uFFFA", "\uFFFB", "\uFFFC", "\uFFFD", "\uFFFE", "\uFFFF"},
	}

	incomplete = []string{"\xC0", "\xE0\x80", "\xF0\x80\x80", "\xF8\x80\x80\x80", "\xFC\x80\x80\x80\x80",
		"\xDF", "\xEF\xBF", "\xF7\xBF\xBF", "\xFB\xBF\xBF\xBF", "\xFD\xBF\xBF\xBF\xBF"}
)

// span is the bytes from low up to, but without, high, each followed by sep.
func span(low, high int, sep string) (s string) {
	for c := low; c < high; c++ {
		s += string([]byte{byte(c)}) + sep
	}
	return s
}

// Group 6: UTF-8.
func casesText() []conformance {
	const mixed, invalid = "Hello-µ@ßöäüàá-UTF-8!!", "\xED\xA0\x80"
	// The character past U+10FFFF becomes impossible with its second byte, the thirteenth of all.
	past := greek + "\xF4\x90\x80\x80" + "edited"
	frame := text(past)
	head := len(frame) - len(past)
	failFast := func(number string, parts ...[]byte) conformance {
		c := illegal(number, CloseInvalidData, parts)
		c.failsAt = 2
		return c
	}
	cases := []conformance{
		legal("6.1.1", steps(text("")), says(OpText, "")),
		legal("6.1.2", steps(first(""), more(""), last("")), says(OpText, "")),
		legal("6.1.3", steps(first(""), more("middle frame payload"), last("")), says(OpText, "middle frame payload")),
		legal("6.2.1", steps(text(mixed)), says(OpText, mixed)),
		legal("6.2.2", steps(first("Hello-µ@ßöä"), last("üàá-UTF-8!!")), says(OpText, mixed)),
		legal("6.2.3", fragments(OpText, mixed, 1), says(OpText, mixed)),
		legal("6.2.4", fragments(OpText, greek, 1), says(OpText, greek)),
		illegal("6.3.1", CloseInvalidData, steps(text(greek+invalid+"edited"))),
		illegal("6.3.2", CloseInvalidData, fragments(OpText, greek+invalid+"edited", 1)),
		failFast("6.4.1", first(greek), more("\xF4\x90\x80\x80"), last("edited")),
		failFast("6.4.2", first(past[:12]), more(past[12:13]), last(past[13:])),
		failFast("6.4.3", frame[:head+11], frame[head+11:head+15], frame[head+15:]),
		failFast("6.4.4", frame[:head+12], frame[head+12:head+13], frame[head+13:]),
	}
	lists := slices.Clone(sequences)
	for i := range len(greek) {
		lists[6] = append(lists[6], greek[:i+1])
	}
	for plane := range rune(17) {
		lists[22] = append(lists[22], string(plane<<16|0xFFFE), string(plane<<16|0xFFFF))
	}
	// Which of them are text, by hand: a list does not ask the checker that it is to check.
	wholly := map[int]bool{5: true, 7: true, 9: true, 22: true, 23: true}
	ends := map[int]bool{2: true, 5: true, 7: true, 9: true, 11: true} // of the characters in greek
	for group := 5; group < len(lists); group++ {
		for i, p := range lists[group] {
			number := fmt.Sprintf("6.%d.%d", group, i+1)
			if wholly[group] || group == 6 && ends[i+1] || group == 11 && i < 4 {
				cases = append(cases, legal(number, steps(text(p)), says(OpText, p)))
			} else {
				cases = append(cases, illegal(number, CloseInvalidData, steps(text(p))))
			}
		}
	}
	return cases
}

// Group 7: closing.
func casesClose() []conformance {
	normal := closing(CloseNormal, "")
	raw := func(p string) []byte { return clientFrame(final|byte(OpClose), p) }
	big := strings.Repeat("BAsd7&jh23", 26215)[:256<<10]
	cases := []conformance{
		illegal("7.1.1", CloseNormal, steps(text("Hello World!"), normal), says(OpText, "Hello World!")),
		illegal("7.1.2", CloseNormal, steps(normal, normal)),
		illegal("7.1.3", CloseNormal, steps(normal, ping(""))),
		illegal("7.1.4", CloseNormal, steps(normal, text("Hello World!"))),
		illegal("7.1.5", CloseNormal, steps(first("fragment1"), normal, last("fragment2"))),
		illegal("7.1.6", CloseNormal, steps(text(big), text("Hello World!"), normal, ping("")), says(OpText, big), says(OpText, "Hello World!")),
		illegal("7.3.1", CloseNoStatus, steps(raw(""))),
		illegal("7.3.2", CloseProtocol, steps(raw("a"))),
		illegal("7.3.3", CloseNormal, steps(normal)),
		illegal("7.3.4", CloseNormal, steps(closing(CloseNormal, "Hello World!"))),
		illegal("7.3.5", CloseNormal, steps(closing(CloseNormal, strings.Repeat("*", 123)))),
		illegal("7.3.6", CloseProtocol, steps(closing(CloseNormal, strings.Repeat("*", 124)))),
		illegal("7.5.1", CloseInvalidData, steps(closing(CloseNormal, greek+"\xED\xA0\x80edited"))),
		illegal("7.13.1", CloseProtocol, steps(closing(5000, ""))),
		illegal("7.13.2", CloseProtocol, steps(closing(65535, ""))),
	}
	for i, code := range []CloseCode{1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999} {
		cases = append(cases, illegal(fmt.Sprintf("7.7.%d", i+1), code, steps(closing(code, ""))))
	}
	for i, code := range []CloseCode{0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999} {
		cases = append(cases, illegal(fmt.Sprintf("7.9.%d", i+1), CloseProtocol, steps(closing(code, ""))))
	}
	return cases
}

// Groups 9 and 10: sizes, fragments, chops, many messages.
func casesLimits() (cases []conformance) {
	large := func(number string, sent [][]byte, want ...happening) {
		c := legal(number, sent, want...)
		c.large = true
		cases = append(cases, c)
	}
	for i, op := range []Opcode{OpText, OpBinary} {
		fill := func(n int) string { return strings.Repeat("BAsd7&jh", n/8) }
		if op == OpBinary {
			fill = func(n int) string { return strings.Repeat("\x00\xFE\x80\xFF", n/4) }
		}
		frame := func(p string) []byte { return clientFrame(final|byte(op), p) }
		for k, n := range []int{64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 16 << 20} {
			large(fmt.Sprintf("9.%d.%d", 1+i, k+1), steps(frame(fill(n))), says(op, fill(n)))
		}
		message := fill(4 << 20)
		for k, n := range []int{64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
			large(fmt.Sprintf("9.%d.%d", 3+i, k+1), fragments(op, message, n), says(op, message))
		}
		message = fill(1 << 20)
		for k, n := range []int{64, 128, 256, 512, 1024, 2048} {
			large(fmt.Sprintf("9.%d.%d", 5+i, k+1), chopped(n, frame(message)), says(op, message))
		}
		for k, n := range []int{0, 16, 64, 256, 1024, 4096} {
			p := fill(n)
			large(fmt.Sprintf("9.%d.%d", 7+i, k+1), slices.Repeat(steps(frame(p)), 1000), slices.Repeat([]happening{says(op, p)}, 1000)...)
		}
	}
	stars := strings.Repeat("*", 65536)
	return append(cases, legal("10.1.1", fragments(OpText, stars, 1300), says(OpText, stars)))
}

// TestAutobahnCases runs every case as the suite sends it, in one piece, byte by byte and cut at random.
func TestAutobahnCases(t *testing.T) {
	groups := []struct {
		name  string
		count int // of cases in the suite's list
		cases []conformance
	}{
		{"1 and 2 framing", 16 + 11, casesFraming()},
		{"3 and 4 reserved", 7 + 10, casesReserved()},
		{"5 fragmentation", 20, casesFragmentation()},
		{"6 UTF-8", 145, casesText()},
		{"7 close", 37, casesClose()},
		{"9 and 10 limits", 54 + 1, casesLimits()},
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			if len(g.cases) != g.count {
				t.Errorf("%d cases, the suite has %d", len(g.cases), g.count)
			}
			for _, c := range g.cases {
				t.Run(c.number, func(t *testing.T) { c.runAll(t, rng, seed) })
			}
		})
	}
}

func (c *conformance) runAll(t *testing.T, rng *rand.Rand, seed uint64) {
	c.run(t, "as sent", c.steps, true)
	if c.large && testing.Short() {
		return
	}
	all := bytes.Join(c.steps, nil)
	c.run(t, "whole", steps(all), false)
	cut := func(left int) int { return min(1+rng.IntN(30000), left) }
	if !c.large {
		c.run(t, "byte by byte", chopped(1, all), false)
		cut = randomly(rng)
	}
	var pieces [][]byte
	for at := 0; at < len(all); {
		n := cut(len(all) - at)
		pieces = append(pieces, all[at:at+n])
		at += n
	}
	c.run(t, fmt.Sprintf("random, seed %d", seed), pieces, false)
}

func (c *conformance) run(t *testing.T, how string, pieces [][]byte, asSent bool) {
	t.Helper()
	server := echo{r: NewReader(16<<20, 0)}
	for i, piece := range pieces {
		server.feed(bytes.Clone(piece))
		if asSent && c.failsAt > 0 && server.done != (i+1 >= c.failsAt) {
			t.Errorf("%s: closed after step %d: %v", how, i+1, server.done)
		}
	}
	got := twin(server.out, 32<<20, ClientSide)
	if len(got) == 0 || got[len(got)-1].op != OpClose || got[len(got)-1].code != c.code {
		t.Errorf("%s: ends with %v, want a close with %d", how, got, c.code)
		return
	}
	if got = got[:len(got)-1]; !slices.Equal(got, c.want) {
		t.Errorf("%s: answered %v, want %v", how, got, c.want)
	}
}
