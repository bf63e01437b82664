package rt

import (
	"gamehoster/games/body/internal/ir"
	"gamehoster/games/schema"
)

// Moment is when a body runs.
type Moment uint8

const (
	Start Moment = iota
	Leave
	Join
	OnCommand
	Update
	View // called by itself
)

// Body is a compiled body, at its number's place in the driver's list.
type Body struct {
	Fn     *ir.Func // (base[, row[, command record]])
	At     int      // position of the function, for faults of the body as a whole
	Moment Moment
	Server bool
	Of     *schema.Type
	Cmd    *schema.Command
}

// Budget is the fuel of one body run and of one tick.
type Budget struct {
	Body int
	Tick int // server only
}

// Driver makes the functions that the host calls.
//
//	tick(base, input): leaves, joins, commands, updates, the instance, compaction
//	start(base):       server: the instance's defaults, instance.server.start, compaction
//	view(base, ...):   server: see View
//
// Both sides have the same tick. What only the server does in it is in branches that
// ask for the side, which the linker leaves out of the client's.
type Driver struct {
	rt     *Runtime
	bodies []Body
	budget Budget
	capped uint32 // the fault of a tick that is over its budget

	base, input   *ir.Local
	skips, skipAt *ir.Local
	left          *ir.Local // I64: what is left for this run of a tick, if it is not the first
}

// NewDriver gives the driver of a game's bodies, which have their places in the list
// for numbers.
func NewDriver(r *Runtime, bodies []Body, budget Budget, capped uint32) *Driver {
	return &Driver{
		rt: r, bodies: bodies, budget: budget, capped: capped,
		base: local("base", ir.I32), input: local("input", ir.I32), skips: local("skips", ir.I32), skipAt: local("skip_at", ir.I32), left: local("left", ir.I64),
	}
}

// onServer runs statements on the server only.
func onServer(body ...ir.Stmt) ir.Stmt {
	return when(&ir.Sym{Off: ir.Offset{Place: ir.ServerSide}}, body...)
}

// each calls do for every body that runs at a moment for a type: the shared ones
// first, which come first in a step.
func (d *Driver) each(m Moment, of *schema.Type, do func(number int, b Body)) {
	for _, server := range []bool{false, true} {
		for i, b := range d.bodies {
			if b.Moment == m && b.Of == of && b.Server == server {
				do(i, b)
			}
		}
	}
}

// inlineBody is the most nodes of a body that becomes a part of the driver.
const inlineBody = 300

// run is one run of a body: skipped if the host says so, else with a budget
// and a random sequence of its own. actor is the id of the row's object. It is nothing
// on the client if the body is the server's.
func (d *Driver) run(number int, b Body, actor ir.Expr, args ...ir.Expr) ir.Stmt {
	g := &d.rt.Globals
	out := &ir.Label{Name: "skipped"}
	called := &ir.Call{Fn: b.Fn, Args: append([]ir.Expr{get(d.base)}, args...)[:len(b.Fn.Params)]}
	body := []ir.Stmt{
		&ir.SetGlobal{Global: g.FaultActor, X: actor},
		&ir.SetGlobal{Global: g.FaultBody, X: ir.Int(number)},
		when(get(d.skips), when(&ir.Call{Fn: d.skipped(), Args: []ir.Expr{get(d.skipAt), get(d.skips)}}, &ir.Br{Label: out})),
	}
	uses := d.uses(b.Fn)
	if !uses.fuel && ir.Size(b.Fn.Body) <= inlineBody {
		b.Fn.Keep, b.Fn.Inline = false, true // nothing in it can go on for long
	}
	if uses.random {
		body = append(body, &ir.SetGlobal{Global: g.Seeded, X: ir.Int(0)})
	}
	if uses.secret {
		body = append(body, &ir.SetGlobal{Global: g.Secreted, X: ir.Int(0)})
	}
	body = append(body, &ir.Eval{X: called})
	if uses.fuel {
		body = append(body, d.spent(b), d.refuel())
	}
	block := &ir.Block{Label: out, Body: body}
	if b.Server {
		return onServer(block)
	}
	return block
}

// spend takes n units of fuel, an I32, from the tick's budget, and ends the tick where
// that has gone: the instance is over then, for which nobody in particular is to blame.
func (d *Driver) spend(n ir.Expr, at int) ir.Stmt {
	left := &ir.GetGlobal{Global: d.rt.TickFuel}
	return onServer(
		&ir.SetGlobal{Global: d.rt.TickFuel, X: ir.Do(ir.SubI64, left, ir.Do(ir.ExtendU32, n))},
		when(ir.Do(ir.LtI64, left, ir.Long(0)), &ir.Trap{Fault: d.capped, At: at}))
}

