package sandbox_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/transport"
	"gamehoster/engine/sandbox"
)

// A sandbox is for good, so what is tried in one is tried by this test binary, started
// once more.
const inside = "GAMEHOSTER_SANDBOX_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(captive()); err != nil {
		os.Exit(1)
	}
}

// told is what a captive says.
type told struct {
	Failed string
	Deeds  map[string]string // what it tried, and how that ended
	Echoes map[string]string // what a loop on each transport brought back
	PID    int
	Links  []string // of its network
	Limits map[string]uint64
	Zone   string
}

// captive goes into the sandbox and tries what it is not to do, and what it is.
func captive() (t told) {
	t.Deeds, t.Echoes, t.Limits = map[string]string{}, map[string]string{}, map[string]uint64{}
	fail := func(err error) told { t.Failed = err.Error(); return t }
	t.PID = os.Getpid()
	if links, err := net.Interfaces(); err == nil {
		for _, l := range links {
			t.Links = append(t.Links, l.Name+" "+l.Flags.String())
		}
	}
	var echoes []*echo
	for i, on := range []transport.Name{transport.Gnet, transport.Uring} {
		e, err := newEcho(on, 3+2*uintptr(i))
		if err != nil {
			return fail(err)
		}
		echoes = append(echoes, e)
	}
	if err := sandbox.Apply(sandbox.Options{Mode: sandbox.Require, Files: 200}); err != nil {
		return fail(err)
	}
	for name, deed := range deeds {
		t.Deeds[name] = how(deed())
	}
	// New threads are as captive as the old ones.
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			runtime.LockOSThread()
			if err := deeds["open"](); !errors.Is(err, unix.EPERM) {
				t.Deeds["open on a new thread"] = how(err)
			}
		})
	}
	all.Wait()
	runtime.GC()
	for _, e := range echoes {
		t.Echoes[string(e.on)] = e.run()
	}
	for name, what := range map[string]int{"files": unix.RLIMIT_NOFILE, "core": unix.RLIMIT_CORE, "size": unix.RLIMIT_FSIZE} {
		var l unix.Rlimit
		if err := unix.Getrlimit(what, &l); err != nil {
			return fail(err)
		}
		t.Limits[name] = l.Max
	}
	t.Zone = time.Now().Format("-0700")
	return t
}

func how(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, unix.EPERM):
		return "refused"
	}
	return err.Error()
}

// errno is a raw call's error.
func errno(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

// other is a process that is not the captive's.
const other = 77

var deeds = map[string]func() error{
	"open":           func() error { _, err := os.Open("/etc/passwd"); return err },
	"create":         func() error { return os.WriteFile(os.TempDir()+"/sandbox", nil, 0o600) },
	"stat":           func() error { _, err := os.Stat("/etc/passwd"); return err },
	"list":           func() error { _, err := os.ReadDir("/"); return err },
	"unlink":         func() error { return unix.Unlink("/nowhere") },
	"chdir":          func() error { return os.Chdir("/") },
	"exec":           func() error { return unix.Exec("/bin/true", []string{"true"}, nil) },
	"start":          func() error { return exec.Command("/bin/true").Run() },
	"fork":           func() error { return errno(unix.SYS_CLONE, uintptr(unix.SIGCHLD)) },
	"socket":         func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
	"unix socket":    func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"dial":           func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return err },
	"listen":         func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
	"connect":        func() error { return unix.Connect(0, &unix.SockaddrInet4{Port: 1}) },
	"datagram pair":  func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"ptrace":         func() error { return unix.PtraceAttach(other) },
	"write memory":   func() error { return processWrite(other) },
	"mount":          func() error { return unix.Mount("none", "/", "tmpfs", 0, "") },
	"unshare":        func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
	"bpf":            func() error { return errno(unix.SYS_BPF, 5, 0, 0) },
	"perf":           func() error { return errno(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) },
	"kill":           func() error { return unix.Kill(other, 0) },
	"kill all":       func() error { return unix.Kill(-1, 0) },
	"thread's kill":  func() error { return errno(unix.SYS_TKILL, uintptr(other), 0) },
	"pidfd":          func() error { _, err := unix.PidfdOpen(os.Getpid(), 0); return err },
	"ring":           func() error { return errno(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&[120]byte{}))) },
	"register":       func() error { return errno(unix.SYS_IO_URING_REGISTER, 0, 0, 0, 0) },
	"memory file":    func() error { _, err := unix.MemfdCreate("x", 0); return err },
	"setuid":         func() error { return errno(unix.SYS_SETUID, 0) },
	"own fcntl":      func() error { _, err := unix.FcntlInt(0, unix.F_SETOWN, other); return err },
	"ioctl":          func() error { _, err := unix.IoctlGetInt(0, unix.TIOCINQ); return err },
	"another filter": func() error { return errno(unix.SYS_SECCOMP, 0, 0, 0) },
	"prctl":          func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
	"limits":         func() error { return unix.Prlimit(other, unix.RLIMIT_CORE, &unix.Rlimit{}, nil) },
	"core":           func() error { return unix.SchedSetaffinity(other, &unix.CPUSet{1}) },
}

