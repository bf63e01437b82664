package pool

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/control"
	"gamehoster/engine/internal/await"
	"gamehoster/engine/loop"
	"gamehoster/engine/metrics"
	"gamehoster/engine/sandbox"
	"gamehoster/engine/worker"
	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// The workers of these tests are this binary, and play a part.
const part = "GAMEHOSTER_POOL_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "crash":
		fmt.Fprintln(os.Stderr, "panic: it cannot go on")
		os.Exit(3)
	case "deaf":
		play(func(c *control.Conn) { select {} })
	case "liar":
		play(lie)
	case "lingerer":
		play(func(c *control.Conn) {
			tell(c, &control.Bye{})
			c.Finish()
			c.Wait()
			_ = syscall.Close(3)
			c.Close()
			select {}
		})
	case "babbler":
		play(func(*control.Conn) {
			for {
				if _, err := syscall.Write(3, []byte("no message")); err != nil {
					os.Exit(0)
				}
			}
		})
	}
}

// play says hello as a worker does, and goes on as it likes.
func play(then func(*control.Conn)) {
	fd, err := syscall.Dup(3)
	if err != nil {
		panic(err)
	}
	c, err := control.Attach(os.NewFile(uintptr(fd), "control"))
	if err != nil {
		panic(err)
	}
	if m, _, err := c.Receive(); err != nil || m.Kind() != control.KindStart {
		panic(fmt.Sprint("the first message is ", m, err))
	}
	tell(c, &control.Hello{})
	then(c)
}

func tell(c *control.Conn, m control.Message) {
	if err := c.Send(m, -1); err != nil {
		panic(err)
	}
}

// theirs is an instance on another shard, and number a reservation there.
const (
	theirs worker.InstanceID = 1
	number uint64            = 1
)

// lie speaks of what is another worker's.
func lie(c *control.Conn) {
	peer := worker.Reservation{Instance: theirs, Client: worker.Client{Peer: netip.MustParseAddr("192.0.2.9")}}
	for _, m := range []control.Message{
		&control.Claimed{Number: number}, &control.Lost{Number: number}, &control.Release{Instance: theirs},
		&control.Open{Instance: theirs}, &control.Retire{Instance: theirs}, &control.Retire{Instance: theirs, Force: true},
		&control.Closed{Reservation: peer, Code: 1000}, &control.Inspected{Ticket: 1, Part: []byte("{}")}, &control.Bye{},
	} {
		tell(c, m)
	}
	c.Finish()
	c.Wait()
	os.Exit(0)
}

// logbook is a log that a test can read.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) contains(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), s)
}

// stage is a pool whose workers play a part, and a game for them.
type stage struct {
	*Pool
	live *box.Live
	log  *logbook
}