// refuel gives the next body its budget. Between runs it is whole, so that what is gone
// of it behind a fault is what the body took that failed.
func (d *Driver) refuel() ir.Stmt {
	return &ir.SetGlobal{Global: d.rt.Fuel, X: ir.Int(d.budget.Body)}
}

// spent takes what a body has taken of its own budget.
func (d *Driver) spent(b Body) ir.Stmt {
	return d.spend(ir.Do(ir.SubI32, ir.Int(d.budget.Body), &ir.GetGlobal{Global: d.rt.Fuel}), b.At)
}

// spendFor takes the fuel for n times a weight, both I32. A row costs what all do.
func (d *Driver) spendFor(n, weight ir.Expr, at int) ir.Stmt {
	total := ir.Do(ir.MulI64, ir.Do(ir.ExtendU32, n), ir.Do(ir.ExtendU32, weight))
	return d.spend(ir.Do(ir.WrapI64, ir.Do(ir.ShrU64, total, ir.Long(unitShift))), at)
}

type uses struct{ fuel, random, secret bool }

// uses finds what a body leads to that has to be set up for it.
func (d *Driver) uses(f *ir.Func) (u uses) {
	for _, f := range ir.Reach(f) {
		ir.Each(f.Body, func(s ir.Stmt) {
			switch s := s.(type) {
			case *ir.Fuel:
				u.fuel = true
			case *ir.SetGlobal:
				u.fuel = u.fuel || s.Global == d.rt.Fuel
			}
		}, func(x ir.Expr) {
			if g, ok := x.(*ir.GetGlobal); ok {
				u.random = u.random || g.Global == d.rt.Seeded
				u.secret = u.secret || g.Global == d.rt.Secreted
			}
		})
	}
	return u
}

// skipped is the function (list, n) that looks the running body and actor up
// among the tick's skips.
func (d *Driver) skipped() *ir.Func {
	g := &d.rt.Globals
	return d.rt.once("skipped", func(f *ir.Func) {
		at, n, actor := local("at", ir.I32), local("n", ir.I32), local("actor", ir.I32)
		f.Params, f.Result = []*ir.Local{at, n}, ir.I32
		all := int32(-1) // schema.AllActors
		f.Body = []ir.Stmt{
			while(get(n),
				when(ir.Do(ir.EqI32, load(get(at), ir.At(0)), &ir.GetGlobal{Global: g.FaultBody}),
					set(actor, load(get(at), ir.At(4))),
					when(ir.Either(ir.Do(ir.EqI32, get(actor), ir.Int(int(all))), ir.Do(ir.EqI32, get(actor), &ir.GetGlobal{Global: g.FaultActor})),
						ret(ir.Int(1)))),
				set(at, add(get(at), ir.Int(schema.SkipSize))),
				set(n, ir.Do(ir.SubI32, get(n), ir.Int(1)))),
			ret(ir.Int(0)),
		}
	})
}

// Start is the server's start function.
func (d *Driver) Start() *ir.Func {
	f := &ir.Func{Name: "start", Params: []*ir.Local{d.base}, Keep: true}
	in := d.rt.def.Instance()
	f.Body = append(f.Body, set(d.skips, ir.Int(0)))
	f.Body = append(f.Body, d.begin()...)
	f.Body = append(f.Body, d.rt.defaults(in, func() ir.Expr { return get(d.base) }, ir.Instance)...)
	d.each(Start, in, func(n int, b Body) { f.Body = append(f.Body, d.run(n, b, ir.Int(0))) })
	f.Body = append(f.Body, d.end()...)
	return f
}

// Tick is the tick function.
func (d *Driver) Tick() *ir.Func {
	f := &ir.Func{Name: "tick", Params: []*ir.Local{d.base, d.input}, Keep: true}
	f.Body = append(f.Body, store(get(d.base), ir.At(schema.HeaderTick), add(load(get(d.base), ir.At(schema.HeaderTick)), ir.Int(1))))
	f.Body = append(f.Body, d.begin()...)
	f.Body = append(f.Body, set(d.skips, ir.Int(0)), when(get(d.input), d.inputs()...))
	for _, t := range d.rt.def.Types[1:] {
		f.Body = append(f.Body, d.updates(t)...)
	}
	in := d.rt.def.Instance()
	d.each(Update, in, func(n int, b Body) { f.Body = append(f.Body, d.run(n, b, ir.Int(0))) })
	f.Body = append(f.Body, d.end()...)
	return f
}

// rerunTicks is how many ticks' fuel all runs of a tick together may take after the first.
// Each fault makes the host run a tick again, and there may be many.
const rerunTicks = 4

