package top

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Ask gets a box's report.
type Ask func(ctx context.Context) (*Report, error)

// Model is the live screen. It is a tea.Model.
type Model struct {
	box   string // what it is called
	ask   Ask
	ctx   context.Context
	every time.Duration
	now   func() time.Time

	report        *Report // the last one; nil before the first
	at            time.Time
	err           error // of the last question
	order         Order
	from          int // first line shown
	width, height int
}

// NewModel makes a screen for a box that is asked again so long after each answer. The
// context ends a question that is under way.
func NewModel(ctx context.Context, box string, ask Ask, every time.Duration) *Model {
	return &Model{box: box, ask: ask, ctx: ctx, every: every, now: time.Now, width: 80, height: 24}
}

type answer struct {
	report *Report
	err    error
}

type again struct{}

// Init asks for the first time.
func (m *Model) Init() tea.Cmd { return m.question }

// question is the command that asks.
func (m *Model) question() tea.Msg {
	r, err := m.ask(m.ctx)
	return answer{r, err}
}

// Update takes an answer, a key, or the screen's size.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case answer:
		m.err = msg.err
		if msg.err == nil {
			m.report, m.at = msg.report, m.now()
		}
		m.scroll(0)
		return m, tea.Tick(m.every, func(time.Time) tea.Msg { return again{} })
	case again:
		return m, m.question
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.scroll(0)
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "esc", "ctrl+c":
			return m, tea.Quit
		case "s":
			m.order = (m.order + 1) % orders
		case "up", "k":
			m.scroll(-1)
		case "down", "j":
			m.scroll(1)
		case "pgup":
			m.scroll(-m.room())
		case "pgdown", "space":
			m.scroll(m.room())
		case "home", "g":
			m.from = 0
		}
	}
	return m, nil
}

// frame is the lines around the table: the title, an empty one, and the keys.
const frame = 3

// room is how many lines of the table are shown.
func (m *Model) room() int { return max(1, m.height-frame) }

// scroll moves the window, which stays on the table.
func (m *Model) scroll(by int) {
	if m.report == nil {
		m.from = 0
		return
	}
	m.from = max(0, min(m.from+by, len(m.report.Lines(m.order))-m.room()))
}

// View is the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(m.text())
	v.AltScreen = true
	v.WindowTitle = "gamehoster top " + clean(m.box)
	return v
}

func (m *Model) text() string {
	title := clean(m.box)
	switch {
	case m.err != nil && m.report != nil:
		title += fmt.Sprintf("  no answer since %s: %v", age(m.now().Sub(m.at)), clean(m.err.Error()))
	case m.err != nil:
		title += "  " + clean(m.err.Error())
	case m.report == nil:
		title += "  asking ..."
	default:
		title += "  " + m.at.Format(time.TimeOnly)
	}
	lines := []string{title, ""}
	more := ""
	if m.report != nil {
		all := m.report.Lines(m.order)
		shown := all[min(m.from, len(all)):]
		if len(shown) > m.room() {
			shown = shown[:m.room()]
		}
		lines = append(lines, shown...)
		if len(shown) < len(all) {
			more = fmt.Sprintf("  up, down: lines %d to %d of %d", m.from+1, m.from+len(shown), len(all))
		}
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines, fmt.Sprintf("q: quit  s: workers by %v%s", m.order, more))
	for i, l := range lines {
		if r := []rune(l); len(r) > m.width {
			lines[i] = string(r[:max(0, m.width)])
		}
	}
	return strings.Join(lines, "\n")
}
