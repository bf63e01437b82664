package ticktest

import (
	"encoding/binary"
	"fmt"
	"slices"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

var le = binary.LittleEndian

// inputSize is room for any tick's input.
const inputSize = 1 << 18

// maxSkips bounds the reruns of one tick in which bodies fail.
const maxSkips = 1024

// Module is a game's client module for any number of clients.
type Module struct {
	def      *schema.Definition
	layout   *schema.Layout
	wire     *wire.Schema
	compiled *vm.Compiled // nil for a Game's
	machine  func() (machine, error)
}

// machine runs the shared bodies.
type machine interface {
	vm.Memory
	Tick(base, input uint32) (vm.Fault, bool)
	Close() error
}

// NewModule compiles the client module of a game.
func NewModule(def *schema.Definition, prog *body.Program) (*Module, error) {
	c, err := vm.Compile(prog.Client)
	if err != nil {
		return nil, fmt.Errorf("compiling the client's bodies: %w", err)
	}
	m := newModule(def, prog.ClientLayout, func() (machine, error) { return c.NewMachine() })
	m.compiled = c
	return m, nil
}

// Module is the client module of the game.
func (g *Game) Module() *Module {
	return newModule(g.Def, schema.NewLayout(g.Def, schema.OnClient), func() (machine, error) { return g.NewGuest(schema.OnClient), nil })
}

func newModule(def *schema.Definition, l *schema.Layout, f func() (machine, error)) *Module {
	return &Module{def: def, layout: l, wire: wire.NewSchema(def, l), machine: f}
}

// Close frees the module. Its clients must be closed.
func (m *Module) Close() error {
	if m.compiled == nil {
		return nil
	}
	return m.compiled.Close()
}

// Client is one connection's end.
type Client struct {
	Welcome   wire.Welcome
	Welcomed  bool
	Ready     bool   // a snapshot was applied
	Tick      uint32 // of the world
	Processed uint32 // own seq, as told last
	Relayed   []wire.Relayed
	Acks      []uint32 // send ticks applied, for the test to send and empty
	Resync    bool     // the client met what it cannot apply; a snapshot clears it
	Resyncs   int
	Drifts    int // keyframe objects that changed a bit
	Snapshots int
	Err       error

	m       *Module
	thin    bool
	machine machine
	base    uint32
	block   []byte
	input   uint32
	skips   []uint64 // body in the high half, actor in the low
	history []past   // by tick, from the last delta's base on
	send    sendTick
}

// past is the world after an applied send tick.
type past struct {
	tick  uint32
	block []byte
}

// sendTick is what came of the one that is not complete yet.
type sendTick struct {
	open                             bool
	tick                             uint32
	stage                            wire.Tag
	leave, enter, commands, keyframe []byte // what follows the header; nil for none
}

// NewClient makes a client, a thin one if asked for.
func (m *Module) NewClient(thin bool) (*Client, error) {
	c := &Client{m: m, thin: thin}
	if thin {
		c.block = make([]byte, m.layout.Size)
		return c, nil
	}
	var err error
	if c.machine, err = m.machine(); err != nil {
		return nil, err
	}
	if c.base, err = c.machine.Reserve(m.layout.Size); err != nil {
		return nil, err
	}
	if c.input, err = c.machine.Reserve(inputSize); err != nil {
		return nil, err
	}
	c.block = c.machine.Bytes(c.base, m.layout.Size)
	return c, nil
}

// Close frees the client's memory.
func (c *Client) Close() error {
	if c.machine == nil {
		return nil
	}
	return c.machine.Close()
}

// Message reads one message from the server. It makes a Client a sink of the
// instance. The first error is kept and ends the reading.
func (c *Client) Message(p []byte) {
	if c.Err != nil {
		return
	}
	if err := c.message(slices.Clone(p)); err != nil {
		c.Err = fmt.Errorf("tick %d: %v message % x: %w", c.Tick, wire.TagOf(p), p, err)
	}
}

func (c *Client) message(p []byte) error {
	t := wire.TagOf(p)
	if t == wire.TagPong {
		_, err := wire.ParsePong(p)
		return err
	}
	if t == wire.TagWelcome {
		w, err := wire.ParseWelcome(p)
		if err == nil && c.Welcomed {
			err = fmt.Errorf("a second welcome")
		}
		c.Welcome, c.Welcomed = w, true
		return err
	}
	if !c.Welcomed {
		return fmt.Errorf("before the welcome")
	}
	if t == wire.TagSnapshot {
		return c.snapshot(p)
	}
	if !c.Ready {
		return fmt.Errorf("before the first snapshot")
	}
	var tick uint32
	var rest []byte
	var err error
	switch t {
	case wire.TagDelta:
		return c.delta(p)
	case wire.TagLeave:
		var m wire.Leave
		m, rest, err = wire.ParseLeave(p)
		tick, c.send.leave = m.Tick, rest
	case wire.TagEnter:
		var m wire.Enter
		m, rest, err = wire.ParseEnter(p)
		tick, c.send.enter = m.Tick, rest
	case wire.TagCommands:
		var m wire.Commands
		m, rest, err = wire.ParseCommands(p)
		tick, c.send.commands = m.Tick, rest
	case wire.TagKeyframe:
		var m wire.Keyframe
		m, rest, err = wire.ParseKeyframe(p)
		tick, c.send.keyframe = m.Tick, rest
	default:
		return fmt.Errorf("unknown tag")
	}
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return fmt.Errorf("an empty list")
	}
	return c.part(t, tick)
}

