package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/control"
	"gamehoster/engine/loop"
	"gamehoster/engine/pool"
	"gamehoster/engine/sandbox"
)

// Workers says who runs the games: this process, on Config.Loops event loops, or worker
// processes, each of which runs one game on a core.
type Workers struct {
	Pool bool
	Max  int // processes; four times the cores where 0

	Sandbox sandbox.Mode // of the processes; auto

	// What a worker is started with, and its environment: this program's own "worker" and
	// nothing, unless the program is another one, as a test is. See process.Main.
	Command, Env []string
}

// newCrew makes what runs the games.
func newCrew(c Config, late loop.LateTick, told watcher) (crew, error) {
	if c.Workers.Pool {
		if c.Workers.Max < 0 {
			return nil, fmt.Errorf("--max-workers: %d is less than none; 0 is for four times the cores", c.Workers.Max)
		}
		if c.LateTickTrace != "" {
			return nil, errors.New("--late-tick-trace: worker processes have no files to write traces to; take --workers=inline for it")
		}
		return newPool(c, told)
	}
	return newInline(c, late, told)
}

// pooled is the crew that is worker processes.
type pooled struct {
	*pool.Pool
	on Transport // what the workers were told to run on
}

// newPool makes a pool without a worker.
func newPool(c Config, told watcher) (*pooled, error) {
	p, err := pool.New(pool.Config{
		Max: c.Workers.Max, Command: c.Workers.Command, Env: c.Workers.Env, Log: c.Log,
		Options: control.Options{Transport: c.Transport, Hashes: c.hashes(), Orphaned: c.DrainTimeout, Level: least(c.Log), Sandbox: c.Workers.Sandbox},
		Told:    pool.Told{Opened: told.opened, Closed: told.closed, Measured: told.measured, Unmeasured: told.unmeasured},
	})
	if err != nil {
		return nil, err
	}
	return &pooled{Pool: p, on: c.Transport}, nil
}

// least is the level of the least severe lines that a log takes.
func least(log *slog.Logger) slog.Level {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if log.Enabled(context.Background(), l) {
			return l
		}
	}
	return slog.LevelError
}

// Measure asks nobody: workers report once a second.
func (p *pooled) Measure(time.Duration) []string { return p.Silent() }

// Run does nothing: a worker that dies is another one's matter.
func (p *pooled) Run(func(error)) {}

func (p *pooled) Hand(_ *box.Live, at box.Placement, fd int, early []byte) error {
	return p.Pool.Hand(at, fd, early)
}

func (p *pooled) Inspect(timeout time.Duration) (all inspection, err error) {
	reports, err := p.Pool.Inspect(timeout)
	if err != nil {
		return all, err
	}
	all.on = p.on
	for _, r := range reports {
		all.on = r.Transport // as all workers', which are on one machine
		all.instances = append(all.instances, r.Instances...)
		all.faults = append(all.faults, r.Faults...)
	}
	return all, nil
}
