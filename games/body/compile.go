package body

import (
	"errors"
	"slices"

	"gamehoster/games/body/internal/front"
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/body/internal/libm"
	"gamehoster/games/body/internal/link"
	"gamehoster/games/body/internal/lower"
	"gamehoster/games/body/internal/opt"
	"gamehoster/games/body/internal/rt"
	"gamehoster/games/body/internal/tree"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
)

// Options change how a game is compiled. The zero value is what games are
// served with.
type Options struct {
	// BodyFuel is what one body run may use before it counts as endless: about one
	// unit per round of a loop. 0 for DefaultBodyFuel. It is part of a game's
	// behaviour, so both sides must have the same.
	BodyFuel int
	// TickFuel is what all bodies of a tick may use together on the server.
	// 0 for DefaultTickFuel.
	TickFuel int
	// Plain leaves the optimiser out. What the modules do is the same; tests
	// compare the two.
	Plain bool
	// Names puts the names of variables into the modules, for people who print them.
	// They are larger with them, and a browser would see what a game calls things.
	Names bool
}

// The budgets of bodies, in rounds of loops.
const (
	DefaultBodyFuel = 1 << 20
	DefaultTickFuel = 1 << 23
)

// Pages of the modules' memories, as the host of each side expects.
const (
	serverPages = 32768
	clientPages = 4096
)

// Compile checks the bodies among a game's files and compiles them to the two
// modules. The list has everything that was found, sorted by place; the program
// is nil if there is an error in it. Files that are no bodies and that no body
// imports are not looked at.
func Compile(def *schema.Definition, files []Source, o Options) (*Program, diag.List) {
	sources := make(map[string][]byte, len(files))
	for _, f := range files {
		sources[f.Path] = f.Text
	}
	read := front.Read(def, sources, libm.Func)
	if read.List.Failed() {
		return nil, read.List
	}
	c := newCompilation(def, read, o)
	p := c.program()
	roots := c.driver()
	var err error
	if p.Server, err = c.link(p.ServerLayout, serverPages, roots...); err == nil {
		p.Client, err = c.link(p.ClientLayout, clientPages, roots[0])
	}
	if err != nil {
		c.failed(err)
		return nil, read.List
	}
	return p, read.List
}

// failed reports what a module could not be made for.
func (c *compilation) failed(err error) {
	var stack *link.StackError
	if errors.As(err, &stack) {
		// The innermost function tells the author where to look, the first two how it
		// is got to.
		for _, f := range slices.Backward(stack.Path) {
			if at, ok := c.lower.Written(f); ok {
				c.read.List.Errorf(c.read.Files.Position(at), "'%s' is called through so many functions, with so many variables between them, that "+
					"a browser's stack would not do: %d KiB of %d", f.Name, (stack.Bytes+1023)>>10, link.MaxStack>>10)
				return
			}
		}
	}
	c.read.List.Errorf(diag.Position{}, "the compiler failed: %v", err)
}

// compilation is a checked game on its way to modules.
type compilation struct {
	def    *schema.Definition
	read   *front.Result
	rt     *rt.Runtime
	lower  *lower.Lowerer
	bodies []rt.Body
	budget rt.Budget
	opt    *opt.Optimiser // nil for none
	names  bool

	serverRemoves []bool // by type
}

func newCompilation(def *schema.Definition, read *front.Result, o Options) *compilation {
	c := &compilation{def: def, read: read, rt: rt.New(def), budget: rt.Budget{Body: o.BodyFuel, Tick: o.TickFuel}, names: o.Names}
	if c.budget.Body == 0 {
		c.budget.Body = DefaultBodyFuel
	}
	if c.budget.Tick == 0 {
		c.budget.Tick = DefaultTickFuel
	}
	c.lower = lower.New(c.rt, lower.Faults{Null: uint32(FaultNull), Index: uint32(FaultIndex), Name: uint32(FaultName)}, libm.Func)
	moments := [...]rt.Moment{front.Start: rt.Start, front.Leave: rt.Leave, front.Join: rt.Join, front.OnCommand: rt.OnCommand, front.Update: rt.Update, front.View: rt.View}
	for _, b := range read.Bodies {
		fn := c.lower.Func(b.Fn)
		fn.Keep, fn.Name = true, b.Name
		c.bodies = append(c.bodies, rt.Body{
			Fn: fn, At: c.lower.Place(b.Fn.At),
			Moment: moments[b.Moment], Server: b.Server, Of: b.Of, Cmd: b.Cmd,
		})
	}
	c.findRemovals()
	// The bodies come first and alone: they are what Text prints.
	roots := make([]*ir.Func, len(c.bodies))
	for i, b := range c.bodies {
		roots[i] = b.Fn
	}
	if o.Plain {
		for _, f := range ir.CalleesFirst(roots...) {
			c.lower.Charge(f)
		}
		return c
	}
	c.opt = opt.New(opt.Options{BodyFuel: c.budget.Body, Rem: c.rt.Rem(), Charge: c.lower.Charge})
	c.opt.Run(roots...)
	return c
}

