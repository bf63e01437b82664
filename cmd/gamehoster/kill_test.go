package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/wire"
)

// The tests of this file run the program as processes of their own, and do to them what
// happens to processes.

// asProgram has the test binary be the program.
const asProgram = "GAMEHOSTER_TEST_AS_PROGRAM"

// program is a running `gamehoster serve`.
type program struct {
	cmd  *exec.Cmd
	out  *terminal
	addr string
	pid  int
}

// runs starts one that serves root. before is put in front of the command line.
func runs(t *testing.T, root string, before []string, args ...string) *program {
	t.Helper()
	b := prepares(root, before, args...)
	b.starts(t, b.cmd.Start)
	return b
}

// prepares makes one that is yet to start.
func prepares(root string, before []string, args ...string) *program {
	argv := append(before, os.Args[0], "serve", "--root", root, "--admin", "", "--address-joins", "100000", "--address-sockets", "100000", "--log-format", "json")
	argv = append(argv, args...)
	b := &program{cmd: exec.Command(argv[0], argv[1:]...), out: &terminal{changed: make(chan struct{})}}
	b.cmd.Env = append(os.Environ(), asProgram+"=1")
	b.cmd.Stdout, b.cmd.Stderr = b.out, b.out
	// Workers that have become orphans hold the pipe.
	b.cmd.WaitDelay = time.Millisecond
	return b
}

// starts starts it and waits until it listens.
func (b *program) starts(t *testing.T, start func() error) {
	t.Helper()
	if err := start(); err != nil {
		t.Fatal(err)
	}
	b.pid = b.cmd.Process.Pid
	t.Cleanup(func() {
		if b.cmd.ProcessState == nil {
			_ = b.cmd.Process.Signal(syscall.SIGCONT)
			_ = b.cmd.Process.Signal(syscall.SIGTERM)
			_ = b.cmd.Process.Signal(syscall.SIGTERM)
			_ = b.cmd.Wait()
		}
		if t.Failed() {
			t.Log(b.out.text)
		}
	})
	b.addr = b.out.until(t, `"msg":"listening","address":"(127\.0\.0\.1:\d+)"`)[1]
}

// dies kills the program.
func (b *program) dies(t *testing.T) {
	t.Helper()
	signals(t, b.pid, syscall.SIGKILL)
	_ = b.cmd.Wait() // it says that it was killed
}

