package line

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

// TestPipe sends random bytes in random pieces over random lines to a reader with
// random patience: what comes out is what went in, nothing early, nothing late.
func TestPipe(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		c := Conditions{Seed: seed}
		if rnd.IntN(4) > 0 {
			c.Delay = time.Duration(rnd.IntN(200)) * ms
		}
		if rnd.IntN(2) > 0 {
			c.Jitter = time.Duration(rnd.IntN(100)) * ms
		}
		if rnd.IntN(2) > 0 {
			c.Stall, c.StallEvery = time.Duration(1+rnd.IntN(500))*ms, time.Second
		}
		if rnd.IntN(2) > 0 {
			c.Bandwidth = 2000 + rnd.Int64N(200_000)
		}
		l, _ := c.Lines(seed)
		ref, _ := c.Lines(seed)
		p := NewPipe(l)
		var in, out []byte
		var due []time.Duration // of each byte
		var now time.Duration
		buf := make([]byte, 4000)
		read := func(n int) bool {
			got, end := p.Read(now, buf[:n])
			for i := len(out); i < len(out)+got; i++ {
				if due[i] > now {
					t.Fatalf("seed %d (%v): byte %d comes out at %v, %v too early", seed, c, i, now, due[i]-now)
				}
			}
			out = append(out, buf[:got]...)
			if got < n && len(out) < len(due) && due[len(out)] <= now {
				t.Fatalf("seed %d (%v): byte %d should have come out at %v, it is %v", seed, c, len(out), due[len(out)], now)
			}
			return end
		}
		for range 400 {
			now += time.Duration(rnd.Int64N(int64(40 * ms)))
			piece := make([]byte, rnd.IntN(3000))
			for i := range piece {
				piece[i] = byte(rnd.Uint32())
			}
			if n := p.Write(now, piece); n < len(piece) && p.Room() != 0 {
				t.Fatalf("seed %d: %d of %d bytes taken, and there is room for %d", seed, n, len(piece), p.Room())
			} else {
				piece = piece[:n]
			}
			in = append(in, piece...)
			for left := len(piece); left > 0; {
				n := left
				if c.Bandwidth > 0 {
					n = min(n, segment)
				}
				left -= n
				at := ref.Arrival(now, n)
				for range n {
					due = append(due, at)
				}
			}
			if rnd.IntN(3) == 0 && read(1+rnd.IntN(len(buf))) {
				t.Fatal("an end that nobody made")
			}
		}
		p.CloseWrite(now)
		p.CloseWrite(now)
		if p.Write(now, buf) != 0 {
			t.Fatal("a closed pipe takes bytes")
		}
		for end := false; !end; {
			at, ok := p.Next()
			if !ok {
				t.Fatalf("seed %d: nothing comes, and there was no end", seed)
			}
			now = max(now, at)
			end = read(len(buf))
		}
		if !bytes.Equal(in, out) {
			t.Fatalf("seed %d (%v): %d bytes went in, %d others came out", seed, c, len(in), len(out))
		}
	}
}

// TestWindow: a reader that does not read stops the writer, and one that reads on frees it.
func TestWindow(t *testing.T) {
	c := Conditions{Delay: 100 * ms, Bandwidth: 100_000}
	l, _ := c.Lines(0)
	p := NewPipe(l)
	big := make([]byte, 1<<20)
	if n := p.Write(0, big); n != c.Window() || n != 35_000 || p.Room() != 0 {
		t.Fatalf("%d bytes taken, window %d, room %d", n, c.Window(), p.Room())
	}
	// What fits the window keeps the line busy.
	buf := make([]byte, 64<<10)
	got := 0
	now := time.Duration(0)
	for ; now < 10*time.Second; now += 10 * ms {
		n, _ := p.Read(now, buf)
		got += n
		p.Write(now, big)
	}
	if want := 990_000; got < want-2*segment || got > want+2*segment {
		t.Errorf("%d bytes in %v, want %d", got, now, want)
	}
}

func TestAllocPipe(t *testing.T) {
	l, _ := Conditions{Delay: 20 * ms, Jitter: 10 * ms, Bandwidth: 1 << 20}.Lines(0)
	p := NewPipe(l)
	var now time.Duration
	b := make([]byte, 3000)
	step := func() {
		now += 5 * ms
		p.Write(now, b)
		p.Read(now, b)
	}
	for range 1000 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
	t.Logf("budget: 0 allocations a write and a read")
}
