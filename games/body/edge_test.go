package body_test

import (
	"fmt"
	"testing"

	"gamehoster/games/schema"
)

// TestEndOfMemory runs a game whose rows fill the instance, and the memory with it, to the
// last byte: nothing may be read behind them, as a guess or in vain.
func TestEndOfMemory(t *testing.T) {
	const text = `
-- instance.js --
export function update() {
	game.rocks.spawn();
	for (const r of game.rocks) { if (r.next && r.next.x > 0 && r.next.y > 0) game.n++; }
}
-- instance.server.js --
export function update() {
	for (let i = 0; i < 3; i++) game.rocks.spawn();
}
-- rock.js --
export function update(r) {
	r.x = r.id % 7;
	r.next = game.rocks.find(r.id + 4);
	if (r.x === 3 && game.tick % 5 === 0) r.remove();
}
`
	full := 0
	for most := 8; most < 40; most++ {
		def := define(t, fmt.Sprintf("instance n:u32:shared\nplayer 1 x:f32\nrock rocks %d x:f32:shared y:f64 next:ref.rock:shared\n", most))
		w := newWorld(t, def, compile(t, def, text), worldOptions{})
		rocks := w.layout.Types[2]
		if rocks.Rows+most*rocks.Stride != w.layout.Size {
			continue
		}
		full++
		w.input, w.base = w.base, w.mod.Memory().Size()-uint32(w.layout.Size)
		w.header(worldOptions{})
		w.defaults()
		for range 60 {
			w.must(input{})
		}
		if n := w.get32(rocks.Counts + schema.CountRows); n < uint32(most)-8 {
			t.Errorf("there are only %d rocks of %d", n, most)
		}
	}
	if full == 0 {
		t.Error("no layout ends with its rows")
	}
}
