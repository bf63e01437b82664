package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"gamehoster/engine/top"
)

type topCommand struct {
	URL   string        `arg:"" name:"url" help:"Address of the box; the one on this machine by default." default:"http://127.0.0.1:7350/"`
	Every time.Duration `help:"How often the box is asked." default:"1s"`
	accessFlags
}

// Validate reads the token, and keeps a box from being asked without a pause.
func (c *topCommand) Validate() error {
	if c.Every < 100*time.Millisecond {
		return fmt.Errorf("--every must be 100ms at least but is %v", c.Every)
	}
	return c.accessFlags.Validate()
}

func (c *topCommand) Run(env *environment) error {
	client, err := c.client(env, c.URL)
	if err != nil {
		return err
	}
	defer client.Close()
	ask := func(ctx context.Context) (*top.Report, error) {
		var r top.Report
		return &r, client.Stats(ctx, &r)
	}
	if !onTerminal(env.stdout) {
		return c.once(env, ask)
	}
	client.Patience = 0 // the screen says that the box is away, and it is asked again anyway
	_, err = tea.NewProgram(top.NewModel(env.ctx, c.URL, ask, c.Every), tea.WithContext(env.ctx), tea.WithOutput(env.stdout)).Run()
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}

// once prints the table for whoever reads it from a pipe.
func (c *topCommand) once(env *environment, ask top.Ask) error {
	ctx, cancel := context.WithTimeout(env.ctx, askTimeout)
	defer cancel()
	r, err := ask(ctx)
	if err != nil {
		return err
	}
	for _, l := range r.Lines(top.ByNumber) {
		fmt.Fprintln(env.stdout, l)
	}
	return nil
}

// askTimeout is how long a box may take that is asked once.
const askTimeout = 30 * time.Second