func signals(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// workers are the program's worker processes.
func (b *program) workers(t *testing.T) (pids []int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		var pid, parent int
		var state string
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fmt.Sscan(string(text), &pid)
		fmt.Sscan(string(text[bytes.LastIndexByte(text, ')')+1:]), &state, &parent)
		if parent == b.pid && state != "Z" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// files is how many descriptors a process has.
func files(pid int) int {
	list, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(list)
}

// spent is a process's processor time.
func spent(t *testing.T, pid int) time.Duration {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if len(tasks) == 0 {
		t.Fatalf("there is no process %d", pid)
	}
	var total time.Duration
	for _, name := range tasks {
		var ns int64
		if text, err := os.ReadFile(name); err == nil {
			fmt.Sscan(string(text), &ns)
		}
		total += time.Duration(ns)
	}
	return total
}

// root makes a games root with games of these names, of so many players an instance.
func root(t *testing.T, players int, games ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, g := range games {
		writeRules(t, dir, g, players, 1)
	}
	return dir
}

func writeRules(t *testing.T, dir, game string, players, step int) {
	t.Helper()
	place(t, filepath.Join(dir, "localhost", game), map[string]string{
		"gamehoster-game.json": fmt.Sprintf(`{"tickRate": 60, "sendRate": 30, "playersPerInstance": %d, "resumeSeconds": 2, "player": {"fields": {"n": "u32 shared"}}}`, players),
		"player.js":            fmt.Sprintf("export function update(player) { player.n += %d; }\n", step),
	})
}

// TestKillAWorker kills the worker of a game, and stops it for two seconds, while another
// game is played, whose player must not notice.
func TestKillAWorker(t *testing.T) {
	b := runs(t, root(t, 16, "one", "two"), nil, "--port", "0", "--sandbox", "require")
	one := joins(t, b, "/one")
	first := b.workers(t)
	if len(first) != 1 {
		t.Fatalf("workers %v", first)
	}
	two := joins(t, b, "/two")

	// Stopped for two seconds of the other game's time, it is not forgotten.
	signals(t, first[0], syscall.SIGSTOP)
	from := two.tick
	for two.tick-from < 120 {
		two.must(t, 1)
	}
	signals(t, first[0], syscall.SIGCONT)
	held := one.tick
	one.must(t, 30)
	if one.tick == held {
		t.Error("the stopped game does not go on")
	}
	again := joins(t, b, "/one?resume="+one.token)
	if again.id != one.id {
		t.Errorf("player %d is now %d", one.id, again.id)
	}
	one = again

	signals(t, first[0], syscall.SIGKILL)
	killed := time.Now()
	if err := one.end(); err == nil || one.ended != nil {
		t.Errorf("the killed worker has said goodbye: %v", err)
	}
	var fresh *player
	eventually(t, "a fresh seat", func() bool { // pages try again, too: the backend may not know of it yet
		p, err := join(b.addr, "/one?resume="+one.token)
		fresh = p
		return err == nil
	})
	defer fresh.conn.Close()
	t.Logf("a fresh seat %v after the kill", time.Since(killed).Round(time.Millisecond))
	fresh.must(t, 5)
	if fresh.token == one.token {
		t.Error("a seat is given again that was lost")
	}
	two.must(t, 5)
	b.out.until(t, `"msg":"worker died","game":"localhost/one"`)
}

// TestKillTheBackend stops and kills the backend. What its workers run goes on.
func TestKillTheBackend(t *testing.T) {
	dir := root(t, 16, "one")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	b := runs(t, dir, nil, "--port", port, "--drain-timeout", "1500ms")
	p := joins(t, b, "/one")
	signals(t, b.pid, syscall.SIGSTOP)
	p.must(t, 30)
	joined := make(chan error, 1)
	go func() {
		q, err := join(b.addr, "/one") // waits in the backlog
		if err == nil {
			q.conn.Close()
		}
		joined <- err
	}()
	signals(t, b.pid, syscall.SIGCONT)
	if err := <-joined; err != nil { // it has patience
		t.Error(err)
	}

	workers := b.workers(t)
	b.dies(t)
	next := runs(t, dir, nil, "--port", port)
	if len(next.workers(t)) != 0 {
		t.Error("the new backend has workers that it did not start")
	}
	fresh := joins(t, next, "/one?resume="+p.token)
	if fresh.token == p.token {
		t.Error("a seat of the old backend's is known to the new one")
	}
	p.must(t, 5) // on what the old one has left
	if err := p.end(); p.ended == nil || uint16(*p.ended) != wire.CloseStopping {
		t.Errorf("the orphaned worker ended with %v", err)
	}
	fresh.must(t, 5)
	for _, pid := range workers {
		eventually(t, "the orphaned worker to end", func() bool {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err != nil || strings.Contains(string(text), ") Z ")
		})
	}
}

// TestNoFilesLeft has a server with 64 descriptors and far more who want one.
func TestNoFilesLeft(t *testing.T) {
	for _, workers := range []string{"inline", "auto"} {
		t.Run(workers, func(t *testing.T) {
			dir := root(t, 16, "one")
			place(t, filepath.Join(dir, "localhost", "one"), map[string]string{ // whose ticks are nothing
				"gamehoster-game.json": `{"tickRate": 10, "sendRate": 10, "player": {"fields": {"n": "u32 shared"}}}`,
			})
			b := runs(t, dir, []string{"prlimit", "--nofile=64:64"}, "--port", "0", "--workers", workers, "--loops", "1")
			p := joins(t, b, "/one")
			var crowd []net.Conn
			for range 300 {
				c, err := net.Dial("tcp", b.addr)
				if err != nil {
					break // its backlog is full
				}
				crowd = append(crowd, c)
				fmt.Fprintf(c, "GET /one HTTP/1.1\r\nHost: x\r\nUpg")
			}
			p.must(t, 5)
			before, from := spent(t, b.pid), time.Now()
			p.must(t, 10)
			share := float64(spent(t, b.pid)-before) / float64(time.Since(from))
			t.Logf("%d descriptors, %.1f %% of a core", files(b.pid), 100*share)
			if share > .05 {
				t.Errorf("without descriptors the server takes %.1f %% of a core", 100*share)
			}
			for _, c := range crowd {
				c.Close()
			}
			eventually(t, "a seat for who comes after the crowd", func() bool {
				q, err := join(b.addr, "/one")
				if err == nil {
					q.conn.Close()
				}
				return err == nil
			})
			p.must(t, 5)
		})
	}
}

// api asks the program's API.
func (b *program) api(t *testing.T, method, path string, body []byte) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.addr+"/api/games/localhost/one/"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+killToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const killToken = "a-token-for-the-tests-that-kill"

func tokenFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(killToken), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTheGamesRootIsFull fills a file system of one MiB by way of the API.
func TestTheGamesRootIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("games", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("NOT TESTED: A FULL GAMES ROOT, for which this test must be root and may mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	writeRules(t, dir, "one", 16, 1)
	b := runs(t, dir, nil, "--port", "0", "--token-file", tokenFile(t))
	p := joins(t, b, "/one")
	big := bytes.Repeat([]byte("// as long as it takes\n"), 20_000) // less than half of it
	_, manifest := b.api(t, "GET", "files", nil)
	full := 0
	for i := range 4 {
		code, text := b.api(t, "PUT", fmt.Sprintf("files/notes%d.js", i), big)
		switch code {
		case http.StatusInsufficientStorage:
			full++
		case http.StatusOK, http.StatusCreated:
		default:
			t.Errorf("code %d: %s", code, text)
		}
	}
	if full == 0 {
		t.Fatal("there is room for all of it")
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "localhost", "one", ".*")); len(found) > 0 {
		t.Errorf("left over: %v", found)
	}
	p.must(t, 10)
	for i := range 4 {
		if code, text := b.api(t, "DELETE", fmt.Sprintf("files/notes%d.js", i), nil); code >= 400 && code != http.StatusNotFound {
			t.Errorf("code %d: %s", code, text)
		}
	}
	if _, now := b.api(t, "GET", "files", nil); now != manifest {
		t.Errorf("the files are\n%s\nand were\n%s", now, manifest)
	}
	b.puts(t, 2)
	p.must(t, 5)
}

// TestRollsUnderLoad replaces a game's rules again and again while players come and
// play. Who plays is let to; who comes is seated under the newest rules. In the end nothing
// is left of what was replaced.
func TestRollsUnderLoad(t *testing.T) {
	const rolls, residents = 6, 8
	b := runs(t, root(t, 4, "one"), nil, "--port", "0", "--roll-timeout", "1m", "--token-file", tokenFile(t), "--max-workers", "64")
	var old []*player
	for range residents {
		old = append(old, joins(t, b, "/one"))
	}
	stop := make(chan struct{})
	var load sync.WaitGroup
	var mu sync.Mutex
	seats, refused := 0, []error{}
	for range 2 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				p, err := join(b.addr, "/one")
				if err == nil {
					err = p.plays(2)
					p.leave()
				}
				mu.Lock()
				seats++
				if err != nil {
					refused = append(refused, err)
				}
				mu.Unlock()
			}
		})
	}
	descriptors, newest := 0, ""
	for i := range rolls {
		replaced := newest
		newest = b.puts(t, 2+i)
		if i == 0 {
			descriptors = files(b.pid)
		} else if _, err := join(b.addr, "/one?def="+replaced); err == nil || !strings.Contains(err.Error(), fmt.Sprint(wire.CloseOutdated)) {
			t.Errorf("who comes with the library of replaced rules: %v", err)
		}
		joins(t, b, "/one?def="+newest).leave()
		for _, p := range old {
			p.must(t, 2)
		}
	}
	close(stop)
	load.Wait()
	t.Logf("%d seats while it was replaced %d times", seats, rolls)
	for _, err := range refused {
		t.Errorf("a player who came during a roll: %v", err)
	}
	from, workers := old[0].tick, len(b.workers(t))
	for _, p := range old {
		p.must(t, 10)
		p.leave()
	}
	if old[0].tick <= from {
		t.Error("the first players do not play on")
	}
	eventually(t, "the workers of replaced rules to end", func() bool { return len(b.workers(t)) <= 1 })
	t.Logf("%d workers with those of old rules, %d descriptors in the end", workers, files(b.pid))
	eventually(t, "descriptors to be closed", func() bool { return files(b.pid) <= descriptors })
}