// stageOf orders the messages of a send tick.
func stageOf(t wire.Tag) int {
	return slices.Index([]wire.Tag{0, wire.TagLeave, wire.TagEnter, wire.TagCommands, wire.TagKeyframe, wire.TagDelta}, t)
}

// part checks that a message has its place in the send tick.
func (c *Client) part(t wire.Tag, tick uint32) error {
	s := &c.send
	if s.open && s.tick != tick {
		return fmt.Errorf("of tick %d inside the send tick %d", tick, s.tick)
	}
	if !wire.TickAfter(tick, c.Tick) {
		return fmt.Errorf("tick %d is not after %d", tick, c.Tick)
	}
	if stageOf(t) <= stageOf(s.stage) {
		return fmt.Errorf("after %v", s.stage)
	}
	if c.thin && (t == wire.TagCommands || t == wire.TagKeyframe) {
		return fmt.Errorf("to a thin client")
	}
	s.open, s.tick, s.stage = true, tick, t
	return nil
}

func (c *Client) applied() {
	c.send = sendTick{}
	c.Acks = append(c.Acks, c.Tick)
	c.history = append(c.history, past{c.Tick, slices.Clone(c.block)})
}

func (c *Client) snapshot(p []byte) error {
	m, rest, err := wire.ParseSnapshot(p)
	if err != nil {
		return err
	}
	if c.send.open {
		return fmt.Errorf("inside a send tick")
	}
	clear(c.block)
	c.Tick = m.Tick
	c.Processed = m.Processed
	le.PutUint32(c.block[schema.HeaderTick:], m.Tick)
	le.PutUint32(c.block[schema.HeaderNextShared:], m.Next)
	le.PutUint64(c.block[schema.HeaderSeed:], m.Seed)
	if rest, err = c.m.wire.Fields(schema.InstanceType, wire.Whole, false).ReadAll(rest, c.row(schema.InstanceType, 0)); err != nil {
		return err
	}
	r := wire.NewWholeReader(c.m.wire, c.Welcome.Player, rest)
	if err := c.wholes(&r, false); err != nil {
		return err
	}
	c.history = c.history[:0]
	c.Ready, c.Resync = true, false
	c.Snapshots++
	c.applied()
	return nil
}

// wholes puts whole objects into the world.
func (c *Client) wholes(r *wire.WholeReader, replace bool) error {
	for r.Next() {
		o := r.Object()
		if typ, i := c.find(o.ID); typ >= 0 {
			if !replace {
				return fmt.Errorf("id %d twice", o.ID)
			}
			c.remove(typ, i)
		}
		row := c.insert(o.Type, o.ID)
		if row == nil && replace {
			c.lost() // the client's own objects take the room
			return nil
		}
		if row == nil {
			return fmt.Errorf("more of type %d than there may be", o.Type)
		}
		if err := r.Read(row); err != nil {
			return err
		}
	}
	return r.Err()
}

// delta ends a send tick: all of it is applied.
func (c *Client) delta(p []byte) error {
	m, rest, err := wire.ParseDelta(p)
	if err != nil {
		return err
	}
	if err := c.part(wire.TagDelta, m.Tick); err != nil {
		return err
	}
	if m.Processed < c.Processed {
		return fmt.Errorf("processed went back from %d to %d", c.Processed, m.Processed)
	}
	c.Processed = m.Processed
	if !c.thin {
		if err := c.run(m.Tick); err != nil {
			return err
		}
	}
	c.Tick = m.Tick
	le.PutUint32(c.block[schema.HeaderTick:], c.Tick)
	if err := c.overwrite(); err != nil {
		return err
	}
	if err := c.sent(m.Base, rest); err != nil {
		return err
	}
	c.applied()
	return nil
}

// run brings the world to tick t with the commands that came.
func (c *Client) run(t uint32) error {
	type filed struct {
		wire.Relayed
		record []byte
	}
	var commands []filed
	record := make([]byte, c.m.layout.CommandStride)
	r := wire.NewCommandReader(c.m.wire, t, c.send.commands)
	for r.Next(record) {
		k := r.Command()
		if !wire.TickAfter(k.Tick, c.Tick) {
			return fmt.Errorf("a command of tick %d, which is past", k.Tick)
		}
		le.PutUint32(record[schema.CommandPlayer:], k.Player)
		le.PutUint32(record[schema.CommandSeq:], k.Seq)
		le.PutUint32(record[schema.CommandNumber:], k.Number)
		commands = append(commands, filed{k, slices.Clone(record)})
		c.Relayed = append(c.Relayed, k)
	}
	if r.Err() != nil {
		return r.Err()
	}
	for c.Tick != t {
		c.Tick++
		c.skips = c.skips[:0]
		var records []byte
		for len(commands) > 0 && commands[0].Tick == c.Tick {
			records = append(records, commands[0].record...)
			commands = commands[1:]
		}
		before := slices.Clone(c.block)
		for {
			c.put(records)
			f, ok := c.machine.Tick(c.base, c.input)
			if ok {
				break
			}
			copy(c.block, before)
			if err := c.skip(&f); err != nil {
				return err
			}
		}
	}
	return nil
}

