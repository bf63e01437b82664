package tick

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"gamehoster/games/body"
	"gamehoster/games/schema"
	"gamehoster/tick/vm"
	"gamehoster/wire"
)

var le = binary.LittleEndian

// Instance is one running world with its players. It is its shard's, and used on
// the same goroutine.
type Instance struct {
	shard *Shard
	name  string
	seed  uint64
	base  uint32 // address of the block
	block []byte // the live memory there; nil once retired

	tick   uint32 // the last tick that ran
	until  uint32 // ticks to run until the next send tick
	due    bool   // the tick just run is a send tick
	failed bool   // ended by the engine

	nextPlayer uint32
	seats      []seat
	taken      int // seats not free
	rows       int // players that have joined and were not removed
	filing     filing
	relay      relay
	timeline   timeline
	faults     []faulted // of ticks that may be run again

	sends    uint64 // send ticks committed
	sendTick uint32 // the last of them
	history  history
	hashes   hashes
	viewers  []*Viewer
	thin     int // of them

	spectators int // of them
}

// seat is a player's place. Seats stay where they are in memory.
type seat struct {
	player   uint32 // 0: free
	joined   bool   // the player's row exists
	joinTick uint32 // valid once joined
	resumed  bool   // a viewer was welcomed
	name     []byte

	received uint32 // the last seq that came
	filed    int    // commands that have not run
	kept     int    // and those that have and may run again with them
	ordered  bool   // last is valid
	last     uint32 // effective tick of the last command filed
	rates    []rate // by command number; nil where no command has a limit
	viewer   *Viewer
}

// Create makes an instance in state 0: its start body has run. seed is that of
// random() and known to clients, serverSeed that of serverRandom(). It fails with
// ErrFull and ErrName.
func (s *Shard) Create(name string, seed, serverSeed uint64) (*Instance, error) {
	if len(name) > wire.MaxName || !utf8.ValidString(name) {
		return nil, fmt.Errorf("creating an instance: %w", ErrName)
	}
	base, err := s.slots.Get()
	if err != nil {
		return nil, fmt.Errorf("creating an instance: %w: %w", ErrFull, err)
	}
	in := &Instance{
		shard: s, name: name, seed: seed, base: base, block: s.slots.Bytes(base),
		tick: s.opt.StartTick, until: s.rules.perSend, nextPlayer: schema.FirstPlayer,
		seats: make([]seat, s.rules.seats),
	}
	in.history.init(s)
	in.timeline.init(&s.rules)
	in.header(serverSeed)
	if f, ok := s.machine.Start(base); !ok {
		clear(in.block)
		in.header(serverSeed)
		putDefaults(s.def.Instance(), &s.layout.Types[schema.InstanceType], in.row(schema.InstanceType, 0))
		in.failed = !blamed(&f)
		in.fault(&f, in.tick, false)
	}
	in.logged()
	s.instances++
	return in, nil
}

func (in *Instance) header(serverSeed uint64) {
	b := in.block
	le.PutUint32(b[schema.HeaderTick:], in.tick)
	le.PutUint32(b[schema.HeaderNextShared:], schema.FirstShared)
	le.PutUint32(b[schema.HeaderNextServer:], schema.FirstServer)
	le.PutUint64(b[schema.HeaderSeed:], in.seed)
	le.PutUint64(b[schema.HeaderServerSeed:], serverSeed)
}

// Retire ends the instance: its viewers are detached and its block is given back.
// Nothing of it but Name, Tick and Ended may be used after.
func (in *Instance) Retire() {
	if in.block == nil {
		return
	}
	for len(in.viewers) > 0 {
		in.Detach(in.viewers[len(in.viewers)-1])
	}
	in.shard.slots.Put(in.base)
	in.shard.instances--
	in.timeline.drop(in.shard)
	in.shard.scratch.encodings = [encodings]encoding{}
	in.shard.scratch.sight.in = nil
	in.block, in.failed, in.due, in.faults = nil, true, false, nil
	in.history, in.filing, in.relay = history{}, filing{}, relay{}
}

// Name is the name given to Create.
func (in *Instance) Name() string { return in.name }

// Tick is the last tick that ran.
func (in *Instance) Tick() uint32 { return in.tick }

// Players is the number of seats taken, those of dropped players included.
func (in *Instance) Players() int { return in.taken }

// Spectators is the number of spectators, MaxSpectators at most.
func (in *Instance) Spectators() int { return in.spectators }

// Open reports whether the game gives new seats: it has not set game.open to false
// and has not ended. A full instance may be open.
func (in *Instance) Open() bool { return !in.Ended() && in.flags()&schema.FlagClosed == 0 }

// Ended reports whether the instance is over: the game called game.end(), or the
// engine ended it because its bodies ran past the tick's cap or its ids are used up. If the game did, the
// tick is a send tick and the last state can still go out before viewers are closed
// with wire.CloseEnded.
func (in *Instance) Ended() bool { return in.failed || in.flags()&schema.FlagEnded != 0 }

func (in *Instance) flags() uint32 {
	if in.block == nil {
		return schema.FlagEnded
	}
	return le.Uint32(in.block[schema.HeaderFlags:])
}

// count is the number of rows of a type.
func (in *Instance) count(typ int) int {
	at := in.shard.layout.Types[typ].Counts
	if at < 0 {
		return 1
	}
	return int(le.Uint32(in.block[at+schema.CountRows:]))
}

// row is the live row i of a type.
func (in *Instance) row(typ, i int) []byte {
	t := &in.shard.layout.Types[typ]
	at := t.Rows + i*t.Stride
	return in.block[at : at+t.Stride : at+t.Stride]
}

