package ticktest

import (
	"encoding/binary"
	"fmt"
	"math"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/vm"
)

// Game is a game whose bodies are Go functions: the dumb twin of a compiled one,
// which fulfils the same contract towards the engine. A body reads and writes
// through a World, and may Trap.
type Game struct {
	Def     *schema.Definition
	Bodies  []Body
	Removes []int // the types that server bodies remove objects of; nil for all, if there is a server body
}

// Body is a function of a game. The order of a game's bodies is the order in which
// they run where several have the same step, and gives their numbers.
type Body struct {
	Step    Step
	Side    schema.Side // OnClient: shared
	Type    int         // Update and View: whose
	Command int         // Handle: which
	Run     func(w *World, self Object)
	See     func(w *World, viewer, o Object, held bool) bool // View only, in place of Run
}

// Step is when a body runs.
type Step uint8

const (
	Start Step = iota
	Leave
	Join
	Handle
	Update
	View // not in ticks
)

var stepNames = [...]string{"start", "leave", "join", "handle", "update", "view"}

// Program is what the engine has to know of the bodies.
func (g *Game) Program() *body.Program {
	p := &body.Program{
		ServerLayout:     schema.NewLayout(g.Def, schema.OnServer),
		ClientLayout:     schema.NewLayout(g.Def, schema.OnClient),
		Commands:         make([]body.CommandBodies, len(g.Def.Commands)),
		WritesSharedOnly: true,
		ServerRemoves:    make([]bool, len(g.Def.Types)),
	}
	for i, b := range g.Bodies {
		p.Bodies = append(p.Bodies, body.Body{Name: fmt.Sprintf("%s.%d", stepNames[b.Step], i), Side: b.Side})
		if b.Step == Handle && b.Side == schema.OnServer {
			p.Commands[b.Command].Server = true
		} else if b.Step == Handle {
			p.Commands[b.Command].Shared = true
		}
		p.WritesSharedOnly = p.WritesSharedOnly && (b.Side == schema.OnClient || b.Step == View)
		if b.Step == View {
			if p.Views == nil {
				p.Views = make([]bool, len(g.Def.Types))
			}
			p.HasView, p.Views[b.Type] = true, true
		}
	}
	for _, t := range g.Removes {
		p.ServerRemoves[t] = true
	}
	if g.Removes == nil && !p.WritesSharedOnly {
		for t := range p.ServerRemoves {
			p.ServerRemoves[t] = true
		}
	}
	return p
}

// Guest runs a game's bodies of one side in a memory of its own.
type Guest struct {
	game   *Game
	side   schema.Side
	layout *schema.Layout
	memory []byte
	top    int
}

// guestMemory is all the memory a guest has.
const guestMemory = 4 << 20

// NewGuest makes the machine of one side.
func (g *Game) NewGuest(side schema.Side) *Guest {
	return &Guest{game: g, side: side, layout: schema.NewLayout(g.Def, side), memory: make([]byte, guestMemory), top: 64}
}

// Reserve is vm.Machine's.
func (g *Guest) Reserve(size int) (uint32, error) {
	end := g.top + (size+63)/64*64
	if end > len(g.memory) {
		return 0, vm.ErrMemory
	}
	at := g.top
	g.top = end
	return uint32(at), nil
}

// Bytes is vm.Machine's.
func (g *Guest) Bytes(addr uint32, size int) []byte { return g.memory[addr:][:size:size] }

// Close is vm.Machine's.
func (g *Guest) Close() error { return nil }

// Start is vm.Machine's.
func (g *Guest) Start(base uint32) (vm.Fault, bool) {
	return g.guard(base, func(w *World) {
		w.defaults(w.Instance())
		w.run(Start, 0, w.Instance(), 0)
	})
}

