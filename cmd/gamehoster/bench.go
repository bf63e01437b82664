package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gamehoster/bench"
	"gamehoster/bench/report"
	"gamehoster/games"
)

type benchCommand struct {
	Scenario []string `arg:"" optional:"" help:"What to measure; all of it, some minutes' worth, where none is named. --list says what there is."`
	Source   string   `help:"The project's folder, whose games and peers are used." default:"." type:"existingdir"`
	Out      string   `help:"Folder for report.html, report.json and report.md." default:"bench-report"`
	Part     float64  `help:"Part of the usual rounds: 0.1 for a quick look." default:"1"`
	List     bool     `help:"List the scenarios and end."`
}

func (c *benchCommand) Run(env *environment) error {
	if c.List {
		for _, s := range bench.Scenarios() {
			fmt.Fprintf(env.stdout, "%-10s %s (%v)\n", s.Name, s.About, s.Takes)
		}
		return nil
	}
	list, err := bench.Find(c.Scenario)
	if err != nil {
		return err
	}
	if c.Part <= 0 || c.Part > 10 {
		return fmt.Errorf("--part: %v is not over 0 and at most 10", c.Part)
	}
	if _, err := os.Stat(filepath.Join(c.Source, "bench", "games", "movers", games.DefinitionFile)); err != nil {
		return fmt.Errorf("--source: %s is not the project's folder, whose games are played; start it there, or name that folder: %w", c.Source, err)
	}
	bar := newBar(env)
	r, err := bench.Run(env.ctx, list, bench.Options{
		Source: c.Source, Part: c.Part, Progress: bar.show,
		Done: func(*report.Section) { bar.clear() },
	})
	bar.clear()
	if err != nil {
		return err
	}
	page, err := r.Save(c.Out)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "%s\nThe report is %s\n", r.Text(), page)
	if scenarios, _ := r.Failed(); scenarios > 0 {
		return fmt.Errorf("%d of %d scenarios failed", scenarios, len(r.Sections))
	}
	return nil
}

// benchPartCommand is a process of a benchmark: bench starts it.
type benchPartCommand struct {
	Role string `arg:"" help:"What it does."`
	Spec string `arg:"" help:"How, as JSON."`
}

func (c *benchPartCommand) Run(env *environment) error {
	return bench.Part(env.ctx, c.Role, c.Spec, env.stdout)
}

// bar shows how far the run is: on a terminal a bar that is drawn anew, elsewhere a
// line for every tenth part.
type bar struct {
	env   *environment
	tty   bool
	start time.Time
	drawn time.Time
	told  string // the line that was written last
}

func newBar(env *environment) *bar {
	b := &bar{env: env, start: time.Now()}
	if f, ok := env.stderr.(*os.File); ok {
		_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
		b.tty = err == nil
	}
	return b
}

const (
	barWidth = 40
	barPause = 100 * time.Millisecond // between two drawings
)

func (b *bar) show(scenario string, part float64) {
	part = min(max(part, 0), 1)
	if !b.tty {
		if line := fmt.Sprintf("%3.0f %%  %s", float64(int(part*10))*10, scenario); line != b.told {
			fmt.Fprintln(b.env.stderr, line)
			b.told = line
		}
		return
	}
	if time.Since(b.drawn) < barPause {
		return
	}
	b.drawn = time.Now()
	left := ""
	if spent := time.Since(b.start); part > 0.02 {
		left = fmt.Sprint(time.Duration(float64(spent)*(1-part)/part).Round(time.Second), " left")
	}
	full := int(part * barWidth)
	fmt.Fprintf(b.env.stderr, "\r\x1b[K%-10s %s%s %3.0f %%  %s", scenario, strings.Repeat("█", full), strings.Repeat("░", barWidth-full), part*100, left)
}

// clear takes the bar away.
func (b *bar) clear() {
	if b.tty {
		fmt.Fprint(b.env.stderr, "\r\x1b[K")
		b.drawn = time.Time{}
	}
}
