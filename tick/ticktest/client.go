package ticktest

import (
	"cmp"
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
	view     bool         // existence is the server's
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
	m.compiled, m.view = c, prog.HasView
	return m, nil
}

// Module is the client module of the game.
func (g *Game) Module() *Module {
	m := newModule(g.Def, schema.NewLayout(g.Def, schema.OnClient), func() (machine, error) { return g.NewGuest(schema.OnClient), nil })
	m.view = g.Program().HasView
	return m
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
	Lost      string // the cause of the last one
	Drifts    int    // keyframe objects that changed a bit
	Snapshots int
	Rewinds   int // times that a late command took the world back
	Err       error

	m       *Module
	thin    bool
	machine machine
	at      uint32 // address of the world
	block   []byte
	input   uint32
	skips   []uint64 // body in the high half, actor in the low
	base    uint32   // the last delta's
	history []past   // by tick, as far back as bases and late commands may go
	log     []filed  // commands of those ticks, in order
	send    sendTick
}

// past is an applied send tick.
type past struct {
	tick     uint32
	block    []byte   // the world after it, as is known by now
	told     []byte   // the world after it, as was known then: what sent fields go back to
	leave    []uint32 // of what was there
	enter    []byte
	had      []uint32     // by id, of what entered: what the bodies had made by themselves
	keyframe []correction // those that were any
	listed   []uint32     // by the delta
}

// correction is what a keyframe said of an object: all its shared fields.
type correction struct {
	id     uint32
	typ    int
	values []byte
}