// puts replaces the rules of the game one, and waits until they are live. It returns their hash.
func (b *program) puts(t *testing.T, step int) (hash string) {
	t.Helper()
	rules := fmt.Sprintf("export function update(player) { player.n += %d; }\n", step)
	if code, text := b.api(t, "PUT", "files/player.js", []byte(rules)); code >= 300 {
		t.Fatalf("code %d: %s", code, text)
	}
	code, text := b.api(t, "GET", "status?wait=20s", nil)
	var status struct{ State, Hash string }
	if err := json.Unmarshal([]byte(text), &status); code != 200 || err != nil || status.State != "live" && status.State != "rolling" {
		t.Fatalf("code %d: %s", code, text)
	}
	return status.Hash
}

// leave ends the socket as pages do.
func (p *player) leave() {
	_, _ = p.conn.Write([]byte{0x88, 0x82, 0, 0, 0, 0, 3, 232})
	_ = p.end()
	p.conn.Close()
}

// TestOnlyMonotonicClocks looks through what runs in a server for clocks that jump when the
// time of day is set, whether a test comes by them or not.
func TestOnlyMonotonicClocks(t *testing.T) {
	_, file, _, _ := runtime.Caller(0)
	top := filepath.Join(filepath.Dir(file), "..", "..")
	jumps := regexp.MustCompile(`CLOCK_REALTIME|\.(Unix|UnixNano|UnixMilli|UnixMicro|Round\(0\)|Truncate)\(|time\.(Unix|UnixMilli|Date)\(|unix\.(Gettimeofday|Time)\(`)
	// Times of day that are meant: those of log lines, files and certificates.
	meant := regexp.MustCompile(`^engine/(logs|files|api|box)/`)
	for _, part := range []string{"engine", "tick", "wire"} {
		err := filepath.WalkDir(filepath.Join(top, part), func(path string, _ os.DirEntry, err error) error {
			name, _ := filepath.Rel(top, path)
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || meant.MatchString(name) {
				return err
			}
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				if code, _, _ := strings.Cut(line, "//"); jumps.MatchString(code) {
					t.Errorf("%s:%d: the time of day: %s", name, i+1, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
