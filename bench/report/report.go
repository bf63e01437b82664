// Package report is what a run of the benchmarks leaves: report.json with every
// measurement, report.html to look at, and a summary for the terminal, all from one
// Report. A scenario fills in a Section: tables and charts of spreads, targets that say
// themselves whether they were met, and words on what to make of it.
//
//	Report
//	  Machine             what it ran on
//	  Section             one scenario
//	    Targets           a figure and its bound
//	    Tables            rows of spreads: median (min..max)
//	    Charts            Bars, Lines, Stack: drawn as SVG by svg.go
//	    Series            all rounds of all figures, in the JSON only
//
// The page needs nothing from elsewhere and no script; it is light or dark as the
// reader's system is.
package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
)

// Report is a run's outcome.
type Report struct {
	Machine  machine.Facts `json:"machine"`
	Took     string        `json:"took"`
	Sections []*Section    `json:"sections"`
}

// Section is a scenario's outcome.
type Section struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	About   string       `json:"about"` // a sentence or two on what was done
	Targets []Target     `json:"targets,omitempty"`
	Tables  []Table      `json:"tables,omitempty"`
	Charts  []Chart      `json:"charts,omitempty"`
	Notes   []string     `json:"notes,omitempty"`   // what to know before quoting a figure
	Missing []string     `json:"missing,omitempty"` // peers that were not measured, and why
	Failed  string       `json:"failed,omitempty"`  // why there is no more
	Series  pairs.Series `json:"series,omitempty"`
}

// Target is something that is to hold.
type Target struct {
	What    string       `json:"what"`
	Got     pairs.Spread `json:"got"` // its median counts
	Bound   float64      `json:"bound"`
	AtLeast bool         `json:"atLeast,omitempty"` // the bound is a lower one
	Unit    string       `json:"unit,omitempty"`    // "" for a ratio
}

// Met reports whether it holds. What was not measured does not.
func (t Target) Met() bool {
	if len(t.Got) == 0 {
		return false
	}
	if t.AtLeast {
		return t.Got.Median() >= t.Bound
	}
	return t.Got.Median() <= t.Bound
}

// Verdict is "met" or "missed".
func (t Target) Verdict() string {
	if t.Met() {
		return "met"
	}
	return "missed"
}

// Limit is the bound in words.
func (t Target) Limit() string {
	if t.AtLeast {
		return "at least " + amount(t.Bound, t.Unit)
	}
	return "at most " + amount(t.Bound, t.Unit)
}

// Cell is what was measured.
func (t Target) Cell() Cell {
	if len(t.Got) == 0 {
		return Text("not measured")
	}
	return Fig(t.Got, t.Unit)
}

// Table is rows of figures.
type Table struct {
	Title   string   `json:"title"`
	Columns []string `json:"columns"` // without the first, which names the rows
	Rows    []Row    `json:"rows"`
}

// Row is one line of a table.
type Row struct {
	Label string `json:"label"`
	Ours  bool   `json:"ours,omitempty"`
	Cells []Cell `json:"cells"`
}

// Cell is a figure or, where it has none, a text.
type Cell struct {
	Spread pairs.Spread `json:"spread,omitempty"`
	Unit   string       `json:"unit,omitempty"`
	Text   string       `json:"text,omitempty"`
}

// Fig is a cell with a figure.
func Fig(s pairs.Spread, unit string) Cell { return Cell{Spread: s, Unit: unit} }

// Text is a cell with a text.
func Text(format string, a ...any) Cell { return Cell{Text: fmt.Sprintf(format, a...)} }

// String is the cell as the terminal shows it.
func (c Cell) String() string {
	switch {
	case len(c.Spread) == 0:
		return c.Text
	case len(c.Spread) == 1:
		return amount(c.Spread[0], c.Unit)
	}
	return fmt.Sprintf("%s (%s..%s)", amount(c.Spread.Median(), c.Unit), number(c.Spread.Min()), number(c.Spread.Max()))
}

// number has three digits that mean something, and no exponent.
func number(v float64) string {
	switch a := max(v, -v); {
	case a == 0:
		return "0"
	case a < 0.1:
		return fmt.Sprintf("%.4f", v)
	case a < 1:
		return fmt.Sprintf("%.3f", v)
	case a < 10:
		return fmt.Sprintf("%.2f", v)
	case a < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

func amount(v float64, unit string) string {
	if unit == "" {
		return number(v)
	}
	return number(v) + " " + unit
}

// Failed is how many scenarios failed and how many targets were missed.
func (r *Report) Failed() (scenarios, targets int) {
	for _, s := range r.Sections {
		if s.Failed != "" {
			scenarios++
		}
		for _, t := range s.Targets {
			if !t.Met() {
				targets++
			}
		}
	}
	return scenarios, targets
}

// Save writes report.json, report.html and report.md into the folder, which is made,
// and returns the page's path.
func (r *Report) Save(dir string) (page string, err error) {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", fmt.Errorf("writing the report: %w", err)
	}
	html, err := r.HTML()
	if err != nil {
		return "", fmt.Errorf("writing the report: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("writing the report: %w", err)
	}
	page = filepath.Join(dir, "report.html")
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "report.json"), append(data, '\n'), 0o644),
		os.WriteFile(filepath.Join(dir, "report.md"), []byte(r.Text()), 0o644),
		os.WriteFile(page, html, 0o644))
	if err != nil {
		return "", fmt.Errorf("writing the report: %w", err)
	}
	return page, nil
}
