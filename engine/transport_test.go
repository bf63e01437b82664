package engine_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gamehoster/engine"
	"gamehoster/engine/internal/await"
	"gamehoster/wire"
)

// transport is what the boxes of all tests run on where they do not say it themselves. The
// variable is that of the command's flag.
var transport = engine.Transport(os.Getenv("GAMEHOSTER_TRANSPORT"))

// childDenied lists system calls, by number, that are refused to a box in a process of its
// own, and has it log.
const childDenied = "GAMEHOSTER_CHILD_DENIED"

// childConfig is that of a box in a process of its own.
func childConfig() engine.Config {
	c := engine.Config{Dir: samples, Dev: true, Addr: anyPort, Transport: transport}
	if os.Getenv(childDenied) == "" && os.Getenv(childLimited) == "" {
		c.Workers = workers
	}
	if os.Getenv(childBrief) != "" {
		c.DrainTimeout = time.Second
	}
	if denied := os.Getenv(childDenied); denied != "" {
		if err := deny(strings.Split(denied, ",")); err != nil {
			panic(err)
		}
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if limit := os.Getenv(childLimited); limit != "" {
		if limit != limited {
			panic(limit + ": " + limitTo(limit).Error())
		}
		c.Loops = 1
		c.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	return c
}

// childLimited has a box in a process of its own begin anew with a limit, "resource=n".
const childLimited = "GAMEHOSTER_CHILD_LIMITED"

// limited stands in the variable when the limit is in force.
const limited = "yes"

// limitTo begins the process anew under a limit, and without root's leave to lock as much
// memory as it likes. It returns only if that fails.
func limitTo(limit string) error {
	name, number, _ := strings.Cut(limit, "=")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return err
	}
	// What a thread gives up, the program that it becomes does not have.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_IPC_LOCK, 0, 0, 0); err != nil && os.Geteuid() == 0 {
		return err
	}
	resource := map[string]int{"memlock": unix.RLIMIT_MEMLOCK, "nofile": unix.RLIMIT_NOFILE}[name]
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		return err
	}
	if err := os.Setenv(childLimited, limited); err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", os.Args, os.Environ())
}

// TestAutoFallsBackWhereMemoryCannotBeLocked has a kernel that has io_uring and a limit
// that leaves too little for it: for a ring to try with, and for that of a loop.
func TestAutoFallsBackWhereMemoryCannotBeLocked(t *testing.T) {
	for _, bytes := range []int{0, 8 << 10, 16 << 10, 32 << 10} {
		t.Run(strconv.Itoa(bytes), func(t *testing.T) {
			limit := childLimited + "=memlock=" + strconv.Itoa(bytes)
			var log logbook
			b := child(t, &log, "GAMEHOSTER_TRANSPORT=auto", limit)
			p := dial(t, b.addr, "/asteroids")
			p.until(wire.TagSnapshot)
			p.play(5)
			log.mu.Lock()
			defer log.mu.Unlock()
			if n := strings.Count(log.text.String(), "io_uring cannot be used here"); n != 1 || !strings.Contains(log.text.String(), "cannot allocate memory") {
				t.Errorf("said %d times:\n%s", n, log.text.String())
			}
		})
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), siegeServer+"=1", "GAMEHOSTER_TRANSPORT=uring", childLimited+"=memlock=32768")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "--transport=uring: io_uring cannot be used here: ") {
		t.Errorf("uring that cannot be had: %v, %s", err, out)
	}
}

// TestShortOfDescriptorsAtTheStart wants a box that cannot open what it needs to say so and
// end, whatever it is that there is no descriptor left for, or else to serve.
func TestShortOfDescriptorsAtTheStart(t *testing.T) {
	served, refused := 0, 0
	for n := 8; n <= 28; n += 4 { // below, the runtime itself does not start
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), siegeServer+"=1", "GAMEHOSTER_TRANSPORT=auto", childLimited+"=nofile="+strconv.Itoa(n))
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := stdin.Close(); err != nil { // it ends as soon as it runs
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		switch {
		case err == nil:
			served++
		case strings.Contains(string(out), "too many open files") && !strings.Contains(string(out), "panic"):
			refused++
		default:
			t.Errorf("with %d descriptors: %v\n%s", n, err, out)
		}
	}
	t.Logf("%d served, %d said why not", served, refused)
	if served == 0 || refused == 0 {
		t.Error("the limits are all too high or all too low")
	}
}

