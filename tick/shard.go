package tick

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gamehoster/games/body"
	"gamehoster/games/diag"
	"gamehoster/games/schema"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

// Errors of seats and instances.
var (
	ErrFull   = errors.New("full")                         // no seat, or no block, is free
	ErrClosed = errors.New("no seats given")               // the game has set game.open to false, or the instance has ended
	ErrName   = errors.New("name is too long or no UTF-8") // over wire.MaxName or schema.MaxPlayerName bytes
)

// Sink takes what goes out to one viewer, in order. m is one wire message and valid
// during the call only.
type Sink interface{ Message(m []byte) }

// Options are what a shard can be told. The zero value is good.
type Options struct {
	OnFault   func(in *Instance, f FaultReport) // called for each body run that failed, during Step, Send or Create; may be nil
	OnLog     func(in *Instance, l LogReport)   // called for each tick that logged something, during Step or Create; may be nil
	Compiled  *vm.Compiled                      // of prog.Server, to share it between shards; it stays the caller's. nil: the shard compiles its own
	StartTick uint32                            // the tick of state 0, for tests of the wrap
}

// LogReport is what the bodies of one tick wrote with log(). A tick that runs again
// because of a late command logs nothing anew.
type LogReport struct {
	Tick  uint32
	Lines []body.LogLine
	Lost  int // lines for which there was no room
}

// FaultReport tells of a body run that failed. Nothing of the run had an effect.
type FaultReport struct {
	Fault body.Fault    // FaultNone: the machine failed, see Err
	Body  int           // number of the body; -1 where it was none's fault
	Name  string        // of the body, as in "rock.update"
	Pos   diag.Position // in the author's file
	Actor uint32        // the object that the body was run for, 0 for the instance
	Tick  uint32        // that was being run
	All   bool          // the body is dropped for all its actors in this tick
	Ended bool          // there was no way on: the instance has ended
	Err   error         // what the machine said
}

var faultTexts = [...]string{
	body.FaultNone:    "the machine failed",
	body.FaultFuel:    "ran too long: an endless loop",
	body.FaultNull:    "null was used",
	body.FaultIndex:   "a table was read out of range",
	body.FaultName:    "a name that no field has",
	body.FaultTickCap: "the bodies of one tick ran too long together",
}

// String is the report as a line for a log: place, body and reason.
func (f FaultReport) String() string {
	text := "unknown fault"
	if int(f.Fault) < len(faultTexts) {
		text = faultTexts[f.Fault]
	}
	switch {
	case errors.Is(f.Err, errIDs):
		return f.Err.Error()
	case f.Fault == body.FaultNone:
		return fmt.Sprintf("%s: %v", text, f.Err)
	case f.Body < 0:
		return text
	}
	return fmt.Sprintf("%s: %s: %s (actor %d, tick %d)", f.Pos, f.Name, text, f.Actor, f.Tick)
}

// Shard holds the instances of one game that run on one goroutine. It is not safe
// for concurrent use, and neither is what it gives out.
type Shard struct {
	def    *schema.Definition
	layout *schema.Layout
	wire   *wire.Schema
	plans  []plan // by type
	hash   uint64
	rules  rules
	opt    Options

	compiled *vm.Compiled // nil where it is the caller's
	machine  machine
	slots    *vm.Slots
	pool     vm.Pool // of past states
	log      *vm.Log // nil where the bodies do not log
	prog     *body.Program

	instances int
	turn      int // ticks that may be run again in this turn of the loop
	stats     Stats
	scratch   scratch
}

// plan is the fields of a type that deltas have, as the public sees them and as the
// owner does.
type plan struct {
	sent  [2]*wire.Fields // in images
	whole [2]*wire.Fields // for thin viewers
	steps *wire.Fields    // of rows, to make images of them; nil where a row is its own
	lanes lanes           // the sent ones
}

func newPlans(w *wire.Schema) []plan {
	list := make([]plan, w.Types())
	for i := range list {
		for k, owner := range []bool{false, true} {
			list[i].sent[k], list[i].whole[k] = w.Fields(i, wire.Sent, owner).Stepped(), w.Fields(i, wire.Whole, owner).Stepped()
		}
		f := w.Fields(i, wire.Sent, true)
		if f.Stepped() != f {
			list[i].steps = f
		}
		list[i].lanes = newLanes(f)
	}
	return list
}