// Tick is vm.Machine's: the contract of the module, step by step.
func (g *Guest) Tick(base, input uint32) (vm.Fault, bool) {
	return g.guard(base, func(w *World) {
		w.block.put(schema.HeaderTick, w.Tick()+1)
		in := g.memory[input:]
		n := [4]int{}
		for i := range n {
			n[i] = int(le.Uint32(in[4*i:]))
		}
		in = in[schema.InputHeader:]
		w.skips = in[:n[0]*schema.SkipSize]
		in = in[n[0]*schema.SkipSize:]
		for range n[1] {
			if p, ok := w.Find(schema.PlayerType, le.Uint32(in)); ok {
				w.run(Leave, 0, p, 0)
				w.mark(p)
			}
			in = in[schema.LeaveSize:]
		}
		for range n[2] {
			p, ok := w.add(schema.PlayerType, le.Uint32(in))
			if !ok {
				panic("ticktest: a join without a free row")
			}
			p.or(schema.RowMark, schema.MarkWritten)
			w.name = string(in[schema.JoinName+1:][:in[schema.JoinName]])
			w.run(Join, 0, p, 0)
			in = in[schema.JoinSize:]
		}
		for range n[3] {
			w.command = in[:g.layout.CommandStride]
			if p, ok := w.Find(schema.PlayerType, le.Uint32(in[schema.CommandPlayer:])); ok {
				w.run(Handle, int(le.Uint32(in[schema.CommandNumber:])), p, le.Uint32(in[schema.CommandSeq:]))
			}
			in = in[g.layout.CommandStride:]
		}
		rows := make([]int, len(g.layout.Types))
		for t := range rows {
			rows[t] = w.rows(t)
		}
		for t := schema.PlayerType; t < len(rows); t++ {
			for i := range rows[t] {
				w.run(Update, t, w.at(t, i), 0)
			}
		}
		w.run(Update, schema.InstanceType, w.Instance(), 0)
		w.compact()
	})
}

// View is vm.Machine's.
func (g *Guest) View(base, viewer, typ, list, count uint32, fresh bool) (done uint32, f vm.Fault, ok bool) {
	f, ok = g.guard(base, func(w *World) {
		at := -1
		for i := range g.game.Bodies {
			if b := &g.game.Bodies[i]; b.Step == View && b.Type == int(typ) {
				at = i
			}
		}
		p, there := w.Find(schema.PlayerType, viewer)
		for done = 0; done < count; done++ {
			word := g.memory[list+4*done:]
			x := le.Uint32(word)
			o := w.at(int(typ), int(x>>1))
			w.body, w.actor, w.server = at, o.ID(), true
			held := x&1 == 1
			x &^= 1
			if there && g.game.Bodies[at].See(w, p, o, held) {
				x |= 1
			}
			le.PutUint32(word, x)
		}
	})
	return done, f, ok
}

// guard runs f and turns a trap into a fault.
func (g *Guest) guard(base uint32, f func(w *World)) (fault vm.Fault, ok bool) {
	w := &World{g: g, block: g.memory[base:][:g.layout.Size]}
	defer func() {
		if r := recover(); r != nil {
			t, is := r.(trap)
			if !is {
				panic(r)
			}
			fault = vm.Fault{Kind: t.kind, Body: uint32(w.body), Actor: w.actor, Err: fmt.Errorf("trap %d", t.kind)}
		}
	}()
	f(w)
	return vm.Fault{}, true
}

type trap struct{ kind body.Fault }

// bytes of a block or a row, with writes that say what they are.
type block []byte

func (b block) put(at int, v uint32)  { le.PutUint32(b[at:], v) }
func (b block) get(at int) uint32     { return le.Uint32(b[at:]) }
func (b block) or(at int, bit uint32) { b.put(at, b.get(at)|bit) }

// World is what a body sees.
type World struct {
	g       *Guest
	block   block
	skips   []byte
	name    string
	command []byte
	body    int
	actor   uint32
	seq     uint32
	calls   uint64
	server  bool // the body is one of the server's
}

// Object is a row and what it is of.
type Object struct {
	Type int
	block
}

// ID is the object's id.
func (o Object) ID() uint32 { return o.get(schema.RowID) }

// Gone reports whether the object was removed in this tick.
func (o Object) Gone() bool { return o.Type != 0 && o.get(schema.RowMark)&schema.MarkRemoved != 0 }

// run runs the bodies of a step for one actor.
func (w *World) run(s Step, index int, self Object, seq uint32) {
	for i, b := range w.g.game.Bodies {
		switch {
		case b.Step != s, s == Update && b.Type != index, s == Handle && b.Command != index,
			b.Side == schema.OnServer && w.g.side == schema.OnClient, self.Gone(), w.skipped(i, self.ID()):
			continue
		}
		w.body, w.actor, w.seq, w.calls = i, self.ID(), seq, 0
		w.server = b.Side == schema.OnServer
		b.Run(w, self)
	}
}