// begin sets up what holds for all bodies of a tick.
func (d *Driver) begin() []ir.Stmt {
	g := &d.rt.Globals
	tick := ir.Long(uint64(d.budget.Tick))
	// What the last run took, if this is the same tick again: of the tick's, and in the
	// body that failed.
	inBody := ir.Do(ir.ExtendI32, ir.Do(ir.SubI32, ir.Int(d.budget.Body), &ir.GetGlobal{Global: g.Fuel}))
	spent := ir.Do(ir.AddI64, ir.Do(ir.SubI64, tick, &ir.GetGlobal{Global: g.TickFuel}), inBody)
	budget := []ir.Stmt{
		set(d.left, ir.Do(ir.SubI64, &ir.GetGlobal{Global: g.Again}, spent)),
		&ir.SetGlobal{Global: g.Again, X: ir.Long(uint64(rerunTicks * d.budget.Tick))},
		&ir.SetGlobal{Global: g.TickFuel, X: tick},
	}
	if d.rt.LogArea != nil {
		budget = append(budget, &ir.SetGlobal{Global: g.LogUsed, X: ir.Int(0)}, &ir.SetGlobal{Global: g.LogLost, X: ir.Int(0)})
	}
	return []ir.Stmt{&ir.SetGlobal{Global: g.Seq, X: ir.Int(0)}, onServer(budget...), d.refuel()}
}

// inputs runs what the host filed for the tick.
func (d *Driver) inputs() []ir.Stmt {
	at, n := local("at", ir.I32), local("n", ir.I32)
	step := func(size ir.Expr) []ir.Stmt {
		return []ir.Stmt{set(at, add(get(at), size)), set(n, ir.Do(ir.SubI32, get(n), ir.Int(1)))}
	}
	count := func(i int) ir.Expr { return load(get(d.input), ir.At(4*i)) }
	each := func(i int, do []ir.Stmt, size ir.Expr) []ir.Stmt {
		return []ir.Stmt{set(n, count(i)), while(get(n), append(do, step(size)...)...)}
	}
	server := each(1, d.leave(at), ir.Int(schema.LeaveSize))
	server = append(server, d.settle(d.rt.def.Player())) // the seats of those who left are free for those who join
	server = append(server, each(2, d.join(at), ir.Int(schema.JoinSize))...)
	again := when(get(d.skips),
		&ir.SetGlobal{Global: d.rt.Again, X: get(d.left)},
		when(ir.Do(ir.LtI64, get(d.left), &ir.GetGlobal{Global: d.rt.TickFuel}), &ir.SetGlobal{Global: d.rt.TickFuel, X: get(d.left)}))
	body := []ir.Stmt{
		set(d.skips, count(0)),
		onServer(again),
		set(d.skipAt, add(get(d.input), ir.Int(schema.InputHeader))),
		set(at, add(get(d.skipAt), ir.Do(ir.MulI32, get(d.skips), ir.Int(schema.SkipSize)))),
		onServer(server...),
	}
	body = append(body, each(3, d.command(at), &ir.Sym{Off: ir.Offset{Place: ir.CommandStride}})...)
	return append(body, &ir.SetGlobal{Global: d.rt.Seq, X: ir.Int(0)})
}

func (d *Driver) findPlayer(at *ir.Local, off int) ir.Expr {
	return &ir.Call{Fn: d.rt.Find(d.rt.def.Player()), Args: []ir.Expr{get(d.base), load(get(at), ir.At(off))}}
}

func (d *Driver) leave(at *ir.Local) []ir.Stmt {
	player := d.rt.def.Player()
	row := local("row", ir.I32)
	var run []ir.Stmt
	d.each(Leave, player, func(n int, b Body) { run = append(run, d.run(n, b, load(get(row), ir.At(schema.RowID)), get(row))) })
	run = append(run, &ir.Eval{X: &ir.Call{Fn: d.rt.Remove(player), Args: []ir.Expr{get(d.base), get(row)}}})
	return []ir.Stmt{set(row, d.findPlayer(at, 0)), when(get(row), run...)}
}

func (d *Driver) join(at *ir.Local) []ir.Stmt {
	player := d.rt.def.Player()
	row := local("row", ir.I32)
	run := d.rt.appendRow(player, d.base, row, load(get(at), ir.At(0)), schema.MarkWritten)
	if f := player.Field("name"); f != nil && f.Kind == schema.Str {
		run = append(run, &ir.Eval{X: &ir.Call{Fn: d.rt.SetStr(), Args: []ir.Expr{
			add(get(row), &ir.Sym{Off: ir.Offset{Place: ir.RowField, Type: player.Index, Field: f.Index}}),
			ir.Int(f.Len), add(get(at), ir.Int(schema.JoinName))}}})
	}
	d.each(Join, player, func(n int, b Body) { run = append(run, d.run(n, b, load(get(row), ir.At(schema.RowID)), get(row))) })
	return []ir.Stmt{when(ir.Do(ir.LtU32, load(get(d.base), counts(player, schema.CountRows)), ir.Int(player.Max)), run...)}
}