func processWrite(pid int) error {
	_, err := unix.ProcessVMWritev(pid, []unix.Iovec{{}}, []unix.RemoteIovec{{}}, 0)
	return err
}

// echo is a loop that says back what comes on its one connection, and both ends of that,
// which the captive is started with.
type echo struct {
	on         transport.Name
	loop       loop.Loop
	peer, ours *os.File
}

func newEcho(on transport.Name, fd uintptr) (*echo, error) {
	e := &echo{on: on, ours: os.NewFile(fd, "ours"), peer: os.NewFile(fd+1, "peer")}
	l, _, err := on.Loops([]transport.Plan{{Handler: e}}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	e.loop = l[0]
	return e, nil
}

// connection makes one, as the two descriptors of its ends.
func connection(t *testing.T) (ends [2]*os.File) {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	to, err := net.Dial("tcp", at.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	from, err := at.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	for i, c := range []net.Conn{to, from} {
		if ends[i], err = c.(*net.TCPConn).File(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends
}

func (e *echo) OnOpen(loop.Handle, uint64) {}
func (e *echo) OnData(h loop.Handle, p []byte) {
	e.loop.Send(h, p)
	e.loop.Flush()
}
func (e *echo) OnClose(loop.Handle, error) {}
func (e *echo) OnTick(int64) int64         { return loop.Never }
func (e *echo) OnPost(loop.Message)        {}

// run plays the loop for one echo and says what came back.
func (e *echo) run() string {
	ended := make(chan error, 1)
	go func() { ended <- e.loop.Run() }()
	fd, err := unix.FcntlInt(e.ours.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err.Error()
	}
	e.ours.Close()
	if err := e.loop.Adopt(fd, nil, 0); err != nil {
		return err.Error()
	}
	got := make([]byte, 5)
	if _, err = e.peer.Write([]byte("hello")); err == nil {
		_, err = io.ReadFull(e.peer, got)
	}
	e.loop.Stop()
	if err = errors.Join(err, <-ended); err != nil {
		return err.Error()
	}
	return string(got)
}

// capture starts a captive.
func capture(t *testing.T, mode sandbox.Mode) (c told, a *syscall.SysProcAttr) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{inside + "=1", "TZ=Asia/Tokyo"}
	a = &syscall.SysProcAttr{}
	sandbox.Attr(mode, a)
	cmd.SysProcAttr = a
	for range 2 {
		ends := connection(t)
		cmd.ExtraFiles = append(cmd.ExtraFiles, ends[:]...)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil || c.Failed != "" {
		t.Fatalf("the captive: %v %s\n%s%s", err, c.Failed, out, errs.String())
	}
	return c, a
}

func TestApply(t *testing.T) {
	for _, mode := range []sandbox.Mode{sandbox.Off, sandbox.Require} { // of the namespaces; all have the filter
		t.Run(string(mode), func(t *testing.T) {
			c, a := capture(t, mode)
			for name := range deeds {
				if c.Deeds[name] != "refused" {
					t.Errorf("%s: %s", name, c.Deeds[name])
				}
			}
			if len(c.Deeds) != len(deeds) {
				t.Errorf("more was done: %v", c.Deeds)
			}
			if want := map[string]string{"gnet": "hello", "uring": "hello"}; !reflect.DeepEqual(c.Echoes, want) {
				t.Errorf("the loops brought back %v", c.Echoes)
			}
			if want := map[string]uint64{"files": 200, "core": 0, "size": 0}; !reflect.DeepEqual(c.Limits, want) {
				t.Errorf("limits: %v", c.Limits)
			}
			if _, err := os.Stat("/usr/share/zoneinfo/Asia/Tokyo"); err == nil && c.Zone != "+0900" {
				t.Errorf("the time zone is %s", c.Zone)
			}
			if mode == sandbox.Off {
				if a.Cloneflags != 0 || c.PID == 1 {
					t.Errorf("namespaces: %#x, process %d", a.Cloneflags, c.PID)
				}
				return
			}
			if a.Cloneflags == 0 {
				if os.Geteuid() == 0 {
					t.Log("root may not make namespaces here, so there are none to look at")
				}
				return
			}
			if c.PID != 1 {
				t.Errorf("it is process %d of its own", c.PID)
			}
			for _, l := range c.Links {
				if strings.Contains(l, "up|") {
					t.Errorf("it has a network: %v", c.Links)
				}
			}
		})
	}
}

// TestOff asks for nothing, and gets it.
func TestOff(t *testing.T) {
	if err := sandbox.Apply(sandbox.Options{Mode: sandbox.Off}); err != nil {
		t.Error(err)
	}
	if _, err := os.Open("/etc/passwd"); err != nil {
		t.Errorf("off is on: %v", err)
	}
	var a syscall.SysProcAttr
	sandbox.Attr(sandbox.Off, &a)
	if a.Cloneflags != 0 {
		t.Errorf("off has namespaces %#x", a.Cloneflags)
	}
}