// filed is a command on its tick.
type filed struct {
	wire.Relayed
	record []byte
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
	if c.at, err = c.machine.Reserve(m.layout.Size); err != nil {
		return nil, err
	}
	if c.input, err = c.machine.Reserve(inputSize); err != nil {
		return nil, err
	}
	c.block = c.machine.Bytes(c.at, m.layout.Size)
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

// applied keeps the send tick that was just applied. What is older than any base or
// late command to come can reach is forgotten.
func (c *Client) applied(p past) {
	c.send = sendTick{}
	c.Acks = append(c.Acks, c.Tick)
	p.tick, p.block = c.Tick, slices.Clone(c.block)
	p.told = p.block
	c.history = append(c.history, p)
	d := c.m.def
	oldest := c.Tick - uint32(d.TimelineDepth+2*d.TicksPerSend())
	n := 0
	for n+1 < len(c.history) && !wire.TickAfter(c.history[n+1].tick, oldest) && wire.TickAfter(c.base, c.history[n].tick) {
		n++
	}
	c.history = c.history[n:]
	for len(c.log) > 0 && !wire.TickAfter(c.log[0].Tick, c.history[0].tick) {
		c.log = c.log[1:]
	}
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
	if err := c.wholes(&r, nil, false); err != nil {
		return err
	}
	c.history, c.log = c.history[:0], c.log[:0]
	c.base = c.Tick
	c.Ready, c.Resync = true, false
	c.Snapshots++
	c.applied(past{})
	return nil
}

// wholes puts whole objects into the world.
func (c *Client) wholes(r *wire.WholeReader, enter *past, again bool) error {
	replace := enter != nil
	for r.Next() {
		o := r.Object()
		if typ, i := c.find(o.ID); typ >= 0 {
			if !replace {
				return fmt.Errorf("id %d twice", o.ID)
			}
			if !again && typ == o.Type {
				enter.had = append(enter.had, o.ID)
			}
			c.remove(typ, i)
		} else if again && slices.Contains(enter.had, o.ID) {
			continue
		}
		row := c.insert(o.Type, o.ID)
		if row == nil && again {
			continue
		}
		if row == nil && replace {
			c.lost("no room for", o.ID)
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
	now := past{enter: c.send.enter}
	if !c.thin {
		if err := c.file(m.Tick); err != nil {
			return err
		}
		if err := c.run(m.Tick); err != nil {
			return err
		}
	}
	c.Tick = m.Tick
	le.PutUint32(c.block[schema.HeaderTick:], c.Tick)
	if err := c.leaves(&now); err != nil {
		return err
	}
	if err := c.enters(&now, false); err != nil {
		return err
	}
	if c.Resync {
		c.applied(now)
		return nil
	}
	if err := c.corrections(&now); err != nil {
		return err
	}
	if err := c.sent(m.Base, rest, &now); err != nil {
		return err
	}
	c.base = m.Base
	c.applied(now)
	return nil
}

// file puts the commands that came with the send tick t in their places. If there are
// late ones it goes back and runs on, with what came at each send tick since written
// over the result, to where it was.
func (c *Client) file(t uint32) error {
	record := make([]byte, c.m.layout.CommandStride)
	r := wire.NewCommandReader(c.m.wire, t, c.send.commands)
	first, late := c.Tick, false
	for r.Next(record) {
		k := r.Command()
		if !late && !wire.TickAfter(k.Tick, c.Tick) {
			first, late = k.Tick, true // they are sorted
		}
		le.PutUint32(record[schema.CommandPlayer:], k.Player)
		le.PutUint32(record[schema.CommandSeq:], k.Seq)
		le.PutUint32(record[schema.CommandNumber:], k.Number)
		c.log = append(c.log, filed{k, slices.Clone(record)})
		c.Relayed = append(c.Relayed, k)
	}
	if r.Err() != nil {
		return r.Err()
	}
	slices.SortStableFunc(c.log, func(a, b filed) int {
		return cmp.Or(cmp.Compare(wire.TickDistance(a.Tick, b.Tick), 0), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Seq, b.Seq))
	})
	for i := 1; i < len(c.log); i++ {
		if a, b := c.log[i-1], c.log[i]; a.Player == b.Player && a.Seq == b.Seq {
			return fmt.Errorf("command %d of %d came twice", a.Seq, a.Player)
		}
	}
	if !late {
		return nil
	}
	c.Rewinds++
	at := len(c.history) - 1
	for at >= 0 && !wire.TickAfter(first, c.history[at].tick) {
		at--
	}
	if at < 0 {
		return fmt.Errorf("a command of tick %d, before all that is held", first)
	}
	copy(c.block, c.history[at].block)
	c.Tick = c.history[at].tick
	for at++; at < len(c.history); at++ {
		p := &c.history[at]
		if err := c.run(p.tick); err != nil {
			return err
		}
		if err := c.rewrite(p); err != nil {
			return err
		}
		p.block = slices.Clone(c.block)
	}
	return nil
}

// rewrite writes a past send tick over the bodies' result.
func (c *Client) rewrite(p *past) error {
	for _, id := range p.leave {
		if typ, i := c.find(id); typ >= 0 {
			c.remove(typ, i)
		}
	}
	if err := c.enters(p, true); err != nil {
		return err
	}
	for _, k := range p.keyframe {
		if typ, i := c.find(k.id); typ == k.typ {
			if _, err := c.m.wire.Fields(typ, wire.Shared, false).ReadAll(k.values, c.row(typ, i)); err != nil {
				return err
			}
		}
	}
	for _, id := range p.listed {
		typ, i := c.find(id)
		if told, j := find(c.m.layout, p.told, id); typ >= 0 && typ == told {
			row := c.row(typ, i)
			fields := c.m.wire.Seen(typ, wire.Sent, row, c.Welcome.Player)
			if _, err := fields.ReadAll(fields.AppendAll(nil, rowOf(c.m.layout, p.told, typ, j)), row); err != nil {
				return err
			}
		}
	}
	return nil
}

// run brings the world to tick t with the commands that came. Where existence is the
// server's, what the bodies made and removed on the way is undone.
func (c *Client) run(t uint32) error {
	if !c.m.view {
		return c.runAll(t)
	}
	before := slices.Clone(c.block)
	le.PutUint32(c.block[schema.HeaderNextShared:], firstProvisional)
	if err := c.runAll(t); err != nil {
		return err
	}
	le.PutUint32(c.block[schema.HeaderNextShared:], firstProvisional)
	for typ := schema.PlayerType + 1; typ < len(c.m.layout.Types); typ++ {
		for i := countOf(c.m.layout, c.block, typ) - 1; i >= 0 && le.Uint32(c.row(typ, i)) >= firstProvisional; i-- {
			c.remove(typ, i)
		}
		for i := range countOf(c.m.layout, before, typ) {
			old := rowOf(c.m.layout, before, typ, i)
			if at, _ := c.find(le.Uint32(old)); at < 0 {
				copy(c.insert(typ, le.Uint32(old)), old)
			}
		}
	}
	return nil
}

// firstProvisional is the first id of what a client's own bodies make where existence
// is the server's.
const firstProvisional = 1<<31 + schema.FirstShared

func (c *Client) runAll(t uint32) error {
	for c.Tick != t {
		c.Tick++
		c.skips = c.skips[:0]
		var records []byte
		for _, k := range c.log {
			if k.Tick == c.Tick {
				records = append(records, k.record...)
			}
		}
		before := slices.Clone(c.block)
		for {
			c.put(records)
			f, ok := c.machine.Tick(c.at, c.input)
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

// leaves applies leave and notes what it did. What the bodies have removed by
// themselves they may keep when a late command comes.
func (c *Client) leaves(now *past) error {
	ids := wire.NewIDReader(c.send.leave)
	for ids.Next() {
		if typ, i := c.find(ids.ID()); typ >= 0 {
			c.remove(typ, i)
			now.leave = append(now.leave, ids.ID())
		} else if c.thin {
			return fmt.Errorf("leave of %d, which is not held", ids.ID())
		}
	}
	return ids.Err()
}

// enters applies enter, again if the send tick is past, and notes what was there already.
// What the bodies had made by themselves they may not make when a late command comes.
func (c *Client) enters(p *past, again bool) error {
	whole := wire.NewWholeReader(c.m.wire, c.Welcome.Player, p.enter)
	return c.wholes(&whole, p, again)
}

// corrections applies the keyframe and notes it.
func (c *Client) corrections(now *past) error {
	r := wire.NewChangesReader(c.send.keyframe)
	for r.Next() {
		typ, i := c.find(r.ID())
		if typ < 0 {
			c.lost("a keyframe of the unknown", r.ID())
			return nil
		}
		row := c.row(typ, i)
		before := slices.Clone(row)
		fields := c.m.wire.Fields(typ, wire.Shared, false)
		if err := r.Read(fields, row); err != nil {
			return c.garbled(err)
		}
		// What the bodies arrive at by themselves they arrive at again, and maybe at
		// something better, when a late command comes.
		if !slices.Equal(row, before) {
			c.Drifts++
			now.keyframe = append(now.keyframe, correction{r.ID(), typ, fields.AppendAll(nil, row)})
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
	c.lost(err.Error(), 0)
	return nil
}

// lost notes that the world is not the server's any more.
func (c *Client) lost(why string, id uint32) {
	if !c.Resync {
		c.Lost = fmt.Sprintf("tick %d: %s %d", c.Tick, why, id)
		c.Resync = true
		c.Resyncs++
	}
}

// sent applies a delta's objects.
func (c *Client) sent(base uint32, rest []byte, now *past) error {
	at := slices.IndexFunc(c.history, func(p past) bool { return p.tick == base })
	if at < 0 {
		return fmt.Errorf("base %d is not held", base)
	}
	old := c.history[at].told
	subset := wire.Sent
	if c.thin {
		subset = wire.Whole
	}
	r := wire.NewChangesReader(rest)
	for r.Next() {
		typ, i := c.find(r.ID())
		if typ < 0 {
			c.lost("a delta of the unknown", r.ID())
			return nil
		}
		row := c.row(typ, i)
		fields := c.m.wire.Seen(typ, subset, row, c.Welcome.Player)
		next := slices.Clone(row)
		oldTyp, j := find(c.m.layout, old, r.ID())
		if oldTyp == typ {
			// What the delta does not have is as it was at base.
			was := rowOf(c.m.layout, old, typ, j)
			if _, err := fields.ReadAll(fields.AppendAll(nil, was), next); err != nil {
				return err
			}
			if err := r.Read(fields, next); err != nil {
				return c.garbled(err)
			}
		} else {
			// Nothing is known of base: all fields have to be there. They are read
			// over two different rows, and the results must be equal.
			other := slices.Clone(next)
			for i := schema.RowOwner + 4; i < len(other); i++ {
				other[i] = 0
			}
			if err := r.Read(fields, next); err != nil {
				return c.garbled(err)
			}
			if _, err := fields.ReadMasked(fields.AppendFull(nil, next), other); err != nil {
				return err
			}
			if fields.Differ(next, other) {
				return c.garbled(fmt.Errorf("object %d, unknown at base %d, is not listed whole", r.ID(), base))
			}
		}
		copy(row, next)
		now.listed = append(now.listed, r.ID())
	}
	if err := r.Err(); err != nil {
		return c.garbled(err)
	}
	return nil
}
