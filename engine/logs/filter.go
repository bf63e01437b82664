package logs

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"time"
)

// Bounds of an answer.
const (
	DefaultLimit = 200     // lines
	MaxLimit     = 10_000  // lines
	maxAnswer    = 8 << 20 // bytes: older lines than fit are left out
)

// clockSlack is how far the clock may have been set back without lines before that being
// taken for the end of what was asked for.
const clockSlack = time.Hour

// Filter says which lines are wanted. The zero value wants the newest DefaultLimit.
type Filter struct {
	Since time.Time    // not older; the zero time for no bound
	Until time.Time    // older than that; the zero time for no bound
	Level slog.Leveler // not less severe; nil for all
	Game  string       // about this game, as domain/game, or as game on any domain; empty for all
	Limit int          // newest lines; 0 for DefaultLimit, MaxLimit at most
}

type verdict uint8

const (
	passes verdict = iota // is not wanted
	fits
	tooOld // nor is what is before it
)

// matcher looks at lines as slog writes them: with the time first and the level behind it.
// The rest need not be taken apart for any filter.
type matcher struct {
	Filter
	limit int
	games [][]byte // what a line about the game has in it, one of them
}

func (f Filter) compile() *matcher {
	m := &matcher{Filter: f, limit: f.Limit}
	if m.limit <= 0 {
		m.limit = DefaultLimit
	}
	m.limit = min(m.limit, MaxLimit)
	if f.Game == "" {
		return m
	}
	// A quotation mark in a string has a backslash before it, so that no text that
	// anybody had logged can look like a key and its value.
	name, err := json.Marshal(f.Game)
	if err != nil {
		return m // strings always can
	}
	m.games = append(m.games, append([]byte(`"`+GameKey+`":`), name...), append([]byte("/"), name[1:]...))
	return m
}

var (
	timeKey  = []byte(`{"time":"`)
	levelKey = []byte(`,"level":"`)
	gameKey  = []byte(`"` + GameKey + `":"`)
)

// match judges a line without its end. What is no line of ours, such as the rest of one
// after a crash, is not wanted.
func (m *matcher) match(line []byte) verdict {
	at, rest, ok := cutString(line, timeKey)
	if !ok {
		return passes
	}
	var when time.Time
	if when.UnmarshalText(at) != nil {
		return passes
	}
	switch {
	case !m.Since.IsZero() && when.Before(m.Since):
		if when.Before(m.Since.Add(-clockSlack)) {
			return tooOld
		}
		return passes
	case !m.Until.IsZero() && !when.Before(m.Until):
		return passes
	}
	text, rest, ok := cutString(rest, levelKey)
	if !ok || line[len(line)-1] != '}' {
		return passes
	}
	if m.Level != nil {
		var level slog.Level
		if level.UnmarshalText(text) != nil || level < m.Level.Level() {
			return passes
		}
	}
	if !m.about(rest) {
		return passes
	}
	return fits
}

// about reports whether the rest of a line is about the game that is asked for.
func (m *matcher) about(rest []byte) bool {
	if m.games == nil {
		return true
	}
	_, value, ok := bytes.Cut(rest, gameKey)
	if !ok {
		return false
	}
	if bytes.Contains(rest, m.games[0]) {
		return true
	}
	end := bytes.IndexByte(value, '"')
	return end >= 0 && bytes.HasSuffix(value[:end+1], m.games[1])
}

// cutString takes a key and the string behind it off a line.
func cutString(line, key []byte) (value, rest []byte, ok bool) {
	line, ok = bytes.CutPrefix(line, key)
	if !ok {
		return nil, nil, false
	}
	return bytes.Cut(line, []byte(`"`))
}

// trim takes the line end off.
func trim(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) }
