// Package peer runs what is measured beside gamehoster: programs in a process of their
// own that are told what to do, one line of JSON for an order, one for the answer.
//
//	bench                         peer
//	  |  {"do":"movers",...}  -->  |
//	  |  <--  {"ns":..,"bytes":..} |   while one works the other waits
//
// The programs are in bench/peers, with dependencies of their own.
package peer

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrMissing is wrapped by errors that say why a peer cannot be had: what it needs is
// not installed.
var ErrMissing = errors.New("not installed")

// Peer is a running peer.
type Peer struct {
	About string // what it says that it is
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	err   *tail
}

// NPM is the folder of the peers written for Node, whose packages have been installed.
// The error wraps ErrMissing where they have not.
func NPM(source string) (dir string, err error) {
	return installed(filepath.Join(source, "bench", "peers"), "@colyseus/schema", "@trufflesuite/uws-js-unofficial", "ws")
}

// Colyseus is the folder of the room, likewise.
func Colyseus(source string) (dir string, err error) {
	return installed(filepath.Join(source, "bench", "peers", "colyseus"), "@colyseus/core")
}

func installed(dir string, packages ...string) (string, error) {
	if _, err := exec.LookPath("node"); err != nil {
		return "", fmt.Errorf("node: %w", ErrMissing)
	}
	for _, p := range packages {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(p), "package.json")); err != nil {
			return "", fmt.Errorf("%w (make bench-peers installs it)", ErrMissing)
		}
	}
	return dir, nil
}

// Build compiles the program NAME of those written in Go, into the folder.
func Build(ctx context.Context, source, name, folder string) (path string, err error) {
	if path, err = filepath.Abs(filepath.Join(folder, name)); err != nil {
		return "", fmt.Errorf("building %s: %w", name, err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./"+name)
	build.Dir = filepath.Join(source, "bench", "peers")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, strings.TrimSpace(string(out)))
	}
	return path, nil
}

// Start starts a peer and waits for its first line, {"about": "what it is"}.
func Start(ctx context.Context, dir, name string, args ...string) (*Peer, error) {
	p := &Peer{name: filepath.Base(args[len(args)-1]), cmd: exec.CommandContext(ctx, name, args...), err: &tail{}}
	p.cmd.Dir = dir
	p.cmd.Stderr = p.err
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	var hello struct {
		About string `json:"about"`
	}
	if err := p.hear(&hello); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.About = hello.About
	return p, nil
}

// Tell gives an order and decodes the answer.
func (p *Peer) Tell(order, answer any) error {
	line, err := json.Marshal(order)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("telling %s what to do: %w%s", p.name, err, p.err)
	}
	return p.hear(answer)
}

func (p *Peer) hear(answer any) error {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		return fmt.Errorf("hearing from %s: %w%s", p.name, err, p.err)
	}
	return nil
}

// Close ends the peer, which ends when its input does.
func (p *Peer) Close() error {
	err := p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return errors.Join(err, p.cmd.Wait())
}

// tail keeps the last of what a program complains about.
type tail struct{ text []byte }

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - tailSize; n > 0 {
		t.text = t.text[:copy(t.text, t.text[n:])]
	}
	return len(p), nil
}

// String is the complaint in brackets, if there is one. The program must have ended.
func (t *tail) String() string {
	if s := strings.TrimSpace(string(t.text)); s != "" {
		return " (" + s + ")"
	}
	return ""
}
