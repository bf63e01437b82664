package body_test

import (
	"testing"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body"
)

// TestRemainders runs what an arm64 once got wrong: a remainder of integers where so
// much is waiting for a call's return that registers are short.
func TestRemainders(t *testing.T) {
	def := define(t, "instance a:f32 b:f64 n:u32\nplayer 3 x:u8\ndrone drones 5 next:ref.drone:sent\n")
	const text = `
-- instance.server.js --
const none = () => {
  if (game.players.find(0 ** 0.5)) return game.drones.find(0);
  return null;
};
export function start() {
  for (let i = 0; i < 5; i++) {
    const d = game.drones.spawn();
    if (d) d.next = none();
  }
}
export function update() {
  game.a ^= game.players.find(0)?.id ?? Math.min(Math.exp(1), 4 % 3);
  game.n += 7;
  game.b = game.n % 5 + (game.n % (game.tick + 3)) % (game.n % 4 + 2) + game.b % (game.tick + 0.5);
}
`
	p := compile(t, def, text)
	edited(p.Server, func(i []byte) {
		switch i[0] {
		case 0x6f, 0x70, 0x81, 0x82:
			t.Errorf("there is a remainder, %#x", i[0])
		}
	})
	r := record(def, p, 500, 1, idle)
	want := replayed(t, r, wazero.NewRuntimeConfigCompiler())
	agree(t, "node", 1, want, elsewhere(t, inNode, r)[0])
	agree(t, "arm64", 1, want, onARM(t, r)[0])
	compareTwin(t, def, bodies(text), 500, idle)
	plain, _ := body.Compile(def, bodies(text), body.Options{Plain: true})
	r.Code, r.CodeSize = plain.Server, len(plain.Server)
	agree(t, "without the optimiser", 1, want, replayed(t, r, wazero.NewRuntimeConfigCompiler()))
}
