package front

import (
	"strings"

	"github.com/grafana/sobek/file"

	"gamehoster/games/internal/tokens"
)

const (
	refusedRegexp = "regular expressions are not part of the body language: compare texts with === and <, and look into them in client.js"
	refusedAwait  = "a body cannot wait: await is not part of the body language; keep a field that counts ticks down, and go on when it is 0"
)

// masked is the name that stands where a regular expression was. It is declared as
// refused, so that nothing more is said about it. The shortest expression has three
// bytes as well.
const masked = "$_$"

// mask reports what would make the parser give up on a whole file though the rest of
// it could be read, and writes something of the same length in its place.
func (l *loader) mask(text string, base int) string {
	t := tokens.Tokenizer{Text: text}
	var out []byte
	put := func(k tokens.Token, problem, instead string) {
		l.report.errorf(file.Idx(base+k.At), "%s", problem)
		if out == nil {
			out = []byte(text)
		}
		n := copy(out[k.At:k.End], instead)
		for i := k.At + n; i < k.End; i++ {
			out[i] = ' '
		}
	}
	var before tokens.Token
	for k := t.Next(); k.Kind != tokens.End; before, k = k, t.Next() {
		switch {
		case k.Kind == tokens.Close:
			t.Close()
		case k.Kind == tokens.Regexp:
			for k.End < len(text) && 'a' <= text[k.End] && text[k.End] <= 'z' {
				k.End++ // its flags
			}
			put(k, refusedRegexp, masked)
		case k.Kind == tokens.Word && t.Word(k) == "await" && waits(text, t.Word(before), k):
			instead := masked + "+" // what is waited for is a value that nothing is known of
			if t.Word(before) == "for" {
				instead = ""
			}
			put(k, refusedAwait, instead)
		}
	}
	if out == nil {
		return text
	}
	return string(out)
}

// waits reports whether the word await is the operator, and no name or key, by what
// stands around it.
func waits(text, before string, k tokens.Token) bool {
	switch before {
	case ".", "?.", "let", "const", "var", "function", "async", "import", "as":
		return false
	}
	rest := strings.TrimLeft(text[k.End:], " \t")
	return rest != "" && !strings.ContainsAny(rest[:1], ".,;:)]}=\r\n")
}