// machine runs the bodies: a *vm.Machine, or a stand-in of tests.
type machine interface {
	vm.Memory
	Tick(base, input uint32) (vm.Fault, bool)
	Start(base uint32) (vm.Fault, bool)
	View(base, viewer, typ, list, count uint32, fresh bool) (done uint32, f vm.Fault, ok bool)
	Close() error
}

// scratch is what one call at a time needs, kept so that none has to make it.
type scratch struct {
	input   uint32   // address of the tick's input in the machine
	inputs  []byte   // the live memory there
	saved   []byte   // a block as it was before the tick
	before  []byte   // a block as it was before a rewind
	record  []byte   // a command record
	skips   []skip   // of the tick that is being run
	columns []column // by type: rows of a walk
	image   []byte   // that an object is to have
	fresh   []object // found by the walk
	ids     []uint32 // to be sorted
	relay   []uint64 // numbers of commands to relay
	out     []byte   // a message
	delta   []byte   // a delta, made before what goes out before it
	parts   []part   // of a delta
	bytes   []byte   // theirs
	ranks   []int    // bytes of parts by rank
	changed []int32  // indexes of what a viewer holds and has changed
	held    []int32  // and of all that it holds; only in games with view bodies
	unheld  set      // what it sees and does not hold
	owed    []owed   // of the viewer that gets it

	encodings [encodings]encoding
	made      int    // encodings, so far
	name      []byte // of an instance
	blind     bool   // late commands are not relayed to the viewer of this send
	again     bool   // its snapshot has been sent again
	waiting   []waiting
	list      uint32 // address of the list of what views are asked
	sight     sight
}

// rules are what follows from a definition and its bodies for every instance.
type rules struct {
	perSend   uint32 // ticks
	rewinds   bool   // commands may be late
	back      uint32 // ticks that a late one may go back
	depth     uint32 // ticks that a relayed command may wait for a viewer
	lead      uint32 // ticks ahead that a command may be filed
	seats     int
	pending   int         // commands of one seat that are kept
	turn      int         // sends in which all objects get a keyframe; 0 for no turns
	budget    int         // bytes of a send
	view      bool        // there are view bodies
	views     []viewRules // by type
	removes   []bool      // by type: server bodies may remove objects that shared bodies made
	removals  bool        // there is such a type
	handlers  []body.CommandBodies
	bodies    []body.Body
	positions []diag.Position

	idsPerTick uint32 // what counters of ids go up by in a tick at most
}

// Commands of a seat that are kept, those to come and those of the timeline: so many
// and so many more for each tick in which they can be, unless those of all seats
// together took too many bytes.
const (
	minPending      = 16
	perTickPending  = 4
	maxPendingBytes = 16 << 20
)

// rerunsPerBody is how often a tick is run again for one body before that is
// dropped for all its actors.
const rerunsPerBody = 8

func newRules(d *schema.Definition, p *body.Program) rules {
	per := d.TicksPerSend()
	r := rules{
		perSend:   uint32(per),
		back:      uint32(d.TimelineDepth),
		depth:     uint32(max(d.TimelineDepth, per)),
		lead:      uint32(max(1, d.TimelineDepth)),
		seats:     min(d.PlayersPerInstance, d.Player().Max),
		budget:    d.BytesPerSend,
		view:      p.HasView,
		handlers:  p.Commands,
		bodies:    p.Bodies,
		positions: p.Positions,
	}
	for _, c := range p.Commands {
		r.rewinds = r.rewinds || c.Shared && r.back > 0
	}
	ticks := r.lead
	if r.rewinds {
		ticks += r.depth + r.perSend
	}
	r.pending = minPending + perTickPending*int(ticks)
	// Commands may be kilobytes long and seats hundreds.
	r.pending = max(minPending/4, min(r.pending, maxPendingBytes/(r.seats*p.ServerLayout.CommandStride)))
	if t := d.KeyframeSeconds * float64(d.SendRate); t > 0 {
		r.turn = int(max(1, min(math.Round(t), 1<<20)))
	}
	r.removes = p.ServerRemoves
	for _, t := range d.Entities() { // what is removed takes its row till the tick's end
		r.idsPerTick += schema.IDStep * uint32(t.Max)
	}
	r.removals = slices.Contains(r.removes[schema.PlayerType+1:], true)
	return r
}

