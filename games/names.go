package games

import (
	"strings"
)

// What no function in a module can be called: ECMAScript's reserved words, with those
// that strict code reserves, and the two names that it keeps from being declared. An
// entity's name is that of its function in view.js, a command's that of its handlers.
// Fields and plurals only ever follow a dot, where JavaScript takes any name.
//
// async, of, get, set, as, from and accessor have a meaning at some places only, and are
// names at all others.
var jsReserved = words(`await break case catch class const continue debugger default delete do else enum export extends
	false finally for function if import in instanceof new null return super switch this throw true try typeof var void
	while with yield
	implements interface let package private protected public static
	arguments eval`)

// What can be declared in a module, but means something else to whoever reads it.
var jsValues = words(`undefined NaN Infinity`)

// Names that every JavaScript object has or that give one a meaning; a property
// of a world object with such a name would break code that knows nothing of it.
var jsObject = words(`constructor prototype hasOwnProperty isPrototypeOf propertyIsEnumerable toString toLocaleString
	valueOf toJSON then`)

// Names that bodies have without a declaration.
var bodyGlobals = words(`game random serverRandom log Math Number String Object Array Boolean globalThis`)

// What every object of the world has, and what the instance has besides.
var (
	rowMembers      = words(`id owner remove`)
	instanceMembers = words(`tick dt open end players`)
)

// Names that are no entity's, because its file, its functions or its collection
// would be taken for something else.
var notEntities = words(`instance player players commands view client server gamehoster
	id owner count find spawn remove tick dt open end viewer self command`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// maxName is the most bytes of a name.
const maxName = 64

// functionName says what keeps a name from being one of a function in a body file, as
// identifier does.
func functionName(name string) string {
	switch {
	case jsReserved[name]:
		return "is a reserved word of JavaScript, which no function can be called"
	case jsValues[name]:
		return "is a value of JavaScript's"
	}
	return identifier(name)
}

// identifier says what keeps a name from being one in JavaScript, behind a dot, in ASCII
// and of a sensible length; empty for a good one.
func identifier(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is longer than 64 characters"
	case jsObject[name]:
		return "is a name that every JavaScript object has"
	case strings.HasPrefix(name, "__"):
		return "begins with two underscores, which JavaScript engines keep for themselves"
	}
	for i := range len(name) {
		b := name[i]
		letter := 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b == '_' || b == '$'
		if !letter && (i == 0 || b < '0' || b > '9') {
			return "is no JavaScript identifier: letters, digits, _ and $ only, no digit first"
		}
	}
	return ""
}

// suggest finds the known word that was probably meant, or returns "".
func suggest(word string, known []string) string {
	if len(word) > maxName {
		return ""
	}
	word = strings.ToLower(word)
	many := word
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		many = stem + "ies"
	}
	best, least := "", 1+max(1, len(word)/3)
	for _, k := range known {
		low := strings.ToLower(k)
		d := min(distance(word, low), distance(many, low))
		if d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// didYouMean is suggest as the end of a sentence.
func didYouMean(word string, known []string) string {
	if s := suggest(word, known); s != "" {
		return `; did you mean "` + s + `"?`
	}
	return ""
}

// distance is the number of insertions, deletions, changes and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
