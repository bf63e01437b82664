package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"gamehoster/bench/proc"
)

// server is what is measured, in a process of its own.
type server struct {
	Addr netip.AddrPort
	PID  int

	cmd  *exec.Cmd
	in   io.WriteCloser // of one that is asked something
	told chan string    // what it answers
	said chan []string  // the last lines, once it has ended

	mu sync.Mutex
	gc collections
}

// collections are a Go program's garbage collections.
type collections struct {
	N     int
	Pause time.Duration // the longest time that all goroutines stood still
}

// collected gives the collections since the last call.
func (s *server) collected() collections {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.gc
	s.gc = collections{}
	return c
}

// collection reads a line of GODEBUG=gctrace=1,
//
//	gc 7 @1.5s 0%: 0.02+1.1+0.003 ms clock, ...
//
// of which the first and the third time are pauses.
func collection(line string) (pause time.Duration, ok bool) {
	if !strings.HasPrefix(line, "gc ") {
		return 0, false
	}
	_, rest, ok := strings.Cut(line, "%: ")
	times, _, ok2 := strings.Cut(rest, " ms clock")
	parts := strings.Split(times, "+")
	if !ok || !ok2 || len(parts) != 3 {
		return 0, false
	}
	for _, i := range []int{0, 2} {
		ms, err := strconv.ParseFloat(parts[i], 64)
		if err != nil {
			return 0, false
		}
		pause = max(pause, time.Duration(ms*float64(time.Millisecond)))
	}
	return pause, true
}

const (
	startTime = 30 * time.Second
	stopTime  = 10 * time.Second
	keepLines = 8 // of what a server said, for errors
)

// start runs a server on the given cores and waits until it says where it listens, in a
// line "listening PORT". The server is stopped with
// stop, at the latest when the context ends.
func start(ctx context.Context, cmd *exec.Cmd, cores ...int) (*server, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", cmd.Path, err), r.Close(), w.Close())
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTime
	err = proc.Start(cmd, cores...)
	w.Close()
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	s := &server{PID: cmd.Process.Pid, cmd: cmd, in: in, told: make(chan string, 1), said: make(chan []string, 1)}
	at := make(chan netip.AddrPort, 1)
	go s.read(r, at)
	select {
	case addr, ok := <-at:
		if !ok {
			return nil, errors.Join(fmt.Errorf("%s ended before it listened", cmd.Path), s.stop())
		}
		s.Addr = addr
		return s, nil
	case <-time.After(startTime):
		return nil, errors.Join(fmt.Errorf("%s does not listen after %v", cmd.Path, startTime), s.stop())
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), s.stop())
	}
}

// read looks for the address, which it tells once, and keeps the last lines.
func (s *server) read(r io.ReadCloser, at chan<- netip.AddrPort) {
	defer r.Close()
	var lines []string
	in := bufio.NewScanner(r)
	for told := false; in.Scan(); {
		if addr, ok := listening(in.Text()); ok && !told {
			at <- addr
			told = true
			continue
		}
		if strings.HasPrefix(in.Text(), tickLine) {
			select {
			case s.told <- in.Text():
			default: // nobody waited for the last one
			}
			continue
		}
		if pause, ok := collection(in.Text()); ok {
			s.mu.Lock()
			s.gc.N++
			s.gc.Pause = max(s.gc.Pause, pause)
			s.mu.Unlock()
			continue
		}
		lines = append(lines, in.Text())
		lines = lines[max(0, len(lines)-keepLines):]
	}
	close(at)
	close(s.told)
	s.said <- lines
}

// listening understands a line that says where a server listens.
func listening(line string) (netip.AddrPort, bool) {
	port, ok := strings.CutPrefix(line, "listening ")
	if !ok {
		return netip.AddrPort{}, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(port), 10, 16)
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(n)), err == nil
}

// stop ends the server. One that ends with an error is an error, with what it said last.
func (s *server) stop() error {
	// One that is gone already is found by Wait.
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopTime, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	lines := <-s.said
	err := s.cmd.Wait()
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		if st, ok := x.Sys().(syscall.WaitStatus); ok && st.Signaled() && st.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", s.cmd.Path, err, strings.Join(lines, " | "))
	}
	return nil
}

// cores are those of the server and of its clients: different ones where there are two.
type cores struct{ server, clients []int }

func splitCores() (cores, error) {
	all, err := proc.CPUs()
	if err != nil || len(all) < 2 {
		return cores{}, err
	}
	return cores{all[:1], all[1:]}, nil
}

// String says who was where.
func (c cores) String() string {
	if len(c.server) == 0 {
		return "server and clients shared one core"
	}
	return fmt.Sprintf("the server was bound to core %d, its clients to %v", c.server[0], c.clients)
}
