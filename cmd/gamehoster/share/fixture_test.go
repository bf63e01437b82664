package share_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gamehoster/wire"
	"gamehoster/wire/ws"
)

// patience bounds every wait; it is generous, since machines are slow and busy.
const patience = 30 * time.Second

// await waits for a condition that nothing signals.
func await(t testing.TB, what string, cond func() bool) {
	t.Helper()
	next := time.NewTicker(5 * time.Millisecond)
	defer next.Stop()
	for end := time.Now().Add(patience); !cond(); <-next.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// The one domain that the boxes of these tests host, and its one game.
const (
	domain = "play.example.test"
	game   = "dots"
)

var sources = map[string]string{
	"gamehoster-game.json": `{
  "resumeSeconds": 30,
  "player": { "fields": { "x": "f32 shared" } },
  "commands": { "push": { "fields": { "by": "f32" } } }
}
`,
	"player.js":           "export function update(player) {\n  player.x *= 0.5;\n}\n",
	"player.server.js":    "export function join(player) {\n  player.x = 1;\n}\n",
	"commands.js":         "export function push(player, command) {\n  player.x += command.by;\n}\n",
	"page/index.html":     "<!doctype html>\n",
	"../_shared/maths.js": "export const SECRET = 7;\n",
}

// gamesRoot is a games root with the game in it.
func gamesRoot(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range sources {
		p := filepath.Join(root, domain, game, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// program is the path of gamehoster, built once.
var program = sync.OnceValues(func() (string, error) {
	if p := os.Getenv("GAMEHOSTER_BIN"); p != "" {
		return p, nil
	}
	p := filepath.Join(scratch, "gamehoster")
	if out, err := exec.Command("go", "build", "-o", p, "gamehoster/cmd/gamehoster").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building gamehoster: %w\n%s", err, out)
	}
	return p, nil
})

var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "gamehoster-share-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(scratch)
	os.Exit(code)
}

// logbook is what a process has written.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// has reports whether a line has all the parts.
func (l *logbook) has(parts ...string) bool {
	for line := range strings.Lines(l.String()) {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
}

// process is a program that runs until the test ends.
type process struct {
	cmd   *exec.Cmd
	log   *logbook
	ended chan struct{} // closed when it has, with err set
	err   error
}

// run starts a program. What it leaves running is killed with it.
func run(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, log: &logbook{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.log, p.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = patience
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(cmd.Path), p.log)
		}
	})
	return p
}

// stop asks a process to end and waits until it has.
func (p *process) stop(t testing.TB) {
	t.Helper()
	p.terminate()
	p.wait(t)
}

// terminate asks a process to end. Asked twice, gamehoster ends at once.
func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// wait waits until a process has ended well.
func (p *process) wait(t testing.TB) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not end when it is told to", p.cmd.Path)
	}
	if p.err != nil {
		t.Errorf("%s ended with %v", p.cmd.Path, p.err)
	}
}

// supervisor starts gamehoster as systemd does: it has bound the port and keeps it.
type supervisor struct {
	t      testing.TB
	root   string
	socket *net.TCPListener
	notify *net.UnixConn
	path   string // of notify
}

func supervise(t testing.TB, root string) *supervisor {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{t: t, root: root, socket: l.(*net.TCPListener), path: filepath.Join(t.TempDir(), "notify")}
	if s.notify, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Close()
		_ = s.notify.Close()
	})
	return s
}

// address is that of the port.
func (s *supervisor) address() string { return s.socket.Addr().String() }

// start runs a gamehoster on the port and returns when it is ready.
func (s *supervisor) start(flags ...string) *process {
	s.t.Helper()
	return s.startWith("", flags...)
}

// startWith is start, after a command of the shell.
func (s *supervisor) startWith(before string, flags ...string) *process {
	s.t.Helper()
	p, err := program()
	if err != nil {
		s.t.Fatal(err)
	}
	f, err := s.socket.File()
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	// Only the process itself knows its number in time, hence the shell.
	line := append([]string{"-c", before + ` LISTEN_PID=$$ exec "$@"`, "sh", p, "serve", "--root", s.root, "--admin", ""}, flags...)
	cmd := exec.Command("sh", line...)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "LISTEN_FDNAMES=door", "NOTIFY_SOCKET="+s.path)
	started := run(s.t, cmd)
	s.told("READY=1", started)
	return started
}

// told waits for what a process says to who has started it.
func (s *supervisor) told(want string, by *process) {
	s.t.Helper()
	_ = s.notify.SetReadDeadline(time.Now().Add(patience))
	heard := make(chan struct{})
	defer close(heard)
	go func() {
		select {
		case <-heard:
		case <-by.ended: // what it has said is there to be read
			_ = s.notify.SetReadDeadline(time.Now())
		}
	}()
	p := make([]byte, 256)
	for {
		n, err := s.notify.Read(p)
		if err != nil {
			s.t.Fatalf("gamehoster did not say %s: %v", want, err)
		}
		if string(p[:n]) == want {
			return
		}
	}
}

// player is a client of the game's sockets, which has been welcomed.
type player struct {
	conn    net.Conn
	reader  ws.Reader
	welcome wire.Welcome
	buf     []byte
	rest    []byte
}

// join opens a socket on conn, which is one to a server, with lines added to the head.
func join(conn net.Conn, query string, lines ...string) (*player, error) {
	_ = conn.SetDeadline(time.Now().Add(patience))
	d := ws.Dial{Host: domain, Target: "/" + game + query}
	_, _ = rand.Read(d.Nonce[:]) // it does not fail
	head := d.AppendRequest(nil)
	if len(lines) > 0 {
		head = append(head[:len(head)-2], strings.Join(lines, "\r\n")+"\r\n\r\n"...)
	}
	if _, err := conn.Write(head); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	var answer []byte
	for !bytes.HasSuffix(answer, []byte("\r\n\r\n")) {
		line, err := r.ReadBytes('\n')
		if answer = append(answer, line...); err != nil {
			return nil, fmt.Errorf("the answer ends with %q: %w", answer, err)
		}
	}
	if !d.Accepted(answer) {
		return nil, fmt.Errorf("the answer is %q", answer)
	}
	p := &player{conn: conn, reader: ws.NewReader(1<<20, ws.ClientSide), buf: make([]byte, 1<<16)}
	p.rest = make([]byte, r.Buffered())
	_, _ = io.ReadFull(r, p.rest)
	m, err := p.next()
	if err != nil {
		return nil, err
	}
	if p.welcome, err = wire.ParseWelcome(bytes.Clone(m)); err != nil {
		return nil, fmt.Errorf("the first message is no welcome: %w", err)
	}
	return p, nil
}

// closed is the end of a socket that the other side has closed properly.
type closed struct{ code ws.CloseCode }

func (c closed) Error() string { return fmt.Sprintf("closed with %d", c.code) }

// next is the next message.
func (p *player) next() ([]byte, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	for {
		ev, rest, err := p.reader.Next(p.rest)
		p.rest = rest
		switch {
		case err != nil:
			return nil, err
		case ev.Op == ws.OpClose:
			return nil, closed{ev.Code}
		case ev.Op == ws.OpBinary:
			return ev.Payload, nil
		case ev.Op == 0:
			n, err := p.conn.Read(p.buf)
			if err != nil {
				return nil, err
			}
			p.rest = p.buf[:n]
		}
	}
}

// play reads some messages, as somebody does who is in a game that goes on.
func (p *player) play(t testing.TB, messages int) {
	t.Helper()
	for range messages {
		if _, err := p.next(); err != nil {
			t.Fatalf("the game does not go on: %v", err)
		}
	}
}
