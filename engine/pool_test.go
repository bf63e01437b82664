package engine_test

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/engine"
	"gamehoster/engine/gate"
	"gamehoster/engine/internal/await"
	"gamehoster/engine/pool"
	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// duels is a folder with a game of two players an instance, one instance a worker.
func duels(t *testing.T) string {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "duel"), "gamehoster-game.json",
		`{"tickRate": 60, "sendRate": 30, "shardInstances": 1, "playersPerInstance": 2, "player": {"fields": {"n": "u32 shared"}}}`)
	write(t, filepath.Join(dir, "duel"), "player.js", "export function update(player) { player.n++; }\n")
	return dir
}

// workerOf is the worker whose number stands in a player's token.
func workerOf(t *testing.T, s *server, p *peer) pool.Worker {
	t.Helper()
	shard := uint32(p.welcome.Token[0]) | uint32(p.welcome.Token[1])<<8
	for _, w := range s.Workers() {
		if w.Shard == shard {
			return w
		}
	}
	t.Fatalf("there is no worker %d in %+v", shard, s.Workers())
	return pool.Worker{}
}

// alive reports whether there is a process of a number, be it dead and not yet waited for.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func kill(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// TestAKilledWorker wants its instances to be forgotten at once, its players to find a
// fresh seat, what their addresses hold to be counted right, and others not to notice.
func TestAKilledWorker(t *testing.T) {
	s := serve(t, engine.Config{Dir: duels(t), Workers: pooled, Limits: gate.Limits{Sockets: 3, Upgrades: 1000}})
	from := netip.MustParseAddr("192.0.2.7")
	a, b := dial(t, s.addr, "/duel"), dial(t, s.addr, "/duel")
	a.until(wire.TagSnapshot)
	b.until(wire.TagSnapshot)
	other := dial(t, s.addr, "/duel")
	other.until(wire.TagSnapshot)
	victim, bystander := workerOf(t, s, a), workerOf(t, s, other)
	if victim.Shard == bystander.Shard {
		t.Fatalf("two instances on worker %d, which has room for one", victim.Shard)
	}
	w := dialFrom(t, s, from, "/duel?watch=1&instance="+string(a.welcome.Name))
	v := dialFrom(t, s, from, "/duel?watch=1&instance="+string(a.welcome.Name))
	u := dialFrom(t, s, from, "/duel?watch=1&instance="+string(other.welcome.Name))
	for _, p := range []*peer{w, v, u} {
		p.until(wire.TagSnapshot)
	}
	await.True(t, "the address to be full", func() bool { return !s.Admits(from) })

	before := other.tick
	kill(t, victim.PID, syscall.SIGKILL)
	for _, p := range []*peer{a, b, w, v} {
		if code := p.closed(); code != uint16(ws.CloseAbnormal) {
			t.Errorf("closed with %d", code)
		}
	}
	await.True(t, "its instances to be forgotten", func() bool {
		l := s.Games()[0].Table.Load()
		return l.Instances == 1 && l.Seats == 1 && l.Pending == 0
	})
	await.True(t, "what the address held in the dead worker to count no more", func() bool { return s.Admits(from) })
	c := dial(t, s.addr, fmt.Sprintf("/duel?resume=%x", a.welcome.Token))
	c.until(wire.TagSnapshot)
	if string(c.welcome.Name) != string(other.welcome.Name) {
		t.Errorf("seated in %s though %s has room", c.welcome.Name, other.welcome.Name)
	}
	d := dial(t, s.addr, "/duel")
	d.until(wire.TagSnapshot)
	if n := workerOf(t, s, d); n.Shard == victim.Shard || n.PID == victim.PID {
		t.Errorf("the fresh worker is %+v", n)
	}
	other.play(3)
	if other.tick == before {
		t.Error("the other worker's game stood still")
	}
	await.True(t, "the death to be in the log", func() bool {
		return s.log.contains("worker died", "status=\"signal: killed\"", "instances=1", "seats=2") &&
			s.log.contains("socket closed", "its worker is gone", "peer=192.0.2.7")
	})
	u.play(1)
}

// dialFrom dials in the name of an address, as a proxy on this machine does.
func dialFrom(t *testing.T, s *server, from netip.Addr, target string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p := &peer{t: t, conn: conn, reader: ws.NewReader(4<<20, ws.ClientSide), buf: make([]byte, 64<<10)}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", target, from)
	p.head()
	return p
}

// head reads the answer to an upgrade.
func (p *peer) head() {
	p.t.Helper()
	var head []byte
	for !strings.Contains(string(head), "\r\n\r\n") {
		n, err := p.read()
		if err != nil {
			p.t.Fatalf("after %q: %v", head, err)
		}
		head = append(head, p.buf[:n]...)
	}
	if !strings.HasPrefix(string(head), "HTTP/1.1 101 ") {
		p.t.Fatalf("answered %q", head)
	}
	p.in = head[strings.Index(string(head), "\r\n\r\n")+4:]
}

