package bots

import (
	"errors"
	"fmt"

	"gamehoster/games/schema"
	"gamehoster/wire"
)

// mirror is a thin client: it keeps what it was sent, reads each message to its last byte,
// and tells what the protocol does not allow. Rows are never changed once they are in a
// state, so that states share those that stay.
//
//	snapshot ------------------> state S, alone
//	leave, enter --> pending
//	delta(base) ---> state of the newest tick, with pending and, for each object listed,
//	                 its row at the base under the values that came
type mirror struct {
	game   *game
	seen   Thin
	hash   uint64
	player uint32
	token  [wire.TokenSize]byte

	states  []state // that a delta may refer to, oldest first
	current map[uint32]object
	pending uint32 // tick of the messages that came before their delta
	stage   wire.Tag
}

// keptStates is how many send ticks the server's ring has: no delta refers to older ones.
const keptStates = 64

type state struct {
	tick    uint32
	objects map[uint32]object // by id; 0 is the instance
}

type object struct {
	typ   int
	owner uint32
	row   []byte
}

func newMirror(g *game) *mirror { return &mirror{game: g} }

// reset begins a new connection.
func (m *mirror) reset() {
	*m = mirror{game: m.game, seen: m.seen}
}

// What only a thin bot can see.
var (
	errOrder    = errors.New("it stands at the wrong place in its send tick")
	errNotThin  = errors.New("thin clients are not sent it")
	errTicks    = errors.New("two ticks in one send tick")
	errNoSelf   = errors.New("the player itself is not there")
	errNoBase   = errors.New("its base is no state that was applied")
	errNotHeld  = errors.New("an object is listed that is not held")
	errPartial  = errors.New("an object that the base lacks has no full mask")
	errRates    = errors.New("rates that the definition does not have")
	errNoEffect = errors.New("an empty message was sent")
)

// take checks a message and applies it.
func (m *mirror) take(p []byte) error {
	tag := wire.TagOf(p)
	switch tag {
	case wire.TagWelcome:
		return m.welcome(p)
	case wire.TagPong:
		if m.stage != 0 {
			return errOrder
		}
		_, err := wire.ParsePong(p)
		return err
	case wire.TagSnapshot:
		return m.snapshot(p)
	case wire.TagLeave:
		h, rest, err := wire.ParseLeave(p)
		if err != nil {
			return err
		}
		return errors.Join(m.step(tag, h.Tick), m.leave(rest))
	case wire.TagEnter:
		h, rest, err := wire.ParseEnter(p)
		if err != nil {
			return err
		}
		return errors.Join(m.step(tag, h.Tick), m.enter(rest))
	case wire.TagDelta:
		return m.delta(p)
	}
	return errNotThin
}

func (m *mirror) welcome(p []byte) error {
	m.reset()
	w, err := wire.ParseWelcome(p)
	if err != nil {
		return err
	}
	d := m.game.def
	if int(w.TickRate) != d.TickRate || int(w.SendRate) != d.SendRate || int(w.TimelineDepth) != d.TimelineDepth {
		return errRates
	}
	m.player, m.hash, m.token = w.Player, w.Hash, w.Token
	return nil
}

// step checks the order of a send tick: leave, enter, delta.
func (m *mirror) step(tag wire.Tag, tick uint32) error {
	switch {
	case len(m.states) == 0:
		return errNoBase
	case m.stage != 0 && tick != m.pending:
		return errTicks
	case m.stage == wire.TagEnter, m.stage == tag:
		return errOrder
	case m.stage == 0:
		last := m.states[len(m.states)-1]
		if !wire.TickAfter(tick, last.tick) {
			return errBackward
		}
		m.current = map[uint32]object{}
		for id, o := range last.objects {
			m.current[id] = o
		}
	}
	m.pending, m.stage = tick, tag
	return nil
}

func (m *mirror) snapshot(p []byte) error {
	h, rest, err := wire.ParseSnapshot(p)
	if err != nil {
		return err
	}
	if m.stage != 0 {
		return errOrder
	}
	instance := object{row: m.row(schema.InstanceType)}
	rest, err = m.game.schema.Fields(schema.InstanceType, wire.Whole, false).ReadAll(rest, instance.row)
	if err != nil {
		return err
	}
	m.current = map[uint32]object{0: instance}
	if err := m.whole(rest); err != nil {
		return err
	}
	m.states = m.states[:0]
	m.seen.Snapshots++
	return m.commit(h.Tick)
}

