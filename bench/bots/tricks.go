package bots

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// trick is one thing that a hostile bot tries, once it is seated.
type trick struct {
	name string
	want []string // how the connection may end; "open" where it may not end for this
	// do does the next piece of it and says whether there is more.
	do func(b *bot, step int) (more bool)
}

// open is the end of a connection that the bot had to end itself.
const open = "open"

// How long a server has to put an end to it, and to one that goes on and on, of which a
// busy server may not have seen enough in that time.
const (
	trickTime = 3 * time.Second
	floodTime = 15 * time.Second
)

// trickStep is the time between two pieces of a trick.
const trickStep = 10 * time.Millisecond

func code(c uint16) []string { return []string{codeText(c)} }

// once is a trick that sends some frames.
func once(name string, want []string, frames func(b *bot) []byte) trick {
	return trick{name, want, func(b *bot, _ int) bool {
		b.out = append(b.out, frames(b)...)
		return false
	}}
}

func (b *bot) frame(m ...byte) []byte { return ws.AppendMasked(nil, ws.OpBinary, b.key(), m) }

// tricks are those of hostile bots. Each begins one further down the list than the bot before it.
var tricks = []trick{
	once("unknown tag", code(wire.CloseMalformed), func(b *bot) []byte { return b.frame(0x77, 1, 2, 3) }),
	once("empty message", code(wire.CloseMalformed), func(b *bot) []byte { return b.frame() }),
	once("server's tag", code(wire.CloseMalformed), func(b *bot) []byte { return b.frame(wire.Delta{Tick: b.tick}.Append(nil)...) }),
	once("short command", code(wire.CloseMalformed), func(b *bot) []byte { return b.frame(byte(wire.TagCommand), 0, 0) }),
	once("trailing bytes", code(wire.CloseMalformed), func(b *bot) []byte {
		return b.frame(append(wire.Ping{Nonce: 1}.Append(nil), 0)...)
	}),
	once("unknown command", code(wire.CloseMalformed), func(b *bot) []byte {
		return b.frame(wire.CommandHeader{Tick: b.tick, Seq: b.seq + 1, Number: 255}.Append(nil)...)
	}),
	once("seq out of order", code(wire.CloseMalformed), func(b *bot) []byte {
		return b.frame(wire.CommandHeader{Tick: b.tick, Seq: b.seq + 7}.Append(nil)...)
	}),
	once("overlong varint", code(wire.CloseMalformed), func(b *bot) []byte {
		return b.frame(byte(wire.TagCommand), 0, 0, 0, 0, 0x81, 0x00)
	}),
	once("text", code(wire.CloseText), func(b *bot) []byte { return ws.AppendMasked(nil, ws.OpText, b.key(), []byte("hello")) }),
	once("no mask", code(wire.CloseMalformed), func(b *bot) []byte {
		return ws.AppendFrame(nil, ws.OpBinary, wire.Ack{Tick: b.tick}.Append(nil))
	}),
	once("reserved bits", code(wire.CloseMalformed), func(b *bot) []byte {
		f := b.frame(wire.Ack{Tick: b.tick}.Append(nil)...)
		f[0] |= 0x40
		return f
	}),
	once("big control frame", code(wire.CloseMalformed), func(*bot) []byte { return []byte{0x89, 0xFE, 0xFF, 0xFF, 1, 2, 3, 4} }),
	once("too big", code(wire.CloseTooBig), func(b *bot) []byte {
		return ws.AppendMasked(nil, ws.OpBinary, b.key(), make([]byte, 2*wire.MaxClientMessage))
	}),
	once("terabyte", code(wire.CloseTooBig), func(*bot) []byte { return []byte{0x82, 0xFF, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3, 4} }),
	{"endless fragments", code(wire.CloseTooBig), func(b *bot, step int) bool {
		for i := range 100 {
			f := ws.AppendMasked(nil, ws.OpBinary, b.key(), make([]byte, 64))
			f[0] = 0 // a continuation that is not the last
			if step == 0 && i == 0 {
				f[0] = byte(ws.OpBinary)
			}
			b.out = append(b.out, f...)
		}
		return true
	}},
	{"flood of acks", code(wire.CloseFlood), func(b *bot, _ int) bool {
		for range 500 {
			b.message(wire.Ack{Tick: b.tick}.Append(b.msg[:0]))
		}
		return true
	}},
	{"flood of pongs", code(wire.CloseFlood), func(b *bot, _ int) bool {
		for range 2000 {
			b.out = ws.AppendMasked(b.out, ws.OpPong, b.key(), make([]byte, ws.MaxControl))
		}
		return true
	}},
	{"flood of pings", code(wire.CloseFlood), func(b *bot, _ int) bool {
		for range 500 {
			b.out = ws.AppendMasked(b.out, ws.OpPing, b.key(), make([]byte, 4))
		}
		return true
	}},
	{"huge acks", []string{open}, func(b *bot, step int) bool {
		b.message(wire.Ack{Tick: b.tick + 1<<uint(step%31)}.Append(b.msg[:0]))
		return step < 100
	}},
	{"stale acks", []string{open}, func(b *bot, step int) bool {
		b.message(wire.Ack{Tick: b.tick - uint32(step)*7}.Append(b.msg[:0]))
		return step < 100
	}},
	{"wrong ticks", []string{open}, func(b *bot, step int) bool {
		if len(b.fleet.game.commands) == 0 {
			return false
		}
		b.seq++
		h := wire.CommandHeader{Tick: b.rng.Uint32(), Seq: b.seq}
		b.message(b.fleet.game.append(b.msg[:0], h, b.rng, b.record))
		return step < 100
	}},
	{"resync storm", []string{open}, func(b *bot, step int) bool {
		b.message(wire.Resync{}.Append(b.msg[:0]))
		return step < 200
	}},
	{"false hashes", []string{open}, func(b *bot, step int) bool {
		b.message(wire.StateHash{Tick: b.tick, Hash: wire.Hash(b.rng.Uint64())}.Append(b.msg[:0]))
		return step < 100
	}},
	{"byte by byte", []string{open}, func(b *bot, step int) bool {
		f := ws.AppendMasked(nil, ws.OpBinary, [4]byte{}, wire.Ack{Tick: b.tick}.Append(nil))
		b.out = append(b.out, f[step%len(f)])
		return step+1 < 10*len(f)
	}},
	{"half close", []string{cut, codeText(wire.CloseDone)}, func(b *bot, _ int) bool {
		_ = unix.Shutdown(b.link.fd, unix.SHUT_WR)
		return false
	}},
}

