// Package tokens goes over JavaScript and TypeScript piece by piece, to tell of a
// text what has to be known before it is given to a parser, or why one did not take
// it.
package tokens

import (
	"strings"
	"unicode/utf8"
)

// Kind is what a piece of a text is, as far as brackets and statements can be
// told without parsing it.
type Kind uint8

// The kinds of tokens.
const (
	End Kind = iota
	Word
	Number
	String // or a template, up to its next ${ or its end
	Regexp
	Open // ( [ { ${
	Close
	Mark // anything else
)

// Token is one piece, Text[At:End].
type Token struct {
	Kind    Kind
	At, End int
	Newline bool // there is one before it
}

// Tokenizer goes over JavaScript or TypeScript, skipping comments, without an idea
// of what it means. It never fails: what no parser would take is a mark or a word.
type Tokenizer struct {
	Text  string
	at    int
	last  Token
	Opens []Bracket // the brackets that are open
}

// Bracket is an opening bracket, and what belongs to whoever goes over the text.
type Bracket struct {
	Token
	template bool // ${
	block    bool // { of statements, as far as can be told
	head     bool // ( of an if, for or while
	base     int
}

// Word is the text of a token.
func (t *Tokenizer) Word(k Token) string { return t.Text[k.At:k.End] }

// Next gives the next token. The bracket of an Open is the last of Opens already,
// that of a Close still is until Close is called.
func (t *Tokenizer) Next() Token {
	k := Token{Newline: t.space()}
	if k.At, k.End = t.at, t.at; t.at >= len(t.Text) {
		return k
	}
	k.Kind = t.read()
	k.End = t.at
	if k.Kind == Open {
		t.Opens = append(t.Opens, Bracket{Token: k, block: t.opensBlock(k), head: heads[t.Word(t.last)]})
	}
	if k.Kind != String || t.Text[t.at-1] != '{' { // a template has noted its bracket itself
		t.last = k
	}
	return k
}

// Close drops the bracket that a token closes and goes on in the template that
// it was in.
func (t *Tokenizer) Close() {
	if n := len(t.Opens); n > 0 {
		o := t.Opens[n-1]
		t.Opens = t.Opens[:n-1]
		if o.template {
			t.template()
		}
	}
}

func (t *Tokenizer) space() (newline bool) {
	for t.at < len(t.Text) {
		rest := t.Text[t.at:]
		switch c := rest[0]; {
		case c == '\n':
			newline = true
			t.at++
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			t.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			t.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				t.at = len(t.Text)
				return newline
			}
			newline = newline || strings.Contains(rest[:end+2], "\n")
			t.at += end + 4
		case strings.HasPrefix(rest, "\u2028") || strings.HasPrefix(rest, "\u2029"):
			newline = true
			t.at += 3
		case strings.HasPrefix(rest, "\u00a0") || strings.HasPrefix(rest, "\ufeff"):
			_, size := utf8.DecodeRuneInString(rest)
			t.at += size
		default:
			return newline
		}
	}
	return newline
}

func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '#' || c == '\\' || c >= 0x80
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (t *Tokenizer) read() Kind {
	c := t.Text[t.at]
	switch {
	case isLetter(c):
		for t.at < len(t.Text) && (isLetter(t.Text[t.at]) || isDigit(t.Text[t.at])) {
			t.at++
		}
		return Word
	case isDigit(c):
		for t.at < len(t.Text) && (isLetter(t.Text[t.at]) || isDigit(t.Text[t.at]) || t.Text[t.at] == '.') {
			t.at++
		}
		return Number
	case c == '"' || c == '\'':
		t.quoted(c)
		return String
	case c == '`':
		t.at++
		t.template()
		return String
	case c == '(' || c == '[' || c == '{':
		t.at++
		return Open
	case c == ')' || c == ']' || c == '}':
		t.at++
		return Close
	case c == '/' && !t.endsValue(t.last):
		t.regexp()
		return Regexp
	}
	for _, mark := range []string{"=>", "++", "--", "**", "&&", "||", "??", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(t.Text[t.at:], mark) {
			t.at += 2
			return Mark
		}
	}
	t.at++
	return Mark
}