// NewShard makes a shard without instances. hash is the definition hash that
// welcomes carry.
func NewShard(def *schema.Definition, prog *body.Program, hash uint64, o Options) (*Shard, error) {
	c, own := o.Compiled, (*vm.Compiled)(nil)
	if c == nil {
		var err error
		if c, err = vm.Compile(prog.Server); err != nil {
			return nil, fmt.Errorf("preparing a shard of %s: %w", def.Name, err)
		}
		own = c
	}
	m, err := c.NewMachine()
	if err == nil {
		var s *Shard
		if s, err = newShard(def, prog, hash, o, m); err == nil {
			s.compiled, s.log = own, m.Log()
			return s, nil
		}
		err = errors.Join(err, m.Close())
	}
	if own != nil {
		err = errors.Join(err, own.Close())
	}
	return nil, fmt.Errorf("preparing a shard of %s: %w", def.Name, err)
}

// newShard is NewShard on a machine, which becomes the shard's.
func newShard(def *schema.Definition, prog *body.Program, hash uint64, o Options, m machine) (*Shard, error) {
	s := &Shard{def: def, prog: prog, layout: prog.ServerLayout, hash: hash, opt: o, rules: newRules(def, prog), machine: m, turn: math.MaxInt}
	if len(prog.Commands) != len(def.Commands) || len(s.layout.Types) != len(def.Types) {
		return nil, errors.New("the bodies are another definition's")
	}
	s.wire = wire.NewSchema(def, s.layout)
	s.plans = newPlans(s.wire)
	if !s.wire.Any(wire.Shared) {
		s.rules.turn = 0
	}
	skips := len(s.rules.bodies) * (rerunsPerBody + 1)
	size := schema.InputHeader + skips*schema.SkipSize +
		s.rules.seats*(2*schema.LeaveSize+schema.JoinSize+s.rules.pending*s.layout.CommandStride)
	b := &s.scratch
	var err error
	if b.input, err = m.Reserve(size); err != nil {
		return nil, fmt.Errorf("reserving the input of a tick: %w", err)
	}
	b.inputs = m.Bytes(b.input, size)
	b.saved = make([]byte, s.layout.Size)
	if s.rules.rewinds {
		b.before = make([]byte, s.layout.Size)
	}
	b.record = make([]byte, s.layout.CommandStride)
	b.skips = make([]skip, 0, skips)
	b.columns = make([]column, len(s.layout.Types))
	b.image = make([]byte, s.wire.MaxStride())
	s.rules.views = newViewRules(def, s.layout, prog.Views)
	if s.rules.view {
		if err := s.initSight(); err != nil {
			return nil, fmt.Errorf("reserving the list of views: %w", err)
		}
	}
	s.slots = vm.NewSlots(m, s.layout.Size, def.ShardInstances())
	return s, nil
}

// Close frees the memory of all instances at once. Nothing of the shard may be
// used after.
func (s *Shard) Close() error {
	var err error
	if s.machine != nil {
		err = errors.Join(s.machine.Close(), s.pool.Close())
	}
	if s.compiled != nil {
		err = errors.Join(err, s.compiled.Close())
	}
	s.machine, s.compiled = nil, nil
	return err
}

// Turn begins a turn of the caller's loop, in which budget ticks may be run again
// because of late commands, over all instances. A rewind is never split: the last one
// may go over the budget, which comes off the next turn's. Without any call there is
// no bound.
func (s *Shard) Turn(budget int) { s.turn = min(s.turn, 0) + budget }

// Instances is how many there are.
func (s *Shard) Instances() int { return s.instances }

// Stats is what the shard has counted. The values go on counting.
func (s *Shard) Stats() *Stats { return &s.stats }
