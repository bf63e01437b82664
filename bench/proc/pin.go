package proc

import (
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// CPUs are the cores that this process may run on, ascending.
func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("asking for the cores: %w", err)
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus, nil
}

// Start starts a command that runs on the given cores only, on any for none. All its
// threads inherit that. A Go program takes the number of its cores for GOMAXPROCS.
func Start(cmd *exec.Cmd, cpus ...int) error {
	if len(cpus) == 0 {
		return cmd.Start()
	}
	// The child inherits from the thread that makes it. This thread is bound for as
	// long as that takes.
	runtime.LockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("asking for the cores: %w", err)
	}
	set := setOf(cpus)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("binding to cores %v: %w", cpus, err)
	}
	started := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("unbinding: %w", err) // the thread stays locked, so nobody else gets it
	}
	runtime.UnlockOSThread()
	return started
}

// Pin binds all threads of a running process, and those that they will make, to cores.
func Pin(pid int, cpus ...int) error {
	set := setOf(cpus)
	bound := map[int]bool{}
	for again := true; again; {
		again = false
		tids, err := threads(pid)
		if err != nil {
			return err
		}
		for _, tid := range tids {
			if bound[tid] {
				continue
			}
			// A thread made by one that was not bound yet shows up in the next list.
			bound[tid], again = true, true
			if err := unix.SchedSetaffinity(tid, &set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("binding process %d to cores %v: %w", pid, cpus, err)
			}
		}
	}
	return nil
}

func setOf(cpus []int) (set unix.CPUSet) {
	for _, c := range cpus {
		set.Set(c)
	}
	return set
}
