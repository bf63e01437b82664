package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/bench/bodies/native"
	"gamehoster/games"
	"gamehoster/games/schema"
	"gamehoster/tick/vm"
)

// contestant is one way to run the game: some instances of it, stepped together.
type contestant interface {
	// Load replaces the instances by some that are in the given states; instance
	// i acts by the script of from + i.
	Load(states [][]byte, from int) error
	// Run steps every instance and gives the processor time that this took.
	Run(ticks int) (time.Duration, error)
	// Dump gives the states, live rows only mattering.
	Dump() ([][]byte, error)
	// Memory is what the loaded instances take, in bytes.
	Memory() (float64, error)
	Close() error
}

// cpuTime is the processor time of the whole process: waiting for a processor
// that somebody else has does not count.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("reading the own processor time: %v", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// nativeGame is the game by hand, over flat bytes.
type nativeGame struct {
	blocks [][]byte
	from   int
	driver nativeDriver
}

func (n *nativeGame) Load(states [][]byte, from int) error {
	all := make([]byte, len(states)*native.Size)
	n.blocks, n.from = nil, from
	for i, s := range states {
		b := all[i*native.Size:][:native.Size:native.Size]
		copy(b, s)
		n.blocks = append(n.blocks, b)
	}
	return nil
}

func (n *nativeGame) Run(ticks int) (time.Duration, error) {
	start := cpuTime()
	for range ticks {
		for i, b := range n.blocks {
			n.driver.tick(native.At(b), uint32(n.from+i))
		}
	}
	return cpuTime() - start, nil
}

func (n *nativeGame) Dump() ([][]byte, error) { return n.blocks, nil }

func (n *nativeGame) Memory() (float64, error) { return float64(len(n.blocks) * native.Size), nil }

func (n *nativeGame) Close() error { return nil }

// compiledGame is the game as the project runs it.
type compiledGame struct {
	writer   inputWriter
	compiled *vm.Compiled
	machine  *vm.Machine
	slots    *vm.Slots
	at       []uint32 // addresses of the blocks
	blocks   [][]byte // live memory at them
	input    uint32
	inputs   []byte
	from     int
	memory   float64
}

func newCompiledGame(g *games.Game) (*compiledGame, error) {
	w, err := newInputWriter(g)
	if err != nil {
		return nil, err
	}
	c := &compiledGame{writer: w}
	c.compiled, err = vm.Compile(g.Program.Server)
	return c, err
}

func (c *compiledGame) Load(states [][]byte, from int) error {
	if c.machine != nil {
		if err := c.machine.Close(); err != nil {
			return err
		}
	}
	before, err := resident()
	if err != nil {
		return err
	}
	if c.machine, err = c.compiled.NewMachine(); err != nil {
		return err
	}
	size := c.writer.layout.Size
	c.at, c.blocks, c.from = nil, nil, from
	if c.input, err = c.machine.Reserve(c.writer.size()); err != nil {
		return err
	}
	c.inputs = c.machine.Bytes(c.input, c.writer.size())
	c.slots = vm.NewSlots(c.machine, size, len(states))
	for range states {
		at, err := c.slots.Get()
		if err != nil {
			return err
		}
		c.at = append(c.at, at)
	}
	for i, at := range c.at {
		b := c.slots.Bytes(at) // after the last growth
		copy(b, states[i])
		c.blocks = append(c.blocks, b)
	}
	after, err := resident()
	c.memory = after - before
	return err
}

func (c *compiledGame) Run(ticks int) (time.Duration, error) {
	start := cpuTime()
	for range ticks {
		for i, at := range c.at {
			tick := binary.LittleEndian.Uint32(c.blocks[i][schema.HeaderTick:]) + 1
			input := uint32(0)
			if c.writer.write(c.inputs, uint32(c.from+i), tick) {
				input = c.input
			}
			if f, ok := c.machine.Tick(at, input); !ok {
				return 0, fmt.Errorf("tick %d of instance %d: fault %d: %w", tick, i, f.Kind, f.Err)
			}
		}
	}
	return cpuTime() - start, nil
}

func (c *compiledGame) Dump() ([][]byte, error) { return c.blocks, nil }

func (c *compiledGame) Memory() (float64, error) { return c.memory, nil }

func (c *compiledGame) Close() error {
	if err := c.machine.Close(); err != nil {
		return err
	}
	return c.compiled.Close()
}

// resident is the memory of the process that is in RAM, in bytes.
func resident() (float64, error) {
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("reading the own memory: %w", err)
	}
	var size, pages float64
	if _, err := fmt.Fscan(bytes.NewReader(text), &size, &pages); err != nil {
		return 0, fmt.Errorf("reading the own memory: %w", err)
	}
	return pages * float64(os.Getpagesize()), nil
}

// difference tells the first place in which two states differ: the header, the
// counts and the live rows are compared, not what lies behind those. The server's
// seed is nobody's but the server's.
func difference(l *schema.Layout, a, b []byte) error {
	if len(a) < l.Size || len(b) < l.Size {
		return fmt.Errorf("states of %d and %d bytes, not %d", len(a), len(b), l.Size)
	}
	compare := func(what string, from, to int) error {
		for i := from; i < to; i++ {
			if a[i] != b[i] {
				return fmt.Errorf("%s, byte %d of the block: %d and %d", what, i, a[i], b[i])
			}
		}
		return nil
	}
	tick := binary.LittleEndian.Uint32(a[schema.HeaderTick:])
	if err := compare(fmt.Sprintf("header in tick %d", tick), 0, l.Types[0].Rows); err != nil {
		return err
	}
	for i, t := range l.Types {
		n := 1
		if t.Counts >= 0 {
			n = int(binary.LittleEndian.Uint32(a[t.Counts:]))
		}
		for r := range n {
			from := t.Rows + r*t.Stride
			if err := compare(fmt.Sprintf("type %d, row %d in tick %d", i, r, tick), from, from+t.Stride); err != nil {
				return err
			}
		}
	}
	return nil
}
