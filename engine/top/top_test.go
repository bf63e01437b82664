package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

const stats = `{"games": [
	{"domain": "play.example", "game": "pong", "state": "rolling", "backoff": 0, "definitions": [
		{"hash": "00000000000000aa", "instances": 2, "players": 3, "waiting": 1, "workers": 2},
		{"hash": "00000000000000bb", "draining": true, "instances": 1, "players": 2, "waiting": 0, "workers": 1}]},
	{"domain": "play.example", "game": "rocks", "state": "rejected", "backoff": 4, "definitions": []}],
"workers": [
	{"number": 7, "pid": 4711, "cpu": 1, "game": "play.example/pong", "up": 125, "state": "ready", "instances": 2, "players": 3, "sockets": 3,
		"tick": {"turns": 900, "p50": 0.04, "p99": 0.21, "p999": 1.5, "max": 12.25}, "late": {"turns": 900, "p50": 0.01, "p99": 0.02, "p999": 0.03, "max": 0.04}},
	{"number": 8, "pid": 4712, "cpu": -1, "game": "", "up": 0, "state": "starting", "players": 9, "tick": {"turns": 1, "p50": 0.5, "p99": 0.5, "p999": 0.5, "max": 0.5}, "late": {}}]}`

func report(t *testing.T, text string) *Report {
	t.Helper()
	var r Report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestLines(t *testing.T) {
	want := strings.TrimPrefix(`
2 games, 2 workers, 3 instances, 5 players

GAME                STATE                           DEFINITION        INSTANCES  PLAYERS  WAITING  WORKERS
play.example/pong   rolling                         00000000000000aa          2        3        1        2
                    drains                          00000000000000bb          1        2        0        1
play.example/rocks  rejected, workers again in 4 s  -                         0        0        0        0

WORKER   PID  CPU  GAME               STATE     UP  INSTANCES  PLAYERS  SOCKETS  TICK p50   p99  p99.9    max  LATE p50   p99  p99.9   max
     7  4711    1  play.example/pong  ready     2m          2        3        3      0.04  0.21   1.50  12.25      0.01  0.02   0.03  0.04
     8  4712  any  all                starting   -          0        9        0      0.50  0.50   0.50   0.50         -     -      -     -
`, "\n")
	if got := strings.Join(report(t, stats).Lines(ByNumber), "\n") + "\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	empty := strings.Join(report(t, "{}").Lines(ByNumber), "\n")
	if !strings.Contains(empty, "0 games, 0 workers, 0 instances, 0 players") || !strings.Contains(empty, "no game is there yet") || !strings.Contains(empty, "no worker runs") {
		t.Error(empty)
	}
}

func TestOrders(t *testing.T) {
	r := report(t, stats)
	for o, first := range map[Order]string{ByNumber: "4711", ByPlayers: "4712", ByTick: "4712"} {
		lines := r.workers(o)
		if lines[1][1] != first {
			t.Errorf("by %v process %s is first", o, lines[1][1])
		}
	}
}

// What comes from a box cannot do anything to the terminal that shows it.
func TestNoEscapes(t *testing.T) {
	r := report(t, stats)
	r.Games[0].Game, r.Games[0].State, r.Games[0].Definitions[0].Hash = "a\x1b[2J", "\u009b2J", "\r\n"
	r.Workers[0].Game, r.Workers[0].State = "\x07", "\x7f"
	for _, l := range r.Lines(ByNumber) {
		if strings.ContainsAny(l, "\x1b\x07\x7f\r\n\u009b") {
			t.Errorf("%q", l)
		}
	}
	m := screen(t, nil)
	m.Update(answer{nil, errors.New("\x1b[2J")})
	if strings.Contains(m.text(), "\x1b") {
		t.Errorf("%q", m.text())
	}
}

func TestAges(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m", 119 * time.Minute: "119m", 2 * time.Hour: "2h", 47 * time.Hour: "47h", 50 * time.Hour: "2d",
	} {
		if got := age(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}

func screen(t *testing.T, ask Ask) *Model {
	m := NewModel(t.Context(), "http://box/", ask, time.Second)
	m.now = func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 14})
	return m
}