func (w *World) skipped(body int, actor uint32) bool {
	for s := w.skips; len(s) > 0; s = s[schema.SkipSize:] {
		if a := le.Uint32(s[4:]); int(le.Uint32(s)) == body && (a == actor || a == schema.AllActors) {
			return true
		}
	}
	return false
}

func (w *World) counts(typ int) int { return w.g.layout.Types[typ].Counts }

func (w *World) rows(typ int) int {
	if typ == schema.InstanceType {
		return 1
	}
	return int(w.block.get(w.counts(typ) + schema.CountRows))
}

func (w *World) at(typ, i int) Object {
	return Object{typ, block(rowOf(w.g.layout, w.block, typ, i))}
}

// Instance is the instance's row.
func (w *World) Instance() Object { return w.at(schema.InstanceType, 0) }

// Tick is the tick that runs.
func (w *World) Tick() uint32 { return w.block.get(schema.HeaderTick) }

// Trap ends the body with a fault.
func (w *World) Trap(k body.Fault) { panic(trap{k}) }

// End ends the instance.
func (w *World) End() { w.block.or(schema.HeaderFlags, schema.FlagEnded) }

// CloseSeats is game.open = false.
func (w *World) CloseSeats() { w.block.or(schema.HeaderFlags, schema.FlagClosed) }

// Name is the joining player's.
func (w *World) Name() string { return w.name }

// Arg is the command's field i, a u32 at most.
func (w *World) Arg(command, i int) uint32 {
	f := w.g.game.Def.Commands[command].Fields[i]
	return load(f, w.command[w.g.layout.Commands[command].Offsets[i]:])
}

// Owner is the owner of an object of an owned type; 0 for none.
func (w *World) Owner(o Object) uint32 { return o.get(w.g.layout.Types[o.Type].Owner) }

// Each calls f for the live objects of a type.
func (w *World) Each(typ int, f func(o Object)) {
	for i := range w.rows(typ) {
		if o := w.at(typ, i); !o.Gone() {
			f(o)
		}
	}
}

// Count is the number of live objects of a type.
func (w *World) Count(typ int) (n int) {
	w.Each(typ, func(Object) { n++ })
	return n
}

// Find finds a live object.
func (w *World) Find(typ int, id uint32) (o Object, ok bool) {
	w.Each(typ, func(x Object) {
		if x.ID() == id {
			o, ok = x, true
		}
	})
	return o, ok
}

// Spawn makes an object; not ok if the type is full.
func (w *World) Spawn(typ int, owner uint32) (o Object, ok bool) {
	counter := schema.HeaderNextShared
	if w.server {
		counter = schema.HeaderNextServer
	}
	id := w.block.get(counter)
	if o, ok = w.add(typ, id); !ok {
		return o, false
	}
	w.block.put(counter, id+schema.IDStep)
	if at := w.g.layout.Types[typ].Owner; at >= 0 {
		o.put(at, owner)
	}
	if w.server {
		o.or(schema.RowMark, schema.MarkWritten)
	}
	return o, true
}

func (w *World) add(typ int, id uint32) (Object, bool) {
	n := w.rows(typ)
	if n == w.g.game.Def.Types[typ].Max {
		return Object{}, false
	}
	c := w.counts(typ)
	w.block.put(c+schema.CountRows, uint32(n+1))
	w.block.put(c+schema.CountLive, w.block.get(c+schema.CountLive)+1)
	o := w.at(typ, n)
	clear(o.block)
	o.put(schema.RowID, id)
	w.defaults(o)
	return o, true
}

// Remove removes an object.
func (w *World) Remove(o Object) {
	if !o.Gone() {
		w.mark(o)
	}
}

func (w *World) mark(o Object) {
	o.or(schema.RowMark, schema.MarkRemoved)
	c := w.counts(o.Type)
	w.block.put(c+schema.CountLive, w.block.get(c+schema.CountLive)-1)
}

