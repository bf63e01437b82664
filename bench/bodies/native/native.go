// Package native is the sample game asteroids written by hand in Go, to measure
// what compiling its bodies to WebAssembly costs. It keeps the state in the very
// bytes that the compiled game does (schema.Layout, as structs) and leaves the
// same bits after every tick; a test compares them. It is fast Go as one would
// write it for this game alone: fields at constant offsets, rows as array
// elements, no calls through interfaces, no checks that the rules do not need.
//
//	header | instance | player 0..7 | rock 0..63 | bullet 0..63
package native

import (
	"math"
	"unsafe"
)

// Size is that of a State, and of the canonical block.
const Size = int(unsafe.Sizeof(State{}))

const (
	width, height = 1600.0, 900.0
	dt            = 1.0 / 30

	shipRadius   = 14.0
	bulletRadius = 3.0

	turnRate = 4.2
	engine   = 420.0
	drag     = 0.988
	muzzle   = 640.0

	removed = 1 << 0 // bits of a row's mark
	written = 1 << 1
)

var (
	radius = [4]float64{0, 16, 32, 56}
	speeds = [4]float64{0, 130, 90, 55}
	points = [4]uint32{0, 100, 50, 20}
)

// Counts are a type's rows: all, those not removed, those of the last tick.
type Counts struct{ Rows, Live, Sorted, _ uint32 }

// Text is a str(32): its length, then the bytes.
type Text [33]byte

// Instance is the instance's row.
type Instance struct {
	ID, Mark    uint32
	Level, Lull uint16
}

// Player is a player's row.
type Player struct {
	ID, Mark              uint32
	Nick                  Text
	X, Y, Heading, VX, VY float32
	Turn                  int8
	Thrust, Fire          bool
	Cooldown              uint8
	Wait, Shield          uint16
	Lives                 uint8
	Score, Best           uint32
	Name                  Text
}

// Rock is a rock's row.
type Rock struct {
	ID, Mark     uint32
	X, Y, VX, VY float32
	Size         uint8
	_            [7]byte
}

// Bullet is a bullet's row.
type Bullet struct {
	ID, Mark, Owner uint32
	X, Y, VX, VY    float32
	Life            uint8
}

// State is one instance.
type State struct {
	Tick, Flags, NextShared, NextServer uint32
	Seed, ServerSeed                    uint64
	NPlayers, NRocks, NBullets          Counts
	Instance                            Instance
	_                                   [4]byte
	Players                             [8]Player
	Rocks                               [64]Rock
	Bullets                             [64]Bullet
	_                                   [32]byte
}

// At is the state in a block of Size bytes, which it shares. The block must begin
// at a multiple of 8.
func At(block []byte) *State {
	if len(block) < Size || uintptr(unsafe.Pointer(&block[0]))%8 != 0 {
		panic("native: no room for a state")
	}
	return (*State)(unsafe.Pointer(&block[0]))
}

// Reset makes a fresh instance.
func (g *State) Reset(seed, serverSeed uint64) {
	*g = State{NextShared: 2, NextServer: 4, Seed: seed, ServerSeed: serverSeed}
	g.Instance.Lull = 45
}

// Command is a pilot's steer.
type Command struct {
	Player, Seq  uint32
	Turn         int8
	Thrust, Fire bool
}

// Sim runs ticks. It holds what only lives during one; the zero value is ready.
type Sim struct {
	g           *State
	body, actor uint32
	seeded      bool
	rng         uint64
}

// Numbers of the bodies that draw random numbers.
const (
	playerUpdate   = 2
	bulletUpdate   = 4
	instanceUpdate = 5
)

// Tick runs one tick: the joins of players by id, all under one name, then the
// commands in their order.
func (s *Sim) Tick(g *State, joins []uint32, name string, commands []Command) {
	s.g = g
	g.Tick++
	for _, id := range joins {
		g.join(id, name)
	}
	for i := range commands {
		c := &commands[i]
		if p := g.player(c.Player); p != nil {
			p.Turn, p.Thrust, p.Fire = c.Turn, c.Thrust, c.Fire
		}
	}
	players := g.Players[:g.NPlayers.Sorted]
	for i := range players {
		s.begin(playerUpdate, players[i].ID)
		s.flight(&players[i])
	}
	rocks := g.Rocks[:g.NRocks.Sorted]
	for i := range rocks {
		if r := &rocks[i]; r.Mark&removed == 0 {
			r.X = float32(wrap(moved(r.X, r.VX), width))
			r.Y = float32(wrap(moved(r.Y, r.VY), height))
		}
	}
	bullets := g.Bullets[:g.NBullets.Sorted]
	for i := range bullets {
		if b := &bullets[i]; b.Mark&removed == 0 {
			s.begin(bulletUpdate, b.ID)
			s.bullet(b)
		}
	}
	s.begin(instanceUpdate, 0)
	s.waves()
	g.compact()
}