func open(t *testing.T, role string, told Told) *stage {
	t.Helper()
	s := &stage{log: &logbook{}}
	if told.Opened == nil {
		told.Opened = func(worker.Reservation) {}
	}
	if told.Closed == nil {
		told.Closed = func(worker.Closed) {}
	}
	told.Measured, told.Unmeasured = func(uint32, int, *metrics.Snapshot) {}, func(uint32) {}
	p, err := New(Config{
		Command: []string{self}, Env: []string{part + "=" + role}, EndLimit: 100 * time.Millisecond,
		Options: control.Options{Sandbox: sandbox.Off}, Told: told, Log: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	def := &schema.Definition{Name: "parts", PlayersPerInstance: 2, InstancesPerShard: 4}
	s.Pool = p
	s.live = &box.Live{
		Game:  worker.Game{Number: 0, Name: "localhost/parts", Def: def, Program: &body.Program{}},
		Table: box.NewTable(def, number, new(atomic.Uint32)),
	}
	if err := p.Start(s.live); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return s
}

// TestWorkersThatDieYoung wants them to be started again at once, then less and less often.
func TestWorkersThatDieYoung(t *testing.T) {
	s := open(t, "crash", Told{})
	for range 2 {
		if err := s.Raise(s.live, -1); err != nil {
			t.Fatal(err)
		}
		await.True(t, "it to be gone", func() bool { return len(s.Workers()) == 0 && len(s.live.Table.Shards()) == 0 })
	}
	if err := s.Raise(s.live, -1); !errors.Is(err, box.ErrBoxFull) || !strings.Contains(err.Error(), "its workers die") {
		t.Errorf("the third: %v", err)
	}
	if b := s.Backoffs()["localhost/parts"]; b <= 0 || b > time.Second {
		t.Errorf("the backoff is %v", b)
	}
	for _, line := range []string{"worker died", "exit status 3", "it cannot go on", "die young", "wait=1s"} {
		if !s.log.contains(line) {
			t.Errorf("%q is not in the log:\n%s", line, s.log.text.String())
		}
	}
}

func TestBackoff(t *testing.T) {
	var b backoff
	now := int64(time.Hour)
	for i, want := range []time.Duration{0, 1, 2, 4, 8, 16, 30, 30, 30} {
		if got := b.died(now-1, now); got != want*time.Second {
			t.Errorf("death %d: wait %v, want %v s", i+1, got, int(want))
		}
		if got := b.wait(now); got != want*time.Second {
			t.Errorf("death %d: still to wait %v", i+1, got)
		}
		if now += int64(want * time.Second); b.wait(now) != 0 {
			t.Errorf("death %d: there is no end of it", i+1)
		}
	}
	if got := b.died(now-youngUntil, now); got != 0 || b.deaths != 0 {
		t.Errorf("one that was old: wait %v, %d deaths", got, b.deaths)
	}
}

// TestADeafWorker has one that does not end when it is told to.
func TestADeafWorker(t *testing.T) {
	s := open(t, "deaf", Told{})
	if err := s.Raise(s.live, -1); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it to be ready", func() bool { all := s.Workers(); return len(all) == 1 && all[0].Ready })
	pid := s.Workers()[0].PID
	if _, err := s.Inspect(time.Millisecond); err == nil {
		t.Error("it has answered")
	}
	w := s.worker(s.Workers()[0].Shard)
	w.mu.Lock()
	if n := len(w.questions); n > 0 {
		t.Errorf("%d questions are kept that nobody waits for", n)
	}
	w.mu.Unlock()
	done := make(chan struct{})
	s.Drop(s.live, 1001, "the end", func() { close(done) })
	await.Value(t, done, "the game to be dropped")
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the process is there still")
	}
	if err := s.Raise(s.live, -1); !errors.Is(err, box.ErrBoxFull) {
		t.Errorf("a worker for a game that was dropped: %v", err)
	}
	again := make(chan struct{})
	s.Drop(s.live, 1001, "the end", func() { close(again) })
	await.Value(t, again, "a game that is dropped to be dropped again")
}

// TestALiar has a worker that speaks of another one's seats. Nothing comes of it.
func TestALiar(t *testing.T) {
	var closed atomic.Int32
	s := open(t, "liar", Told{
		Opened: func(worker.Reservation) { t.Error("a socket was opened that nobody has") },
		Closed: func(c worker.Closed) {
			closed.Add(1)
			if c.Reservation.Peer.IsValid() {
				t.Errorf("%v has one socket less", c.Reservation.Peer)
			}
		},
	})
	table := s.live.Table
	table.AddShard(1000, -1)
	at, err := table.Place(box.Request{CPU: -1}, loop.Now())
	if err != nil || at.Number != number || at.Reservation.Instance != theirs {
		t.Fatalf("%+v, %v", at, err)
	}
	table.Hand(at.Number)
	if err := s.Raise(s.live, -1); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it to be gone", func() bool { return len(s.Workers()) == 0 })
	if l := table.Load(); l.Instances != 1 || l.Seats != 1 || l.Pending != 1 {
		t.Errorf("the table has %+v", l)
	}
	if n := closed.Load(); n != 1 {
		t.Errorf("%d sockets were closed", n)
	}
	if r, ok := table.Claim(at.Number); !ok || r.Instance != theirs {
		t.Errorf("the seat is gone: %+v", r)
	}
}

// TestALingerer has a worker that says that it ends, unasked, and stays: it is killed, and
// takes no place in the pool.
func TestALingerer(t *testing.T) {
	s := open(t, "lingerer", Told{})
	if err := s.Raise(s.live, -1); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it to be gone", func() bool { return len(s.Workers()) == 0 })
}

// TestABabbler has a worker that sends what is no message: it is killed.
func TestABabbler(t *testing.T) {
	s := open(t, "babbler", Told{})
	if err := s.Raise(s.live, -1); err != nil {
		t.Fatal(err)
	}
	await.True(t, "it to be gone", func() bool { return len(s.Workers()) == 0 })
}

// TestClosingAPoolThatWasNotDropped wants Close alone to leave nothing.
func TestClosingAPoolThatWasNotDropped(t *testing.T) {
	files, goroutines := await.OpenFiles(t), runtime.NumGoroutine()
	s := open(t, "deaf", Told{})
	for range 2 {
		if err := s.Raise(s.live, -1); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if n := await.OpenFiles(t); n > files {
		t.Errorf("%d descriptors are open, %d were", n, files)
	}
	await.True(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines })
}

func TestLinesOfAWorker(t *testing.T) {
	log := &logbook{}
	text := `{"time":"2026-01-02T03:04:05Z","level":"WARN","msg":"said","game":"a/b","n":12345678901234567890,"o":{"p":1}}` + "\n" +
		"panic: no\n\ngoroutine 1 [running]:\n" + `{"broken` + "\n" + strings.Repeat("x", 3*maxLine) + "\n" +
		`{"level":"INFO","msg":"after"}` + "\nthe end"
	l := &lines{to: slog.New(slog.NewTextHandler(log, nil)), worker: 7, from: strings.NewReader(text), done: make(chan struct{})}
	l.read()
	for _, want := range []string{
		`level=WARN msg=said worker=7 game=a/b n=12345678901234567890`, `level=INFO msg=after worker=7`,
		`level=ERROR msg="a worker's last words" worker=7 text="panic: no`, "goroutine 1 [running]",
	} {
		if !log.contains(want) {
			t.Errorf("%s is not in the log", want)
		}
	}
	if n := log.text.Len(); n > 2*maxText {
		t.Errorf("the log has %d bytes", n)
	}
}

// TestAWorkerThatSaysTooMuch wants the log not to be flooded, and to tell what is missing.
func TestAWorkerThatSaysTooMuch(t *testing.T) {
	log := &logbook{}
	l := &lines{to: slog.New(slog.NewTextHandler(log, nil)), worker: 7}
	for range maxRate + 10 {
		if l.allow(5e9) {
			l.log([]byte(`{"level":"INFO","msg":"again"}`))
		}
	}
	if !l.allow(6e9) {
		t.Error("nothing is taken in the next second")
	}
	if n := strings.Count(log.text.String(), "msg=again"); n != maxRate || !log.contains("lines=10") {
		t.Errorf("%d lines were taken", n)
	}
}