// findRemovals finds the types that server bodies remove objects of, while calls are
// not inlined yet.
func (c *compilation) findRemovals() {
	c.serverRemoves = make([]bool, len(c.def.Types))
	for _, b := range c.bodies {
		if !b.Server {
			continue
		}
		reached := ir.Reach(b.Fn)
		for _, t := range c.def.Types[1:] {
			c.serverRemoves[t.Index] = c.serverRemoves[t.Index] || slices.Contains(reached, c.rt.Remove(t))
		}
	}
}

// program is everything about the compiled game but the modules.
func (c *compilation) program() *Program {
	p := &Program{
		ServerLayout:     schema.NewLayout(c.def, schema.OnServer),
		ClientLayout:     schema.NewLayout(c.def, schema.OnClient),
		Commands:         make([]CommandBodies, len(c.def.Commands)),
		WritesSharedOnly: true,
		ServerRemoves:    c.serverRemoves,
	}
	for _, b := range c.read.Bodies {
		side := schema.OnClient
		switch {
		case b.Moment == front.View:
			side = schema.OnServer
			if p.HasView = true; p.Views == nil {
				p.Views = make([]bool, len(c.def.Types))
			}
			p.Views[b.Of.Index] = true
		case b.Server:
			side = schema.OnServer
			p.WritesSharedOnly = false
		}
		p.Bodies = append(p.Bodies, Body{Name: b.Name, File: b.File, Side: side})
		if b.Cmd != nil {
			handlers := &p.Commands[b.Cmd.Index]
			handlers.Shared = handlers.Shared || !b.Server
			handlers.Server = handlers.Server || b.Server
		}
	}
	for _, at := range c.lower.Places() {
		p.Positions = append(p.Positions, c.read.Files.Position(at))
	}
	for _, l := range c.lower.Logs() {
		log := Log{At: c.read.Files.Position(l.At)}
		for _, part := range l.Parts {
			log.Parts = append(log.Parts, LogPart{part.Text, logKind(part)})
		}
		p.Logs = append(p.Logs, log)
	}
	return p
}

func logKind(p tree.LogPart) LogKind {
	if p.X == nil {
		return LogText
	}
	return map[tree.Kind]LogKind{tree.Number: LogNumber, tree.Bool: LogBool, tree.Str: LogStr}[p.X.Type().Kind]
}

// driver makes the functions that hosts call: first the tick, which is the only one
// on the client.
func (c *compilation) driver() []*ir.Func {
	d := rt.NewDriver(c.rt, c.bodies, c.budget, uint32(FaultTickCap))
	roots := []*ir.Func{d.Tick(), d.Start()}
	if view := d.View(); view != nil {
		roots = append(roots, view)
	}
	if c.opt != nil {
		c.opt.Run(roots...)
	}
	return roots
}

func (c *compilation) link(layout *schema.Layout, pages uint32, roots ...*ir.Func) ([]byte, error) {
	g := &c.rt.Globals
	globals := []*ir.Global{g.Fault, g.FaultAt, g.FaultBody, g.FaultActor, g.Fuel, g.Seq, g.Seed, g.Seeded, g.Tail}
	if layout.Side == schema.OnServer {
		globals = append(globals, g.TickFuel, g.Again, g.Secret, g.Secreted)
		if slices.ContainsFunc(c.bodies, func(b rt.Body) bool { return b.Moment == rt.View }) {
			globals = append(globals, g.ViewAt)
		}
		if c.rt.LogArea != nil {
			globals = append(globals, g.LogUsed, g.LogLost)
		}
	}
	m, err := link.Link(link.Options{
		Layout: layout, Globals: globals, Fuel: g.Fuel, Fault: g.Fault, FaultAt: g.FaultAt,
		OutOfGas: uint32(FaultFuel), ToInt32: c.rt.ToInt32(), Log: c.rt.LogArea, MaxPages: pages, Names: c.names,
	}, roots...)
	if err != nil {
		return nil, err
	}
	return m.Encode(), nil
}
