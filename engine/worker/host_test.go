package worker

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/session"
	"gamehoster/games"
	"gamehoster/tick/vm"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// wires stands in for a loop: it keeps what was sent and who was closed.
type wires struct {
	sent    map[loop.Handle][]byte
	closed  map[loop.Handle]uint16
	stalled map[loop.Handle]bool
	posts   []loop.Message
	wish    int64 // the earliest that was wished for
	flushes int
}

func (w *wires) Wake(at int64)                        { w.wish = min(w.wish, at) }
func (w *wires) Flush() []loop.Handle                 { w.flushes++; return nil }
func (w *wires) Stalled(h loop.Handle) bool           { return w.stalled[h] }
func (w *wires) Close(h loop.Handle, code uint16)     { w.closed[h] = code }
func (w *wires) Send(h loop.Handle, frame []byte)     { w.sent[h] = append(w.sent[h], frame...) }
func (w *wires) Post(m loop.Message) bool             { w.posts = append(w.posts, m); return true }
func (w *wires) OpenUDP(int) (h loop.Handle, e error) { return 0, nil }

// plan is a boss that gives every reservation it was told of, and counts.
type plan struct {
	seats    map[uint64]Reservation
	shut     map[InstanceID]bool
	retired  []InstanceID
	released []InstanceID
	asked    *[]func(Reservation, bool) // who wait for another place; nil: there is none, at once
}

func (p *plan) Claim(n uint64) (Reservation, bool) { r, ok := p.seats[n]; return r, ok }
func (p *plan) Reseat(_ uint32, r Reservation, then func(Reservation, bool)) {
	if p.asked == nil {
		then(r, false)
		return
	}
	*p.asked = append(*p.asked, then)
}
func (p *plan) Release(id InstanceID)             { p.released = append(p.released, id) }
func (p *plan) SetOpen(id InstanceID, open bool)  { p.shut[id] = !open }
func (p *plan) Retire(id InstanceID, _ bool) bool { p.retired = append(p.retired, id); return true }

// bench is a host with a game, whose time stands still until it is moved.
type bench struct {
	t    *testing.T
	host *Host
	wires
	plan
	now int64
	log bytes.Buffer
}

func newBench(t *testing.T) *bench {
	return newBenchOf(t, map[string]string{
		games.DefinitionFile: `{"tickRate": 10, "sendRate": 10, "player": {"fields": {"n": "u32 shared"}}}`,
	})
}

