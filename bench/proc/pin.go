package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

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

// priority is the nice value of what is measured.
const priority = -20

// Start starts a command that runs on the given cores only, on any for none. All its
// threads inherit that. A Go program takes the number of its cores for GOMAXPROCS.
//
// Where this process may (root may), the command goes before all others that want its
// cores, in a session of its own: a server that has to wait for its core finds more bytes at a time when it gets
// it, and looks cheaper than it is.
func Start(cmd *exec.Cmd, cpus ...int) error {
	// The child inherits from the thread that makes it. This thread is bound and
	// preferred for as long as that takes. A thread that cannot be put back stays
	// locked, so that nobody else gets it.
	runtime.LockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("asking for the cores: %w", err)
	}
	if len(cpus) > 0 {
		set := setOf(cpus)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			runtime.UnlockOSThread()
			return fmt.Errorf("binding to cores %v: %w", cpus, err)
		}
	}
	calm, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	preferred := err == nil && unix.Setpriority(unix.PRIO_PROCESS, 0, priority) == nil
	if preferred {
		// Desktop kernels share cores by session first, and by nice values inside of each.
		if cmd.SysProcAttr == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		cmd.SysProcAttr.Setsid = true
	}
	started := cmd.Start()
	if preferred {
		if started == nil {
			// Not there on kernels that do not; more often than some times a second it is refused.
			_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", cmd.Process.Pid), []byte(strconv.Itoa(priority)), 0)
		}
		err = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-calm) // the kernel tells it that way round
	}
	if err = errors.Join(err, unix.SchedSetaffinity(0, &before)); err != nil {
		return fmt.Errorf("unbinding: %w", err)
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