// deny has the kernel refuse system calls to the process from now on, as the profiles of
// containers do: EPERM for the numbers given.
func deny(numbers []string) error {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number
	for _, n := range numbers {
		nr, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			return err
		}
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: uint32(nr)},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	}
	program = append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	if errno != 0 {
		return errno
	}
	return nil
}

// The three system calls of io_uring. One that is refused is enough.
var uringCalls = map[string]int{
	"io_uring_setup":    unix.SYS_IO_URING_SETUP,
	"io_uring_enter":    unix.SYS_IO_URING_ENTER,
	"io_uring_register": unix.SYS_IO_URING_REGISTER,
}

func TestAutoFallsBackWhereIoUringIsForbidden(t *testing.T) {
	for name, nr := range uringCalls {
		t.Run(name, func(t *testing.T) {
			var log logbook
			b := child(t, &log, "GAMEHOSTER_TRANSPORT=auto", childDenied+"="+strconv.Itoa(nr))
			p := dial(t, b.addr, "/asteroids")
			p.until(wire.TagSnapshot)
			p.play(5)
			log.mu.Lock()
			defer log.mu.Unlock()
			if n := strings.Count(log.text.String(), "io_uring cannot be used here"); n != 1 {
				t.Errorf("said %d times:\n%s", n, log.text.String())
			}
			if !strings.Contains(log.text.String(), name+": operation not permitted") {
				t.Errorf("the reason is not given:\n%s", log.text.String())
			}
		})
	}
}

func TestUringIsRefusedWhereItIsForbidden(t *testing.T) {
	for name, nr := range uringCalls {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), siegeServer+"=1", "GAMEHOSTER_TRANSPORT=uring", childDenied+"="+strconv.Itoa(nr))
		out, err := cmd.CombinedOutput()
		want := "--transport=uring: io_uring cannot be used here: "
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), name+": operation not permitted") {
			t.Errorf("without %s: %v, %s", name, err, out)
		}
	}
}

// TestTransports plays on each and looks at what is told of the loops.
func TestTransports(t *testing.T) {
	for _, on := range []engine.Transport{engine.TransportGnet, engine.TransportUring} {
		t.Run(string(on), func(t *testing.T) {
			s := serve(t, engine.Config{Dir: samples, Dev: true, Loops: 1, Transport: on})
			p := dial(t, s.addr, "/asteroids")
			p.until(wire.TagSnapshot)
			p.play(20)
			_, _, text := s.get(t, "/_dev/stats")
			var stats struct {
				Transport string
				Loops     []struct {
					BytesOut int64
					Late     struct{ Ticks, P50, P99, P999, Max int64 }
				}
			}
			if err := json.Unmarshal([]byte(text), &stats); err != nil {
				t.Fatal(err)
			}
			if stats.Transport != string(on) || len(stats.Loops) != 1 || stats.Loops[0].BytesOut == 0 {
				t.Errorf("%+v", stats)
			}
			if l := stats.Loops[0].Late; l.Ticks < 5 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max {
				t.Errorf("lateness %+v", l)
			}
		})
	}
}

func TestALateTickLeavesATrace(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, engine.Config{Dir: samples, Dev: true, Loops: 1, LateTickTrace: dir, LateTickThreshold: 50 * time.Millisecond})
	p := dial(t, s.addr, "/asteroids")
	p.until(wire.TagSnapshot)
	s.Hold(200 * time.Millisecond)
	var name string
	await.True(t, "a trace", func() bool {
		names, err := filepath.Glob(filepath.Join(dir, "late-tick-*.trace"))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) > 0 {
			name = names[0]
		}
		return name != ""
	})
	await.True(t, "a line in the log", func() bool { return s.log.contains("a tick ran late", name) })
	text, err := os.ReadFile(name)
	if err != nil || !bytes.HasPrefix(text, []byte("go 1.")) {
		t.Errorf("the file begins with %.20q, %v", text, err)
	}
	p.play(3)
}
