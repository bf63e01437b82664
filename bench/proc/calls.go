package proc

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// Calls counts the system calls of one process, all its threads, with a small program in
// the kernel: a counter for each core, and nothing is stopped or copied. While it is
// there every system call of the machine takes a longer way, so CPU time is measured at
// another time.
//
//	raw tracepoint sys_enter: if pid(current) == PID { count[this core]++ }
type Calls struct {
	count   *ebpf.Map
	program *ebpf.Program
	link    link.Link
}

// ErrNoCalls says that the kernel does not let this process count system calls: it needs
// root, or CAP_BPF and CAP_PERFMON, and a kernel with tracepoints.
var ErrNoCalls = errors.New("system calls cannot be counted here")

// CountCalls begins to count. The error wraps ErrNoCalls where the kernel refuses.
func CountCalls(pid int) (*Calls, error) {
	c := &Calls{}
	if err := c.open(pid); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoCalls, err), c.Close())
	}
	return c, nil
}

func (c *Calls) open(pid int) (err error) {
	c.count, err = ebpf.NewMap(&ebpf.MapSpec{Name: "calls", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		return err
	}
	c.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "calls", Type: ebpf.RawTracepoint, License: "MIT",
		Instructions: asm.Instructions{
			asm.FnGetCurrentPidTgid.Call(),
			asm.RSh.Imm(asm.R0, 32), // the process, not the thread
			asm.JNE.Imm(asm.R0, int32(pid), "out"),
			asm.StoreImm(asm.RFP, -4, 0, asm.Word),
			asm.LoadMapPtr(asm.R1, c.count.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, -4),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "out"),
			asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
			asm.Add.Imm(asm.R1, 1),
			asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
			asm.Return(),
		},
	})
	if err != nil {
		return err
	}
	c.link, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: c.program})
	return err
}

// Read is the number of calls since it began.
func (c *Calls) Read() (int64, error) {
	var cores []uint64
	if err := c.count.Lookup(uint32(0), &cores); err != nil {
		return 0, fmt.Errorf("reading the number of system calls: %w", err)
	}
	sum := uint64(0)
	for _, n := range cores {
		sum += n
	}
	return int64(sum), nil
}

// Close ends the counting.
func (c *Calls) Close() error {
	var errs []error
	if c.link != nil {
		errs = append(errs, c.link.Close())
	}
	if c.program != nil {
		errs = append(errs, c.program.Close())
	}
	if c.count != nil {
		errs = append(errs, c.count.Close())
	}
	return errors.Join(errs...)
}

// CountAll counts the calls of some processes while f runs, in their order. Where it
// cannot count, f does not run and the error wraps ErrNoCalls.
func CountAll(pids []int, f func() error) (calls []int64, err error) {
	var all []*Calls
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.Close())
		}
	}()
	for _, pid := range pids {
		c, err := CountCalls(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if err := f(); err != nil {
		return nil, err
	}
	for _, c := range all {
		n, err := c.Read()
		if err != nil {
			return nil, err
		}
		calls = append(calls, n)
	}
	return calls, nil
}
