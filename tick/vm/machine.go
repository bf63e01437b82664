package vm

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"gamehoster/games/body"
)

// pageSize is WebAssembly's.
const pageSize = 1 << 16

// maxPages is the most memory a machine may have: 2 GiB.
const maxPages = 32768

// ErrMemory is returned when a machine's memory cannot grow any further.
var ErrMemory = errors.New("linear memory is exhausted")

var errNoView = errors.New("the bodies' module judges no views")

// Compiled is a game's module as machine code. It may be shared by goroutines.
type Compiled struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// Compile turns a module into machine code, which takes milliseconds. The module
// bytes are not kept.
func Compile(module []byte) (*Compiled, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithMemoryLimitPages(maxPages).
		WithDebugInfoEnabled(false))
	m, err := r.CompileModule(ctx, module)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compiling the bodies: %w", err), r.Close(ctx))
	}
	return &Compiled{runtime: r, module: m}, nil
}

// Close releases the machine code. All machines of it must be closed.
func (c *Compiled) Close() error { return c.runtime.Close(context.Background()) }

// Fault is how a body run ended early.
type Fault struct {
	Kind  body.Fault // FaultNone: the module trapped without saying why, see Err
	At    int        // index into body.Program.Positions
	Body  uint32     // body number
	Actor uint32     // id of the object whose body it was
	Err   error      // what the machine said
}

// Machine is a module with its memory. It is not safe for concurrent use.
type Machine struct {
	mod         api.Module
	mem         api.Memory
	tick, start api.Function
	view        api.Function  // nil without view bodies
	viewAt      api.Global    // nil likewise
	fault       [4]api.Global // fault, fault_at, fault_body, fault_actor
	clear       api.MutableGlobal
	top         uint32 // first address that nothing is at yet
	stack       [6]uint64
}

// ctx is what every call runs under; it is never cancelled.
var ctx = experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(reserve))

// NewMachine gives the module a memory of its own.
func (c *Compiled) NewMachine() (m *Machine, err error) {
	// wazero panics where the allocator cannot give what the module declares.
	defer func() {
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("reserving memory for the bodies: %v: %w", r, ErrMemory)
		}
	}()
	mod, err := c.runtime.InstantiateModule(ctx, c.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("instantiating the bodies: %w", err)
	}
	m = &Machine{mod: mod, mem: mod.ExportedMemory("memory"), tick: mod.ExportedFunction("tick"), start: mod.ExportedFunction("start")}
	m.view, m.viewAt = mod.ExportedFunction("view"), mod.ExportedGlobal("view_at")
	heap := mod.ExportedGlobal("heap")
	for i, name := range [4]string{"fault", "fault_at", "fault_body", "fault_actor"} {
		m.fault[i] = mod.ExportedGlobal(name)
	}
	var mutable bool
	m.clear, mutable = m.fault[0].(api.MutableGlobal)
	if m.mem == nil || m.tick == nil || heap == nil || !mutable || m.fault[1] == nil || m.fault[2] == nil || m.fault[3] == nil {
		return nil, errors.Join(errors.New("the bodies' module lacks an export"), mod.Close(ctx))
	}
	m.top = uint32(roundUp(int(uint32(heap.Get())), 64))
	return m, nil
}

// Close gives the memory back; every slice from Bytes is dead.
func (m *Machine) Close() error { return m.mod.Close(ctx) }

// Reserve takes size bytes, zeroed, for good and returns their address, a
// multiple of 64. It fails with ErrMemory.
func (m *Machine) Reserve(size int) (uint32, error) {
	end := uint64(m.top) + uint64(roundUp(size, 64))
	if end > maxPages*pageSize {
		return 0, ErrMemory
	}
	if have := uint64(m.mem.Size()); end > have {
		if _, ok := m.mem.Grow(uint32((end - have + pageSize - 1) / pageSize)); !ok {
			return 0, ErrMemory
		}
	}
	at := m.top
	m.top = uint32(end)
	return at, nil
}

// Bytes is the live memory from addr on. It panics outside what was reserved.
func (m *Machine) Bytes(addr uint32, size int) []byte {
	b, ok := m.mem.Read(addr, uint32(size))
	if !ok {
		panic("vm: bytes outside the memory")
	}
	return b
}

// Tick runs one tick of the block at base with the input at input, 0 for none.
// On a fault it returns false and the block is half written.
func (m *Machine) Tick(base, input uint32) (Fault, bool) {
	m.stack[0], m.stack[1] = uint64(base), uint64(input)
	return m.call(m.tick)
}

// Start runs the game's start body on the fresh block at base. A module without
// one does nothing.
func (m *Machine) Start(base uint32) (Fault, bool) {
	if m.start == nil {
		return Fault{}, true
	}
	m.stack[0] = uint64(base)
	return m.call(m.start)
}

// View has the view body of a type judge which of its objects a player sees, as the
// package's documentation has it. On a fault it returns false and the number of
// records that are judged; the next one is that which failed. Nothing of the block
// has changed. A module without view bodies judges nothing and faults.
//
// All calls up to the next fresh one, or the next tick, have one budget of fuel together,
// as large as a tick's. It is spent when the fault is body.FaultTickCap.
func (m *Machine) View(base, viewer, typ, list, count uint32, fresh bool) (done uint32, f Fault, ok bool) {
	if m.view == nil || m.viewAt == nil {
		return 0, Fault{Err: errNoView}, false
	}
	m.stack = [6]uint64{uint64(base), uint64(viewer), uint64(typ), uint64(list), uint64(count)}
	if fresh {
		m.stack[5] = 1
	}
	if f, ok = m.call(m.view); ok {
		return count, f, true
	}
	return min(uint32(m.viewAt.Get()), count-1), f, false
}

func (m *Machine) call(f api.Function) (Fault, bool) {
	err := f.CallWithStack(ctx, m.stack[:])
	if err == nil {
		return Fault{}, true
	}
	x := Fault{
		Kind:  body.Fault(m.fault[0].Get()),
		At:    int(uint32(m.fault[1].Get())),
		Body:  uint32(m.fault[2].Get()),
		Actor: uint32(m.fault[3].Get()),
		Err:   err,
	}
	// So that a trap which says nothing is never taken for this one again.
	m.clear.Set(uint64(body.FaultNone))
	return x, false
}