// Join takes a seat for a player of the name, which may be empty. The player joins on
// the next send tick; until then it has an id and no row. It fails with ErrFull,
// ErrClosed and ErrName.
func (in *Instance) Join(name string) (player uint32, err error) {
	switch {
	case !in.Open():
		return 0, fmt.Errorf("joining %s: %w", in.name, ErrClosed)
	case len(name) > schema.MaxPlayerName || !utf8.ValidString(name):
		return 0, fmt.Errorf("joining %s: the player's %w", in.name, ErrName)
	case in.taken == len(in.seats) || in.nextPlayer >= lastID:
		return 0, fmt.Errorf("joining %s: %w", in.name, ErrFull)
	}
	for i := range in.seats {
		if s := &in.seats[i]; s.player == 0 {
			*s = seat{player: in.nextPlayer, name: append(s.name[:0], name...), rates: s.rates}
			s.resetRates(in.shard.def)
			in.nextPlayer += schema.PlayerIDStep
			in.taken++
			return s.player, nil
		}
	}
	panic("tick: fewer seats than are counted")
}

// Leave frees the player's seat and files its leave on the next send tick, where
// the game's leave body runs. Its viewer is detached. A player that is gone already
// is ignored.
func (in *Instance) Leave(player uint32) {
	s := in.seat(player)
	if s == nil {
		return
	}
	if s.joined {
		in.filing.leave(player)
	}
	in.free(s)
}

// free makes the seat free for another player.
func (in *Instance) free(s *seat) {
	if s.viewer != nil {
		in.Detach(s.viewer)
	}
	in.filing.drop(s.player)
	s.player, s.joined = 0, false
	in.taken--
}

// seat finds a player's seat; nil where there is none.
func (in *Instance) seat(player uint32) *seat {
	if player == 0 || in.block == nil {
		return nil
	}
	for i := range in.seats {
		if in.seats[i].player == player {
			return &in.seats[i]
		}
	}
	return nil
}

// fault reports a failed body run of tick t.
func (in *Instance) fault(f *vm.Fault, t uint32, all bool) {
	s := in.shard
	s.stats.Faults++
	if s.opt.OnFault == nil {
		return
	}
	r := FaultReport{Fault: f.Kind, Body: -1, Actor: f.Actor, Tick: t, All: all, Ended: in.failed, Err: f.Err}
	if blamed(f) && int(f.Body) < len(s.rules.bodies) {
		r.Body, r.Name = int(f.Body), s.rules.bodies[f.Body].Name
	}
	if r.Body >= 0 && f.At >= 0 && f.At < len(s.rules.positions) {
		r.Pos = s.rules.positions[f.At]
	}
	s.opt.OnFault(in, r)
}

// logged hands on what the bodies that just ran have logged.
func (in *Instance) logged() {
	s := in.shard
	if s.log == nil || s.opt.OnLog == nil {
		return
	}
	area, lost := s.log.Records()
	if len(area) == 0 && lost == 0 {
		return
	}
	r := LogReport{Tick: in.tick, Lost: lost}
	var err error
	if r.Lines, err = s.prog.ReadLog(area); err != nil {
		r.Lost++ // what the module wrote is not to be trusted, but no reason to stop
	}
	s.opt.OnLog(in, r)
}

// blamed reports whether a fault is that of one body run.
func blamed(f *vm.Fault) bool { return f.Kind != body.FaultNone && f.Kind != body.FaultTickCap }

// StateHash is the hash of the state that clients share, as wire's state hash has
// it, after the last tick that ran.
func (in *Instance) StateHash() uint64 {
	w := in.shard.wire
	h := wire.NewHash().Fields(w.Fields(schema.InstanceType, wire.Shared, false), in.row(schema.InstanceType, 0))
	columns := in.columns()
	for {
		typ := least(columns)
		if typ == 0 {
			return uint64(h)
		}
		c := &columns[typ]
		h = h.Object(in.shard.wire, typ, c.rest())
		c.pass()
	}
}

// least is the type that has, of all that the types have next, the object with the least
// id; 0 at the end.
func least(columns []column) (typ int) {
	var first uint32
	for t := schema.PlayerType; t < len(columns); t++ {
		if id, ok := columns[t].next(); ok && (typ == 0 || id < first) {
			typ, first = t, id
		}
	}
	return typ
}

// playerRow is a player's row and slot; not ok where the world does not have it at the
// last send.
func (in *Instance) playerRow(id uint32) (row []byte, slot uint32, ok bool) {
	i, ok := in.history.find(id)
	if !ok || id == 0 {
		return nil, 0, false
	}
	o := &in.history.objects[i]
	return in.row(int(o.typ), int(o.row)), o.slot, true
}

// owner is the player that owns the object in row; 0 for none.
func (in *Instance) owner(typ int, row []byte) uint32 {
	if at := in.shard.layout.Types[typ].Owner; at >= 0 {
		return le.Uint32(row[at:])
	}
	return 0
}

// putDefaults sets the fields of a zeroed row to their defaults, as the module does
// when it makes one.
func putDefaults(t *schema.Type, l *schema.TypeLayout, row []byte) {
	for i, f := range t.Fields {
		at := l.Offsets[i]
		if at < 0 {
			continue
		}
		if f.Kind == schema.Str {
			row[at] = byte(copy(row[at+1:at+1+f.Len], f.Text))
		} else {
			schema.StoreNumber(f.Kind, row[at:], f.Default)
		}
	}
}
