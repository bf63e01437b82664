package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what a process has taken since its start, or between two readings.
type Usage struct {
	At          time.Duration `json:"at_ns"` // CLOCK_MONOTONIC of the reading; of a difference the time between
	CPU         time.Duration `json:"cpu_ns"`
	User        time.Duration `json:"user_ns"`
	System      time.Duration `json:"system_ns"`
	Resident    int64         `json:"resident_bytes"` // of a difference: at its end
	Peak        int64         `json:"peak_bytes"`     // greatest Resident since the start, of a difference likewise
	Threads     int           `json:"threads"`        // of a difference: at its end
	Switches    int64         `json:"switches"`       // voluntary: a thread went to sleep
	Preemptions int64         `json:"preemptions"`    // involuntary
}

// ticksPerSecond is the unit of times in /proc, the same on all Linux machines that Go
// runs on.
const ticksPerSecond = 100

// Read reads a process. The error says which part could not be read, for example
// because the process has ended.
func Read(pid int) (Usage, error) {
	var u Usage
	var now, cpu unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return u, fmt.Errorf("reading the clock: %w", err)
	}
	u.At = time.Duration(now.Nano())
	if err := unix.ClockGettime(cpuClock(pid), &cpu); err != nil {
		return u, fmt.Errorf("reading the CPU clock of process %d: %w", pid, err)
	}
	u.CPU = time.Duration(cpu.Nano())
	if err := u.readStat(pid); err != nil {
		return u, err
	}
	return u, u.readThreads(pid)
}

// cpuClock names the clock of another process's CPU time, as clock_getcpuclockid does.
func cpuClock(pid int) int32 {
	const sched = 2 // CPUCLOCK_SCHED: nanoseconds from the scheduler
	return int32(^pid<<3 | sched)
}

// readStat takes user and system time from /proc/PID/stat.
func (u *Usage) readStat(pid int) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return fmt.Errorf("reading a process: %w", err)
	}
	// The command's name may hold anything; what counts follows its last bracket.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const utime, stime = 11, 12
	if len(fields) <= stime {
		return fmt.Errorf("reading process %d: its stat has %d fields", pid, len(fields))
	}
	u.User = time.Duration(number(fields[utime])) * time.Second / ticksPerSecond
	u.System = time.Duration(number(fields[stime])) * time.Second / ticksPerSecond
	return nil
}

// readThreads takes memory from /proc/PID/status, and context switches, which stand
// there for one thread alone, from those of all threads.
func (u *Usage) readThreads(pid int) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return fmt.Errorf("reading a process: %w", err)
	}
	u.Resident, u.Peak = status(text, "VmRSS:")<<10, status(text, "VmHWM:")<<10
	tids, err := threads(pid)
	if err != nil {
		return err
	}
	u.Threads = len(tids)
	for _, tid := range tids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
		if err != nil {
			continue // ended in between
		}
		u.Switches += status(text, "voluntary_ctxt_switches:")
		u.Preemptions += status(text, "nonvoluntary_ctxt_switches:")
	}
	return nil
}

// status is the number behind a name at the front of a line; 0 where there is none.
func status(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				return number(f[0])
			}
		}
	}
	return 0
}

func number(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64) // the kernel writes numbers
	return n
}

// threads are the thread ids of a process.
func threads(pid int) ([]int, error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, fmt.Errorf("listing threads: %w", err)
	}
	var ids []int
	for _, e := range list {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Since is what was taken from reading b to reading u.
func (u Usage) Since(b Usage) Usage {
	u.At -= b.At
	u.CPU -= b.CPU
	u.User -= b.User
	u.System -= b.System
	u.Switches -= b.Switches
	u.Preemptions -= b.Preemptions
	return u
}

// Cores is how much of a core a difference took on average: 1 is one core all the time.
func (u Usage) Cores() float64 {
	if u.At <= 0 {
		return 0
	}
	return float64(u.CPU) / float64(u.At)
}

// ReadAll reads some processes, in their order.
func ReadAll(pids []int) (all []Usage, err error) {
	for _, pid := range pids {
		u, err := Read(pid)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}