func (m *mirror) row(typ int) []byte { return make([]byte, m.game.layout.Types[typ].Stride) }

// whole reads objects into the current state.
func (m *mirror) whole(rest []byte) error {
	r := wire.NewWholeReader(m.game.schema, m.player, rest)
	for r.Next() {
		o := r.Object()
		row := m.row(o.Type)
		if r.Read(row) == nil {
			m.current[o.ID] = object{o.Type, o.Owner, row}
			m.seen.Objects++
		}
	}
	return r.Err()
}

func (m *mirror) enter(rest []byte) error {
	if len(rest) == 0 {
		return errNoEffect
	}
	return m.whole(rest)
}

func (m *mirror) leave(rest []byte) error {
	if len(rest) == 0 {
		return errNoEffect
	}
	r := wire.NewIDReader(rest)
	for r.Next() {
		delete(m.current, r.ID()) // one that is not held is no fault
		m.seen.Objects++
	}
	return r.Err()
}

func (m *mirror) delta(p []byte) error {
	h, rest, err := wire.ParseDelta(p)
	if err != nil {
		return err
	}
	if m.stage == 0 {
		if err := m.step(wire.TagDelta, h.Tick); err != nil {
			return err
		}
	} else if h.Tick != m.pending {
		return errTicks
	}
	base := -1
	for i, s := range m.states {
		if s.tick == h.Base {
			base = i
		}
	}
	if base < 0 {
		return errNoBase
	}
	r := wire.NewChangesReader(rest)
	for r.Next() {
		if err := m.change(&r, m.states[base]); err != nil {
			return fmt.Errorf("object %d: %w", r.ID(), err)
		}
		m.seen.Objects++
	}
	if err := r.Err(); err != nil {
		return err
	}
	// What is older than the base is not referred to any more.
	m.states = append(m.states[:0], m.states[base:]...)
	return m.commit(h.Tick)
}

// change applies one object of a delta.
func (m *mirror) change(r *wire.ChangesReader, base state) error {
	id := r.ID()
	held, ok := m.current[id]
	if !ok {
		return errNotHeld
	}
	fields := m.game.schema.Seen(held.typ, wire.Whole, held.row, m.player)
	old, ok := base.objects[id]
	if ok && (old.typ != held.typ || old.owner != held.owner) {
		ok = false // another object of that id, which has been replaced since
	}
	row := m.row(held.typ)
	if ok {
		copy(row, old.row)
		if err := r.Read(fields, row); err != nil {
			return err
		}
		m.current[id] = object{held.typ, held.owner, row}
		return nil
	}
	// Only a full mask overwrites all of what stood there before, whatever it was.
	copy(row, held.row)
	other := m.row(held.typ)
	for i := range other {
		other[i] = ^row[i]
	}
	again := *r
	err := errors.Join(r.Read(fields, row), again.Read(fields, other))
	if err != nil {
		return err
	}
	for i, f := range m.game.def.Types[held.typ].Fields {
		if !m.visible(held, id, f) {
			continue
		}
		at := m.game.layout.Types[held.typ].Offsets[i]
		if string(row[at:at+f.Size()]) != string(other[at:at+f.Size()]) {
			return errPartial
		}
	}
	m.current[id] = object{held.typ, held.owner, row}
	return nil
}

func (m *mirror) visible(o object, id uint32, f *schema.Field) bool {
	if f.Sync == schema.Server {
		return false
	}
	owner := o.owner == m.player || o.typ == schema.PlayerType && id == m.player
	return f.Visible(owner)
}

// commit makes the current state that of a tick.
func (m *mirror) commit(tick uint32) error {
	if _, ok := m.current[m.player]; !ok {
		return errNoSelf
	}
	if len(m.states) >= keptStates {
		m.states = append(m.states[:0], m.states[1:]...)
	}
	m.states = append(m.states, state{tick, m.current})
	m.current, m.stage = nil, 0
	m.seen.Sends++
	return nil
}
