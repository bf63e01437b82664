package engine_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gamehoster/engine"
	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/tick/ticktest"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// The largest instance that a definition may have, full, reaches a client, which can read
// it and plays on. One field more and the game is refused where it is loaded. A short run,
// as the race detector's, sends a sixteenth of it.
func TestTheLargestStateReachesAClient(t *testing.T) {
	objects, largest := 1<<16-1, !testing.Short() // a KiB each
	if !largest {
		objects >>= 4
	}
	definition := func(fields int) string {
		list := map[string]any{"n": "u32 sent"}
		for i := range fields {
			list[fmt.Sprintf("f%03d", i)] = map[string]any{"type": "f64", "sync": "shared", "default": 0.1}
		}
		text, err := json.Marshal(map[string]any{
			"tickRate": 20, "sendRate": 10, "shardInstances": 1, "playersPerInstance": 2, "keyframeSeconds": 60,
			"player":   map[string]any{"fields": map[string]any{"n": "u32 shared"}},
			"entities": map[string]any{"thing": map[string]any{"max": objects, "fields": list}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	dir := t.TempDir()
	vast := filepath.Join(dir, "vast")
	const fields = 126 // of 8 bytes, with 4 for n and 12 for what every row has
	write(t, vast, "gamehoster-game.json", definition(fields+1))
	write(t, vast, "instance.server.js", "export function start() {\n\tfor (let i = 0; i < "+fmt.Sprint(objects)+"; i++) {\n\t\tconst thing = game.things.spawn();\n\t\tif (thing) thing.n = i;\n\t}\n}\n")
	if _, list := games.Load(vast); largest && !strings.Contains(list.Error(), "in a browser, more than 67108864") {
		t.Errorf("a state of more than 64 MiB: %v", list)
	}
	write(t, vast, "gamehoster-game.json", definition(fields))
	g, list := games.Load(vast)
	if list.Failed() {
		t.Fatal(list)
	}
	if n := g.Program.ClientLayout.Size; largest && (n > 64<<20 || n < 64<<20-8*objects) {
		t.Errorf("a block of %d bytes is not the largest there is", n)
	}
	module, err := ticktest.NewModule(g.Def, g.Program)
	if err != nil {
		t.Fatal(err)
	}
	client, err := module.NewClient(false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := module.Close(); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, engine.Config{Dir: dir})
	began := time.Now()
	p := dial(t, s.addr, "/vast")
	p.reader = ws.NewReader(96<<20, ws.ClientSide)
	size := 0
	for sends := 0; sends < 3; {
		m := p.message()
		if m == nil {
			t.Fatalf("closed with %d", p.code)
		}
		client.Message(m)
		if client.Err != nil {
			t.Fatalf("%.200s", client.Err.Error())
		}
		switch wire.TagOf(m) {
		case wire.TagSnapshot:
			size = len(m)
			t.Logf("%d bytes came and were read in %v", size, time.Since(began))
			fallthrough
		case wire.TagDelta:
			sends++
			p.write(ws.AppendMasked(nil, ws.OpBinary, mask, wire.Ack{Tick: client.Tick}.Append(nil)))
		}
	}
	if size < objects*8*fields || client.Objects() != objects+1 || client.Snapshots != 1 {
		t.Errorf("%d bytes, %d objects, %d snapshots", size, client.Objects(), client.Snapshots)
	}
	if client.Welcome.Player != schema.FirstPlayer {
		t.Errorf("player %d", client.Welcome.Player)
	}
}
