package proc

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const childVariable = "GAMEHOSTER_PROC_CHILD"

// TestMain lets the test binary be the process that is measured: it burns CPU time and
// says how much, each time it is given a line.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		from := own()
		for own()-from < 200*time.Millisecond {
		}
		fmt.Println(int64(own() - from))
	}
}

// own is this process's CPU time.
func own() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

type child struct {
	*exec.Cmd
	ask    func()
	answer *bufio.Reader
}

func start(t *testing.T, cpus ...int) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(cmd, cpus...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return child{cmd, func() { fmt.Fprintln(in, "burn") }, bufio.NewReader(out)}
}

func TestReadCountsCPU(t *testing.T) {
	c := start(t)
	c.ask()
	if _, err := c.answer.ReadString('\n'); err != nil { // it is up
		t.Fatal(err)
	}
	before, err := Read(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	c.ask()
	var burnt time.Duration
	if _, err := fmt.Fscan(c.answer, &burnt); err != nil {
		t.Fatal(err)
	}
	after, err := Read(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	took := after.Since(before)
	if took.CPU < burnt || took.CPU > 2*burnt {
		t.Errorf("%v of CPU time read, %v were used", took.CPU, burnt)
	}
	if sum := took.User + took.System; sum < burnt/2 || sum > 2*burnt {
		t.Errorf("%v of user and system time read, %v were used", sum, burnt)
	}
	if took.Resident < 1<<20 || took.Peak < took.Resident || took.Threads < 2 {
		t.Errorf("%+v", took)
	}
	if took.Cores() <= 0 || took.Cores() > 1.5 {
		t.Errorf("a process of one busy thread took %v cores", took.Cores())
	}
}

func TestReadOfNoProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(cmd.Process.Pid); err == nil {
		t.Error("a process that has ended was read")
	}
}

// allowed is the list of cores of the main thread as the kernel writes it.
func allowed(t *testing.T, pid int) string {
	t.Helper()
	tids, err := threads(pid)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, tid := range tids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				all = append(all, strings.TrimSpace(rest))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func TestPinning(t *testing.T) {
	cpus, err := CPUs()
	if err != nil || len(cpus) == 0 {
		t.Fatalf("%v, %v", cpus, err)
	}
	last := cpus[len(cpus)-1]
	c := start(t, last)
	if got, want := allowed(t, c.Process.Pid), fmt.Sprint(last); got != want {
		t.Errorf("started on core %s, may run on %s", want, got)
	}
	if now, err := CPUs(); err != nil || !slices.Equal(now, cpus) {
		t.Errorf("starting it has bound the test: %v, was %v", now, cpus)
	}
	nice := func(pid int) int {
		n, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
		if err != nil {
			t.Fatal(err)
		}
		return 20 - n
	}
	if os.Geteuid() == 0 && nice(c.Process.Pid) != priority {
		t.Errorf("started by root, its nice value is %d", nice(c.Process.Pid))
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", c.Process.Pid)); err == nil && os.Geteuid() == 0 {
		if !strings.HasSuffix(strings.TrimSpace(string(text)), fmt.Sprint("nice ", priority)) {
			t.Errorf("its session is %s", text)
		}
	}
	if nice(0) == priority {
		t.Error("starting it has changed the test's own nice value")
	}
	if err := Pin(c.Process.Pid, cpus[0]); err != nil {
		t.Fatal(err)
	}
	if got, want := allowed(t, c.Process.Pid), fmt.Sprint(cpus[0]); got != want {
		t.Errorf("bound to core %s, may run on %s", want, got)
	}
	c.ask()
	if _, err := c.answer.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}
