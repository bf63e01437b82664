package body_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

var le = binary.LittleEndian

// define makes a definition from lines like
//
//	instance wave:u16:shared
//	player 8 x:f32:shared score:u32:sent secret:i32:server
//	rock rocks 32 x:f32:shared            (owned: "rock rocks 32 owned ...")
//	command steer turn:i8 fire:bool
//
// A field is name:type[:sync[:audience]][=default]; str types are str12, ref
// types ref.rock.
func define(t testing.TB, text string) *schema.Definition {
	t.Helper()
	d := &schema.Definition{Name: "test", TickRate: 30, SendRate: 15, PlayersPerInstance: 8, InstancesPerShard: 10}
	type pending struct {
		f    *schema.Field
		name string
	}
	var refs []pending
	fields := func(words []string, sync schema.Sync) (list []*schema.Field) {
		for i, w := range words {
			w, def, _ := strings.Cut(w, "=")
			parts := strings.Split(w, ":")
			f := &schema.Field{Index: i, Name: parts[0], Sync: sync, Min: math.Inf(-1), Max: math.Inf(1)}
			kind := parts[1]
			switch {
			case strings.HasPrefix(kind, "str"):
				f.Kind = schema.Str
				f.Len, _ = strconv.Atoi(kind[3:])
				f.Text = def
			case strings.HasPrefix(kind, "ref."):
				f.Kind = schema.Ref
				refs = append(refs, pending{f, kind[4:]})
			default:
				found := false
				for k := schema.Bool; k <= schema.F64; k++ {
					if k.String() == kind {
						f.Kind, found = k, true
					}
				}
				if !found {
					t.Fatalf("no type %q", kind)
				}
				f.Default, _ = strconv.ParseFloat(def, 64)
			}
			for _, p := range parts[2:] {
				switch p {
				case "server":
					f.Sync = schema.Server
				case "sent":
					f.Sync = schema.Sent
				case "shared":
					f.Sync = schema.Shared
				case "owner":
					f.Audience = schema.Owner
				}
			}
			list = append(list, f)
		}
		return list
	}
	for _, line := range strings.Split(text, "\n") {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		switch w[0] {
		case "instance":
			d.Types = append(d.Types, &schema.Type{Name: "instance", Max: 1, Fields: fields(w[1:], schema.Shared)})
		case "player":
			n, _ := strconv.Atoi(w[1])
			d.Types = append(d.Types, &schema.Type{Index: 1, Name: "player", Plural: "players", Max: n, Fields: fields(w[2:], schema.Shared)})
			d.PlayersPerInstance = n
		case "command":
			c := &schema.Command{Index: len(d.Commands), Name: w[1], Fields: fields(w[2:], schema.Shared)}
			d.Commands = append(d.Commands, c)
		default:
			n, _ := strconv.Atoi(w[2])
			ty := &schema.Type{Index: len(d.Types), Name: w[0], Plural: w[1], Max: n}
			rest := w[3:]
			if len(rest) > 0 && rest[0] == "owned" {
				ty.Owned, rest = true, rest[1:]
			}
			ty.Fields = fields(rest, schema.Shared)
			d.Types = append(d.Types, ty)
		}
	}
	for _, r := range refs {
		for _, ty := range d.Types {
			if ty.Name == r.name {
				r.f.Ref = ty.Index
			}
		}
	}
	return d
}

// bodies makes sources from a txtar-like text: lines "-- path --" begin files.
func bodies(text string) (files []body.Source) {
	for _, line := range strings.SplitAfter(text, "\n") {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "-- ") && strings.HasSuffix(s, " --") {
			files = append(files, body.Source{Path: strings.TrimSpace(s[3 : len(s)-3])})
			continue
		}
		if len(files) > 0 {
			files[len(files)-1].Text = append(files[len(files)-1].Text, line...)
		}
	}
	return files
}

func compile(t testing.TB, def *schema.Definition, text string) *body.Program {
	t.Helper()
	p, list := body.Compile(def, bodies(text), body.Options{})
	if p == nil {
		t.Fatalf("compile:\n%s", list.Error())
	}
	return p
}

// world is one instance in a module, run by wazero as the engine does.
type world struct {
	t      testing.TB
	close  func()
	def    *schema.Definition
	prog   *body.Program
	layout *schema.Layout
	mod    api.Module
	base   uint32
	input  uint32
	tickFn api.Function

	startFault error // of a start body
	faults     map[body.Fault]int
}

type worldOptions struct {
	interpreter      bool
	client           bool
	seed, serverSeed uint64
}

