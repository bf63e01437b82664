// Package posjson reads JSON and remembers where in the text each value and key
// stood, so that whatever is wrong with a value can be shown at its place. It
// keeps the order of keys, which the meaning of a game definition depends on,
// and treats a key that stands twice as an error.
//
// The reader is strict (RFC 8259) and bounded: it never goes deeper than
// MaxDepth, and what it takes grows with the text and with nothing else. After
// an error of syntax it stops, since whatever follows would be guesses; errors
// that leave the structure clear, such as a key that stands twice, are collected.
package posjson

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested.
const MaxDepth = 32

// Kind is what a value is.
type Kind uint8

const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}

// String names the kind as in "must be a string, not a list".
func (k Kind) String() string { return kindNames[k] }

// Value is one JSON value and its place in the text, [Offset, End) in bytes.
type Value struct {
	Kind        Kind
	Offset, End int
	Bool        bool
	Number      float64  // finite
	Text        string   // of a String decoded, of a Number as written
	Items       []*Value // of an Array
	Members     []Member // of an Object, in the text's order
}

// Member is a key of an object and its value.
type Member struct {
	Key    string
	Offset int // of the key's opening quote
	Value  *Value
}

// Get is the value of a key, nil where the value is no object or has no such key.
func (v *Value) Get(key string) *Value {
	if v == nil {
		return nil
	}
	for i := range v.Members {
		if v.Members[i].Key == key {
			return v.Members[i].Value
		}
	}
	return nil
}

// Inner is where byte i of a String's decoded text stands: exact unless the
// string has escapes, in which case it is where the string begins.
func (v *Value) Inner(i int) int {
	if v.Kind == String && v.End-v.Offset-2 == len(v.Text) {
		return v.Offset + 1 + i
	}
	return v.Offset
}

// Error is one thing that is wrong with the text.
type Error struct {
	Offset  int // in bytes
	Message string
}

// Parse reads one value and nothing after it. The value is nil when the syntax
// is broken; it is whole when the only errors are keys that stand twice, of which
// it holds the first.
func Parse(text []byte) (*Value, []Error) {
	p := &parser{text: text}
	if strings.HasPrefix(string(text[:min(3, len(text))]), "\ufeff") {
		p.at = 3
	}
	v := p.value(0)
	p.space()
	if !p.broken && p.at < len(text) {
		p.fail(p.at, "there is something after the end of the value")
	}
	if p.broken {
		return nil, p.errors
	}
	return v, p.errors
}

type parser struct {
	text   []byte
	at     int
	errors []Error
	broken bool // the syntax; every method returns at once from then on
}

func (p *parser) fail(at int, format string, args ...any) {
	if !p.broken {
		p.broken = true
		p.errors = append(p.errors, Error{at, fmt.Sprintf(format, args...)})
	}
}

// peek is the next byte, 0 at the end. A zero byte in the text is no JSON anyway.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) space() {
	for {
		switch p.peek() {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			p.fail(p.at, "JSON has no comments")
			return
		default:
			return
		}
	}
}

func (p *parser) value(depth int) *Value {
	p.space()
	if p.broken {
		return nil
	}
	v := &Value{Offset: p.at}
	switch b := p.peek(); {
	case p.at >= len(p.text):
		p.fail(p.at, "the text ends where a value should be")
	case b == '{':
		p.object(v, depth+1)
	case b == '[':
		p.array(v, depth+1)
	case b == '"':
		v.Kind, v.Text = String, p.quoted()
	case b == '-' || '0' <= b && b <= '9':
		p.number(v)
	case 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z':
		p.word(v)
	case b == '\'':
		p.fail(p.at, "strings are quoted with \", not with '")
	default:
		p.fail(p.at, "%s stands where a value should be", p.show())
	}
	v.End = p.at
	return v
}

// show names the character at the current place.
func (p *parser) show() string {
	r, n := utf8.DecodeRune(p.text[p.at:])
	if r == utf8.RuneError && n <= 1 {
		return "a byte that is not UTF-8"
	}
	return strconv.QuoteRune(r)
}

func (p *parser) enter(depth int) bool {
	if depth > MaxDepth {
		p.fail(p.at, "lists and objects are nested more than %d deep", MaxDepth)
		return false
	}
	p.at++
	p.space()
	return !p.broken
}

func (p *parser) object(v *Value, depth int) {
	v.Kind = Object
	if !p.enter(depth) {
		return
	}
	if p.peek() == '}' {
		p.at++
		return
	}
	seen := map[string]bool{}
	for {
		p.space()
		if p.broken {
			return
		}
		switch b := p.peek(); {
		case p.at >= len(p.text):
			p.fail(v.Offset, "this object has no closing }")
		case b == '}':
			p.fail(p.at, "the comma before this } has nothing after it")
		case b != '"':
			p.fail(p.at, "a key in double quotes should be here")
		}
		if p.broken {
			return
		}
		m := Member{Offset: p.at}
		m.Key = p.quoted()
		p.space()
		if !p.broken && p.peek() != ':' {
			p.fail(p.at, "a colon should be here, after the key %q", m.Key)
		}
		if p.broken {
			return
		}
		p.at++
		m.Value = p.value(depth)
		if p.broken {
			return
		}
		if seen[m.Key] {
			p.errors = append(p.errors, Error{m.Offset, fmt.Sprintf("the key %q stands twice in this object", m.Key)})
		} else {
			seen[m.Key] = true
			v.Members = append(v.Members, m)
		}
		if !p.next(v, '}', "object") {
			return
		}
	}
}

