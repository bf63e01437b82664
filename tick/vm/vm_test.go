package vm

import (
	"errors"
	"runtime"
	"testing"

	"gamehoster/games/body"
)

// testModule is a module by hand with the exports of a game's. tick(base, input)
// adds 1 to the u32 at base. Then, if the u32 at input is not 0, it sets the fault
// globals to that, 2, 3 and 4, and traps; if it is 99, it traps without. start
// puts 7 at base.
func testModule() []byte {
	const (
		i32    = 0x7f
		heap   = 100 // rounded up by no one: the host must align
		header = "\x00asm\x01\x00\x00\x00"
	)
	section := func(id byte, body ...byte) []byte {
		return append([]byte{id, byte(len(body))}, body...)
	}
	name := func(s string, kind, index byte) []byte {
		return append(append([]byte{byte(len(s))}, s...), kind, index)
	}
	var exports []byte
	for _, e := range [][]byte{
		name("memory", 2, 0), name("tick", 0, 0), name("start", 0, 1), name("heap", 3, 0),
		name("fault", 3, 1), name("fault_at", 3, 2), name("fault_body", 3, 3), name("fault_actor", 3, 4),
	} {
		exports = append(exports, e...)
	}
	tick := []byte{
		0,                                                       // no locals
		0x20, 0, 0x20, 0, 0x28, 2, 0, 0x41, 1, 0x6a, 0x36, 2, 0, // [base] = [base] + 1
		0x20, 1, 0x28, 2, 0, 0x04, 0x40, // if [input]
		0x20, 1, 0x28, 2, 0, 0x41, 0xe3, 0, 0x46, 0x04, 0x40, 0x00, 0x0b, // if 99 unreachable
		0x20, 1, 0x28, 2, 0, 0x24, 1, // fault = [input]
		0x41, 2, 0x24, 2, 0x41, 3, 0x24, 3, 0x41, 4, 0x24, 4,
		0x00, // unreachable
		0x0b, 0x0b,
	}
	start := []byte{0, 0x20, 0, 0x41, 7, 0x36, 2, 0, 0x0b}
	code := append([]byte{2, byte(len(tick))}, tick...)
	code = append(append(code, byte(len(start))), start...)
	global := func(mutable, v byte) []byte { return []byte{i32, mutable, 0x41, v, 0x0b} }
	globals := []byte{5, i32, 0, 0x41, heap | 0x80, 0, 0x0b}
	for range 4 {
		globals = append(globals, global(1, 0)...)
	}
	m := []byte(header)
	for _, s := range [][]byte{
		section(1, 2, 0x60, 2, i32, i32, 0, 0x60, 1, i32, 0),
		section(3, 2, 0, 1),
		section(5, 1, 1, 1, 0x80, 0x80, 2), // 1 to 32768 pages
		section(6, globals...),
		section(7, append([]byte{8}, exports...)...),
		section(10, code...),
	} {
		m = append(m, s...)
	}
	return m
}