func newBenchOf(t *testing.T, files map[string]string) *bench {
	dir := filepath.Join(t.TempDir(), "game")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, findings := games.Load(dir)
	if g == nil {
		t.Fatal(findings)
	}
	code, err := vm.Compile(g.Program.Server)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{
		t:     t,
		wires: wires{sent: map[loop.Handle][]byte{}, closed: map[loop.Handle]uint16{}, stalled: map[loop.Handle]bool{}},
		plan:  plan{seats: map[uint64]Reservation{}, shut: map[InstanceID]bool{}},
		now:   1e12,
	}
	b.host = NewHost(Options{Log: slog.New(slog.NewTextHandler(&b.log, nil)), Now: func() int64 { return b.now }})
	b.host.Bind(&b.wires)
	b.host.OnPost(&AddGame{Game: &Game{Number: 1, Name: "game", Def: g.Def, Program: g.Program, Code: code, Hash: g.Hash, Boss: &b.plan}})
	t.Cleanup(func() {
		b.host.OnPost(&DropGame{Number: 1, Code: wire.CloseStopping})
		if err := code.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// join opens a socket whose player sits in the instance.
func (b *bench) join(h loop.Handle, in InstanceID) *socket {
	b.t.Helper()
	tag := 1<<GameShift | uint64(h)
	b.seats[tag] = Reservation{Instance: in, InstanceName: "i"}
	b.host.OnOpen(h, tag)
	s := b.host.sockets.get(h)
	if s == nil || s.in == nil {
		b.t.Fatalf("socket %d was not seated, closed with %d", h, b.closed[h])
	}
	return s
}

// run lets time pass in steps of a tick.
func (b *bench) run(ns int64) {
	for end := b.now + ns; b.now < end; {
		b.now += 100e6
		b.host.OnTick(b.now)
		b.deliver()
	}
}

// deliver is the part of a loop's turn in which posts are.
func (b *bench) deliver() {
	posts := b.posts
	b.posts = nil
	for _, m := range posts {
		b.host.OnPost(m)
	}
}

func (b *bench) feed(h loop.Handle, m []byte) {
	b.host.OnData(h, ws.AppendMasked(nil, ws.OpBinary, [4]byte{1, 2, 3, 4}, m))
}

func TestAPanicCostsItsInstanceOnly(t *testing.T) {
	for name, breaks := range map[string]func(b *bench, s *socket){
		"in a tick":        func(_ *bench, s *socket) { s.in.sim = nil },
		"in a send":        func(_ *bench, s *socket) { s.viewer = nil },
		"in a message":     func(b *bench, s *socket) { s.viewer = nil; b.feed(s.handle, wire.Ping{Nonce: 1}.Append(nil)) },
		"when it takes in": func(b *bench, s *socket) { s.in.sim = nil; b.wantRefused(3, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			victim := b.join(1, 1)
			b.join(2, 2)
			b.run(300e6)
			breaks(b, victim)
			b.run(100e6)
			if code := b.closed[1]; code != wire.CloseFailed {
				t.Errorf("the victim was closed with %d", code)
			}
			if !strings.Contains(b.log.String(), "an instance was given up") || !b.shut[1] {
				t.Errorf("the boss was told %v, the log says %s", b.shut, b.log.String())
			}
			b.host.OnClose(1, nil)
			before := len(b.sent[2])
			b.run(3e9)
			if len(b.sent[2]) == before || b.closed[2] != 0 {
				t.Errorf("the other instance stands still; its player was closed with %d", b.closed[2])
			}
			if len(b.retired) != 1 || b.retired[0] != 1 {
				t.Errorf("retired %v", b.retired)
			}
		})
	}
}

// wantRefused opens a socket that finds no place.
func (b *bench) wantRefused(h loop.Handle, in InstanceID) {
	b.t.Helper()
	tag := 1<<GameShift | uint64(h)
	b.seats[tag] = Reservation{Instance: in, InstanceName: "i"}
	b.host.OnOpen(h, tag)
	if b.closed[h] != wire.CloseBoxFull {
		b.t.Errorf("closed with %d", b.closed[h])
	}
}

// A process that was stopped finds its clients' messages unread and no client silent.
func TestHeldUpIsNotSilence(t *testing.T) {
	b := newBench(t)
	b.join(1, 1)
	b.join(2, 1)
	b.run(2e9)
	b.now += 2 * int64(session.DefaultLimits.Idle)
	b.host.OnTick(b.now) // the timer, as it happens, before what the first has sent
	if len(b.closed) != 0 {
		t.Fatalf("closed %v before their messages were read", b.closed)
	}
	b.feed(1, wire.Ping{Nonce: 1}.Append(nil))
	b.run(int64(session.DefaultLimits.Idle)/2 + 4e9)
	if b.closed[1] != 0 || b.closed[2] != wire.CloseIdle {
		t.Errorf("closed %v, want the silent one with %d", b.closed, wire.CloseIdle)
	}
}

// A loop that is late for each sweep still sweeps.
func TestAnOverloadedLoopSweeps(t *testing.T) {
	b := newBench(t)
	b.join(1, 1)
	for range 20 {
		b.now += 3e9
		b.host.OnTick(b.now)
		b.deliver()
	}
	if b.closed[1] != wire.CloseIdle {
		t.Errorf("closed %v", b.closed)
	}
}

// A loop whose ticks leave it time to read one socket in a while finds nobody silent who
// has sent something, however long that lies there. The one that is silent it finds.
func TestAStarvedLoopFindsNobodySilent(t *testing.T) {
	const players = 12
	b := newBench(t)
	for h := range loop.Handle(players) {
		b.join(h+1, InstanceID(h/4+1))
	}
	// What is ready, in the order in which it became so: sockets, and 0 for the posts.
	var ready []loop.Handle
	talk := func() {
		for h := range loop.Handle(players - 1) {
			if !slices.Contains(ready, h+1) {
				ready = append(ready, h+1)
			}
		}
	}
	for range 20 * players {
		talk()
		b.now += 4e9 // so that each has its turn after more than twice the idle time
		b.host.OnTick(b.now)
		talk()
		if len(b.posts) > 0 && !slices.Contains(ready, 0) {
			ready = append(ready, 0)
		}
		next := ready[0]
		if ready = ready[1:]; next == 0 {
			b.deliver()
		} else {
			b.feed(next, wire.Ping{Nonce: 1}.Append(nil))
		}
	}
	if len(b.closed) != 1 || b.closed[players] != wire.CloseIdle {
		t.Errorf("closed %v, want the silent one with %d", b.closed, wire.CloseIdle)
	}
}

func TestAStalledSocketGetsNoAnswers(t *testing.T) {
	b := newBench(t)
	b.join(1, 1)
	b.run(1e9)
	b.stalled[1] = true
	before := len(b.sent[1])
	for range 100 {
		b.feed(1, wire.Ping{Nonce: 1}.Append(nil))
	}
	b.run(1e9)
	if n := len(b.sent[1]) - before; n != 0 {
		t.Errorf("%d bytes were sent to a stalled socket", n)
	}
	b.feed(1, nil) // malformed: its close frame goes out all the same
	if n := len(b.sent[1]) - before; n == 0 || b.closed[1] != wire.CloseMalformed {
		t.Errorf("closed with %d and %d bytes", b.closed[1], n)
	}
}

// Sockets that are told to go leave their instance and their seats as they are.
func TestEndSockets(t *testing.T) {
	b := newBench(t)
	s := b.join(1, 1)
	b.run(300e6)
	in, seat := s.in, s.seat
	b.host.OnPost(&EndSockets{Number: 2, Code: wire.CloseOutdated})
	if code, ok := b.closed[1]; ok {
		t.Fatalf("another game's socket was closed with %d", code)
	}
	b.host.OnPost(&EndSockets{Number: 1, Code: wire.CloseOutdated, Reason: "the page was saved"})
	if code := b.closed[1]; code != wire.CloseOutdated {
		t.Fatalf("closed with %d", code)
	}
	b.host.OnClose(1, nil)
	b.run(1e9)
	if b.host.games[1].instances[1] != in || in.over() || in.resume(seat.token) != seat {
		t.Fatal("the instance or the seat is gone")
	}
}
