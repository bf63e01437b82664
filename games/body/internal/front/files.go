package front

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/grafana/sobek/file"

	"gamehoster/games/body/internal/strip"
	"gamehoster/games/diag"
)

// Files is the set of files that were read, numbered one after the other so
// that one file.Idx names a byte of one of them.
type Files struct {
	set  file.FileSet
	list []*source
}

type source struct {
	path  string
	text  string // as the author wrote it
	base  int
	size  int                             // of what is parsed: the text, or the JavaScript that it was made into
	from  *strip.Map                      // that leads back to the text; nil where it is the text
	lines []int                           // offset of each line's first byte
	seen  struct{ line, off, column int } // the place that was asked for last
}

// maxShown is how many bytes the line of a finding may have that is shown with it.
const maxShown = 1000

// add registers a file under the index that the parser is about to give it.
func (f *Files) add(path, text string, base int) *source {
	s := &source{path: path, text: text, base: base, size: len(text), lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	s.seen.column = 1
	f.list = append(f.list, s)
	return s
}

// next is the index at which the next file begins.
func (f *Files) next() int {
	if n := len(f.list); n > 0 {
		last := f.list[n-1]
		return last.base + last.size + 1
	}
	return 1
}

func (f *Files) find(at file.Idx) *source {
	i := sort.Search(len(f.list), func(i int) bool { return f.list[i].base > int(at) })
	if i == 0 {
		return nil
	}
	return f.list[i-1]
}

// Position is the file, line and column of a place.
func (f *Files) Position(at file.Idx) diag.Position {
	pos, _ := f.locate(at)
	return pos
}

func (f *Files) locate(at file.Idx) (diag.Position, string) {
	s := f.find(at)
	if s == nil {
		return diag.Position{}, ""
	}
	off := s.offset(at)
	n := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > off }) - 1
	line := s.text[s.lines[n]:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	line = strings.TrimSuffix(line, "\r")
	if len(line) > maxShown {
		line = ""
	}
	// Places are asked for in their order, mostly, and lines may be long.
	if s.seen.line != n || s.seen.off > off {
		s.seen.line, s.seen.off, s.seen.column = n, s.lines[n], 1
	}
	s.seen.column += utf8.RuneCountInString(s.text[s.seen.off:off])
	s.seen.off = off
	return diag.Position{File: s.path, Line: n + 1, Column: s.seen.column}, line
}

// offset is the byte of the text at a place.
func (s *source) offset(at file.Idx) int {
	off := min(max(int(at)-s.base, 0), s.size)
	if s.from != nil {
		return s.from.Source(off)
	}
	return off
}

// after is the author's text from a place on.
func (f *Files) after(at file.Idx) string {
	if s := f.find(at); s != nil {
		return s.text[s.offset(at):]
	}
	return ""
}

// asserted reports whether TypeScript's ! stands behind what ends at a place.
func (f *Files) asserted(end file.Idx) bool {
	s := f.find(end)
	return s != nil && s.from != nil && s.from.Asserted(int(end)-s.base)
}

// report collects findings with their places, each place and message once.
type report struct {
	files *Files
	list  diag.List
	seen  map[string]bool

	failed bool // there is an error in the list
}

// maxFindings is how many are told at once, but that there is an error always is.
const maxFindings = 500

func (r *report) errorf(at file.Idx, format string, args ...any) {
	r.add(diag.Error, at, format, args...)
}

func (r *report) warnf(at file.Idx, format string, args ...any) {
	r.add(diag.Warning, at, format, args...)
}

func (r *report) add(s diag.Severity, at file.Idx, format string, args ...any) {
	r.once(s, at, fmt.Sprintf(format, args...), "")
}

// once adds a finding with a way out of it, unless the same was told of the place
// with another.
func (r *report) once(s diag.Severity, at file.Idx, what, way string) {
	pos, line := r.files.locate(at)
	r.tell(diag.Diagnostic{Severity: s, Pos: pos, Message: what, Source: line}, way)
}

// place adds a finding at a place of which the line is known, if it has one.
func (r *report) place(s diag.Severity, pos diag.Position, line, format string, args ...any) {
	r.tell(diag.Diagnostic{Severity: s, Pos: pos, Message: fmt.Sprintf(format, args...), Source: line}, "")
}

func (r *report) tell(d diag.Diagnostic, way string) {
	if len(r.list) >= maxFindings && (r.failed || d.Severity == diag.Warning) {
		return
	}
	r.failed = r.failed || d.Severity == diag.Error
	if key := d.String(); !r.seen[key] {
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[key] = true
		d.Message += way
		r.list = append(r.list, d)
	}
}