func newMachine(t testing.TB) *Machine {
	t.Helper()
	c, err := Compile(testModule())
	if err != nil {
		t.Fatal(err)
	}
	m, err := c.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(m.Close(), c.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

func TestTickSeesTheLiveMemory(t *testing.T) {
	m := newMachine(t)
	at, err := m.Reserve(64)
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bytes(at, 64)
	if f, ok := m.Start(at); !ok || b[0] != 7 {
		t.Fatalf("start: %v, %d", f, b[0])
	}
	if f, ok := m.Tick(at, at+8); !ok || b[0] != 8 {
		t.Fatalf("tick: %v, %d", f, b[0])
	}
	// The memory grows by far more than it has, and the old view stays live.
	if _, err := m.Reserve(100 << 20); err != nil {
		t.Fatal(err)
	}
	b[0] = 40
	if _, ok := m.Tick(at, at+8); !ok || b[0] != 41 {
		t.Fatalf("after growing: %d", b[0])
	}
}

func TestFaultIsToldOnceAndLeavesTheMachineUsable(t *testing.T) {
	m := newMachine(t)
	at, _ := m.Reserve(64)
	b := m.Bytes(at, 64)
	b[8] = byte(body.FaultIndex)
	f, ok := m.Tick(at, at+8)
	if ok || f.Kind != body.FaultIndex || f.At != 2 || f.Body != 3 || f.Actor != 4 || f.Err == nil {
		t.Fatalf("got %+v, %v", f, ok)
	}
	if b[0] != 1 {
		t.Fatalf("a trap undoes nothing, yet the block has %d", b[0])
	}
	b[8] = 99
	if f, ok = m.Tick(at, at+8); ok || f.Kind != body.FaultNone || f.Err == nil {
		t.Fatalf("a trap that says nothing is taken for %+v", f)
	}
	b[8] = 0
	if f, ok = m.Tick(at, at+8); !ok || b[0] != 3 {
		t.Fatalf("after faults: %+v, %d", f, b[0])
	}
}

func TestMachinesOfOneCompiledAreApart(t *testing.T) {
	c, err := Compile(testModule())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var machines [3]*Machine
	for i := range machines {
		if machines[i], err = c.NewMachine(); err != nil {
			t.Fatal(err)
		}
		defer machines[i].Close()
		at, _ := machines[i].Reserve(64)
		for range i {
			machines[i].Tick(at, at+8)
		}
		if got := machines[i].Bytes(at, 1)[0]; got != byte(i) {
			t.Errorf("machine %d has %d", i, got)
		}
	}
}

func TestSlotsAreReusedZeroedAndBounded(t *testing.T) {
	m := newMachine(t)
	s := NewSlots(m, 4096, 3)
	var at [3]uint32
	for i := range at {
		var err error
		if at[i], err = s.Get(); err != nil {
			t.Fatal(err)
		}
		if at[i]%64 != 0 || at[i] < 100 {
			t.Fatalf("slot %d at %d", i, at[i])
		}
		b := s.Bytes(at[i])
		for j := range b {
			b[j] = byte(i + 1)
		}
	}
	if _, err := s.Get(); !errors.Is(err, ErrMemory) {
		t.Fatalf("a fourth of three: %v", err)
	}
	s.Put(at[1])
	again, err := s.Get()
	if err != nil || again != at[1] {
		t.Fatalf("got %d, %v, not %d back", again, err, at[1])
	}
	for i, b := range s.Bytes(again) {
		if b != 0 {
			t.Fatalf("byte %d of a slot given again is %d", i, b)
		}
	}
	if s.Bytes(at[0])[4095] != 1 || s.Bytes(at[2])[0] != 3 {
		t.Fatal("a neighbour changed")
	}
}

func TestMemoryEnds(t *testing.T) {
	m := newMachine(t)
	if _, err := m.Reserve(3 << 30); !errors.Is(err, ErrMemory) {
		t.Fatalf("3 GiB of 2: %v", err)
	}
	if _, err := m.Reserve(1 << 30); err != nil {
		t.Fatalf("1 GiB of address range: %v", err)
	}
	if _, err := m.Reserve(1 << 30); !errors.Is(err, ErrMemory) {
		t.Fatalf("the second GiB beside what is taken: %v", err)
	}
}

// Memory of closed machines is given back, and none of it is on the Go heap.
func TestMemoryIsOffTheHeap(t *testing.T) {
	c, err := Compile(testModule())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m, err := c.NewMachine()
	if err != nil {
		t.Fatal(err)
	}
	at, err := m.Reserve(64 << 20)
	if err != nil {
		t.Fatal(err)
	}
	clear(m.Bytes(at, 64<<20))
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("64 MiB of blocks put %d bytes on the heap", grown)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	// 64 machines of 2 GiB each, one after the other: a leak would show in the
	// address range.
	for range 64 {
		m, err := c.NewMachine()
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCompileRefusesWhatIsNoGame(t *testing.T) {
	if _, err := Compile([]byte("\x00asm\x01\x00\x00\x00\x01")); err == nil {
		t.Error("half a section was compiled")
	}
	c, err := Compile([]byte("\x00asm\x01\x00\x00\x00"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.NewMachine(); err == nil {
		t.Error("a module without exports was taken")
	}
}

func TestAllocTick(t *testing.T) {
	m := newMachine(t)
	at, _ := m.Reserve(64)
	s := NewSlots(m, 4096, 8)
	n := testing.AllocsPerRun(1000, func() {
		m.Tick(at, at+8)
		m.Start(at)
		b, _ := s.Get()
		s.Put(b)
	})
	t.Logf("tick, start, get and put a slot: %v allocations, budget 0", n)
	if n != 0 {
		t.Fail()
	}
}

func BenchmarkTick(b *testing.B) {
	m := newMachine(b)
	at, _ := m.Reserve(64)
	b.ReportAllocs()
	for b.Loop() {
		m.Tick(at, at+8)
	}
}
