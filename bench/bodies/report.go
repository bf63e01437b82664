package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gamehoster/bench/machine"
)

// report is a run's outcome.
type report struct {
	Date    string            `json:"date"`
	Commit  string            `json:"commit"`
	Kernel  string            `json:"kernel"`
	CPU     string            `json:"cpu"`
	Go      string            `json:"go"`
	Peers   map[string]string `json:"peers"` // versions
	Labels  map[string]string `json:"labels"`
	Order   []string          `json:"order"`
	Block   int               `json:"blockBytes"`
	Load    load              `json:"load"`
	Alone   *series           `json:"one"`
	Crowd   *series           `json:"many"`
	Equal   []string          `json:"equal"` // contestants with the compiled game's bits in the end
	Mallocs float64           `json:"mallocs"`
	Call    spread            `json:"callNs"`
	Compile []*costs          `json:"compile"`
	Took    string            `json:"took"`
	Missing []string          `json:"missing"` // peers that are not there, and why
}

// load is how much there is to do: means over the instances at the start.
type load struct {
	Ticks   int     `json:"ticks"` // that the instances were played before
	Rocks   float64 `json:"rocks"`
	Bullets float64 `json:"bullets"`
	Flying  float64 `json:"flying"`
}

func (r *report) look(ctx context.Context, root string) error {
	f, err := machine.Look(ctx, root)
	if err != nil {
		return err
	}
	r.Date, _, _ = strings.Cut(f.Date, " ")
	r.Commit, r.Kernel, r.Go = f.Commit, f.Kernel, f.Go
	r.CPU = fmt.Sprintf("%s, %d processors", f.CPU, f.Cores)
	return nil
}

// target is something that must hold.
type target struct {
	what string
	got  float64
	most float64
	unit string
}

func (r *report) targets() []target {
	list := []target{
		{"one instance, to Go by hand", r.Alone.Ratio[ours].median(), 2, "x"},
		{fmt.Sprintf("%d instances, to Go by hand", r.Crowd.Instances), r.Crowd.Ratio[ours].median(), 2, "x"},
	}
	for _, s := range []*series{r.Alone, r.Crowd} {
		if v := s.VsOurs["node"]; len(v) > 0 {
			list = append(list, target{fmt.Sprintf("%d instances, to plain objects in Node", s.Instances), 1 / v.median(), 1, "x"})
		}
	}
	for _, c := range r.Compile {
		list = append(list, target{"compiling " + c.Game + ", files to machine code", c.Load.median() + c.Machine.median(), 15, " ms"})
	}
	return append(list,
		target{"memory of an instance, to its state", r.Crowd.Memory[ours] / float64(r.Block), 1.2, "x"},
		target{"allocations of a tick", r.Mallocs, 0, ""})
}

// text is the report as Markdown, which reads as well on a terminal.
func (r *report) text() string {
	var b bytes.Buffer
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	p("# Bodies: a tick of asteroids\n\n")
	p("%s, commit %s, %s, %s, %s", r.Date, r.Commit, r.Kernel, r.CPU, r.Go)
	for _, name := range slices.Sorted(maps.Keys(r.Peers)) {
		p(", %s %s", name, r.Peers[name])
	}
	p(".\n\n%d pilots by one script; at the start, after %d ticks, an instance has %.1f rocks, %.1f bullets and %.1f ships in flight.\n",
		pilots, r.Load.Ticks, r.Load.Rocks, r.Load.Bullets, r.Load.Flying)
	p("Processor time of the process, contestants one after the other in every round: median (min..max).\n")
	for _, s := range []*series{r.Alone, r.Crowd} {
		p("\n## %d instance%s, %d rounds\n\n", s.Instances, map[bool]string{true: "s"}[s.Instances > 1], len(s.NS[ours]))
		p("| %-42s | %-24s | %-22s |", "", "ns for a tick", "to Go by hand")
		if len(s.Memory) > 0 {
			p(" %-18s |", "bytes an instance")
		}
		p("\n|%s|%s|%s|", strings.Repeat("-", 44), strings.Repeat("-", 26), strings.Repeat("-", 24))
		if len(s.Memory) > 0 {
			p("%s|", strings.Repeat("-", 20))
		}
		p("\n")
		for _, key := range r.Order {
			ns, ratio := s.NS[key], s.Ratio[key]
			if len(ns) == 0 {
				continue
			}
			p("| %-42s | %-24s | %-22s |", r.Labels[key], fmt.Sprintf("%.0f (%.0f..%.0f)", ns.median(), ns.min(), ns.max()),
				fmt.Sprintf("%.2f (%.2f..%.2f)", ratio.median(), ratio.min(), ratio.max()))
			if m, ok := s.Memory[key]; ok {
				p(" %-18.0f |", m)
			}
			p("\n")
		}
	}
	p("\n## Beside the tick\n\n")
	p("- call of a tick without bodies: %.0f ns (%.0f..%.0f)\n", r.Call.median(), r.Call.min(), r.Call.max())
	p("- state of an instance: %d bytes; allocations of a tick: %.3f\n", r.Block, r.Mallocs)
	for _, c := range r.Compile {
		p("- %s: files to both modules %.1f ms (%.1f..%.1f), of it the bodies %.1f; server module to machine code %.1f ms (%.1f..%.1f); modules %d and %d bytes\n",
			c.Game, c.Load.median(), c.Load.min(), c.Load.max(), c.Bodies.median(), c.Machine.median(), c.Machine.min(), c.Machine.max(), c.Module, c.Client)
	}
	p("- the same bits as the compiled game after all rounds: %s\n", strings.Join(r.Equal, ", "))
	for _, m := range r.Missing {
		p("- not measured: %s\n", m)
	}
	p("\n## Targets\n\n")
	for _, t := range r.targets() {
		verdict := "met"
		if t.got > t.most {
			verdict = "MISSED"
		}
		p("- %s: %.2f%s, at most %.4g%s: %s\n", t.what, t.got, t.unit, t.most, t.unit, verdict)
	}
	p("\nTook %s.\n", r.Took)
	return b.String()
}

// save writes the report as DATE-bodies.md and .json.
func (r *report) save(dir string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	base := filepath.Join(dir, r.Date+"-bodies")
	return errors.Join(os.WriteFile(base+".md", []byte(r.text()), 0o644), os.WriteFile(base+".json", append(data, '\n'), 0o644))
}