// Tricks are the names of what hostile bots try.
func Tricks() []string {
	var names []string
	for _, t := range tricks {
		names = append(names, t.name)
	}
	return names
}

// beBad goes on with a hostile bot's trick.
func (b *bot) beBad(now int64) int64 {
	b.retry(now)
	if !b.seated {
		return now + lookEvery/10
	}
	if b.trick == nil {
		b.trick = &tricks[b.tried%len(tricks)]
		b.actDue, b.step, b.more = now, 0, true
	}
	if b.more && len(b.link.pending) == 0 {
		b.more = b.trick.do(b, b.step)
		b.step++
		b.flush(now)
	}
	most := int64(trickTime)
	if b.more && !slices.Contains(b.trick.want, open) {
		most = int64(floodTime)
	}
	if now-b.actDue > most {
		b.hangUp()
		return now + lookEvery
	}
	return now + int64(trickStep)
}

// judge notes how a trick ended.
func (b *bot) judge(how string, mine bool) {
	if b.trick == nil {
		return
	}
	if mine && how == cut {
		how = open
	}
	s := b.stripe
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.stage != closing { // else the run is over, and the server had less time
		inc(s.tricks, b.trick.name, how)
		if !slices.Contains(b.trick.want, how) {
			s.missed[b.trick.name+": "+how]++
		}
	}
	b.trick = nil
	b.tried++
}
