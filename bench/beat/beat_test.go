package beat

import (
	"context"
	"strings"
	"testing"
	"time"

	"gamehoster/bench/proc/proctest"
	"gamehoster/engine"
)

// serve runs a beat server until stop.
func serve(t *testing.T, transport string, hz int) (addr string, stop func()) {
	t.Helper()
	s, err := NewServer(ServerConfig{Addr: "127.0.0.1:0", Hz: hz, Payload: 100, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return s.Addr().String(), proctest.Beside(t, s.Run)
}

func TestBeatOnEveryTransport(t *testing.T) {
	for _, name := range Transports() {
		t.Run(name, func(t *testing.T) {
			addr, stop := serve(t, name, 50)
			defer stop()
			r, err := Drive(t.Context(), Spec{Addr: addr, Form: Beat, Sockets: 100, Hz: 50, Settle: 200 * time.Millisecond, Measure: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			check(t, r, 100)
		})
	}
}

// check looks at a report of a second of 50 Hz; a machine that is busy with others may
// lose time, but nothing may be wrong.
func check(t *testing.T, r *Report, out int64) {
	t.Helper()
	t.Logf("%d sent, %d received, %d missed; %s", r.Sent, r.Received, r.Missed, r.Latency)
	due := int64(r.Spec.Sockets * r.Spec.Hz)
	if r.Sent < due/4 || r.Received < due/4 || r.Received > due*5/4 {
		t.Errorf("%d sent and %d received where %d were due", r.Sent, r.Received, due)
	}
	if r.Wrong != 0 || r.Unsent != 0 || r.Latency.Count != r.Received {
		t.Errorf("%d wrong, %d unsent, %d timed", r.Wrong, r.Unsent, r.Latency.Count)
	}
	if frame := out + 2; r.BytesIn < (r.Received-1)*frame || r.BytesIn > (r.Received+1)*frame || r.BytesOut != r.Sent*18 {
		t.Errorf("%d bytes in and %d out", r.BytesIn, r.BytesOut)
	}
	if r.Latency.P50 <= 0 || r.Latency.P50 > 1000 {
		t.Errorf("the median latency is %v ms", r.Latency.P50)
	}
}

func TestEcho(t *testing.T) {
	e, err := engine.NewEcho(engine.EchoConfig{Addr: "127.0.0.1:0", MaxMessage: 1000})
	if err != nil {
		t.Fatal(err)
	}
	stop := proctest.Beside(t, e.Run)
	r, err := Drive(t.Context(), Spec{Addr: e.Addr().String(), Form: Echo, Sockets: 50, Hz: 50, Burst: true, Settle: 200 * time.Millisecond, Measure: time.Second})
	stop()
	if err != nil {
		t.Fatal(err)
	}
	check(t, r, 12)
}

// TestNotTheRightAnswers drives servers that answer what they should not.
func TestNotTheRightAnswers(t *testing.T) {
	addr, stop := serve(t, "gnet", 50)
	r, err := Drive(t.Context(), Spec{Addr: addr, Form: Echo, Sockets: 2, Hz: 50, Settle: 50 * time.Millisecond, Measure: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r.Wrong == 0 || r.Wrong != r.Received {
		t.Errorf("beats were taken for echoes: %d of %d wrong", r.Wrong, r.Received)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Drive(context.Background(), Spec{Addr: addr, Form: Beat, Sockets: 2, Hz: 50, Measure: time.Minute})
		ended <- err
	}()
	stop()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a server that has gone was not noticed")
		}
	case <-time.After(proctest.Patience):
		t.Error("the driver did not see that the server has gone")
	}
}

func TestDriveEndsWithItsContext(t *testing.T) {
	addr, stop := serve(t, "gnet", 20)
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Drive(ctx, Spec{Addr: addr, Form: Beat, Sockets: 2, Hz: 20, Measure: time.Minute}); err == nil {
		t.Error("a cancelled drive gave a report")
	}
}

func TestProcess(t *testing.T) {
	addr, stop := serve(t, "gnet", 50)
	defer stop()
	var out strings.Builder
	spec := Spec{Addr: addr, Form: Beat, Sockets: 3, Hz: 50, Settle: 50 * time.Millisecond, Measure: 200 * time.Millisecond}
	if err := Main(t.Context(), spec.String(), &out); err != nil {
		t.Fatal(err)
	}
	r, err := Read(strings.NewReader(out.String()))
	if err != nil || r.Received == 0 || r.Spec.Sockets != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range []string{"", "{}", `{"typo": 1}`, strings.Replace(spec.String(), `"beat"`, `"dance"`, 1), strings.Replace(spec.String(), `"hz":50`, `"hz":0`, 1)} {
		if err := Main(t.Context(), bad, &out); err == nil {
			t.Errorf("the spec %q was taken", bad)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	run := func() {
		addr, stop := serve(t, "gnet", 100)
		defer stop()
		if _, err := Drive(t.Context(), Spec{Addr: addr, Form: Beat, Sockets: 20, Hz: 50, Settle: time.Millisecond, Measure: 50 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	run()
	before := proctest.Now(t)
	for range 3 {
		run()
	}
	proctest.NoMore(t, before)
}
