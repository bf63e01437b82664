package body_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os/exec"
	"strings"
	"testing"

	"gamehoster/games"
	"gamehoster/games/body"
	"gamehoster/games/schema"
)

// sample loads a game that comes with the project.
func sample(t testing.TB, name string) *games.Game {
	t.Helper()
	g, list := games.Load("../localhost/" + name)
	if g == nil || list.Failed() {
		t.Fatalf("%s: %v", name, list)
	}
	return g
}

var pilots = [4]string{"Ada", "", "名前", "Rear Admiral Grace Murray Hopper"}

// restless is input for a sample: players come and go and send every command
// with values of all sizes, in a fixed order.
func restless(def *schema.Definition) func(tick int) input {
	seats := min(def.Player().Max, 4)
	return func(tick int) (in input) {
		seat := func(i, at int) uint32 { return uint32(1 + 2*(i+seats*(at/500))) }
		if tick%500 == 1 {
			for i := range seats {
				if tick > 1 {
					in.leaves = append(in.leaves, seat(i, tick-500))
				}
				in.joins = append(in.joins, join{id: seat(i, tick), name: pilots[i]})
			}
		}
		if len(def.Commands) == 0 || tick%5 != 0 {
			return in
		}
		for i := range seats {
			k := tick*7 + i*13
			c := def.Commands[k%len(def.Commands)]
			values := make([]float64, len(c.Fields))
			for j, f := range c.Fields {
				v := float64((k*(j+3))%201) - 100
				values[j] = max(min(v, f.Max), f.Min)
				if f.Kind == schema.Bool {
					values[j] = float64(k >> j & 1)
				}
			}
			in.commands = append(in.commands, command{player: seat(i, tick), seq: uint32(tick), number: c.Index, values: values})
		}
		return in
	}
}

// digest runs a game and gives a digest of its state at every 1000th tick.
func (w *world) digest(ticks int, drive func(tick int) input) (list []string) {
	w.t.Helper()
	h := fnv.New64a()
	for i := 1; i <= ticks; i++ {
		w.must(drive(i))
		h.Write(w.state())
		if i%1000 == 0 {
			list = append(list, fmt.Sprintf("%016x", h.Sum64()))
		}
	}
	return list
}

const nodeHost = `
import { readFileSync } from "node:fs";
const job = JSON.parse(readFileSync(0, "utf8"));
const { memory, tick, start, heap } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from(job.module, "hex"))).exports;
memory.grow(4);
const base = heap.value, input = base + job.size;
const view = new DataView(memory.buffer), bytes = new Uint8Array(memory.buffer);
view.setUint32(base + 8, 2, true);
view.setUint32(base + 12, 4, true);
view.setBigUint64(base + 16, BigInt(job.seed), true);
view.setBigUint64(base + 24, BigInt(job.serverSeed), true);
start(base);
let lo = 0x84222325, hi = 0xcbf29ce4;
function put(from, to) {
  for (let i = from; i < to; i++) {
    lo = (lo ^ bytes[i]) >>> 0;
    // times 2^40 + 0x1b3
    const low = lo * 0x1b3;
    hi = (Math.imul(hi, 0x1b3) + Math.floor(low / 4294967296) + (lo << 8)) >>> 0;
    lo = low >>> 0;
  }
}
const out = [];
for (let t = 1; t <= job.ticks; t++) {
  bytes.set(Buffer.from(job.inputs[t] ?? "00000000000000000000000000000000", "hex"), input);
  tick(base, input);
  put(base, base + 32);
  for (const type of job.types) {
    const n = type.counts < 0 ? 1 : view.getUint32(base + type.counts, true);
    for (let i = 0; i < n; i++) {
      const row = base + type.rows + i * type.stride;
      put(row, row + 4);
      put(row + 8, row + type.stride);
    }
  }
  if (t % 1000 === 0) out.push(hi.toString(16).padStart(8, "0") + lo.toString(16).padStart(8, "0"));
}
console.log(out.join("\n"));
`

// digestInNode is digest by Node's engine.
func digestInNode(t testing.TB, w *world, o worldOptions, ticks int, drive func(tick int) input) []string {
	t.Helper()
	types := []map[string]int{}
	for _, l := range w.layout.Types {
		types = append(types, map[string]int{"counts": l.Counts, "rows": l.Rows, "stride": l.Stride})
	}
	inputs := map[int]string{}
	for i := 1; i <= ticks; i++ {
		if in := drive(i); len(in.joins)+len(in.leaves)+len(in.commands) > 0 {
			inputs[i] = hex.EncodeToString(w.encode(in))
		}
	}
	job, err := json.Marshal(map[string]any{
		"module": hex.EncodeToString(w.prog.Server), "size": w.layout.Size, "types": types, "inputs": inputs, "ticks": ticks,
		"seed": fmt.Sprint(o.seed), "serverSeed": fmt.Sprint(o.serverSeed),
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "--input-type=module", "-e", nodeHost)
	cmd.Stdin = bytes.NewReader(job)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("node is needed for this test: %v\n%s", err, problems.String())
	}
	return strings.Fields(out.String())
}

// TestEnginesAgree runs games by wazero's compiler, its interpreter and Node, and
// as the optimiser's input; all must go through the same states.
func TestEnginesAgree(t *testing.T) {
	const ticks, fewer = 20000, 2000
	check := func(name string, def *schema.Definition, p, plain *body.Program, drive func(tick int) input) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := worldOptions{seed: 99, serverSeed: 1}
			w := newWorld(t, def, p, o)
			want := w.digest(ticks, drive)
			compare := func(engine string, got []string) {
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%s: the states differ before tick %d", engine, 1000*(i+1))
					}
				}
			}
			compare("node", digestInNode(t, w, o, ticks, drive))
			o.interpreter = true
			compare("interpreter", newWorld(t, def, p, o).digest(fewer, drive))
			o.interpreter = false
			compare("without the optimiser", newWorld(t, def, plain, o).digest(fewer, drive))
		})
	}
	def, p := asteroids(t)
	plain, _ := body.Compile(def, bodies(asteroidsText), body.Options{Plain: true})
	check("probe", def, p, plain, driveAsteroids)
	for _, name := range []string{"asteroids", "pong"} {
		g := sample(t, name)
		plain, list := body.Compile(g.Def, sampleFiles(t, name), body.Options{Plain: true})
		if plain == nil {
			t.Fatal(list)
		}
		check(name, g.Def, g.Program, plain, restless(g.Def))
	}
}

// TestTwinSamples runs the samples as JavaScript.
func TestTwinSamples(t *testing.T) {
	for _, name := range []string{"asteroids", "pong"} {
		g := sample(t, name)
		compareTwin(t, g.Def, sampleFiles(t, name), 3000, restless(g.Def))
	}
}

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