func (g *State) join(id uint32, name string) {
	if int(g.NPlayers.Rows) == len(g.Players) {
		return
	}
	p := &g.Players[g.NPlayers.Rows]
	g.NPlayers.Rows++
	g.NPlayers.Live++
	*p = Player{ID: id, Mark: written, Wait: 15, Lives: 3}
	p.Name[0] = byte(copy(p.Name[1:], name))
	if name == "" {
		name = "Pilot"
	}
	p.Nick[0] = byte(copy(p.Nick[1:], name))
}

// player is the row of an id, nil where there is none.
func (g *State) player(id uint32) *Player {
	players := g.Players[:g.NPlayers.Rows]
	for i := range players {
		if p := &players[i]; p.ID == id {
			return p
		}
	}
	return nil
}

// moved is where something is after one tick. The conversion of the product is
// what keeps Go from fusing it with the sum on some machines, here and elsewhere.
func moved(x, v float32) float64 { return float64(x) + float64(float64(v)*dt) }

func wrap(v, size float64) float64 {
	if v < 0 {
		return v + size
	}
	if v >= size {
		return v - size
	}
	return v
}

func across(d, size float64) float64 {
	if d > size/2 {
		return d - size
	}
	if d < -size/2 {
		return d + size
	}
	return d
}

func near(ax, ay, bx, by, reach float64) bool {
	dx := across(ax-bx, width)
	dy := across(ay-by, height)
	return float64(dx*dx)+float64(dy*dy) < reach*reach
}

// exposed tells whether a ship can be hit by something of a radius.
func (p *Player) exposed(x, y, r float64) bool {
	return p.Wait == 0 && p.Shield == 0 && near(float64(p.X), float64(p.Y), x, y, r+shipRadius)
}

func (s *Sim) flight(p *Player) {
	if p.Wait > 0 {
		p.Wait--
		if p.Wait == 0 {
			s.launch(p)
		}
		return
	}
	p.fly()
	s.shoot(p)
	if p.Shield > 0 {
		p.Shield--
		return
	}
	rocks := s.g.Rocks[:s.g.NRocks.Rows]
	for i := range rocks {
		r := &rocks[i]
		if r.Mark&removed == 0 && p.exposed(float64(r.X), float64(r.Y), radius[r.Size&3]) {
			p.Score += s.shatter(r)
			p.wreck()
			return
		}
	}
}

func (p *Player) fly() {
	angle := float64(p.Heading) + float64(float64(p.Turn)*turnRate*dt)
	if angle > math.Pi {
		angle -= 2 * math.Pi
	} else if angle < -math.Pi {
		angle += 2 * math.Pi
	}
	p.Heading = float32(angle)
	if p.Thrust {
		heading := float64(p.Heading)
		p.VX = float32(float64(p.VX) + float64(cos(heading)*engine*dt))
		p.VY = float32(float64(p.VY) + float64(sin(heading)*engine*dt))
	}
	p.VX = float32(float64(p.VX) * drag)
	p.VY = float32(float64(p.VY) * drag)
	p.X = float32(wrap(moved(p.X, p.VX), width))
	p.Y = float32(wrap(moved(p.Y, p.VY), height))
}

func (s *Sim) shoot(p *Player) {
	if p.Cooldown > 0 {
		p.Cooldown--
		return
	}
	if !p.Fire {
		return
	}
	g := s.g
	if int(g.NBullets.Rows) == len(g.Bullets) {
		return
	}
	b := &g.Bullets[g.NBullets.Rows]
	g.NBullets.Rows++
	g.NBullets.Live++
	dx, dy := cos(float64(p.Heading)), sin(float64(p.Heading))
	*b = Bullet{
		ID: g.NextShared, Owner: p.ID, Life: 32,
		X:  float32(wrap(float64(p.X)+float64(dx*shipRadius), width)),
		Y:  float32(wrap(float64(p.Y)+float64(dy*shipRadius), height)),
		VX: float32(float64(p.VX) + float64(dx*muzzle)),
		VY: float32(float64(p.VY) + float64(dy*muzzle)),
	}
	g.NextShared += 4
	p.Cooldown = 6
	p.Shield = 0
}

func (s *Sim) launch(p *Player) {
	if p.Lives == 0 {
		p.Lives = 3
		p.Score = 0
	}
	for range 6 {
		p.X = float32((0.15 + float64(0.7*s.random())) * width)
		p.Y = float32((0.15 + float64(0.7*s.random())) * height)
		if s.g.clear(float64(p.X), float64(p.Y)) {
			break
		}
	}
	p.VX, p.VY = 0, 0
	heading := -math.Pi / 2
	p.Heading = float32(heading)
	p.Shield = 90
	p.Cooldown = 0
}