// TestAStoppedWorker wants one that stands still for two seconds not to be forgotten, and
// one that does for longer to get nobody new, and to go on when it does.
func TestAStoppedWorker(t *testing.T) {
	t.Parallel()
	s := serve(t, engine.Config{Dir: quick(t), Workers: pooled})
	p := dial(t, s.addr, "/quick")
	p.until(wire.TagSnapshot)
	w := workerOf(t, s, p)
	kill(t, w.PID, syscall.SIGSTOP)
	pause, began := time.NewTimer(2*time.Second), time.Now()
	<-pause.C
	if s.Workers()[0].Suspect && time.Since(began) < 2500*time.Millisecond {
		t.Error("it is a suspect after two seconds")
	}
	kill(t, w.PID, syscall.SIGCONT)
	p.play(5)
	if n := s.Workers(); len(n) != 1 || n[0].PID != w.PID {
		t.Fatalf("the workers are %+v", n)
	}

	kill(t, w.PID, syscall.SIGSTOP)
	await.True(t, "it to be a suspect", func() bool { return s.Workers()[0].Suspect })
	q := dial(t, s.addr, "/quick")
	q.until(wire.TagSnapshot)
	if workerOf(t, s, q).PID == w.PID {
		t.Error("a new player was sent to a suspect")
	}
	if code := dial(t, s.addr, "/quick?instance="+string(p.welcome.Name)).closed(); code != wire.CloseDraining {
		t.Errorf("who named an instance there was closed with %d", code)
	}
	kill(t, w.PID, syscall.SIGCONT)
	p.play(5)
	await.True(t, "it to be none", func() bool {
		return !slices.ContainsFunc(s.Workers(), func(w pool.Worker) bool { return w.Suspect })
	})
	if !s.log.contains("worker answers again") {
		t.Error("that is not in the log")
	}
}

// TestEarlyBytesReachTheWorker sends half of a frame behind the request, in the same
// segment, and the other half when the game has begun.
func TestEarlyBytesReachTheWorker(t *testing.T) {
	s := serve(t, engine.Config{Dir: quick(t), Workers: pooled})
	for nonce := range uint32(3) { // the first comes while the worker is yet to start
		conn, err := net.Dial("tcp", s.addr.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p := &peer{t: t, conn: conn, reader: ws.NewReader(4<<20, ws.ClientSide), buf: make([]byte, 64<<10)}
		ask := ws.Dial{Host: s.addr.String(), Target: "/quick"}
		frame := ws.AppendMasked(nil, ws.OpBinary, mask, wire.Ping{Nonce: nonce}.Append(nil))
		p.write(append(ask.AppendRequest(nil), frame[:len(frame)/2]...))
		p.head()
		p.until(wire.TagSnapshot)
		p.write(frame[len(frame)/2:])
		if pong, err := wire.ParsePong(p.until(wire.TagPong)); err != nil || pong.Nonce != nonce {
			t.Fatalf("%+v, %v, want the nonce %d", pong, err, nonce)
		}
	}
}

// TestAPoolLeavesNothingBehind starts and stops boxes, one of them with a worker that is
// stopped and one with a worker that was killed.
func TestAPoolLeavesNothingBehind(t *testing.T) {
	run := func(sig syscall.Signal) {
		c := engine.Config{Dir: duels(t), Workers: pooled}
		b, stop := start(t, c)
		var peers []*peer
		for range 4 {
			p := dial(t, b.Addr(), "/duel")
			p.until(wire.TagSnapshot)
			peers = append(peers, p)
		}
		all := b.Workers()
		if len(all) != 2 {
			t.Fatalf("the workers are %+v", all)
		}
		if sig != 0 {
			kill(t, all[0].PID, sig)
		}
		ended := make(chan error, 1)
		go func() { ended <- stop() }()
		for _, p := range peers {
			p.closed()
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			if alive(w.PID) {
				t.Errorf("worker %d is there still, as process %d", w.Shard, w.PID)
			}
		}
	}
	run(0)
	goroutines, descriptors, maps := runtime.NumGoroutine(), await.OpenFiles(t), sealedMaps(t)
	for _, sig := range []syscall.Signal{0, syscall.SIGKILL, syscall.SIGSTOP, 0} {
		run(sig)
	}
	await.True(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	await.True(t, "descriptors close", func() bool { return await.OpenFiles(t) <= descriptors })
	if n := sealedMaps(t); n > maps {
		t.Errorf("%d files in memory are mapped, %d were", n, maps)
	}
}

// sealedMaps counts what this process has mapped of files in memory.
func sealedMaps(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "/memfd:")
}

// TestAWorkersProcess looks at what a worker process has: its one core, no descriptor of
// the backend's, and nothing of its environment.
func TestAWorkersProcess(t *testing.T) {
	s := serve(t, engine.Config{Dir: duels(t), Workers: pooled})
	cores := map[int]int{}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for range 2 * set.Count() { // two players an instance, one instance a worker
		for range 2 {
			dial(t, s.addr, "/duel").until(wire.TagSnapshot)
		}
	}
	for _, w := range s.Workers() {
		var own unix.CPUSet
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", w.PID))
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			var tid int
			fmt.Sscan(thread.Name(), &tid)
			if err := unix.SchedGetaffinity(tid, &own); err != nil || own.Count() != 1 || !own.IsSet(w.CPU) {
				t.Errorf("a thread of worker %d runs on %v, %v, want core %d", w.Shard, own, err, w.CPU)
			}
		}
		cores[w.CPU]++
		var foreign []string
		files := fmt.Sprintf("/proc/%d/fd", w.PID)
		list, err := os.ReadDir(files)
		if err != nil {
			t.Fatal(err)
		}
		inherited := 0
		for _, f := range list {
			to, _ := os.Readlink(filepath.Join(files, f.Name()))
			switch {
			case strings.HasPrefix(to, "socket:"):
				inherited++
			case strings.Contains(to, "memfd:"), strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/dev/null") && !strings.HasPrefix(to, "/sys/fs/cgroup/"):
				foreign = append(foreign, to)
			}
		}
		if players := int(w.Load.Sockets); inherited > 1+max(players, 2) || len(foreign) > 0 {
			t.Errorf("worker %d has %d sockets and %q", w.Shard, inherited, foreign)
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", w.PID))
		if err != nil || strings.Trim(string(env), "\x00") != "GOMAXPROCS=2\x00"+workerProcess+"=1" {
			t.Errorf("worker %d has the environment %q, %v", w.Shard, env, err)
		}
	}
	for cpu, n := range cores {
		if n != 2 {
			t.Errorf("%d workers are on core %d, two would be fair: %v", n, cpu, cores)
		}
	}
}

// TestAFullPool wants who comes when there are as many workers as may be to be told so,
// and the next one to find room when a worker is not played on any more.
func TestAFullPool(t *testing.T) {
	t.Parallel()
	c := engine.Config{Dir: quick(t), Workers: pooled}
	c.Workers.Max = 1
	write(t, filepath.Join(c.Dir, "another"), "gamehoster-game.json", `{"tickRate": 60, "sendRate": 30, "player": {"fields": {"n": "u32 shared"}}}`)
	s := serve(t, c)
	p := dial(t, s.addr, "/quick")
	p.until(wire.TagSnapshot)
	if code := dial(t, s.addr, "/another").closed(); code != wire.CloseBoxFull {
		t.Errorf("closed with %d", code)
	}
	p.write(ws.AppendMasked(nil, ws.OpClose, mask, []byte{3, 232}))
	p.closed()
	await.True(t, "another game to get the place", func() bool {
		q := dial(t, s.addr, "/another")
		return q.message() != nil
	})
}

// childBrief has a box in a process of its own stop soon.
const childBrief = "GAMEHOSTER_CHILD_BRIEF"

// backend runs a box in a process of its own that a test may end as it likes, and connects
// a player, whose worker it returns.
func backend(t *testing.T) (cmd *exec.Cmd, p *peer, worker int) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), siegeServer+"=1", childBrief+"=1", "GAMEHOSTER_WORKERS=pool")
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it may have been waited for
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p = dial(t, netip.MustParseAddrPort(strings.TrimSpace(line)), "/asteroids")
	p.until(wire.TagSnapshot)
	workers := children(t, cmd.Process.Pid)
	if len(workers) != 1 {
		t.Fatalf("the backend's children are %v", workers)
	}
	return cmd, p, workers[0]
}