func (p *parser) array(v *Value, depth int) {
	v.Kind = Array
	if !p.enter(depth) {
		return
	}
	if p.peek() == ']' {
		p.at++
		return
	}
	for {
		p.space()
		if !p.broken && p.peek() == ']' {
			p.fail(p.at, "the comma before this ] has nothing after it")
		}
		item := p.value(depth)
		if p.broken {
			return
		}
		v.Items = append(v.Items, item)
		if !p.next(v, ']', "list") {
			return
		}
	}
}

// next reads what stands between two members: true for a comma, false after the
// closing bracket and on errors.
func (p *parser) next(v *Value, closing byte, what string) bool {
	p.space()
	switch b := p.peek(); {
	case p.broken:
	case b == ',':
		p.at++
		return true
	case b == closing:
		p.at++
	case p.at >= len(p.text):
		p.fail(v.Offset, "this %s has no closing %c", what, closing)
	default:
		p.fail(p.at, "a comma or %c should be here", closing)
	}
	return false
}

func (p *parser) word(v *Value) {
	start := p.at
	for b := p.peek(); 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'; b = p.peek() {
		p.at++
	}
	switch w := string(p.text[start:p.at]); w {
	case "null":
	case "true", "false":
		v.Kind, v.Bool = Bool, w == "true"
	default:
		p.fail(start, "%.40q is no value; text stands in double quotes", w)
	}
}

func (p *parser) number(v *Value) {
	start := p.at
	if p.peek() == '-' {
		p.at++
	}
	whole := p.at
	ok := p.digits()
	if ok && p.text[whole] == '0' && p.at > whole+1 {
		p.fail(start, "a number has no leading zeros")
		return
	}
	if ok && p.peek() == '.' {
		p.at++
		ok = p.digits()
	}
	if ok && (p.peek() == 'e' || p.peek() == 'E') {
		p.at++
		if p.peek() == '+' || p.peek() == '-' {
			p.at++
		}
		ok = p.digits()
	}
	if !ok {
		p.fail(start, "this is no whole number: digits are missing")
		return
	}
	v.Kind, v.Text = Number, string(p.text[start:p.at])
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || math.IsInf(n, 0) {
		p.fail(start, "the number %.40s is too large", v.Text)
		return
	}
	v.Number = n
}

func (p *parser) digits() bool {
	start := p.at
	for b := p.peek(); '0' <= b && b <= '9'; b = p.peek() {
		p.at++
	}
	return p.at > start
}

// quoted reads a string from its opening quote to past its closing one.
func (p *parser) quoted() string {
	start := p.at
	p.at++
	var b strings.Builder
	for {
		plain := p.at
		for p.at < len(p.text) && p.text[p.at] >= ' ' && p.text[p.at] != '"' && p.text[p.at] != '\\' {
			p.at++
		}
		if run := p.text[plain:p.at]; utf8.Valid(run) {
			b.Write(run)
		} else {
			p.fail(plain+firstInvalid(run), "this string has a byte that is not UTF-8")
		}
		switch {
		case p.broken:
		case p.at >= len(p.text) || p.text[p.at] == '\n' || p.text[p.at] == '\r':
			p.fail(start, "this string has no closing quote")
		case p.text[p.at] == '"':
			p.at++
			return b.String()
		case p.text[p.at] == '\\':
			p.escape(&b)
		default:
			p.fail(p.at, "a control character in a string is written as an escape")
		}
		if p.broken {
			return ""
		}
	}
}

func firstInvalid(run []byte) int {
	for i := 0; i < len(run); {
		r, n := utf8.DecodeRune(run[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return 0
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape(b *strings.Builder) {
	start := p.at
	p.at++
	c := p.peek()
	if plain, ok := escapes[c]; ok {
		b.WriteByte(plain)
		p.at++
		return
	}
	if c != 'u' {
		p.fail(start, "this escape is none of JSON's")
		return
	}
	r := p.hex(start)
	if utf16.IsSurrogate(r) && !p.broken {
		low := rune(-1)
		if p.peek() == '\\' {
			p.at++
			if p.peek() == 'u' {
				low = p.hex(start)
			}
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			p.fail(start, "this escape is half of a surrogate pair")
		}
	}
	b.WriteRune(r)
}

// hex reads the u and four digits of an escape.
func (p *parser) hex(start int) rune {
	if p.at+5 <= len(p.text) {
		if n, err := strconv.ParseUint(string(p.text[p.at+1:p.at+5]), 16, 16); err == nil {
			p.at += 5
			return rune(n)
		}
	}
	p.fail(start, "an escape \\u has four hexadecimal digits")
	return utf8.RuneError
}
