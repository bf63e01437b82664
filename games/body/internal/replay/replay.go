// Package replay runs what was recorded of a game, on any machine, and sums up the
// states that it goes through. Two machines that agree on the sums agree on every
// byte of every state. It is for tests: in them, and as the program in run for
// machines that the tests themselves are not run on. Node does the same in
// testdata/replay.mjs.
//
//	recording  JSON of a Head, a line feed, the module, the inputs
//	input      u32 tick, u32 size, the tick's input as a module takes it, no skips in it
//	sum        of the header's and the live rows' words, without their marks, after
//	           each tick, on top of the one before
package replay

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"gamehoster/games/body"
	"gamehoster/games/schema"
)

var le = binary.LittleEndian

// Recording is a game and what happens in it.
type Recording struct {
	Head
	Code   []byte // the module
	Inputs []byte
	Look   func(block []byte) // if set, sees the state after each tick of Run
}

// Head is what the other parts of a recording need to be understood.
type Head struct {
	Seed       uint64 `json:"seed,string"`
	ServerSeed uint64 `json:"serverSeed,string"`
	Ticks      int    `json:"ticks"`
	Every      int    `json:"every"` // so many ticks a sum is told
	Size       int    `json:"size"`  // of a block
	Types      []Type `json:"types"`
	CodeSize   int    `json:"code"`
}

// Type is where the rows of a type are.
type Type struct {
	Counts int `json:"counts"` // -1 for the instance
	Rows   int `json:"rows"`
	Stride int `json:"stride"`
}

// New is a recording without inputs.
func New(module []byte, l *schema.Layout, seed, serverSeed uint64, ticks, every int) *Recording {
	r := &Recording{Head: Head{Seed: seed, ServerSeed: serverSeed, Ticks: ticks, Every: every, Size: l.Size, CodeSize: len(module)}, Code: module}
	for _, t := range l.Types {
		r.Types = append(r.Types, Type{t.Counts, t.Rows, t.Stride})
	}
	return r
}

// Add adds the input of a tick. They go by ascending ticks.
func (r *Recording) Add(tick int, input []byte) {
	r.Inputs = le.AppendUint32(r.Inputs, uint32(tick))
	r.Inputs = le.AppendUint32(r.Inputs, uint32(len(input)))
	r.Inputs = append(r.Inputs, input...)
}

// Append writes the recording.
func (r *Recording) Append(b []byte) ([]byte, error) {
	head, err := json.Marshal(r.Head)
	if err != nil {
		return nil, err
	}
	b = append(append(b, head...), '\n')
	b = append(b, r.Code...)
	return append(b, r.Inputs...), nil
}

// Parse reads a recording, which is kept.
func Parse(b []byte) (*Recording, error) {
	head, rest, ok := bytes.Cut(b, []byte{'\n'})
	r := &Recording{}
	if err := json.Unmarshal(head, &r.Head); err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	if !ok || len(rest) < r.CodeSize {
		return nil, errors.New("reading a recording: it is cut")
	}
	r.Code, r.Inputs = rest[:r.CodeSize], rest[r.CodeSize:]
	return r, nil
}

// player runs one recording.
type player struct {
	*Recording
	mod         api.Module
	tick        api.Function
	stack       [2]uint64
	base, input uint32
	before      []byte // the block before a tick
	skips       []uint32
	low, high   uint32
	faults      int
}