// quoted skips a string, which ends at its line's end at the latest.
func (t *Tokenizer) quoted(quote byte) {
	for t.at++; t.at < len(t.Text); t.at++ {
		switch t.Text[t.at] {
		case quote:
			t.at++
			return
		case '\n':
			return
		case '\\':
			t.at++
		}
	}
	t.at = min(t.at, len(t.Text))
}

// template skips the text of a template and opens the bracket of a value in it.
func (t *Tokenizer) template() {
	for ; t.at < len(t.Text); t.at++ {
		switch t.Text[t.at] {
		case '`':
			t.at++
			return
		case '\\':
			t.at++
		case '$':
			if strings.HasPrefix(t.Text[t.at:], "${") {
				t.at += 2
				k := Token{Kind: Open, At: t.at - 2, End: t.at}
				t.Opens = append(t.Opens, Bracket{Token: k, template: true})
				t.last = k
				return
			}
		}
	}
	t.at = min(t.at, len(t.Text))
}

func (t *Tokenizer) regexp() {
	class := false
	for t.at++; t.at < len(t.Text); t.at++ {
		switch c := t.Text[t.at]; {
		case c == '\n':
			return
		case c == '\\':
			t.at++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			t.at++
			return
		}
	}
	t.at = min(t.at, len(t.Text))
}

// prefixes are the words that stand before an expression, a statement or a type,
// so that no value ends with them.
var prefixes = set(`await case delete do else extends in instanceof is asserts infer keyof new of readonly return
	satisfies as throw typeof unique void yield abstract declare async export default import const let var type`)

// heads are the words whose parentheses a statement follows.
var heads = set(`if for while with switch catch`)

// joints are the words that go on with an expression or a type.
var joints = set(`as extends implements in instanceof is of satisfies`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// endsValue reports whether an expression can end with a token.
func (t *Tokenizer) endsValue(k Token) bool {
	switch k.Kind {
	case Word:
		return !prefixes[t.Word(k)]
	case Number, String, Regexp, Close:
		return true
	case Mark:
		return t.Word(k) == "++" || t.Word(k) == "--"
	}
	return false
}

// opensBlock reports whether a bracket opens statements and no object, by what is
// before it.
func (t *Tokenizer) opensBlock(k Token) bool {
	if t.Text[k.At] != '{' {
		return false
	}
	switch before := t.last; before.Kind {
	case End, Word:
		w := t.Word(before)
		return !prefixes[w] || w == "else" || w == "do"
	case Close, Open:
		return t.Text[before.At] == ')' || t.Text[before.At] == '}' || t.Text[before.At] == '{'
	case Mark:
		w := t.Word(before)
		return w == ";" || w == "=>" || w == ">"
	}
	return false
}

// Unclosed finds the bracket that a text lacks the end of; ok is false where none
// is lacking. Where several could be it, it is the innermost that the lines which
// follow are indented less than.
func Unclosed(text string) (at int, ok bool) {
	t := &Tokenizer{Text: text}
	suspect := -1
	for {
		k := t.Next()
		if k.Kind == End {
			break
		}
		if k.Kind != Close {
			continue
		}
		if n := len(t.Opens); n > 0 {
			o := t.Opens[n-1]
			if !matches(text[o.At:], text[k.At]) {
				return o.At, true
			}
			if k.Newline && suspect < 0 && indent(text, k.At) < indent(text, o.At) {
				suspect = o.At
			}
		}
		t.Close()
	}
	switch n := len(t.Opens); {
	case n == 0:
		return 0, false
	case suspect >= 0:
		return suspect, true
	default:
		return t.Opens[n-1].At, true
	}
}

func matches(opened string, closed byte) bool {
	switch opened[0] {
	case '(':
		return closed == ')'
	case '[':
		return closed == ']'
	}
	return closed == '}'
}

// indent is how far the line of a place is moved in, a tab for one.
func indent(text string, at int) int {
	line := text[strings.LastIndexByte(text[:at], '\n')+1:]
	return len(line) - len(strings.TrimLeft(line, " \t"))
}