func newWorld(t testing.TB, def *schema.Definition, p *body.Program, o worldOptions) *world {
	t.Helper()
	w, err := openWorld(def, p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	w.t = t
	if w.startFault != nil {
		t.Fatalf("start: %v", w.startFault)
	}
	return w
}

// openWorld is newWorld for tests that close it themselves. A start body that
// fails leaves a world of defaults, as the engine does.
func openWorld(def *schema.Definition, p *body.Program, o worldOptions) (*world, error) {
	ctx := context.Background()
	config := wazero.NewRuntimeConfigCompiler()
	if o.interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	r := wazero.NewRuntimeWithConfig(ctx, config.WithMemoryLimitPages(64).WithDebugInfoEnabled(false))
	w := &world{def: def, prog: p, layout: p.ServerLayout, close: func() { r.Close(ctx) }, faults: map[body.Fault]int{}}
	code := p.Server
	if o.client {
		code, w.layout = p.Client, p.ClientLayout
	}
	compiled, err := r.CompileModule(ctx, code)
	if err == nil {
		w.mod, err = r.InstantiateModule(ctx, compiled, wazero.NewModuleConfig())
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("module: %w", err)
	}
	w.tickFn = w.mod.ExportedFunction("tick")
	heap := uint32(w.mod.ExportedGlobal("heap").Get())
	if heap%64 != 0 || heap == 0 {
		w.close()
		return nil, fmt.Errorf("heap at %d", heap)
	}
	w.base = heap
	w.input = heap + uint32(w.layout.Size)
	need := w.input + 16384
	if have := w.mod.Memory().Size(); have < need {
		if _, ok := w.mod.Memory().Grow((need - have + 65535) / 65536); !ok {
			w.close()
			return nil, errors.New("memory does not grow")
		}
	}
	w.header(o)
	if !o.client {
		if _, err := w.mod.ExportedFunction("start").Call(ctx, uint64(w.base)); err != nil {
			w.startFault = w.faultError(err)
			clear(w.block())
			w.header(o)
			w.defaults()
		}
	}
	return w, nil
}

func (w *world) header(o worldOptions) {
	w.put32(schema.HeaderNextShared, schema.FirstShared)
	w.put32(schema.HeaderNextServer, schema.FirstServer)
	w.mod.Memory().WriteUint64Le(w.base+schema.HeaderSeed, o.seed)
	if !o.client {
		w.mod.Memory().WriteUint64Le(w.base+schema.HeaderServerSeed, o.serverSeed)
	}
}

// defaults are those of the instance's fields.
func (w *world) defaults() {
	row := w.rows(schema.InstanceType)[0]
	for i, f := range w.def.Instance().Fields {
		at := w.layout.Types[schema.InstanceType].Offsets[i]
		if f.Kind == schema.Str {
			row[at] = byte(copy(row[at+1:at+1+f.Len], f.Text))
		} else {
			schema.StoreNumber(f.Kind, row[at:], f.Default)
		}
	}
}

func (w *world) put32(off int, v uint32) { w.mod.Memory().WriteUint32Le(w.base+uint32(off), v) }
func (w *world) get32(off int) uint32 {
	v, _ := w.mod.Memory().ReadUint32Le(w.base + uint32(off))
	return v
}

// input of one tick
type skip struct{ body, actor uint32 }
type join struct {
	id   uint32
	name string
}
type command struct {
	player, seq uint32
	number      int
	values      []float64 // by field
	texts       []string
}
type input struct {
	skips    []skip
	leaves   []uint32
	joins    []join
	commands []command
}

func (w *world) encode(in input) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(len(in.skips)))
	for _, n := range []int{len(in.leaves), len(in.joins), len(in.commands)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, s := range in.skips {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, s.body), s.actor)
	}
	for _, id := range in.leaves {
		b = binary.LittleEndian.AppendUint64(b, uint64(id))
	}
	for _, j := range in.joins {
		rec := make([]byte, schema.JoinSize)
		binary.LittleEndian.PutUint32(rec, j.id)
		rec[schema.JoinName] = byte(len(j.name))
		copy(rec[schema.JoinName+1:], j.name)
		b = append(b, rec...)
	}
	for _, c := range in.commands {
		rec := make([]byte, w.layout.CommandStride)
		binary.LittleEndian.PutUint32(rec[schema.CommandPlayer:], c.player)
		binary.LittleEndian.PutUint32(rec[schema.CommandSeq:], c.seq)
		binary.LittleEndian.PutUint32(rec[schema.CommandNumber:], uint32(c.number))
		for i, f := range w.def.Commands[c.number].Fields {
			to := rec[w.layout.Commands[c.number].Offsets[i]:]
			if f.Kind == schema.Str {
				to[0] = byte(copy(to[1:1+f.Len], c.texts[i]))
			} else {
				writeField(to, f, c.values[i])
			}
		}
		b = append(b, rec...)
	}
	return b
}

func writeField(p []byte, f *schema.Field, v float64) {
	switch f.Kind {
	case schema.Bool, schema.I8, schema.U8:
		p[0] = byte(int64(v))
	case schema.I16, schema.U16:
		binary.LittleEndian.PutUint16(p, uint16(int64(v)))
	case schema.I32, schema.U32, schema.Ref:
		binary.LittleEndian.PutUint32(p, uint32(int64(v)))
	case schema.F32:
		binary.LittleEndian.PutUint32(p, math.Float32bits(float32(v)))
	case schema.F64:
		binary.LittleEndian.PutUint64(p, math.Float64bits(v))
	}
}

