package body_test

import (
	_ "embed"
	"testing"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

//go:embed testdata/asteroids.txt
var asteroidsText string

const asteroidsTypes = `
instance spawned:u32 hits:u32
player 4 input:u8 cool:i16 score:u32:sent x:f32 y:f32 vx:f32 vy:f32 hx:f64=1 hy:f64 seat:u8:server
asteroid asteroids 112 size:i8 x:f32 y:f32 vx:f32 vy:f32 r:f32
bullet bullets 48 owned ttl:i16 x:f32 y:f32 vx:f32 vy:f32
command steer keys:u8
`

func asteroids(t testing.TB) (*schema.Definition, *body.Program) {
	def := define(t, asteroidsTypes)
	return def, compile(t, def, asteroidsText)
}

// driveAsteroids is the input of a tick of a game with four players.
func driveAsteroids(tick int) (in input) {
	if tick == 1 {
		for i := range uint32(4) {
			in.joins = append(in.joins, join{id: 1 + 2*i, name: "pilot"})
		}
	}
	if tick > 1 && tick%7 == 0 {
		p := uint32(tick/7) % 4
		in.commands = append(in.commands, command{player: 1 + 2*p, seq: uint32(tick), values: []float64{float64(tick*31%8 | 8)}})
	}
	return in
}

func TestAsteroidsRuns(t *testing.T) {
	def, p := asteroids(t)
	w := newWorld(t, def, p, worldOptions{seed: 1, serverSeed: 2})
	for i := 1; i <= 3000; i++ {
		w.must(driveAsteroids(i))
	}
	if hits := w.value("instance.hits", 0); hits < 50 {
		t.Errorf("%v hits in 3000 ticks", hits)
	}
	if got := w.get32(schema.HeaderTick); got != 3000 {
		t.Errorf("tick %d", got)
	}
}
