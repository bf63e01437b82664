package body_test

import (
	"encoding/binary"
	"testing"

	"gamehoster/games/schema"
)

// TestMarks checks which rows a tick marks as written by a server body: those it
// made, those of which it wrote a shared field, and those of joined players. What
// shared bodies do is not marked, nor are sent and server fields.
func TestMarks(t *testing.T) {
	const types = `
instance a:u8 b:u8:sent
player 4 x:f32 s:f32:sent h:f32:server
rock rocks 8 x:f32 s:u8:sent
`
	const text = `
-- instance.js --
export function update() { game.a++; if (game.tick === 2) game.rocks.spawn(); }
-- instance.server.js --
export function update() {
  if (game.tick === 4) game.rocks.spawn();
  if (game.tick === 6) game.a = 5;
  if (game.tick === 7) game.b = 5;
}
-- player.server.js --
export function update(p) {
  p.s++;
  p.h++;
  if (game.tick === 8) p.x += 2;
}
-- rock.server.js --
export function update(r) {
  if (game.tick === 9) r.s = 1;
  if (game.tick === 10 && r.id === 2) r.x = 1;
}
`
	def := define(t, types)
	w := newWorld(t, def, compile(t, def, text), worldOptions{})
	want := map[int]string{1: "1:1", 4: "2:4", 6: "0:0", 8: "1:1", 10: "2:2"}
	for tick := 1; tick <= 12; tick++ {
		in := input{}
		if tick == 1 {
			in = joinAll(1)
		}
		w.must(in)
		got := ""
		for i := range def.Types {
			for _, r := range w.rows(i) {
				mark := binary.LittleEndian.Uint32(r[schema.RowMark:])
				if mark&schema.MarkWritten != 0 {
					got += string(rune('0'+i)) + ":" + string(rune('0'+r[0]))
				}
				binary.LittleEndian.PutUint32(r[schema.RowMark:], 0) // as the engine does
			}
		}
		if got != want[tick] {
			t.Errorf("tick %d marks %q, want %q", tick, got, want[tick])
		}
	}
}
