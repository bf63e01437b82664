package main

import (
	"encoding/binary"
	"fmt"

	"gamehoster/bench/bodies/native"
	"gamehoster/games"
	"gamehoster/games/schema"
)

// The script is what pilots do: each thinks every sixteenth tick, at other ticks
// than the next, and does what a hash says. All contestants compute it alike.
const (
	pilots    = 4
	pilotName = "pilot"
	thinkTime = 16
)

// steer gives what pilot p of an instance commands in a tick, if anything.
func steer(instance, tick uint32, p int) (c native.Command, ok bool) {
	if (tick+instance+5*uint32(p))%thinkTime != 0 {
		return c, false
	}
	h := (instance*31+uint32(p))*0x9E3779B1 + tick*0x85EBCA6B
	h = (h ^ h>>15) * 0x2C1B3C6D
	h ^= h >> 13
	return native.Command{
		Player: pilotID(p), Seq: tick,
		Turn: int8(h%3) - 1, Thrust: h>>8&1 != 0, Fire: h>>16&7 != 0,
	}, true
}

func pilotID(p int) uint32 { return uint32(schema.FirstPlayer + schema.PlayerIDStep*p) }

// seedOf is an instance's seed.
func seedOf(instance uint32) uint64 { return 0x9E3779B97F4A7C15 * uint64(instance+1) }

// grown gives the blocks of n instances as they are after some ticks of play.
func grown(n, ticks int) [][]byte {
	all := make([]byte, n*native.Size)
	blocks := make([][]byte, n)
	var driver nativeDriver
	for i := range blocks {
		blocks[i] = all[i*native.Size:][:native.Size:native.Size]
		g := native.At(blocks[i])
		g.Reset(seedOf(uint32(i)), 0)
		for range ticks {
			driver.tick(g, uint32(i))
		}
	}
	return blocks
}

// nativeDriver steps native instances by the script.
type nativeDriver struct {
	sim      native.Sim
	commands [pilots]native.Command
}

// Joined in the first tick.
var crew = func() (ids []uint32) {
	for p := range pilots {
		ids = append(ids, pilotID(p))
	}
	return ids
}()

func (d *nativeDriver) tick(g *native.State, instance uint32) {
	n := 0
	for p := range pilots {
		if c, ok := steer(instance, g.Tick+1, p); ok {
			d.commands[n] = c
			n++
		}
	}
	if g.Tick == 0 {
		d.sim.Tick(g, crew, pilotName, d.commands[:n])
		return
	}
	d.sim.Tick(g, nil, "", d.commands[:n])
}

// inputWriter writes a tick's input as the module takes it.
type inputWriter struct {
	layout *schema.Layout
	steer  []int // offsets of its fields
}

func newInputWriter(g *games.Game) (inputWriter, error) {
	if len(g.Def.Commands) != 1 || len(g.Def.Commands[0].Fields) != 3 {
		return inputWriter{}, fmt.Errorf("the script is not for the commands of %s", g.Name)
	}
	l := g.Program.ServerLayout
	return inputWriter{layout: l, steer: l.Commands[0].Offsets}, nil
}

// size is what the longest input takes.
func (w *inputWriter) size() int {
	return schema.InputHeader + pilots*(schema.JoinSize+w.layout.CommandStride)
}

// write fills p for the tick and reports whether there is anything in it.
func (w *inputWriter) write(p []byte, instance, tick uint32) bool {
	joins, commands, at := 0, 0, schema.InputHeader
	if tick == 1 {
		for _, id := range crew {
			r := p[at:][:schema.JoinSize]
			clear(r)
			binary.LittleEndian.PutUint32(r, id)
			r[schema.JoinName] = byte(copy(r[schema.JoinName+1:], pilotName))
			at += schema.JoinSize
			joins++
		}
	}
	for i := range pilots {
		c, ok := steer(instance, tick, i)
		if !ok {
			continue
		}
		r := p[at:][:w.layout.CommandStride]
		binary.LittleEndian.PutUint32(r[schema.CommandPlayer:], c.Player)
		binary.LittleEndian.PutUint32(r[schema.CommandSeq:], c.Seq)
		binary.LittleEndian.PutUint32(r[schema.CommandNumber:], 0)
		r[w.steer[0]] = byte(c.Turn)
		r[w.steer[1]] = bit(c.Thrust)
		r[w.steer[2]] = bit(c.Fire)
		at += w.layout.CommandStride
		commands++
	}
	binary.LittleEndian.PutUint32(p[0:], 0)
	binary.LittleEndian.PutUint32(p[4:], 0)
	binary.LittleEndian.PutUint32(p[8:], uint32(joins))
	binary.LittleEndian.PutUint32(p[12:], uint32(commands))
	return joins+commands > 0
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
