package tokens

import "unicode/utf8"

// Limits are what parsing a text may cost. A parser that works by recursion goes as
// deep as there are operators whose operand is all that follows, and the machine's
// stack ends somewhere; ends it in a way that no one can catch.
type Limits struct {
	Nesting int // of brackets
	Tokens  int // of one statement, what is in brackets of their own or between commas left out
	Elses   int // of one function
	Angles  int // < that wait for their >, as in types; 0 for any number

	// Functions => in all and, as parsers read them more than once, in parentheses; 0
	// for any number.
	Arrows, Inner int
}

// Problem is what a text is refused for.
type Problem uint8

const (
	Fine Problem = iota
	NoText
	TooDeep
	Arrows
)

// Check finds the first place where a text is past the limits, or is no UTF-8.
func (l *Limits) Check(text string) (at int, p Problem) {
	if !utf8.ValidString(text) {
		for at < len(text) {
			r, size := utf8.DecodeRuneInString(text[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		return at, NoText
	}
	h := &count{Tokenizer: Tokenizer{Text: text}, limits: l}
	for {
		k := h.Next()
		if k.Kind == End {
			return 0, Fine
		}
		if p := h.take(k); p != Fine {
			return k.At, p
		}
	}
}

// count is what a text has had so far.
type count struct {
	Tokenizer
	limits *Limits

	run, elses, angles int
	depth              int
	parens             int
	arrows, inner      int
	before             Token
	head               bool // the bracket closed last was that of an if, for or while
}

// base is where the counting of tokens began in the brackets around.
func (h *count) base() int {
	if n := len(h.Opens); n > 0 {
		return h.Opens[n-1].base
	}
	return 0
}

// statements reports whether statements can stand where the text is.
func (h *count) statements() bool {
	n := len(h.Opens)
	return n == 0 || h.Text[h.Opens[n-1].At] == '{'
}

func (h *count) take(k Token) Problem {
	before := h.before
	h.before = k
	starts := k.Kind == Word && !joints[h.Word(k)] || k.Kind == Number || k.Kind == String
	if k.Newline && starts && h.statements() && h.endsValue(before) && !(before.Kind == Close && h.head) {
		h.run, h.angles = h.base(), 0 // a statement without a semicolon ends here
	}
	if len(h.Opens) == 0 && before.Kind == Close && h.Word(k) != "else" {
		h.elses = 0
	}
	h.run++
	switch k.Kind {
	case Open:
		h.opened()
	case Close:
		h.closed(k)
	case Word:
		if h.Word(k) == "else" {
			h.elses++
		}
	case Mark:
		if problem := h.mark(h.Word(k)); problem != Fine {
			return problem
		}
	}
	if n := len(h.Opens); n > h.depth && h.Opens[n-1].template {
		h.Opens[n-1].base = h.run
	}
	h.depth = len(h.Opens)
	if h.depth > h.limits.Nesting || h.run > h.limits.Tokens || h.elses > h.limits.Elses || h.limits.Angles > 0 && h.angles > h.limits.Angles {
		return TooDeep
	}
	return Fine
}

// opened begins to count in a bracket.
func (h *count) opened() {
	o := &h.Opens[len(h.Opens)-1]
	o.base = h.run
	if h.Text[o.At] == '(' {
		h.parens++
	}
}

func (h *count) closed(k Token) {
	n := len(h.Opens)
	if n == 0 {
		return
	}
	o := h.Opens[n-1]
	if h.Text[o.At] == '(' {
		h.parens--
	}
	h.head = o.head
	h.Close()
	if len(h.Opens) == n { // the template goes on with another value
		h.depth = 0
		return
	}
	h.run = o.base
	if o.block {
		h.run, h.angles = h.base(), 0
	}
}

func (h *count) mark(w string) Problem {
	switch w {
	case ";":
		if h.statements() {
			h.run, h.angles = h.base(), 0
		}
	case ",":
		h.run = h.base()
	case "<":
		h.angles++
	case ">":
		h.angles = max(h.angles-1, 0)
	case "=>":
		if h.arrows++; h.parens > 0 {
			h.inner++
		}
		if h.limits.Arrows > 0 && (h.arrows > h.limits.Arrows || h.inner > h.limits.Inner) {
			return Arrows
		}
	}
	return Fine
}
