// Package home is Asteroids as a careful author would serve it at home, without a
// platform: rules by hand in Go (bench/bodies/native), rooms in a slice, one loop that
// steps them all, and the whole of what browsers draw to each player at each send. There
// is no prediction, no delta, nothing to resume, and no limit for those who do not behave.
// It is what the platform's own costs are set beside.
//
//	socket --> Join --> Seat.Receive: 1 turn+1, thrust | fire<<1   the stick
//	                                  2                            a ping, answered with itself
//	  ticker --> Hall.Tick: commands, rules --> 1 state            to all of a room, every second tick
//
// # The state
//
// Little-endian; what a browser does not draw is not in it. Numbers of things stand in one
// byte, ids in two.
//
//	1 | tick u32 | level u16 | ships u8 | rocks u8 | bullets u8
//	ship:   id u16, x, y, heading f32, thrust u8, wait, shield u16, lives u8, score, best u32
//	rock:   id u16, x, y f32, size u8
//	bullet: id u16, x, y f32
package home

import (
	"encoding/binary"
	"math"
	"sync"

	"gamehoster/bench/bodies/native"
)

// Seats is the number of players of a room.
const Seats = 4

// Rates are those of the sample game.
const (
	TickRate     = 30
	TicksPerSend = 2
)

// Messages begin with one of these.
const (
	tagState = 1
	tagSteer = 1
	tagPing  = 2
)

// removed is the mark of a row that is gone.
const removed = 1

// Hall is all rooms. Its methods and those of seats may be called from any goroutine.
type Hall struct {
	mu    sync.Mutex
	rooms []*room
}

// room is one game.
type room struct {
	mu       sync.Mutex
	game     native.State
	sim      native.Sim
	seats    [Seats]*Seat
	ships    [Seats]bool // that have been flown: who comes next takes one over
	joins    []uint32
	commands []native.Command
	state    []byte // being sent
}

// Seat is a player's place.
type Seat struct {
	room *room
	at   int
	send func(m []byte)
}

// Join gives a seat in the first room that has one, or in a new room. send is called in
// Tick with each state, which is valid during the call.
func (h *Hall) Join(send func(m []byte)) *Seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.rooms) - 1; i >= 0; i-- {
		if s := h.rooms[i].sit(send); s != nil {
			return s
		}
	}
	r := &room{}
	r.game.Reset(uint64(len(h.rooms)), ^uint64(len(h.rooms)))
	h.rooms = append(h.rooms, r)
	return r.sit(send)
}

func (r *room) sit(send func([]byte)) *Seat {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.seats {
		if r.seats[i] != nil {
			continue
		}
		if !r.ships[i] {
			if i > 0 && !r.ships[i-1] {
				return nil
			}
			r.ships[i] = true
			r.joins = append(r.joins, ship(i))
		}
		r.seats[i] = &Seat{room: r, at: i, send: send}
		return r.seats[i]
	}
	return nil
}

// ship is the id of a seat's ship.
func ship(seat int) uint32 { return uint32(seat)*4 + 1 }

// Leave gives the seat back. Its ship drifts on.
func (s *Seat) Leave() {
	r := s.room
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seats[s.at] = nil
	r.commands = append(r.commands, native.Command{Player: ship(s.at)})
}

// Receive takes a message of the player and returns what is to be answered, nil for
// nothing. One that cannot be read is passed over.
func (s *Seat) Receive(m []byte) (reply []byte) {
	switch {
	case len(m) == 1 && m[0] == tagPing:
		return m
	case len(m) == 3 && m[0] == tagSteer && m[1] <= 2:
		r := s.room
		r.mu.Lock()
		defer r.mu.Unlock()
		r.commands = append(r.commands, native.Command{Player: ship(s.at), Turn: int8(m[1]) - 1, Thrust: m[2]&1 != 0, Fire: m[2]&2 != 0})
	}
	return nil
}

// Tick runs one tick of all rooms and sends the states that are due: half of the rooms
// send in one tick, the others in the next.
func (h *Hall) Tick() {
	h.mu.Lock()
	rooms := h.rooms
	h.mu.Unlock()
	for i, r := range rooms {
		r.tick(i)
	}
}

func (r *room) tick(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sim.Tick(&r.game, r.joins, "", r.commands)
	r.joins, r.commands = r.joins[:0], r.commands[:0]
	if (int(r.game.Tick)+number)%TicksPerSend != 0 {
		return
	}
	r.state = appendState(r.state[:0], &r.game)
	for _, s := range r.seats {
		if s != nil {
			s.send(r.state)
		}
	}
}

var le = binary.LittleEndian

func appendState(b []byte, g *native.State) []byte {
	b = append(b, tagState)
	b = le.AppendUint32(b, g.Tick)
	b = le.AppendUint16(b, g.Instance.Level)
	b = append(b, byte(g.NPlayers.Live), byte(g.NRocks.Live), byte(g.NBullets.Live))
	for i := range g.Players[:g.NPlayers.Rows] {
		p := &g.Players[i]
		b = appendPlace(b, p.ID, p.X, p.Y)
		b = le.AppendUint32(b, math.Float32bits(p.Heading))
		thrust := byte(0)
		if p.Thrust {
			thrust = 1
		}
		b = append(b, thrust)
		b = le.AppendUint16(b, p.Wait)
		b = le.AppendUint16(b, p.Shield)
		b = append(b, p.Lives)
		b = le.AppendUint32(b, p.Score)
		b = le.AppendUint32(b, p.Best)
	}
	for i := range g.Rocks[:g.NRocks.Rows] {
		if r := &g.Rocks[i]; r.Mark&removed == 0 {
			b = append(appendPlace(b, r.ID, r.X, r.Y), r.Size)
		}
	}
	for i := range g.Bullets[:g.NBullets.Rows] {
		if s := &g.Bullets[i]; s.Mark&removed == 0 {
			b = appendPlace(b, s.ID, s.X, s.Y)
		}
	}
	return b
}

func appendPlace(b []byte, id uint32, x, y float32) []byte {
	b = le.AppendUint16(b, uint16(id))
	b = le.AppendUint32(b, math.Float32bits(x))
	return le.AppendUint32(b, math.Float32bits(y))
}
