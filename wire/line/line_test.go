package line

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestPerfect(t *testing.T) {
	there, back := Conditions{}.Lines(0)
	for now := time.Duration(0); now < time.Second; now += 7 * ms {
		if a, b := there.Arrival(now, 1<<20), back.Arrival(now, 0); a != now || b != now {
			t.Fatalf("at %v: %v and %v", now, a, b)
		}
	}
}

// TestDelayAndJitter looks at what comes out alone: later than the delay, sooner than
// delay and jitter, and all over the range.
func TestDelayAndJitter(t *testing.T) {
	c := Conditions{Delay: 150 * ms, Jitter: 50 * ms, Seed: 1}
	var tenths [10]int
	l, _ := c.Lines(0)
	const n = 2000
	for i := range time.Duration(n) {
		now := i * 100 * ms
		late := l.Arrival(now, 100) - now - c.Delay
		if late < 0 || late >= c.Jitter {
			t.Fatalf("at %v: %v late", now, late)
		}
		tenths[late*10/c.Jitter]++
	}
	for i, k := range tenths {
		if k < n/10*7/10 || k > n/10*13/10 {
			t.Errorf("tenth %d of the jitter has %d of %d", i, k, n)
		}
	}
}

// TestOrder puts in bytes closer together than the jitter.
func TestOrder(t *testing.T) {
	l, _ := Conditions{Delay: 10 * ms, Jitter: 80 * ms, Stall: 300 * ms, StallEvery: time.Second, Seed: 2}.Lines(3)
	var last time.Duration
	rnd := rand.New(rand.NewPCG(1, 1))
	for now := time.Duration(0); now < 20*time.Second; now += time.Duration(rnd.Int64N(int64(10 * ms))) {
		at := l.Arrival(now, 1)
		if at < last {
			t.Fatalf("what went in at %v comes out at %v, before what came out at %v", now, at, last)
		}
		last = at
	}
}

func TestBandwidth(t *testing.T) {
	const rate = 100_000
	l, _ := Conditions{Delay: 20 * ms, Bandwidth: rate}.Lines(0)
	// Twice what goes through: the last byte is through when all had their time.
	var at time.Duration
	sent := 0
	for now := time.Duration(0); now < time.Second; now += ms {
		at = l.Arrival(now, 2*rate/1000)
		sent += 2 * rate / 1000
	}
	if want := time.Duration(sent)*time.Second/rate + 20*ms; (at - want).Abs() > ms {
		t.Errorf("%d bytes are through at %v, want %v", sent, at, want)
	}
	// An idle line owes nothing.
	if at := l.Arrival(time.Minute, rate/10); at != time.Minute+120*ms {
		t.Errorf("after a pause: %v", at-time.Minute)
	}
}

// TestStalls finds the times at which nothing comes out: as long and as often as was
// asked for, and at the same time in both directions.
func TestStalls(t *testing.T) {
	c := Conditions{Delay: 5 * ms, Stall: 400 * ms, StallEvery: 2 * time.Second, Seed: 4}
	there, back := c.Lines(0)
	last := c.Delay
	stalls := 0
	for now := time.Duration(0); now < 100*time.Second; now += ms {
		a, b := there.Arrival(now, 1), back.Arrival(now, 1)
		if a != b {
			t.Fatalf("at %v one direction gives %v, the other %v", now, a, b)
		}
		if gap := a - last; gap > ms {
			stalls++
			if gap < c.Stall-ms || gap > c.Stall+ms {
				t.Fatalf("a stall of %v ends at %v", gap, a)
			}
		}
		last = a
	}
	if stalls < 35 || stalls > 50 {
		t.Errorf("%d stalls in 100 s", stalls)
	}
}

