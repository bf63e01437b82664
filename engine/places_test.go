package engine_test

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/tick"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// mortal is a folder with a game whose players may end or shut their instance.
func mortal(t *testing.T, players int) string {
	dir := t.TempDir()
	game := filepath.Join(dir, "mortal")
	write(t, game, "gamehoster-game.json", fmt.Sprintf(
		`{"tickRate": 60, "sendRate": 30, "playersPerInstance": %d, "player": {"fields": {"n": "u32 shared"}},
		"commands": {"end": {"fields": {"x": "u8"}}, "shut": {"fields": {"x": "u8"}}}}`, players))
	write(t, game, "commands.server.js", "export function end(player, command) { game.end(); }\n"+
		"export function shut(player, command) { game.open = false; }\n")
	return dir
}

// command is the first command of a player, with one u8.
func command(tick uint32, number byte) []byte {
	m := binary.LittleEndian.AppendUint32([]byte{byte(wire.TagCommand)}, tick)
	return append(m, 1, number, 0)
}

func TestAnEndedInstanceTakesNobody(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: mortal(t, 4), Dev: true})
	a := dial(t, s.addr, "/mortal")
	a.until(wire.TagSnapshot)
	name := string(a.welcome.Name)
	w := dial(t, s.addr, "/mortal?watch=1&instance="+name)
	w.until(wire.TagSnapshot)
	a.send(command(a.tick, 0))
	for a.message() != nil { // and does not close: the instance is still held by its sockets
	}
	if uint16(a.code) != wire.CloseEnded {
		t.Fatalf("the player was closed with %d", a.code)
	}
	for _, query := range []string{"watch=1&", ""} {
		if code := dial(t, s.addr, "/mortal?"+query+"instance="+name).closed(); code != wire.CloseNoInstance {
			t.Errorf("%s by name into an ended instance: closed with %d", query, code)
		}
	}
	b := dial(t, s.addr, "/mortal")
	b.until(wire.TagSnapshot)
	other := string(b.welcome.Name)
	if other == name {
		t.Error("a player was seated in an ended instance")
	}
	if code := w.closed(); code != wire.CloseEnded {
		t.Errorf("the spectator was closed with %d", code)
	}
	await.True(t, "the ended instance to go", func() bool {
		_, _, stats := s.get(t, "/_dev/stats")
		return !strings.Contains(stats, name) && strings.Contains(stats, other)
	})
}

func TestAnInstanceTakesSoManySpectators(t *testing.T) {
	s := serve(t, engine.Config{Dir: mortal(t, 4)})
	a := dial(t, s.addr, "/mortal")
	a.until(wire.TagSnapshot)
	path := "/mortal?watch=1&instance=" + string(a.welcome.Name)
	for range tick.MaxSpectators {
		dial(t, s.addr, path).until(wire.TagSnapshot)
	}
	if code := dial(t, s.addr, path).closed(); code != wire.CloseNoInstance {
		t.Errorf("one too many was closed with %d", code)
	}
	a.until(wire.TagDelta)
}

func TestAnInstanceThatEndsAtItsStartHoldsNobody(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "stillborn"), "gamehoster-game.json", `{"player": {"fields": {"n": "u32 shared"}}}`)
	write(t, filepath.Join(dir, "stillborn"), "instance.server.js", "export function start() { game.end(); }\n")
	s := serve(t, engine.Config{Dir: dir})
	if code := dial(t, s.addr, "/stillborn").closed(); code != wire.CloseDraining {
		t.Errorf("closed with %d", code)
	}
}

// A player whose seat is gone and whose place is taken is seated like any other.
func TestALateResumeIsSeatedElsewhere(t *testing.T) {
	s := serve(t, engine.Config{Dir: mortal(t, 1)})
	a := dial(t, s.addr, "/mortal")
	a.until(wire.TagSnapshot)
	name, token := string(a.welcome.Name), fmt.Sprintf("%x", a.welcome.Token)
	dial(t, s.addr, "/mortal?watch=1&instance="+name).until(wire.TagSnapshot) // keeps the instance
	a.write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{3, 232}))
	a.closed()
	await.True(t, "another player to get the seat", func() bool {
		b := dial(t, s.addr, "/mortal?instance="+name)
		return b.message() != nil
	})
	c := dial(t, s.addr, "/mortal?resume="+token)
	c.until(wire.TagSnapshot)
	if string(c.welcome.Name) == name {
		t.Error("two players in an instance of one")
	}
	if code := dial(t, s.addr, "/mortal?instance="+name+"&resume="+token).closed(); code != wire.CloseNoInstance {
		t.Errorf("one that named its full instance was closed with %d", code)
	}
}

// The first players of a game come to all loops at once; the race detector watches.
func TestEveryLoopStartsTheGame(t *testing.T) {
	s := serve(t, engine.Config{Dir: mortal(t, 1), Loops: 4})
	var coming sync.WaitGroup
	peers := make([]*peer, 8)
	for i := range peers {
		coming.Go(func() {
			var err error
			if peers[i], err = tryDial(t, s.addr, "/mortal", ""); err != nil {
				t.Error(err)
			}
		})
	}
	coming.Wait()
	for _, p := range peers {
		if p != nil {
			p.until(wire.TagSnapshot)
		}
	}
}
