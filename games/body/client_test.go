package body_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// TestClientReproduces runs a game's shared bodies in the client's module beside
// the server's, for a game that has nothing else, and compares the states.
func TestClientReproduces(t *testing.T) {
	const types = `
instance n:u32 total:f64
player 1 unused:u8
rock rocks 16 x:f32 n:i16 mate:ref.rock
`
	const text = `
-- instance.js --
export function update() {
  if (game.tick % 3 === 0) {
    const r = game.rocks.spawn();
    if (r) { r.x = random() * 10; r.mate = game.rocks.find(r.id - 4); }
  }
  game.n += game.rocks.count;
  for (const r of game.rocks) game.total += Math.sin(r.x);
}
-- rock.js --
export function update(r) {
  r.x += random();
  r.n += r.mate ? 1 : 2;
  if (r.n > 40 && random() < 0.2) r.remove();
}
`
	def := define(t, types)
	p := compile(t, def, text)
	if !p.WritesSharedOnly {
		t.Error("a game of shared bodies only is not known as one")
	}
	server := newWorld(t, def, p, worldOptions{seed: 5})
	client := newWorld(t, def, p, worldOptions{seed: 5, client: true})
	for i := range 2000 {
		server.must(input{})
		client.must(input{})
		if a, b := server.line(true), client.line(true); a != b {
			t.Fatalf("tick %d\nserver %s\nclient %s", i+1, a, b)
		}
	}
}

// TestClientLeavesSentAlone checks that the client's module writes no sent field,
// evaluates what stood right of it all the same, and has no server body.
func TestClientLeavesSentAlone(t *testing.T) {
	const types = `
instance a:f64:sent b:f64 label:str8:sent secret:f64:server c:f64
player 2 x:f32:sent y:f32
rock rocks 4 hp:u8:sent=9 x:f32
`
	const text = `
-- instance.js --
function both(v) { game.b += v; return v; }
export function update() {
  game.a = both(2);
  game.a += both(1);
  game.a++;
  game.c = game.a = 5;
  game.label = "written";
  const r = game.rocks.spawn();
  if (r) { r.hp = 3; r.x = r.hp; }
}
-- instance.server.js --
const KEY = 123456.789012;
export function start() { game.secret = KEY; game.label = "treasure"; }
export function update() { game.secret *= 1.5; }
`
	def := define(t, types)
	p := compile(t, def, text)
	client := newWorld(t, def, p, worldOptions{client: true})
	client.must(input{})
	for path, want := range map[string]float64{"instance.a": 0, "instance.b": 3, "instance.c": 5, "rock.hp": 9, "rock.x": 9} {
		if got := client.value(path, 0); got != want {
			t.Errorf("client: %s is %v, want %v", path, got, want)
		}
	}
	if got := client.text("instance.label", 0); got != "" {
		t.Errorf("client: the label is %q", got)
	}
	server := newWorld(t, def, p, worldOptions{})
	server.must(input{})
	if a, hp := server.value("instance.a", 0), server.value("rock.hp", 0); a != 5 || hp != 3 {
		t.Errorf("server: a is %v, hp %v", a, hp)
	}
	secrets := [][]byte{[]byte("treasure"), []byte("server"), []byte("start"), []byte("secret")}
	key := binary.LittleEndian.AppendUint64(nil, math.Float64bits(123456.789012))
	for _, s := range append(secrets, key) {
		if bytes.Contains(p.Client, s) {
			t.Errorf("the client's module has %q", s)
		}
	}
	if !bytes.Contains(p.Server, []byte("treasure")) || !bytes.Contains(p.Server, key) {
		t.Error("the search would not find what it looks for")
	}
}
