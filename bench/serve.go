package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"gamehoster/bench/latency"
	"gamehoster/engine"
	"gamehoster/engine/loop"
)

// serveSpec is what our own server is told.
type serveSpec struct {
	Root      string `json:"root"`
	Transport string `json:"transport"`
	Pool      bool   `json:"pool,omitempty"` // games run in worker processes
}

// tickLine begins the line that says what the ticks were like since the last one.
const tickLine = "ticks "

// servePart is the server as the command serve has it, with one loop. It answers a line on
// its input with a line on its ticks.
func servePart(ctx context.Context, spec string, in io.Reader, out io.Writer) error {
	var s serveSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return fmt.Errorf("reading the spec of a server: %w", err)
	}
	c := engine.Config{Addr: "127.0.0.1:0", Root: s.Root, Loops: 1, Transport: engine.Transport(s.Transport),
		Log: slog.New(slog.NewJSONHandler(out, nil))}
	if s.Pool {
		c.Workers.Pool, c.DrainTimeout = true, 100*time.Millisecond // to the end there is nobody to wait for
	}
	b, err := engine.New(c)
	if err != nil {
		return err
	}
	if len(b.Games()) == 0 {
		return fmt.Errorf("no game of %s is live", s.Root)
	}
	sayListening(out, b.Addr())
	if !s.Pool { // of which only the workers know their ticks
		go tellTicks(b, in, out)
	}
	return b.Run(ctx)
}

func tellTicks(b *engine.Box, in io.Reader, out io.Writer) {
	last := b.Loops()[0]
	for lines := bufio.NewScanner(in); lines.Scan(); {
		now := b.Loops()[0]
		text, err := json.Marshal(ticks{Late: tickTimesOf(now.Late.Since(last.Late)), Took: tickTimesOf(now.Took.Since(last.Took))})
		if err != nil {
			return
		}
		fmt.Fprintf(out, "%s%s\n", tickLine, text)
		last = now
	}
}

// ticks are a loop's, of some time.
type ticks struct {
	Late tickTimes `json:"late"` // against the schedule
	Took tickTimes `json:"took"` // until all was handed to the kernel
}

// tickTimes are milliseconds.
type tickTimes struct {
	N     int64        `json:"n"`
	P50   float64      `json:"p50"`
	P99   float64      `json:"p99"`
	P999  float64      `json:"p999"`
	Curve [][2]float64 `json:"curve"` // nines of a percentile, and the time
}

func tickTimesOf(t loop.TickTimes) tickTimes {
	ms := func(ns int64) float64 { return latency.MS(time.Duration(ns)) }
	return tickTimes{N: t.Ticks, P50: ms(t.P50), P99: ms(t.P99), P999: ms(t.P999),
		Curve: percentileCurve(t.Ticks, func(part float64) float64 { return ms(t.At(part)) })}
}

// percentileCurve draws n values, of which at gives those that a part of all is not over,
// as far as there are enough of them to speak of one.
func percentileCurve(n int64, at func(part float64) float64) (points [][2]float64) {
	if n == 0 {
		return nil
	}
	most := min(nines(.9999), math.Log10(float64(n)))
	for x := 0.0; x <= most+.001; x += .1 {
		points = append(points, [2]float64{x, at(1 - math.Pow(10, -x))})
	}
	return points
}

// ticks asks a server that is a servePart for its ticks since it was asked last.
func (s *server) ticks(ctx context.Context) (t ticks, err error) {
	if _, err := fmt.Fprintln(s.in); err != nil {
		return t, fmt.Errorf("asking the server for its ticks: %w", err)
	}
	select {
	case line, ok := <-s.told:
		if !ok {
			return t, fmt.Errorf("%s ended", s.cmd.Path)
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, tickLine)), &t); err != nil {
			return t, fmt.Errorf("reading the server's ticks: %w", err)
		}
		return t, nil
	case <-time.After(startTime):
		return t, fmt.Errorf("%s does not tell its ticks", s.cmd.Path)
	case <-ctx.Done():
		return t, ctx.Err()
	}
}
