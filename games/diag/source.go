package diag

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// maxSourceLine is the longest line, in bytes, that is shown with a finding; the
// lines of minified files are left out rather than cut.
const maxSourceLine = 240

// Source is the text of one of the author's files, which turns byte offsets
// into positions.
type Source struct {
	file   string
	text   string
	starts []int // offsets of the lines
}

// NewSource copies the text. file is what positions show, relative to the game's folder.
func NewSource(file string, text []byte) *Source {
	s := &Source{file: file, text: string(text), starts: []int{0}}
	for i := range len(s.text) {
		if s.text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// Position is the place of a byte offset. An offset past the end is the end.
func (s *Source) Position(offset int) Position {
	offset = max(0, min(offset, len(s.text)))
	line := sort.SearchInts(s.starts, offset+1)
	return Position{File: s.file, Line: line, Column: 1 + utf8.RuneCountInString(s.text[s.starts[line-1]:offset])}
}

// Line is line n, counted from 1, without its end; empty where there is no such
// line or it is too long to be shown.
func (s *Source) Line(n int) string {
	if n < 1 || n > len(s.starts) {
		return ""
	}
	end := len(s.text)
	if n < len(s.starts) {
		end = s.starts[n] - 1
	}
	line := strings.TrimSuffix(s.text[s.starts[n-1]:end], "\r")
	if len(line) > maxSourceLine {
		return ""
	}
	return line
}

// Diagnostic is a finding at a byte offset, with its line of source.
func (s *Source) Diagnostic(severity Severity, offset int, message string) Diagnostic {
	pos := s.Position(offset)
	return Diagnostic{Severity: severity, Pos: pos, Message: message, Source: s.Line(pos.Line)}
}