func (w *world) readField(f *schema.Field, p []byte) float64 {
	switch f.Kind {
	case schema.Bool, schema.U8:
		return float64(p[0])
	case schema.I8:
		return float64(int8(p[0]))
	case schema.I16:
		return float64(int16(binary.LittleEndian.Uint16(p)))
	case schema.U16:
		return float64(binary.LittleEndian.Uint16(p))
	case schema.I32:
		return float64(int32(binary.LittleEndian.Uint32(p)))
	case schema.U32, schema.Ref:
		return float64(binary.LittleEndian.Uint32(p))
	case schema.F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(p)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(p))
}

// tick runs one tick.
func (w *world) tick(in input) error {
	b := w.encode(in)
	if !w.mod.Memory().Write(w.input, b) {
		w.t.Fatal("input does not fit")
	}
	_, err := w.tickFn.Call(context.Background(), uint64(w.base), uint64(w.input))
	if err != nil {
		return w.faultError(err)
	}
	return nil
}

// step runs one tick as the engine does: again, without the body and actor that
// failed, and from the ninth time on without the body. It gives what was skipped.
func (w *world) step(in input) (skips []skip, err error) {
	before := append([]byte{}, w.block()...)
	for {
		in.skips = skips
		err := w.tick(in)
		var f *faultErr
		if !errors.As(err, &f) {
			return skips, err
		}
		if f.fault == body.FaultTickCap {
			return skips, err
		}
		w.faults[f.fault]++
		copy(w.block(), before)
		k, times := skip{f.number, f.actor}, 0
		for _, old := range skips {
			if old.body == k.body {
				times++
			}
		}
		if times > 8 {
			return skips, fmt.Errorf("what is to be skipped has failed: %w", err)
		}
		if times == 8 {
			k.actor = schema.AllActors
		}
		skips = append(skips, k)
	}
}

// faultErr is a trap with what the module says about it.
type faultErr struct {
	fault body.Fault
	at    string
	body  string
	actor uint32

	number uint32 // of the body
}

func (e *faultErr) Error() string {
	return fmt.Sprintf("fault %d at %s in %s for %d", e.fault, e.at, e.body, e.actor)
}

func (w *world) faultError(err error) error {
	global := func(name string) uint32 { return uint32(w.mod.ExportedGlobal(name).Get()) }
	fault := body.Fault(global("fault"))
	if !strings.Contains(err.Error(), "unreachable") || fault == body.FaultNone {
		return err
	}
	// So that a trap which says nothing is not taken for this one.
	w.mod.ExportedGlobal("fault").(api.MutableGlobal).Set(uint64(body.FaultNone))
	number := global("fault_body")
	return &faultErr{fault, w.prog.Positions[global("fault_at")].String(), w.prog.Bodies[number].Name, global("fault_actor"), number}
}

func (w *world) must(in input) {
	w.t.Helper()
	if err := w.tick(in); err != nil {
		w.t.Fatalf("tick: %v", err)
	}
}

func (w *world) block() []byte {
	b, _ := w.mod.Memory().Read(w.base, uint32(w.layout.Size))
	return b
}

// rows are the live rows of a type; the one row of the instance.
func (w *world) rows(t int) (rows [][]byte) {
	l := w.layout.Types[t]
	n := 1
	if l.Counts >= 0 {
		n = int(w.get32(l.Counts))
	}
	b := w.block()
	for i := range n {
		rows = append(rows, b[l.Rows+i*l.Stride:][:l.Stride])
	}
	return rows
}

func (w *world) typeNamed(name string) *schema.Type {
	for _, t := range w.def.Types {
		if t.Name == name {
			return t
		}
	}
	w.t.Fatalf("no type %q", name)
	return nil
}

// value is a field of the i-th object of a type, by "type.field".
func (w *world) value(path string, i int) float64 {
	w.t.Helper()
	name, field, _ := strings.Cut(path, ".")
	t := w.typeNamed(name)
	rows := w.rows(t.Index)
	if i >= len(rows) {
		w.t.Fatalf("%s: there are %d", name, len(rows))
	}
	f := t.Field(field)
	return w.readField(f, rows[i][w.layout.Types[t.Index].Offsets[f.Index]:])
}

func (w *world) text(path string, i int) string {
	name, field, _ := strings.Cut(path, ".")
	t := w.typeNamed(name)
	f := t.Field(field)
	p := w.rows(t.Index)[i][w.layout.Types[t.Index].Offsets[f.Index]:]
	return string(p[1 : 1+p[0]])
}

// state is the header and the live rows, marks left out.
func (w *world) state() []byte { return stateOf(w.def, w.layout, w.block()) }

// stateOf is the state in a block.
func stateOf(def *schema.Definition, l *schema.Layout, block []byte) []byte {
	b := append([]byte{}, block[:schema.HeaderCounts]...)
	for _, t := range l.Types[:len(def.Types)] {
		n := 1
		if t.Counts >= 0 {
			n = int(le.Uint32(block[t.Counts:]))
		}
		for i := range n {
			row := block[t.Rows+i*t.Stride:][:t.Stride]
			b = append(b, row[:schema.RowMark]...)
			b = append(b, row[schema.RowMark+4:]...)
		}
	}
	return b
}
