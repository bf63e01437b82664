// Package strip takes the types out of TypeScript. What is left is JavaScript for
// the parser, and a Map by which findings in it get the places of the source:
//
//	player.ts --esbuild--> JavaScript --parse--> finding at an offset
//	    ^                                                |
//	    +------------------- Map (source map) -----------+
//
// Nothing is checked but the syntax: types of the author's are for the editor, the
// body language has its own. Enums become a variable and a function, by which the front
// end knows them again.
//
// The map is that of the source map which comes with the JavaScript, read into pairs of
// bytes in order: a finding at a byte is told at the byte of the source that the token
// around it came from. Columns of source maps are units of UTF-16, those of findings
// characters; both are bytes here.
package strip

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// Problem is why a text is no TypeScript, at a byte of it.
type Problem struct {
	At      int
	Message string
}

// TypeScript gives the JavaScript of a text and where its parts come from. The
// problem is nil if there is none.
func TypeScript(text string) (string, *Map, *Problem) {
	result := transform(text, "{}")
	if len(result.Errors) == 0 && bare.Match(result.Code) && !bare.MatchString(text) {
		// In statements that it takes for dead esbuild counts no uses, though it keeps
		// the statements, and takes what is used there only for a type.
		result = transform(text, `{"compilerOptions": {"verbatimModuleSyntax": true}}`)
	}
	if len(result.Errors) > 0 {
		return "", nil, problem(text, result.Errors[0])
	}
	m, err := newMap(text, string(result.Code), result.Map)
	if err != nil {
		return "", nil, &Problem{Message: "the types cannot be taken out: " + err.Error()}
	}
	return string(result.Code), m, nil
}

// bare is an import of no names.
var bare = regexp.MustCompile(`(?m)^\s*import\s*["']`)

func transform(text, config string) api.TransformResult {
	return api.Transform(text, api.TransformOptions{
		Loader:      api.LoaderTS,
		Target:      api.ESNext,
		Charset:     api.CharsetUTF8,
		Sourcemap:   api.SourceMapExternal,
		LogLevel:    api.LogLevelSilent,
		LogLimit:    1,
		Sourcefile:  "source.ts",
		TsconfigRaw: config,
	})
}

func problem(text string, m api.Message) *Problem {
	p := &Problem{Message: strings.TrimSuffix(m.Text, ".")}
	if p.Message != "" {
		p.Message = strings.ToLower(p.Message[:1]) + p.Message[1:]
	}
	if m.Location != nil {
		starts := lines(text)
		if n := m.Location.Line - 1; n >= 0 && n < len(starts) {
			p.At = min(starts[n]+m.Location.Column, len(text))
		}
	}
	return p
}

// Map leads from bytes of the JavaScript to bytes of its source.
type Map struct {
	source, code string
	places       []place // in the order of the code
}

type place struct{ code, source int }

// Source is the byte of the source that a byte of the code comes from: that of the
// token which it is in, or of the one before it.
func (m *Map) Source(at int) int {
	i := sort.Search(len(m.places), func(i int) bool { return m.places[i].code > at })
	if i == 0 {
		return 0
	}
	p := m.places[i-1]
	into := at - p.code
	if end := p.source + into; end <= len(m.source) && at <= len(m.code) && m.code[p.code:at] == m.source[p.source:end] {
		return end
	}
	return p.source
}

// Asserted reports whether the author put a ! behind the expression that ends in front
// of a byte of the code: that it is not null, which no JavaScript tells any more.
func (m *Map) Asserted(end int) bool {
	i := sort.Search(len(m.places), func(i int) bool { return m.places[i].code >= end })
	if i == 0 || end > len(m.code) {
		return false
	}
	p := m.places[i-1] // that of a statement is in front of what it is indented by
	rest, same := strings.CutPrefix(m.source[p.source:], strings.TrimLeft(m.code[p.code:end], " "))
	rest, mark := strings.CutPrefix(strings.TrimLeft(rest, " \t"), "!")
	return same && mark && !strings.HasPrefix(rest, "=")
}

// newMap reads a source map of version 3 of one source.
func newMap(source, code string, text []byte) (*Map, error) {
	var file struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("reading the source map: %w", err)
	}
	m := &Map{source: source, code: code}
	from, to := columns{text: source, starts: lines(source)}, columns{text: code, starts: lines(code)}
	line, col := 0, 0 // of the source
	for n, list := range strings.Split(file.Mappings, ";") {
		at := 0 // column of the code
		for _, segment := range strings.Split(list, ",") {
			v, err := numbers(segment)
			if err != nil {
				return nil, err
			}
			if len(v) > 0 {
				at += v[0]
			}
			if len(v) < 4 {
				continue
			}
			line += v[2]
			col += v[3]
			m.places = append(m.places, place{to.offset(n, at), from.offset(line, col)})
		}
	}
	return m, nil
}

// lines are the offsets at which a text's lines begin.
func lines(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// columns finds bytes by line and column, counted in units of UTF-16.
type columns struct {
	text   string
	starts []int
	line   int // of the table
	table  []int
}

func (c *columns) offset(line, units int) int {
	if line < 0 || line >= len(c.starts) {
		return len(c.text)
	}
	if line != c.line || c.table == nil {
		c.line, c.table = line, c.table[:0]
		end := len(c.text)
		if line+1 < len(c.starts) {
			end = c.starts[line+1]
		}
		for at, r := range c.text[c.starts[line]:end] {
			c.table = append(c.table, c.starts[line]+at)
			if r > 0xffff {
				c.table = append(c.table, c.starts[line]+at)
			}
		}
		c.table = append(c.table, end)
	}
	return c.table[max(0, min(units, len(c.table)-1))]
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// numbers reads the variable-length numbers of a segment.
func numbers(segment string) (list []int, err error) {
	value, shift := 0, 0
	for i := range len(segment) {
		d := strings.IndexByte(digits, segment[i])
		if d < 0 || shift > 30 {
			return nil, fmt.Errorf("the source map has a segment %q", segment)
		}
		value |= d & 31 << shift
		shift += 5
		if d&32 != 0 {
			continue
		}
		if value&1 != 0 {
			list = append(list, -(value >> 1))
		} else {
			list = append(list, value>>1)
		}
		value, shift = 0, 0
	}
	return list, nil
}