func (g *State) clear(x, y float64) bool {
	rocks := g.Rocks[:g.NRocks.Rows]
	for i := range rocks {
		r := &rocks[i]
		if r.Mark&removed == 0 && near(x, y, float64(r.X), float64(r.Y), radius[r.Size&3]+120) {
			return false
		}
	}
	return true
}

func (p *Player) wreck() {
	if p.Lives > 0 {
		p.Lives--
	}
	p.Wait = 60
	if p.Lives == 0 {
		p.Wait = 180
	}
	p.Shield = 0
	p.Best = max(p.Best, p.Score)
}

func (s *Sim) bullet(b *Bullet) {
	g := s.g
	if b.Life == 0 {
		g.remove(b)
		return
	}
	b.Life--
	b.X = float32(wrap(moved(b.X, b.VX), width))
	b.Y = float32(wrap(moved(b.Y, b.VY), height))
	x, y := float64(b.X), float64(b.Y)
	pilot := g.player(b.Owner)
	rocks := g.Rocks[:g.NRocks.Rows]
	for i := range rocks {
		r := &rocks[i]
		if r.Mark&removed == 0 && near(x, y, float64(r.X), float64(r.Y), radius[r.Size&3]+bulletRadius) {
			worth := s.shatter(r)
			if pilot != nil {
				pilot.Score += worth
			}
			g.remove(b)
			return
		}
	}
	players := g.Players[:g.NPlayers.Rows]
	for i := range players {
		if p := &players[i]; p != pilot && p.exposed(x, y, bulletRadius) {
			p.wreck()
			if pilot != nil {
				pilot.Score += 250
			}
			g.remove(b)
			return
		}
	}
}

func (g *State) remove(b *Bullet) {
	b.Mark |= removed
	g.NBullets.Live--
}

// add makes a rock that flies in a random direction, if there is room.
func (s *Sim) add(x, y float64, size uint8) {
	g := s.g
	if int(g.NRocks.Rows) == len(g.Rocks) {
		return
	}
	r := &g.Rocks[g.NRocks.Rows]
	g.NRocks.Rows++
	g.NRocks.Live++
	angle := s.random() * 2 * math.Pi
	speed := speeds[size&3] * (0.6 + float64(0.8*s.random()))
	*r = Rock{
		ID: g.NextShared, X: float32(x), Y: float32(y), Size: size,
		VX: float32(cos(angle) * speed), VY: float32(sin(angle) * speed),
	}
	g.NextShared += 4
}

// shatter breaks a rock in two and gives what it is worth.
func (s *Sim) shatter(r *Rock) uint32 {
	r.Mark |= removed
	s.g.NRocks.Live--
	if r.Size > 1 {
		s.add(float64(r.X), float64(r.Y), r.Size-1)
		s.add(float64(r.X), float64(r.Y), r.Size-1)
	}
	return points[r.Size&3]
}

func (s *Sim) waves() {
	g := s.g
	if g.NRocks.Live > 0 {
		return
	}
	if g.Instance.Lull > 0 {
		g.Instance.Lull--
		return
	}
	g.Instance.Lull = 60
	g.Instance.Level++
	for i := range min(3+int(g.Instance.Level), 11) {
		if i%2 == 0 {
			s.add(0, s.random()*height, 3)
		} else {
			s.add(s.random()*width, 0, 3)
		}
	}
}

// compact closes the gaps of removed rows. New rows are in their places: ids
// ascend, as no server body makes any.
func (g *State) compact() {
	if n := &g.NPlayers; n.Rows != n.Sorted {
		n.Live, n.Sorted = n.Rows, n.Rows
	}
	if n := &g.NRocks; n.Rows != n.Sorted || n.Rows != n.Live {
		to := 0
		for i := range g.Rocks[:n.Rows] {
			if g.Rocks[i].Mark&removed == 0 {
				if i != to {
					g.Rocks[to] = g.Rocks[i]
				}
				to++
			}
		}
		n.Rows, n.Live, n.Sorted = uint32(to), uint32(to), uint32(to)
	}
	if n := &g.NBullets; n.Rows != n.Sorted || n.Rows != n.Live {
		to := 0
		for i := range g.Bullets[:n.Rows] {
			if g.Bullets[i].Mark&removed == 0 {
				if i != to {
					g.Bullets[to] = g.Bullets[i]
				}
				to++
			}
		}
		n.Rows, n.Live, n.Sorted = uint32(to), uint32(to), uint32(to)
	}
}
