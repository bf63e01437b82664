package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// rolling is a box that serves the game quick, which can be replaced.
type rolling struct {
	*server
	t   *testing.T
	dir string
	n   int
}

const quickPlace = "localhost/quick"

func serveRolling(t *testing.T, c engine.Config) *rolling {
	r := &rolling{t: t, dir: quick(t)}
	c.Dir = r.dir
	r.server = serve(t, c)
	return r
}

// roll replaces the game and returns its hash.
func (r *rolling) roll() string {
	r.t.Helper()
	r.n++
	write(r.t, filepath.Join(r.dir, "quick"), "player.js", fmt.Sprintf("export function update(player) { player.n += %d; }\n", 1000+r.n))
	return r.look()
}

func (r *rolling) look() string {
	r.t.Helper()
	if err := r.Look(); err != nil {
		r.t.Fatal(err)
	}
	for len(r.changes) > 0 {
		<-r.changes
	}
	games := r.Games()
	if len(games) == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", games[0].Hash)
}

func (r *rolling) draining() int {
	_, n := r.Versions(quickPlace)
	return n
}

func (p *peer) leave() {
	p.t.Helper()
	p.write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{3, 232}))
	p.closed()
}

func TestARollLetsPlayersPlayOn(t *testing.T) {
	t.Parallel()
	s := serveRolling(t, engine.Config{})
	before := s.look()
	a := dial(t, s.addr, "/quick?def="+before)
	a.until(wire.TagSnapshot)
	name, token := string(a.welcome.Name), fmt.Sprintf("%x", a.welcome.Token)

	after := s.roll()
	if after == before {
		t.Fatal("the definition is what it was")
	}
	if newest, draining := s.Versions(quickPlace); newest != 1 || draining != 1 {
		t.Fatalf("%d newest versions, %d that drain", newest, draining)
	}
	fresh := dial(t, s.addr, "/quick?def="+after)
	fresh.until(wire.TagSnapshot)
	unsaid := dial(t, s.addr, "/quick")
	unsaid.until(wire.TagSnapshot)
	if string(fresh.welcome.Name) == name || string(unsaid.welcome.Name) != string(fresh.welcome.Name) {
		t.Errorf("new players were seated in %s and %s, the old one sits in %s", fresh.welcome.Name, unsaid.welcome.Name, name)
	}
	for query, want := range map[string]uint16{
		"def=" + before:                                                wire.CloseOutdated,
		"def=" + before + "&instance=nowhere":                          wire.CloseOutdated,
		"def=0123456789abcdef":                                         wire.CloseOutdated,
		"def=" + after + "&instance=" + name:                           wire.CloseNoInstance,
		"def=" + before + "&resume=" + token[:16] + "0123456789abcdef": wire.CloseOutdated, // its instance is there, the seat never was
	} {
		if code := dial(t, s.addr, "/quick?"+query).closed(); code != want {
			t.Errorf("%s: closed with %d, want %d", query, code, want)
		}
	}
	friend := dial(t, s.addr, "/quick?def="+before+"&instance="+name)
	friend.until(wire.TagSnapshot)
	a.play(3)
	again := dial(t, s.addr, "/quick?def="+before+"&resume="+token)
	again.until(wire.TagSnapshot)
	if again.welcome.Player != a.welcome.Player || string(friend.welcome.Name) != name {
		t.Errorf("resumed as player %d, was %d; the friend sits in %s", again.welcome.Player, a.welcome.Player, friend.welcome.Name)
	}
	if code := a.closed(); code != wire.CloseTakenOver {
		t.Errorf("the socket that was resumed from closed with %d", code)
	}
	again.play(3)
	again.leave()
	friend.play(3)
	if s.draining() != 1 {
		t.Error("the old definition is gone while it is played")
	}
	friend.leave()
	await.True(t, "the old definition to be forgotten", func() bool { return s.draining() == 0 })
	fresh.play(3)
	if code := dial(t, s.addr, "/quick?def="+before+"&resume="+token).closed(); code != wire.CloseOutdated {
		t.Errorf("who resumes in what is gone was closed with %d", code)
	}
}

func TestTheRollTimeoutEndsWhatIsLeft(t *testing.T) {
	s := serveRolling(t, engine.Config{RollTimeout: 200 * time.Millisecond})
	a := dial(t, s.addr, "/quick")
	a.until(wire.TagSnapshot)
	s.roll()
	a.play(1)
	if code := a.closed(); code != wire.CloseOutdated {
		t.Errorf("closed with %d", code)
	}
	await.True(t, "the old definition to be forgotten", func() bool { return s.draining() == 0 })
}

func TestSoManyDefinitionsDrainAtOnce(t *testing.T) {
	s := serveRolling(t, engine.Config{Loops: 2})
	var peers []*peer
	for range engine.MostDraining + 2 {
		p := dial(t, s.addr, "/quick")
		p.until(wire.TagSnapshot)
		peers = append(peers, p)
		s.roll()
	}
	for i, p := range peers {
		if i >= 2 {
			p.play(2)
		} else if code := p.closed(); code != wire.CloseOutdated {
			t.Errorf("the oldest closed with %d", code)
		}
	}
	await.True(t, "the oldest to be forgotten", func() bool { return s.draining() == engine.MostDraining })
}

