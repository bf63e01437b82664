package limit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gamehoster/bench/beat"
)

// build makes a program; these tests need a C compiler.
func build(t *testing.T, p Program) string {
	t.Helper()
	path, err := Build(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// drive runs a server with a driver, and returns what both say.
func drive(t *testing.T, path string, f Form, s beat.Spec, more ...string) (*beat.Report, Counts) {
	t.Helper()
	cmd := Command(t.Context(), path, 0, s.Hz, 100, f, more...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	var port int
	if _, err := fmt.Fscanf(out, "listening %d\n", &port); err != nil {
		t.Fatal(err)
	}
	s.Addr, s.Watch = fmt.Sprintf("127.0.0.1:%d", port), []int{cmd.Process.Pid}
	r, err := beat.Drive(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var c Counts
	if err := json.NewDecoder(out).Decode(&c); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	return r, c
}

func TestServersAnswerRight(t *testing.T) {
	for _, p := range []struct {
		program Program
		more    []string
	}{{Epoll, nil}, {Uring, nil}, {Uring, []string{"0"}}, {Uring, []string{"1"}}} {
		for _, f := range []Form{Beat, Echo} {
			t.Run(strings.Join(append([]string{string(p.program), string(f)}, p.more...), "-"), func(t *testing.T) {
				s := beat.Spec{Form: beat.Form(f), Sockets: 200, Hz: 20, Settle: 100 * time.Millisecond, Measure: 500 * time.Millisecond, Calls: 200 * time.Millisecond}
				r, c := drive(t, build(t, p.program), f, s, p.more...)
				t.Logf("%d sent, %d received, %d missed; %s; %+v", r.Sent, r.Received, r.Missed, r.Latency, c)
				due := int64(s.Sockets*s.Hz) / 2
				if r.Sent < due/4 || r.Received < due/4 || r.Received > due*3/2 {
					t.Errorf("%d sent and %d received where %d were due", r.Sent, r.Received, due)
				}
				if r.Wrong != 0 || r.Unsent != 0 || c.Dropped != 0 {
					t.Errorf("%d wrong, %d unsent, %d dropped", r.Wrong, r.Unsent, c.Dropped)
				}
				if c.Sent < r.Received || c.Received < r.Sent*3/4 {
					t.Errorf("the server counts %+v", c)
				}
				size := int64(102)
				if f == Echo {
					size = 14
				}
				if r.BytesIn < (r.Received-2)*size || r.BytesIn > (r.Received+2)*size {
					t.Errorf("%d bytes in %d messages", r.BytesIn, r.Received)
				}
				if len(r.Calls) == 1 { // where they can be counted
					t.Logf("%.2f system calls a pair", r.Calls[0])
					if least := map[Program]float64{Epoll: 1.5}[p.program]; r.Calls[0] < least || r.Calls[0] > 5 {
						t.Errorf("%v system calls a pair", r.Calls[0])
					}
				}
				if len(r.PairNS) != 1 || r.PairNS[0] <= 0 || r.PairNS[0] > 1e6 {
					t.Errorf("%v ns a pair", r.PairNS)
				}
			})
		}
	}
}

func TestBuildTellsWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("CC", "")
	if _, err := Build(t.Context(), Epoll); !errors.Is(err, ErrNoCompiler) {
		t.Errorf("without a compiler: %v", err)
	}
	t.Setenv("CC", "/no/such/compiler")
	if _, err := Build(t.Context(), Epoll); err == nil || !strings.Contains(err.Error(), "/no/such/compiler") {
		t.Errorf("with a compiler that is not there: %v", err)
	}
}