// TestSeed: the same seed gives the same line however the stream is cut, another seed
// or another connection gives another one.
func TestSeed(t *testing.T) {
	c := Conditions{Delay: 50 * ms, Jitter: 50 * ms, Stall: 100 * ms, StallEvery: time.Second, Bandwidth: 50_000, Seed: 5}
	run := func(c Conditions, n uint64, pieces int) (out []time.Duration) {
		l, _ := c.Lines(n)
		for now := time.Duration(0); now < 10*time.Second; now += 33 * ms {
			var at time.Duration
			for range pieces {
				at = l.Arrival(now, 840/pieces)
			}
			out = append(out, at.Round(time.Microsecond))
		}
		return out
	}
	same := func(a, b []time.Duration) bool {
		for i := range a {
			if (a[i] - b[i]).Abs() > 10*time.Microsecond {
				return false
			}
		}
		return true
	}
	first := run(c, 0, 1)
	if !same(first, run(c, 0, 1)) || !same(first, run(c, 0, 12)) {
		t.Error("the same seed gives another line")
	}
	other := c
	other.Seed++
	if same(first, run(other, 0, 1)) || same(first, run(c, 1, 1)) {
		t.Error("another seed or connection gives the same line")
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []Conditions{
		{}, {Delay: longest}, {Stall: 1, StallEvery: 1}, {StallEvery: time.Second}, {Bandwidth: narrow},
	} {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Conditions{
		{Delay: -1}, {Delay: longest + 1}, {Jitter: -1}, {Stall: ms}, {Stall: -1, StallEvery: 1}, {Bandwidth: -1}, {Bandwidth: narrow - 1},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is fine", c)
		}
	}
}

func TestString(t *testing.T) {
	c := Conditions{Delay: 80 * ms, Jitter: 20 * ms, Stall: time.Second, StallEvery: 10 * time.Second, Bandwidth: 125_000, Seed: 7}
	want := "80ms each way, up to 20ms more, a stall of 1s every 10s or so, 1000 kbit/s, seed 7"
	if got := c.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (Conditions{}).String(); !strings.Contains(got, "perfect") || !(Conditions{Seed: 3}).Perfect() {
		t.Error(got)
	}
}

var rewrite = flag.Bool("rewrite", false, "write the schedules that tests in other languages compare with")

// schedule is one line's answers, for the client library's tests, which have the line
// in TypeScript. Times are in nanoseconds.
type schedule struct {
	Conditions struct {
		Conditions
		Seed string // as a number it would lose bits in JavaScript
	}
	Connection uint64
	There      [][3]int64 // when, how many bytes, when they come out
	Back       [][3]int64
}

func schedules() (all []schedule) {
	for n, c := range []Conditions{
		{Delay: 150 * ms, Jitter: 50 * ms, Seed: 1},
		{Delay: 20 * ms, Jitter: 100 * ms, Stall: time.Second, StallEvery: 3 * time.Second, Seed: 0xfedcba9876543210},
		{Delay: 80 * ms, Bandwidth: 16_000, Stall: 200 * ms, StallEvery: time.Second, Seed: 3},
	} {
		s := schedule{Connection: uint64(n)}
		s.Conditions.Conditions, s.Conditions.Seed = c, strconv.FormatUint(c.Seed, 10)
		there, back := c.Lines(s.Connection)
		rnd := rand.New(rand.NewPCG(uint64(n), 9))
		for now := time.Duration(0); len(s.There) < 120; now += time.Duration(rnd.Int64N(int64(120 * ms))) {
			size := rnd.IntN(1500)
			s.There = append(s.There, [3]int64{int64(now), int64(size), int64(there.Arrival(now, size))})
			s.Back = append(s.Back, [3]int64{int64(now), int64(size), int64(back.Arrival(now, size))})
		}
		all = append(all, s)
	}
	return all
}

func TestSchedules(t *testing.T) {
	const file = "testdata/schedules.json"
	got, err := json.Marshal(schedules())
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("the schedules are not those of testdata; -rewrite writes them")
	}
}

func BenchmarkArrival(b *testing.B) {
	l, _ := Conditions{Delay: 80 * ms, Jitter: 20 * ms, Stall: time.Second, StallEvery: 10 * time.Second, Bandwidth: 1 << 20}.Lines(0)
	b.ReportAllocs()
	var now time.Duration
	for b.Loop() {
		now += ms
		l.Arrival(now, 500)
	}
}
