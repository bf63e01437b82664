package rt_test

import (
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/link"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/schema"
)

const definition = `{
  "instance": { "fields": { "level": { "type": "u16", "sync": "shared", "default": 3 } } },
  "playersPerInstance": 3,
  "player": { "fields": { "score": "u32 shared" } },
  "entities": {
    "rock": { "max": 6, "fields": { "x": { "type": "f32", "sync": "shared", "default": 1.5 }, "tag": { "type": "str(4)", "default": "ab" }, "n": "i16 shared" } },
    "shot": { "max": 4, "owned": true, "fields": { "life": { "type": "u8", "sync": "shared", "default": 9 } } }
  },
  "commands": { "turn": { "fields": { "way": "i8" } }, "stop": {} }
}`

// define gives the test's game and a runtime for it.
func define(t testing.TB) (*schema.Definition, *rt.Runtime) {
	t.Helper()
	return defineAs(t, definition)
}

func defineAs(t testing.TB, text string) (*schema.Definition, *rt.Runtime) {
	t.Helper()
	def, list := games.ParseDefinition("rocks", []byte(text))
	if list.Failed() {
		t.Fatal(list)
	}
	return def, rt.New(def)
}

// machine is a module of functions of the runtime, ready to be called.
type machine struct {
	t      testing.TB
	mod    api.Module
	layout *schema.Layout
	heap   uint32
}

// load links functions, which are exported by their names, and instantiates them.
func load(t testing.TB, def *schema.Definition, r *rt.Runtime, side schema.Side, roots ...*ir.Func) *machine {
	t.Helper()
	g := &r.Globals
	m := &machine{t: t, layout: schema.NewLayout(def, side)}
	linked, err := link.Link(link.Options{
		Layout: m.layout, Fuel: g.Fuel, Fault: g.Fault, FaultAt: g.FaultAt, OutOfGas: 1, ToInt32: r.ToInt32(), Log: r.LogArea, MaxPages: 64,
		Globals: []*ir.Global{
			g.Fault, g.FaultAt, g.FaultBody, g.FaultActor, g.Fuel, g.TickFuel, g.Again, g.Seq, g.Seed, g.Seeded, g.Secret, g.Secreted, g.Tail, g.ViewAt, g.LogUsed, g.LogLost,
		},
	}, roots...)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = runtime.Close(ctx) })
	if m.mod, err = runtime.Instantiate(ctx, linked.Encode()); err != nil {
		t.Fatal(err)
	}
	if _, ok := m.mod.Memory().Grow(2 + uint32(m.layout.Size>>16)); !ok {
		t.Fatal("no memory")
	}
	m.heap = uint32(m.mod.ExportedGlobal("heap").Get())
	return m
}

// try calls a function.
func (m *machine) try(f *ir.Func, args ...uint64) (uint64, error) {
	results, err := m.mod.ExportedFunction(f.Name).Call(context.Background(), args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	return results[0], nil
}

// call calls a function that must not trap.
func (m *machine) call(f *ir.Func, args ...uint64) uint64 {
	m.t.Helper()
	v, err := m.try(f, args...)
	if err != nil {
		m.t.Fatalf("%s%v: %v", f.Name, args, err)
	}
	return v
}

// number calls a function of doubles.
func (m *machine) number(f *ir.Func, args ...float64) float64 {
	m.t.Helper()
	bits := make([]uint64, len(args))
	for i, a := range args {
		bits[i] = math.Float64bits(a)
	}
	return math.Float64frombits(m.call(f, bits...))
}

func (m *machine) get(at uint32) uint32 {
	m.t.Helper()
	v, ok := m.mod.Memory().ReadUint32Le(at)
	if !ok {
		m.t.Fatalf("no memory at %d", at)
	}
	return v
}

func (m *machine) put(at uint32, words ...uint32) {
	m.t.Helper()
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	m.write(at, b)
}

func (m *machine) write(at uint32, b []byte) {
	m.t.Helper()
	if !m.mod.Memory().Write(at, b) {
		m.t.Fatalf("no memory at %d", at)
	}
}

func (m *machine) read(at uint32, n int) []byte {
	m.t.Helper()
	b, ok := m.mod.Memory().Read(at, uint32(n))
	if !ok {
		m.t.Fatalf("no memory at %d", at)
	}
	return b
}

// global is an exported variable.
func (m *machine) global(name string) uint32 { return uint32(m.mod.ExportedGlobal(name).Get()) }

// block sets up an empty instance at the heap.
func (m *machine) block(seed, secret uint64) (base uint32) {
	base = m.heap
	m.write(base, make([]byte, m.layout.Size))
	m.put(base+schema.HeaderNextShared, schema.FirstShared, schema.FirstServer)
	m.put(base+schema.HeaderSeed, uint32(seed), uint32(seed>>32), uint32(secret), uint32(secret>>32))
	return base
}