// TestAnOrphanedWorker kills a backend, whose worker lets its player play on for a while,
// and ends.
func TestAnOrphanedWorker(t *testing.T) {
	t.Parallel()
	cmd, p, worker := backend(t)
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // it was killed
	p.play(5)
	if code := p.closed(); code != wire.CloseStopping {
		t.Errorf("closed with %d", code)
	}
	await.True(t, "the worker to end", func() bool { return !runs(worker) })
}

// TestAnOrphanedWorkerWithoutPlayers does not wait for anybody.
func TestAnOrphanedWorkerWithoutPlayers(t *testing.T) {
	t.Parallel()
	cmd, p, worker := backend(t)
	p.conn.Close()
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // it was killed
	await.True(t, "the worker to end", func() bool { return !runs(worker) })
}

// TestAStoppedBackend wants players to play on while it stands still.
func TestAStoppedBackend(t *testing.T) {
	t.Parallel()
	cmd, p, worker := backend(t)
	kill(t, cmd.Process.Pid, syscall.SIGSTOP)
	p.play(30)
	kill(t, cmd.Process.Pid, syscall.SIGCONT)
	p.play(5)
	if !runs(worker) {
		t.Error("the worker is gone")
	}
	kill(t, cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // it was killed
	p.conn.Close()
	await.True(t, "the worker to end", func() bool { return !runs(worker) })
}

// children lists the processes whose parent a process is.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range stats {
		var child int
		fmt.Sscanf(s, "/proc/%d/stat", &child)
		if _, parent := state(child); parent == pid {
			all = append(all, child)
		}
	}
	return all
}

// runs reports whether a process is there and not dead.
func runs(pid int) bool {
	s, _ := state(pid)
	return s != "" && s != "Z" && s != "X"
}

// state is a process's state and parent; empty if there is none.
func state(pid int) (s string, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	fmt.Sscan(string(text[strings.LastIndexByte(string(text), ')')+1:]), &s, &parent)
	return s, parent
}