func press(t *testing.T, m *Model, keys ...tea.KeyPressMsg) tea.Cmd {
	t.Helper()
	var cmd tea.Cmd
	for _, k := range keys {
		_, cmd = m.Update(k)
	}
	return cmd
}

func TestScreen(t *testing.T) {
	asked := 0
	failing := false
	m := screen(t, func(context.Context) (*Report, error) {
		if asked++; failing {
			return nil, errors.New("nothing listens")
		}
		return report(t, stats), nil
	})
	if !strings.HasPrefix(m.text(), "http://box/  asking ...\n") {
		t.Error(m.text())
	}
	m.Update(m.Init()())
	text := m.text()
	if lines := strings.Split(text, "\n"); len(lines) != 14 || lines[0] != "http://box/  03:04:05" || lines[13] != "q: quit  s: workers by number" {
		t.Errorf("%q", lines)
	}
	if !strings.Contains(text, "4712") || !m.View().AltScreen {
		t.Error(text)
	}
	// The box goes away: what it said last stays.
	failing = true
	_, cmd := m.Update(again{})
	at := m.now()
	m.now = func() time.Time { return at.Add(5 * time.Second) }
	m.Update(cmd())
	if text = m.text(); !strings.HasPrefix(text, "http://box/  no answer since 5s: nothing listens\n") || !strings.Contains(text, "4712") {
		t.Error(text)
	}
	failing = false
	m.Update(m.question())
	if text = m.text(); strings.Contains(text, "nothing listens") || asked != 3 {
		t.Errorf("asked %d times\n%s", asked, text)
	}
	press(t, m, tea.KeyPressMsg{Code: 's', Text: "s"})
	if text = m.text(); !strings.HasSuffix(text, "workers by players") || strings.Index(text, "4712") > strings.Index(text, "4711") {
		t.Error(text)
	}
	if cmd := press(t, m, tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
	if cmd := press(t, m, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil || cmd() != tea.Quit() {
		t.Error("ctrl-c does not quit")
	}
}

func TestScrolling(t *testing.T) {
	m := screen(t, nil)
	m.Update(answer{report(t, stats), nil})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 7}) // four lines of ten
	first := func() string { return strings.Split(m.text(), "\n")[2] }
	down, up := tea.KeyPressMsg{Code: tea.KeyDown}, tea.KeyPressMsg{Code: tea.KeyUp}
	if !strings.HasPrefix(first(), "2 games") || !strings.Contains(m.text(), "lines 1 to 4") {
		t.Error(m.text())
	}
	press(t, m, down, down)
	if !strings.HasPrefix(first(), "GAME") {
		t.Error(m.text())
	}
	for range 20 {
		press(t, m, down)
	}
	lines := strings.Split(m.text(), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[5], "     8  4712") {
		t.Errorf("%q", lines)
	}
	for _, l := range lines {
		if len([]rune(l)) > 80 {
			t.Errorf("%q is wider than the screen", l)
		}
	}
	press(t, m, tea.KeyPressMsg{Code: tea.KeyPgUp}, up, up, up, up, up, up)
	if !strings.HasPrefix(first(), "2 games") {
		t.Error(m.text())
	}
	press(t, m, tea.KeyPressMsg{Code: tea.KeyPgDown})
	m.Update(answer{&Report{}, nil}) // the table is shorter now
	if m.from > 3 {
		t.Errorf("the window stands at line %d", m.from)
	}
	m.Update(tea.WindowSizeMsg{})
	_ = m.text()
}

// The screen in bubbletea's hands, on no terminal.
func TestProgram(t *testing.T) {
	var out bytes.Buffer
	shown := make(chan struct{})
	n := 0
	m := NewModel(t.Context(), "http://box/", func(context.Context) (*Report, error) {
		if n++; n == 2 {
			close(shown)
		}
		return report(t, stats), nil
	}, time.Millisecond)
	p := tea.NewProgram(m, tea.WithContext(t.Context()), tea.WithInput(nil), tea.WithOutput(&out), tea.WithWindowSize(120, 20), tea.WithoutSignalHandler())
	go func() {
		<-shown
		p.Send(tea.KeyPressMsg{Code: 'q', Text: "q"})
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "play.example/pong") {
		t.Errorf("%q", out.String())
	}
}