// compact drops what was removed and puts what was made in order.
func (w *World) compact() {
	for typ := schema.PlayerType; typ < len(w.g.layout.Types); typ++ {
		stride := w.g.layout.Types[typ].Stride
		all := rowsOf(w.g.layout, w.block, typ, w.rows(typ))
		var keep []byte
		for len(keep) < len(all) {
			// The least of what is left, by id.
			best := -1
			for at := 0; at < len(all); at += stride {
				row := block(all[at:])
				if row.get(schema.RowID) == 0 || row.get(schema.RowMark)&schema.MarkRemoved != 0 {
					continue
				}
				if best < 0 || row.get(schema.RowID) < block(all[best:]).get(schema.RowID) {
					best = at
				}
			}
			if best < 0 {
				break
			}
			keep = append(keep, all[best:best+stride]...)
			clear(all[best : best+stride])
		}
		clear(all)
		copy(all, keep)
		c := w.counts(typ)
		for _, at := range []int{schema.CountRows, schema.CountLive, schema.CountSorted} {
			w.block.put(c+at, uint32(len(keep)/stride))
		}
	}
}

func rowsOf(l *schema.Layout, block []byte, typ, n int) []byte {
	t := &l.Types[typ]
	return block[t.Rows : t.Rows+n*t.Stride]
}

func (w *World) field(o Object, i int) (*schema.Field, []byte) {
	f := w.g.game.Def.Types[o.Type].Fields[i]
	at := w.g.layout.Types[o.Type].Offsets[i]
	if at < 0 {
		return f, nil
	}
	return f, o.block[at:][:f.Size()]
}

// Get reads field i of an object; a field that the side lacks is 0.
func (w *World) Get(o Object, i int) uint32 {
	f, v := w.field(o, i)
	if v == nil {
		return 0
	}
	return load(f, v)
}

// Set writes field i of an object as the compiled bodies do: clients leave sent
// fields out, and a server body's store to a shared one leaves its mark.
func (w *World) Set(o Object, i int, x uint32) {
	f, v := w.field(o, i)
	if v == nil || w.g.side == schema.OnClient && f.Sync != schema.Shared {
		return
	}
	if w.server && f.Sync == schema.Shared {
		o.or(schema.RowMark, schema.MarkWritten)
	}
	store(f, v, x)
}

// load reads a value as a whole number: floats by value, a str by its length.
func load(f *schema.Field, v []byte) uint32 {
	switch {
	case f.Kind == schema.F32:
		return uint32(int64(math.Float32frombits(le.Uint32(v))))
	case f.Kind == schema.F64:
		return uint32(int64(math.Float64frombits(le.Uint64(v))))
	case len(v) == 4:
		return le.Uint32(v)
	case len(v) == 2:
		return uint32(le.Uint16(v))
	}
	return uint32(v[0])
}

func store(f *schema.Field, v []byte, x uint32) {
	switch f.Kind {
	case schema.Bool:
		v[0] = byte(x & 1)
	case schema.F32:
		le.PutUint32(v, math.Float32bits(float32(x)))
	case schema.F64:
		le.PutUint64(v, math.Float64bits(float64(x)))
	case schema.Str:
		clear(v)
		text := fmt.Sprint(x)
		v[0] = byte(copy(v[1:], text))
	default:
		switch len(v) {
		case 1:
			v[0] = byte(x)
		case 2:
			le.PutUint16(v, uint16(x))
		default:
			le.PutUint32(v, x)
		}
	}
}

// defaults gives a row its defaults: the test games have whole numbers only.
func (w *World) defaults(o Object) {
	for i, f := range w.g.game.Def.Types[o.Type].Fields {
		if _, v := w.field(o, i); v != nil && f.Default != 0 {
			store(f, v, uint32(int64(f.Default)))
		}
	}
}

const golden = 0x9E3779B97F4A7C15

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Random is random() times n, rounded down.
func (w *World) Random(n int) uint32 { return w.random(schema.HeaderSeed, n) }

// ServerRandom is serverRandom() times n, rounded down.
func (w *World) ServerRandom(n int) uint32 { return w.random(schema.HeaderServerSeed, n) }

func (w *World) random(seed, n int) uint32 {
	x := mix(binary.LittleEndian.Uint64(w.block[seed:]) + golden*(uint64(w.Tick())+1))
	x = mix(x ^ (uint64(w.actor)<<32 | uint64(w.body)))
	if w.g.game.Bodies[w.body].Step == Handle {
		x = mix(x + golden*uint64(w.seq))
	}
	w.calls++
	return uint32(float64(mix(x+golden*w.calls)>>11) * 0x1p-53 * float64(n))
}
