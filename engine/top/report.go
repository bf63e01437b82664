// Package top shows what a box runs, as its API's /api/stats tells it: games and their
// definitions, workers, instances, players, and how long ticks take.
//
//	/api/stats --JSON--> Report --Lines--> a table, once, for a pipe
//	                        |
//	                        +--Model-----> a screen that is drawn anew each second
//
// Both show the same lines; the screen has a cursorless window on them that scrolls, and
// keeps the last answer when the box does not give another. Nothing here does I/O but
// what a Model is given to ask with.
package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Report is an answer of /api/stats, as far as it is shown.
type Report struct {
	Games   []Game   `json:"games"`
	Workers []Worker `json:"workers"`
}

// Game is one place, with all definitions that are played there.
type Game struct {
	Domain      string       `json:"domain"`
	Game        string       `json:"game"`
	State       string       `json:"state"`
	Backoff     float64      `json:"backoff"` // seconds until its workers, which die young, are started again
	Definitions []Definition `json:"definitions"`
}

// Definition is one that is played, the newest first.
type Definition struct {
	Hash      string `json:"hash"`
	Draining  bool   `json:"draining"`
	Instances int    `json:"instances"`
	Players   int    `json:"players"`
	Waiting   int    `json:"waiting"`
	Workers   int    `json:"workers"`
}

// Worker is a process, or a loop of the box's own.
type Worker struct {
	Number    uint32  `json:"number"`
	PID       int     `json:"pid"`
	CPU       int     `json:"cpu"`  // -1 for any
	Game      string  `json:"game"` // empty for a loop
	Up        float64 `json:"up"`   // seconds; 0 for a loop
	State     string  `json:"state"`
	Instances int     `json:"instances"`
	Players   int     `json:"players"`
	Sockets   int64   `json:"sockets"`
	Tick      Times   `json:"tick"`
	Late      Times   `json:"late"`
}

// Times are percentiles in milliseconds.
type Times struct {
	Turns int64   `json:"turns"` // that they are of; none where there are 0
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
	Max   float64 `json:"max"`
}

// Order is what workers are sorted by.
type Order int

// Workers by number, by players and by the 99th percentile of their ticks, most first.
const (
	ByNumber Order = iota
	ByPlayers
	ByTick
	orders
)

func (o Order) String() string { return [...]string{"number", "players", "tick p99"}[o] }

// Lines is the report as a table of text, a heading first.
func (r *Report) Lines(o Order) []string {
	lines := []string{r.sums(), ""}
	lines = append(lines, table(r.games())...)
	if len(r.Games) == 0 {
		lines = append(lines, "no game is there yet")
	}
	lines = append(lines, "")
	lines = append(lines, table(r.workers(o))...)
	if len(r.Workers) == 0 {
		lines = append(lines, "no worker runs; one is started with the first player")
	}
	return lines
}

// sums is everything in a line.
func (r *Report) sums() string {
	instances, players := 0, 0
	for _, g := range r.Games {
		for _, d := range g.Definitions {
			instances += d.Instances
			players += d.Players
		}
	}
	return fmt.Sprintf("%s, %s, %s, %s", count(len(r.Games), "game"), count(len(r.Workers), "worker"),
		count(instances, "instance"), count(players, "player"))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// A column that begins with a space is of numbers, and stands at its right end.
func (r *Report) games() [][]string {
	rows := [][]string{{"GAME", "STATE", "DEFINITION", " INSTANCES", " PLAYERS", " WAITING", " WORKERS"}}
	for _, g := range r.Games {
		name, state := clean(g.Domain+"/"+g.Game), clean(g.State)
		if g.Backoff > 0 {
			state += fmt.Sprintf(", workers again in %.0f s", g.Backoff)
		}
		if len(g.Definitions) == 0 {
			rows = append(rows, []string{name, state, "-", "0", "0", "0", "0"})
		}
		for _, d := range g.Definitions {
			if d.Draining {
				state = "drains"
			}
			rows = append(rows, []string{name, state, clean(d.Hash), fmt.Sprint(d.Instances), fmt.Sprint(d.Players), fmt.Sprint(d.Waiting), fmt.Sprint(d.Workers)})
			name = "" // once is enough
		}
	}
	return rows
}

func (r *Report) workers(o Order) [][]string {
	rows := [][]string{{" WORKER", " PID", " CPU", "GAME", "STATE", " UP", " INSTANCES", " PLAYERS", " SOCKETS",
		" TICK p50", " p99", " p99.9", " max", " LATE p50", " p99", " p99.9", " max"}}
	all := slices.Clone(r.Workers)
	slices.SortStableFunc(all, func(a, b Worker) int {
		switch o {
		case ByPlayers:
			return cmp.Or(cmp.Compare(b.Players, a.Players), cmp.Compare(a.Number, b.Number))
		case ByTick:
			return cmp.Or(cmp.Compare(b.Tick.P99, a.Tick.P99), cmp.Compare(a.Number, b.Number))
		}
		return cmp.Compare(a.Number, b.Number)
	})
	for _, w := range all {
		cpu, game, up := "any", "all", "-"
		if w.CPU >= 0 {
			cpu = fmt.Sprint(w.CPU)
		}
		if w.Game != "" {
			game = clean(w.Game)
		}
		if w.Up > 0 {
			up = age(time.Duration(w.Up * float64(time.Second)))
		}
		row := []string{fmt.Sprint(w.Number), fmt.Sprint(w.PID), cpu, game, clean(w.State), up,
			fmt.Sprint(w.Instances), fmt.Sprint(w.Players), fmt.Sprint(w.Sockets)}
		for _, t := range []Times{w.Tick, w.Late} {
			row = append(row, t.cells()...)
		}
		rows = append(rows, row)
	}
	return rows
}

// cells are the four percentiles in milliseconds.
func (t Times) cells() []string {
	if t.Turns == 0 {
		return []string{"-", "-", "-", "-"}
	}
	cells := make([]string, 0, 4)
	for _, ms := range []float64{t.P50, t.P99, t.P999, t.Max} {
		cells = append(cells, fmt.Sprintf("%.2f", ms))
	}
	return cells
}

// age is a time that has passed, as short as it can be told.
func age(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return fmt.Sprintf("%ds", d/time.Second)
}

// clean is a text that a terminal takes for nothing but text: what the box says came from
// somewhere else, too.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// table puts the cells of rows, the first of which are headings, one under another.
func table(rows [][]string) (lines []string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(strings.TrimPrefix(cell, " ")))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			right := strings.HasPrefix(rows[0][i], " ")
			cell = strings.TrimPrefix(cell, " ")
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if right {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