// put writes a tick's input.
func (c *Client) put(records []byte) {
	in := c.machine.Bytes(c.input, inputSize)
	le.PutUint32(in, uint32(len(c.skips)))
	le.PutUint64(in[4:], 0)
	le.PutUint32(in[12:], uint32(len(records)/c.m.layout.CommandStride))
	in = in[schema.InputHeader:]
	for _, s := range c.skips {
		le.PutUint32(in, uint32(s>>32))
		le.PutUint32(in[4:], uint32(s))
		in = in[schema.SkipSize:]
	}
	copy(in, records)
}

// skip applies the rule of bodies that fail: eight reruns for one body, then it is
// dropped for all.
func (c *Client) skip(f *vm.Fault) error {
	if f.Kind == body.FaultNone || f.Kind == body.FaultTickCap || len(c.skips) == maxSkips {
		return fmt.Errorf("the client's bodies failed: %w", f.Err)
	}
	times := 0
	for _, s := range c.skips {
		if uint32(s>>32) == f.Body {
			times++
		}
	}
	actor := f.Actor
	if times == 8 {
		actor = schema.AllActors
	}
	c.skips = append(c.skips, uint64(f.Body)<<32|uint64(actor))
	return nil
}

// overwrite applies leave, enter and keyframe.
func (c *Client) overwrite() error {
	ids := wire.NewIDReader(c.send.leave)
	for ids.Next() {
		if typ, i := c.find(ids.ID()); typ >= 0 {
			c.remove(typ, i)
		} else if c.thin {
			return fmt.Errorf("leave of %d, which is not held", ids.ID())
		}
	}
	if ids.Err() != nil {
		return ids.Err()
	}
	whole := wire.NewWholeReader(c.m.wire, c.Welcome.Player, c.send.enter)
	if err := c.wholes(&whole, true); err != nil || c.Resync {
		return err
	}
	r := wire.NewChangesReader(c.send.keyframe)
	for r.Next() {
		typ, i := c.find(r.ID())
		if typ < 0 {
			c.lost()
			return nil
		}
		row := c.row(typ, i)
		before := slices.Clone(row)
		if err := r.Read(c.m.wire.Fields(typ, wire.Shared, false), row); err != nil {
			return c.garbled(err)
		}
		if !slices.Equal(row, before) {
			c.Drifts++
		}
	}
	if err := r.Err(); err != nil {
		return c.garbled(err)
	}
	return nil
}

// garbled is what an entry that cannot be read means: the client holds an object
// of another type under the id, or the server is wrong. A thin client holds what it
// was told and nothing else.
func (c *Client) garbled(err error) error {
	if c.thin {
		return err
	}
	c.lost()
	return nil
}

// lost notes that the world is not the server's any more.
func (c *Client) lost() {
	if !c.Resync {
		c.Resync = true
		c.Resyncs++
	}
}

// sent applies a delta's objects.
func (c *Client) sent(base uint32, rest []byte) error {
	at := slices.IndexFunc(c.history, func(p past) bool { return p.tick == base })
	if at < 0 {
		return fmt.Errorf("base %d is not held", base)
	}
	c.history = slices.Delete(c.history, 0, at)
	old := c.history[0].block
	subset := wire.Sent
	if c.thin {
		subset = wire.Whole
	}
	r := wire.NewChangesReader(rest)
	for r.Next() {
		typ, i := c.find(r.ID())
		if typ < 0 {
			c.lost()
			return nil
		}
		row := c.row(typ, i)
		fields := c.m.wire.Seen(typ, subset, row, c.Welcome.Player)
		now := slices.Clone(row)
		oldTyp, j := find(c.m.layout, old, r.ID())
		if oldTyp == typ {
			// What the delta does not have is as it was at base.
			was := rowOf(c.m.layout, old, typ, j)
			if _, err := fields.ReadAll(fields.AppendAll(nil, was), now); err != nil {
				return err
			}
			if err := r.Read(fields, now); err != nil {
				return c.garbled(err)
			}
		} else {
			// Nothing is known of base: all fields have to be there. They are read
			// over two different rows, and the results must be equal.
			other := slices.Clone(now)
			for i := schema.RowOwner + 4; i < len(other); i++ {
				other[i] = 0
			}
			if err := r.Read(fields, now); err != nil {
				return c.garbled(err)
			}
			if _, err := fields.ReadMasked(fields.AppendFull(nil, now), other); err != nil {
				return err
			}
			if fields.Differ(now, other) {
				return c.garbled(fmt.Errorf("object %d, unknown at base %d, is not listed whole", r.ID(), base))
			}
		}
		copy(row, now)
	}
	if err := r.Err(); err != nil {
		return c.garbled(err)
	}
	return nil
}
