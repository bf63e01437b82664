package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// process is a contestant in a process of its own: one line of JSON per order,
// one per answer. States go through a file.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	states string // file
	size   int    // of a state
	n      int
	about  string // what the process says that it is
}

// order is what a peer is told to do.
type order struct {
	Do     string `json:"do"`
	States string `json:"states"`
	N      int    `json:"n"`
	From   int    `json:"from"`
	Ticks  int    `json:"ticks"`
	On     bool   `json:"on"`
}

type answer struct {
	NS      int64   `json:"ns"`
	Bytes   float64 `json:"bytes"`
	Version string  `json:"version"`
}

// startProcess starts a peer. dir is a folder for its file of states.
func startProcess(dir string, size int, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), size: size}
	f, err := os.CreateTemp(dir, "states")
	if err != nil {
		return nil, fmt.Errorf("making a file for states: %w", err)
	}
	p.states = f.Name()
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("making a file for states: %w", err)
	}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	a, err := p.hear()
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	p.about = a.Version
	return p, nil
}

func (p *process) hear() (a answer, err error) {
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	if err != nil {
		return a, fmt.Errorf("hearing from %s: %w", filepath.Base(p.cmd.Path), err)
	}
	return a, nil
}

func (p *process) tell(o order) (answer, error) {
	line, err := json.Marshal(o)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	if err != nil {
		return answer{}, fmt.Errorf("telling %s to %s: %w", filepath.Base(p.cmd.Path), o.Do, err)
	}
	return p.hear()
}

func (p *process) Load(states [][]byte, from int) error {
	f, err := os.Create(p.states)
	if err != nil {
		return fmt.Errorf("writing states: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for _, s := range states {
		_, _ = w.Write(s[:p.size]) // Flush tells
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("writing states: %w", err)
	}
	p.n = len(states)
	_, err = p.tell(order{Do: "load", States: p.states, N: p.n, From: from})
	return err
}

func (p *process) Run(ticks int) (time.Duration, error) {
	a, err := p.tell(order{Do: "run", Ticks: ticks})
	return time.Duration(a.NS), err
}

func (p *process) Dump() ([][]byte, error) {
	if _, err := p.tell(order{Do: "dump", States: p.states, N: p.n}); err != nil {
		return nil, err
	}
	all, err := os.ReadFile(p.states)
	if err != nil || len(all) != p.n*p.size {
		return nil, fmt.Errorf("reading states: %d bytes for %d: %w", len(all), p.n, err)
	}
	states := make([][]byte, p.n)
	for i := range states {
		states[i] = all[i*p.size:][:p.size]
	}
	return states, nil
}

func (p *process) Memory() (float64, error) {
	a, err := p.tell(order{Do: "memory"})
	return a.Bytes, err
}

// Close ends the process, which ends when its input does.
func (p *process) Close() error {
	err := p.in.Close()
	_, _ = io.Copy(io.Discard, p.out)
	return errors.Join(err, p.cmd.Wait(), os.Remove(p.states))
}