func (d *Driver) command(at *ir.Local) []ir.Stmt {
	player := d.rt.def.Player()
	row := local("row", ir.I32)
	body := []ir.Stmt{
		set(row, d.findPlayer(at, schema.CommandPlayer)),
	}
	run := []ir.Stmt{&ir.SetGlobal{Global: d.rt.Seq, X: load(get(at), ir.At(schema.CommandSeq))}}
	for _, c := range d.rt.def.Commands {
		var handlers []ir.Stmt
		d.each(OnCommand, player, func(n int, b Body) {
			if b.Cmd == c {
				handlers = append(handlers, d.run(n, b, load(get(row), ir.At(schema.RowID)), get(row), get(at)))
			}
		})
		if len(handlers) > 0 {
			run = append(run, when(ir.Do(ir.EqI32, load(get(at), ir.At(schema.CommandNumber)), ir.Int(c.Index)), handlers...))
		}
	}
	return append(body, when(get(row), run...))
}

// What a row costs besides what its bodies do, in nodes.
const (
	visitWeight = 32     // going by it
	skipWeight  = 8      // looking at one of the tick's skips
	placeWeight = 2 * 64 // bringing it into order, without its bytes
)

// updates runs the update bodies of one type for the rows that the tick began
// with. What of their work takes no fuel while they run is taken for all rows before.
func (d *Driver) updates(t *schema.Type) []ir.Stmt {
	row, end := local("row", ir.I32), local("end", ir.I32)
	var run []ir.Stmt
	shared := false
	weight, heaviest, blamed := visitWeight, -1, []ir.Stmt(nil)
	at := 0
	d.each(Update, t, func(n int, b Body) {
		shared = shared || !b.Server
		w := d.rt.weights[b.Fn]
		if weight += w; w > heaviest {
			heaviest, at = w, b.At
			blamed = []ir.Stmt{
				&ir.SetGlobal{Global: d.rt.FaultActor, X: ir.Int(0)},
				&ir.SetGlobal{Global: d.rt.FaultBody, X: ir.Int(n)},
			}
		}
		run = append(run, when(ir.Not(Removed(get(row))), d.run(n, b, load(get(row), ir.At(schema.RowID)), get(row))))
	})
	if len(run) == 0 {
		return nil
	}
	sorted := load(get(d.base), counts(t, schema.CountSorted))
	list := []ir.Stmt{
		onServer(blamed...),
		d.spendFor(sorted, add(ir.Int(weight), ir.Do(ir.MulI32, get(d.skips), ir.Int(skipWeight))), at),
		set(row, FirstRow(get(d.base), t)),
		set(end, add(get(row), ir.Do(ir.MulI32, sorted, Stride(t)))),
		while(ir.Do(ir.LtU32, get(row), get(end)), append(run, set(row, add(get(row), Stride(t))))...),
	}
	if !shared {
		return []ir.Stmt{onServer(list...)}
	}
	return list
}

// end compacts the types whose rows came or went.
func (d *Driver) end() (list []ir.Stmt) {
	for _, t := range d.rt.def.Types[1:] {
		list = append(list, d.settle(t))
	}
	return list
}

// settle compacts a type if its rows came or went.
func (d *Driver) settle(t *schema.Type) ir.Stmt {
	count := func(which int) ir.Expr { return load(get(d.base), counts(t, which)) }
	changed := ir.Do(ir.OrI32,
		ir.Do(ir.XorI32, count(schema.CountRows), count(schema.CountSorted)),
		ir.Do(ir.XorI32, count(schema.CountRows), count(schema.CountLive)))
	args := []ir.Expr{add(get(d.base), &ir.Sym{Off: counts(t, 0)}), FirstRow(get(d.base), t), Stride(t)}
	body := []ir.Stmt{&ir.Eval{X: &ir.Call{Fn: d.rt.compact(), Args: args}}}
	if n := len(d.bodies); n > 0 {
		// The last body is as good as any to be named.
		weight := ir.Int(placeWeight + 2*d.rt.rowWeight(t))
		body = append([]ir.Stmt{d.spendFor(count(schema.CountRows), weight, d.bodies[n-1].At)}, body...)
	}
	return when(changed, body...)
}
