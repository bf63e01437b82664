package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/box"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

const (
	raceSockets = 10_000
	raceTime    = 4 * time.Second // after which it is enough, unless the tests are to be thorough
	racers      = 48              // at once, for
	raceSeats   = 4 * 2 * 2       // 4 players in each of 2 instances on each of 2 loops

	raceGame = `{"tickRate": 30, "sendRate": 30, "playersPerInstance": 4, "shardInstances": 2, "resumeSeconds": 0.3,
		"player": {"fields": {"n": "u32 shared"}}}`
)

// ledger is who sits where, as the players know it: each writes that it sits when it was
// told so, and takes that back before it tells the server that it goes.
type ledger struct {
	mu      sync.Mutex
	sits    map[string]map[uint32]bool // by instance, players
	results map[string]int
	wrong   []string
}

func (l *ledger) sit(w *wire.Welcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.sits[string(w.Name)]
	if in == nil {
		in = map[uint32]bool{}
		l.sits[string(w.Name)] = in
	}
	if in[w.Player] {
		l.wrong = append(l.wrong, fmt.Sprintf("player %d sits in %s twice", w.Player, w.Name))
	}
	in[w.Player] = true
	if len(in) > 4 {
		l.wrong = append(l.wrong, fmt.Sprintf("%d players sit in %s", len(in), w.Name))
	}
}

func (l *ledger) stand(w *wire.Welcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sits[string(w.Name)], w.Player)
}

func (l *ledger) note(result string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results[result]++
}

func (l *ledger) fail(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}

// somewhere is an instance in which somebody sits; empty if nobody does.
func (l *ledger) somewhere() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, in := range l.sits {
		if len(in) > 0 {
			return name
		}
	}
	return ""
}

// rolls is which definitions there were, by hash.
type rolls struct {
	mu     sync.Mutex
	of     map[uint64]int
	newest atomic.Int64
}

func (r *rolls) publish(hash uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[hash] = len(r.of)
	r.newest.Store(int64(r.of[hash]))
}

// racer is one who comes, sits if there is a seat, and goes, again and again.
type racer struct {
	s     *rolling
	l     *ledger
	r     *rolls
	token string // of a seat that it left without a word
}

// once comes once. It returns an error where the server behaves as it must not.
func (c *racer) once() error {
	query, fresh := "", true
	switch rand.IntN(10) {
	case 0:
		query, fresh = "?watch=1&instance="+c.l.somewhere(), false
	case 1, 2:
		if name := c.l.somewhere(); name != "" {
			query, fresh = "?instance="+name, false
		}
	default:
		if c.token != "" {
			query, fresh = "?resume="+c.token, false
			c.token = ""
		}
	}
	newest := c.r.newest.Load()
	p, err := tryDial(c.s.t, c.s.addr, "/quick"+query, "")
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer p.conn.Close()
	if p.message() == nil {
		c.l.note(fmt.Sprint(uint16(p.code)))
		switch code := uint16(p.code); code {
		case wire.CloseBoxFull, wire.CloseDraining, wire.CloseNoInstance, wire.CloseOutdated:
			return nil
		default:
			return fmt.Errorf("%q was closed with %d", query, code)
		}
	}
	w := p.welcome
	if w.Player == 0 {
		c.l.note("watches")
		return nil
	}
	c.l.note("sits")
	c.l.sit(&w)
	defer c.l.stand(&w)
	if i, known := c.r.index(w.Hash); fresh && known && i < newest {
		return fmt.Errorf("a new player was seated in definition %d when %d was there", i, newest)
	}
	for range rand.IntN(4) {
		if p.message() == nil {
			if uint16(p.code) != wire.CloseOutdated {
				return fmt.Errorf("a player was closed with %d", p.code)
			}
			c.l.note("ended by a roll")
			return nil
		}
	}
	c.l.stand(&w)
	if rand.IntN(3) == 0 {
		c.token = fmt.Sprintf("%x", w.Token)
		return nil
	}
	if _, err := p.conn.Write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{3, 232})); err != nil && !strings.Contains(err.Error(), "reset") {
		return err
	}
	for p.message() != nil {
	}
	return nil
}

func (r *rolls) index(hash uint64) (int64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, known := r.of[hash]
	return int64(i), known
}

// TestTheRaceForTheLastSeats has three times as many come at once as there are seats, by
// name, by token and just so, while one definition after the other is replaced. No seat is
// given twice, none is lost, and who is new gets the newest definition.
func TestTheRaceForTheLastSeats(t *testing.T) {
	t.Run("loops", func(t *testing.T) { race(t, engine.Config{Loops: 2}) })
	t.Run("workers", func(t *testing.T) {
		of := pooled
		of.Max = 4 // two of which may be of definitions that drain
		race(t, engine.Config{Workers: of})
	})
}

func race(t *testing.T, c engine.Config) {
	s := &rolling{t: t, dir: quick(t)}
	write(t, filepath.Join(s.dir, "quick"), "gamehoster-game.json", raceGame)
	c.Dir, c.RollTimeout = s.dir, time.Second
	s.server = serve(t, c)
	if c := <-s.changes; c.New == nil {
		t.Fatal(c.Findings)
	}
	r := &rolls{of: map[uint64]int{}}
	r.publish(s.Games()[0].Hash)
	l := &ledger{sits: map[string]map[uint32]bool{}, results: map[string]int{}}

	began := time.Now()
	enough := func() bool { return os.Getenv("GAMEHOSTER_THOROUGH") == "" && time.Since(began) > raceTime }
	var came atomic.Int64
	var racing, rolling sync.WaitGroup
	done := make(chan struct{})
	rolling.Go(func() {
		again := time.NewTicker(300 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-done:
				return
			case <-again.C:
				s.roll()
				r.publish(s.Games()[0].Hash)
			}
		}
	})
	for range racers {
		racing.Go(func() {
			c := &racer{s: s, l: l, r: r}
			for came.Add(1) <= raceSockets && !enough() {
				if err := c.once(); err != nil {
					l.fail("%v", err)
				}
			}
		})
	}
	racing.Wait()
	took := time.Since(began)
	close(done)
	rolling.Wait()
	t.Logf("%d sockets raced for %d seats through %d definitions in %v: %v", min(came.Load(), raceSockets), raceSeats, len(r.of), took, l.results)
	for i, what := range l.wrong {
		if i < 10 {
			t.Error(what)
		}
	}
	if l.results["sits"] == 0 || l.results["4009"] == 0 || len(r.of) < 3 {
		t.Error("it was no race")
	}
	await.True(t, "all seats to be free", func() bool {
		got := s.Seats(quickPlace)
		return got.Seats == 0 && got.Pending == 0
	})
	await.True(t, "what was replaced to be forgotten", func() bool { return s.draining() == 0 })
	if c.Workers.Pool {
		return // there are as many seats as workers may be raised
	}
	for range raceSeats {
		dial(t, s.addr, "/quick").until(wire.TagWelcome)
	}
	if code := dial(t, s.addr, "/quick").closed(); code != wire.CloseBoxFull {
		t.Errorf("one more than there are seats was closed with %d", code)
	}
	if got, want := s.Seats(quickPlace), (box.Load{Instances: 4, Seats: raceSeats}); got != want {
		t.Errorf("with all seats taken the table counts %+v, want %+v", got, want)
	}
}