// Run runs a recording on an engine of wazero. It gives the sums that are to be
// told, and behind them the number of faults.
func Run(r *Recording, config wazero.RuntimeConfig) (sums []string, err error) {
	ctx := context.Background()
	runtime := wazero.NewRuntimeWithConfig(ctx, config.WithMemoryLimitPages(256))
	defer func() { err = errors.Join(err, runtime.Close(ctx)) }()
	mod, err := runtime.Instantiate(ctx, r.Code)
	if err != nil {
		return nil, fmt.Errorf("replaying: %w", err)
	}
	p := &player{Recording: r, mod: mod, tick: mod.ExportedFunction("tick"), before: make([]byte, r.Size)}
	p.base = uint32(mod.ExportedGlobal("heap").Get())
	p.input = p.base + uint32(r.Size)
	if _, ok := mod.Memory().Grow(uint32(r.Size+1<<16)>>16 + 1); !ok {
		return nil, errors.New("replaying: the memory does not grow")
	}
	b := p.block()
	le.PutUint32(b[schema.HeaderNextShared:], schema.FirstShared)
	le.PutUint32(b[schema.HeaderNextServer:], schema.FirstServer)
	le.PutUint64(b[schema.HeaderSeed:], r.Seed)
	le.PutUint64(b[schema.HeaderServerSeed:], r.ServerSeed)
	if start := mod.ExportedFunction("start"); start != nil { // which a client's module has not
		if _, err := start.Call(ctx, uint64(p.base)); err != nil {
			return nil, fmt.Errorf("replaying the start: %w", err)
		}
	}
	inputs := r.Inputs
	for t := 1; t <= r.Ticks; t++ {
		var in []byte
		if len(inputs) >= 8 && int(le.Uint32(inputs)) == t {
			n := le.Uint32(inputs[4:])
			in, inputs = inputs[8:8+n], inputs[8+n:]
		}
		if err := p.step(in); err != nil {
			return nil, fmt.Errorf("replaying tick %d: %w", t, err)
		}
		if r.Look != nil {
			r.Look(p.block())
		}
		p.sum()
		if t%r.Every == 0 {
			sums = append(sums, fmt.Sprintf("%08x%08x", p.high, p.low))
		}
	}
	return append(sums, fmt.Sprint(p.faults)), nil
}

func (p *player) block() []byte {
	b, _ := p.mod.Memory().Read(p.base, uint32(p.Size))
	return b
}

// step runs a tick, again without what fails.
func (p *player) step(in []byte) error {
	copy(p.before, p.block())
	p.skips = p.skips[:0]
	for {
		p.stack[0], p.stack[1] = uint64(p.base), p.write(in)
		err := p.tick.CallWithStack(context.Background(), p.stack[:])
		if err == nil {
			return nil
		}
		if f := body.Fault(p.mod.ExportedGlobal("fault").Get()); f == body.FaultNone || f == body.FaultTickCap {
			return err
		}
		copy(p.block(), p.before)
		if !p.skip(uint32(p.mod.ExportedGlobal("fault_body").Get()), uint32(p.mod.ExportedGlobal("fault_actor").Get())) {
			return err
		}
	}
}

// rerunsPerBody is how often a tick is run again for one body before that is left
// out for all its actors.
const rerunsPerBody = 8

func (p *player) skip(number, actor uint32) bool {
	p.faults++
	times := 0
	for i := 0; i < len(p.skips); i += 2 {
		if p.skips[i] == number {
			times++
		}
	}
	if times == rerunsPerBody {
		actor = schema.AllActors
	}
	p.skips = append(p.skips, number, actor)
	return times <= rerunsPerBody
}

// write writes a tick's input with the skips and gives its address.
func (p *player) write(in []byte) uint64 {
	if len(in) == 0 && len(p.skips) == 0 {
		return 0
	}
	to, _ := p.mod.Memory().Read(p.input, uint32(schema.InputHeader+4*len(p.skips)+len(in)))
	clear(to[:schema.InputHeader])
	n := copy(to[:schema.InputHeader], in)
	le.PutUint32(to, uint32(len(p.skips)/2))
	for i, v := range p.skips {
		le.PutUint32(to[schema.InputHeader+4*i:], v)
	}
	copy(to[schema.InputHeader+4*len(p.skips):], in[n:])
	return uint64(p.input)
}

// sum adds the state to the sum.
func (p *player) sum() {
	b := p.block()
	p.add(b[:schema.HeaderCounts])
	for _, t := range p.Types {
		n := 1
		if t.Counts >= 0 {
			n = int(le.Uint32(b[t.Counts:]))
		}
		for i := range n {
			row := b[t.Rows+i*t.Stride:][:t.Stride]
			p.add(row[:schema.RowMark])
			p.add(row[schema.RowMark+4:])
		}
	}
}

func (p *player) add(b []byte) {
	low, high := p.low, p.high
	for ; len(b) >= 4; b = b[4:] {
		v := le.Uint32(b)
		low = (low ^ v) * 16777619
		high = (bits.RotateLeft32(high, 5) ^ v) * 2654435761
	}
	p.low, p.high = low, high
}