// TestAThousandPlayOn replaces the game under a thousand players: not one of them misses a
// tick's news or is moved, and who comes meanwhile gets the new one.
func TestAThousandPlayOn(t *testing.T) {
	const players = 1000
	s := &rolling{t: t, dir: quick(t)}
	write(t, filepath.Join(s.dir, "quick"), "gamehoster-game.json", // slow: those who wait to be looked at do not read
		`{"tickRate": 10, "sendRate": 2, "playersPerInstance": 20, "player": {"fields": {"n": "u32 shared"}}}`)
	s.server = serve(t, engine.Config{Dir: s.dir})
	var peers []*peer
	for range players {
		peers = append(peers, dial(t, s.addr, "/quick"))
	}
	for _, p := range peers {
		p.until(wire.TagWelcome)
	}
	before := s.Seats(quickPlace)
	s.roll()
	s.roll()
	fresh := dial(t, s.addr, "/quick")
	fresh.until(wire.TagSnapshot)
	for _, p := range peers {
		if fresh.welcome.Hash == p.welcome.Hash {
			t.Fatal("the new player has the old definition")
		}
		p.until(wire.TagSnapshot)
		for range 4 {
			last := p.tick
			if p.until(wire.TagDelta); p.tick != last+5 {
				t.Fatalf("tick %d came after %d", p.tick, last)
			}
		}
	}
	if got := s.Seats(quickPlace); before.Seats != players || got.Seats != players+1 || got.Instances != before.Instances+1 {
		t.Errorf("the tables count %+v, before the new player %+v", got, before)
	}
}

// In a pool each definition takes a worker. Old ones drain beside those that new players
// come to, as many again as may be of these; past that, players are not turned away for them.
func TestAnOldDefinitionMakesRoom(t *testing.T) {
	of := pooled
	of.Max = 1
	s := serveRolling(t, engine.Config{Workers: of})
	var peers []*peer
	for range 2 {
		p := dial(t, s.addr, "/quick")
		p.until(wire.TagSnapshot)
		peers = append(peers, p)
		s.roll()
	}
	if code := dial(t, s.addr, "/quick").closed(); code != wire.CloseBoxFull {
		t.Fatalf("with all workers at work a player was closed with %d", code)
	}
	if code := peers[0].closed(); code != wire.CloseOutdated {
		t.Errorf("a player of the oldest was closed with %d", code)
	}
	await.True(t, "a seat in the newest", func() bool { return dial(t, s.addr, "/quick").message() != nil })
	peers[1].play(3)
	if s.draining() != 1 {
		t.Errorf("%d definitions drain", s.draining())
	}
}

func TestARemovedGameIsPlayedOn(t *testing.T) {
	s := serveRolling(t, engine.Config{RollTimeout: 300 * time.Millisecond})
	a := dial(t, s.addr, "/quick")
	a.until(wire.TagSnapshot)
	if err := os.Rename(filepath.Join(s.dir, "quick"), filepath.Join(t.TempDir(), "quick")); err != nil {
		t.Fatal(err)
	}
	s.look()
	if _, err := tryDial(t, s.addr, "/quick", ""); err == nil {
		t.Error("a removed game was joined")
	}
	a.play(1)
	if code := a.closed(); code != wire.CloseEnded {
		t.Errorf("closed with %d", code)
	}
	await.True(t, "it to be forgotten", func() bool { newest, draining := s.Versions(quickPlace); return newest+draining == 0 })
}

// Players who leave end a stop early; who stays is closed at its limit.
func TestAStopLetsGamesGoOn(t *testing.T) {
	b, stop := start(t, engine.Config{Dir: samples, DrainTimeout: await.Patience})
	stays, leaves := dial(t, b.Addr(), "/pong"), dial(t, b.Addr(), "/asteroids")
	stays.until(wire.TagSnapshot)
	leaves.until(wire.TagSnapshot)
	ended := make(chan error, 1)
	began := time.Now()
	go func() { ended <- stop() }()
	await.True(t, "the port to close", func() bool {
		p, err := tryDial(t, b.Addr(), "/pong", "")
		if err == nil { // one who was let in is waited for
			p.conn.Close()
		}
		return err != nil
	})
	stays.play(5)
	leaves.leave()
	stays.play(5)
	select {
	case err := <-ended:
		t.Fatalf("ended under a player, with %v", err)
	default:
	}
	stays.leave()
	if err := await.Value(t, ended, "the end"); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > await.Patience/2 {
		t.Errorf("took %v with nobody there", took)
	}
}

// TestAHundredReloadsLeaveNothing has a player in each definition, who leaves when the next
// one is there.
func TestAHundredReloadsLeaveNothing(t *testing.T) {
	s := serveRolling(t, engine.Config{})
	reload := func(times int) {
		for range times {
			p := dial(t, s.addr, "/quick")
			p.until(wire.TagSnapshot)
			s.roll()
			p.leave()
			p.conn.Close()
		}
		await.True(t, "what was replaced to be forgotten", func() bool { return s.draining() == 0 })
	}
	heap := func() int {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	reload(10) // caches of the compiler and pools fill
	goroutines, descriptors, mapped, memory := runtime.NumGoroutine(), await.OpenFiles(t), await.Mappings(t), heap()
	times := 100
	if testing.Short() {
		times = 10
	}
	reload(times)
	grown := heap() - memory
	t.Logf("%d reloads: %d goroutines were %d, %d descriptors were %d, %d mappings were %d, heap grown by %d KB",
		times, runtime.NumGoroutine(), goroutines, await.OpenFiles(t), descriptors, await.Mappings(t), mapped, grown>>10)
	await.True(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	await.True(t, "descriptors close", func() bool { return await.OpenFiles(t) <= descriptors })
	if n := await.Mappings(t); n > mapped+20 {
		t.Errorf("%d mappings of memory were %d", n, mapped)
	}
	if grown > 4<<20 {
		t.Errorf("the heap has grown by %d KB", grown>>10)
	}
}
