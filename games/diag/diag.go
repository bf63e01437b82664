// Package diag holds what an author is told about a game: findings with a
// place. The loader, the body compiler and the bundler all report through it,
// so that `gamehoster check`, the dev server's page and the API show the same
// text.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity tells an error, which keeps a game from going live, from a warning.
type Severity uint8

const (
	Error Severity = iota
	Warning
)

// Position is a place in an author's file. Line and Column count from 1, columns in
// Unicode code points; 0 means that the finding is about the file as a whole.
type Position struct {
	File   string // relative to the game's folder, with forward slashes
	Line   int
	Column int
}

// String is file:line:column, as editors and terminals make links of it.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Diagnostic is one finding.
type Diagnostic struct {
	Severity Severity
	Pos      Position
	Message  string // what is wrong and, where there is one, the way out; one sentence, lower case, no full stop
	Source   string // the line of source at Pos, if known
}

// String renders the finding as one line, `file:line:column: message`.
func (d Diagnostic) String() string {
	kind := ""
	if d.Severity == Warning {
		kind = "warning: "
	}
	return d.Pos.String() + ": " + kind + d.Message
}

// Render is String followed by the source line and a caret under the column.
func (d Diagnostic) Render() string {
	if d.Source == "" || d.Pos.Column == 0 {
		return d.String() + "\n"
	}
	var pad strings.Builder
	for i, r := range []rune(d.Source) {
		if i >= d.Pos.Column-1 {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
	}
	return fmt.Sprintf("%s\n    %s\n    %s^\n", d, d.Source, pad.String())
}

// List is the findings of one run. It is an error when it holds at least one
// Error; use Err to get it as one.
type List []Diagnostic

// Errorf adds an error.
func (l *List) Errorf(pos Position, format string, args ...any) {
	*l = append(*l, Diagnostic{Severity: Error, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (l *List) Warnf(pos Position, format string, args ...any) {
	*l = append(*l, Diagnostic{Severity: Warning, Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Failed reports whether the list holds an error.
func (l List) Failed() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Err is the list as an error, or nil when nothing in it is one.
func (l List) Err() error {
	if !l.Failed() {
		return nil
	}
	return l
}

// Error joins the findings, one a line.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Sort puts the findings in the order of file, line and column.
func (l List) Sort() {
	slices.SortStableFunc(l, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
}
