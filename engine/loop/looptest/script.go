package looptest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
)

// What a connection of a script says decides alone what it hears, whatever pieces it
// comes in and whatever the others do:
//
//	E n bytes   hear the n bytes again
//	S n         hear n pieces of a stream, each in a send of its own
//	B n         hear n KB of it at once
//	C n         be closed with the code n
//
// So two implementations, and a model that has neither sockets nor time, must agree on
// every byte.

// Outcome is what became of one connection of a script.
type Outcome struct {
	Heard []byte
	Code  uint16
}

// Scripted plays random scripts, the same for the same seed, on an implementation.
func Scripted(t *testing.T, mk Make, seed uint64) []Outcome {
	t.Helper()
	scripts := scripts(seed)
	out := make([]Outcome, len(scripts))
	type viewer struct {
		actor
		tag uint64
	}
	viewers, sink := map[loop.Handle]*viewer{}, loop.Handle(0)
	ready, closed := make(chan struct{}), make(chan struct{}, len(scripts))
	r := &rig{}
	r.onOpen = func(h loop.Handle, tag uint64) {
		if sink == 0 {
			sink = h
			close(ready)
			return
		}
		viewers[h] = &viewer{tag: tag}
	}
	r.onData = func(h loop.Handle, p []byte) {
		v := viewers[h]
		for _, did := range v.hear(p) {
			if did.close {
				r.loop.Close(h, did.code)
				continue
			}
			// Something for another one between, so that the bytes do not lie together.
			r.loop.Send(h, did.say)
			r.loop.Send(sink, []byte{'.'})
		}
		if v.total%3 != 0 { // the others wait for a flush that is not theirs, or the close
			r.loop.Flush()
		}
		r.loop.Wake(0)
	}
	r.onTick = func(int64) int64 { r.loop.Flush(); return loop.Never }
	r.onClose = func(h loop.Handle, err error) {
		v := viewers[h]
		if v == nil {
			return
		}
		if ce := new(loop.CloseError); errors.As(err, &ce) {
			out[v.tag].Code = ce.Code
		} else {
			t.Errorf("connection %d of seed %d closed with %v", v.tag, seed, err)
		}
		closed <- struct{}{}
	}
	r.start(t, mk, loop.Config{OutboundCap: 8 << 20, Unsent: 8192})
	drain := r.connect("", 0)
	go func() { _, _ = io.Copy(io.Discard, drain) }()
	await.Value(t, ready, "the sink")

	var all sync.WaitGroup
	for i, script := range scripts {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)))
		early := rnd.IntN(min(len(script), 60))
		c := r.connect(string(script[:early]), uint64(i))
		all.Go(func() { say(c, script[early:], rnd) })
		all.Go(func() {
			heard, err := io.ReadAll(c)
			if err != nil {
				t.Errorf("connection %d of seed %d: %v", i, seed, err)
			}
			out[i].Heard = heard
			_ = c.Close()
		})
	}
	all.Wait()
	for range scripts {
		await.Value(t, closed, "OnClose")
	}
	r.stop() // the outcomes are the test's now
	return out
}

// Expected are the outcomes by the model.
func Expected(seed uint64) []Outcome {
	var out []Outcome
	for _, script := range scripts(seed) {
		var a actor
		var o Outcome
		for _, did := range a.hear(script) {
			if did.close {
				o.Code = did.code
				break
			}
			o.Heard = append(o.Heard, did.say...)
		}
		out = append(out, o)
	}
	return out
}

// Same reports outcomes that differ.
func Same(t *testing.T, name string, got, want []Outcome) {
	t.Helper()
	for i := range want {
		if got[i].Code != want[i].Code || !bytes.Equal(got[i].Heard, want[i].Heard) {
			t.Errorf("%s: connection %d heard %d bytes and code %d, want %d bytes and code %d", name, i,
				len(got[i].Heard), got[i].Code, len(want[i].Heard), want[i].Code)
		}
	}
}

// scripts are those of a seed.
func scripts(seed uint64) [][]byte {
	rnd := rand.New(rand.NewPCG(seed, 99))
	all := make([][]byte, 12)
	for i := range all {
		var s []byte
		for range 5 + rnd.IntN(60) {
			n := byte(1 + rnd.IntN(255))
			switch k := rnd.IntN(20); {
			case k < 10:
				s = append(s, 'E', n)
				for range n {
					s = append(s, byte(rnd.Uint32()))
				}
			case k < 19:
				s = append(s, 'S', n%16)
			default:
				s = append(s, 'B', n)
			}
		}
		all[i] = append(s, 'C', byte(1+i))
	}
	return all
}

// say writes a script in pieces of any size.
func say(c net.Conn, script []byte, rnd *rand.Rand) {
	for len(script) > 0 {
		n := min(len(script), 1+rnd.IntN(1+rnd.IntN(600)))
		if _, err := c.Write(script[:n]); err != nil {
			return // what was not heard shows it
		}
		script = script[n:]
	}
}

// actor is the server's side of a script.
type actor struct {
	held  []byte
	at    int // of the stream
	total int // pieces that came
}

type deed struct {
	say   []byte
	close bool
	code  uint16
}

// hear takes what has come and returns what is to be done for all that is complete.
func (a *actor) hear(p []byte) (deeds []deed) {
	a.total++
	a.held = append(a.held, p...)
	for len(a.held) >= 2 {
		n, size := int(a.held[1]), 2
		switch a.held[0] {
		case 'E':
			if size += n; len(a.held) < size {
				return deeds
			}
			deeds = append(deeds, deed{say: bytes.Clone(a.held[2:size])})
		case 'S':
			for i := range n {
				deeds = append(deeds, deed{say: a.stream(1 + 50*i)})
			}
		case 'B':
			deeds = append(deeds, deed{say: a.stream(n << 10)})
		case 'C':
			return append(deeds, deed{close: true, code: uint16(n)})
		}
		a.held = a.held[size:]
	}
	return deeds
}

func (a *actor) stream(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = streamAt(a.at + i)
	}
	a.at += n
	return p
}
