package rooms

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/bench/home"
	"gamehoster/wire/ws"
)

// serve serves the rooms of bench/home until the test ends, as long as a connection
// gives good frames.
func serve(t *testing.T) (addr string) {
	hall := &home.Hall{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		running.Go(func() {
			defer conn.Close()
			context.AfterFunc(ctx, func() { conn.Close() })
			var mu sync.Mutex
			send := func(m []byte) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = conn.Write(ws.AppendFrame(nil, ws.OpBinary, m)) // the reader finds out
			}
			if _, err := conn.Write(ws.AppendResponse(nil, []byte(r.Header.Get("Sec-WebSocket-Key")), "")); err != nil {
				return
			}
			seat := hall.Join(send)
			defer seat.Leave()
			frames, buf := ws.NewReader(1<<10, 0), make([]byte, 1<<10)
			for {
				n, err := in.Read(buf)
				if err != nil {
					return
				}
				for p := buf[:n]; ; {
					ev, rest, err := frames.Next(p)
					if err != nil || ev.Op == ws.OpClose {
						return
					}
					if ev.Op == 0 {
						break
					}
					if reply := seat.Receive(ev.Payload); reply != nil {
						send(reply)
					}
					p = rest
				}
			}
		})
	}))
	running.Go(func() {
		ticker := time.NewTicker(time.Second / home.TickRate)
		defer ticker.Stop()
		for ctx.Err() == nil {
			<-ticker.C
			hall.Tick()
		}
	})
	t.Cleanup(func() {
		cancel()
		srv.Close()
		running.Wait()
	})
	return srv.Listener.Addr().String()
}

func TestPlain(t *testing.T) {
	r, err := Run(t.Context(), Spec{Addr: serve(t), Protocol: Plain, Clients: 10, Commands: 10, Send: time.Second / 15, Settle: 200 * time.Millisecond, Measure: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d bytes, %d commands, %d pings; late %s", r.States, r.Bytes, r.Commands, r.RoundTrip.Count, r.Late)
	// A busy machine may lose time, but nothing comes that is not due.
	if r.States < 40 || r.States > 200 || r.Commands < 25 || r.Commands > 130 || r.RoundTrip.Count == 0 || r.Bytes < 40*r.States {
		t.Errorf("%+v", r)
	}
	if r.Clients.CPU <= 0 || r.Seconds < 1 {
		t.Errorf("the clients took %v in %v s", r.Clients.CPU, r.Seconds)
	}
}

func TestNoSuchServer(t *testing.T) {
	if _, err := Run(t.Context(), Spec{Addr: "127.0.0.1:1", Protocol: "dance"}); err == nil || !strings.Contains(err.Error(), "dance") {
		t.Error(err)
	}
	for _, p := range []Protocol{Plain, Colyseus} {
		if _, err := Run(t.Context(), Spec{Addr: "127.0.0.1:1", Protocol: p, Clients: 2, Commands: 1}); err == nil {
			t.Errorf("%s: nobody listens, and that was no error", p)
		}
	}
}

func TestWhatColyseusIsTold(t *testing.T) {
	const want = "\x0d\xa5steer\x83\xa4turn\xff\xa6thrust\xc3\xa4fire\xc2"
	if got := string(colyseusSteer(-1, true, false)); got != want {
		t.Errorf("%q", got)
	}
}
