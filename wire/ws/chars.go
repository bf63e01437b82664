package ws

// charset is a set of bytes.
type charset [256]bool

// The alphabets of a request's head (RFC 9110 and 9112).
var (
	isToken  = makeCharset("!#$%&'*+-.^_`|~", letters, digits)                   // methods, header names, subprotocols
	isTarget = makeCharset("!$&'()*+,;=-._~:@/?%[]\"<>\\^`{|}", letters, digits) // visible ASCII without the fragment's mark
	isHost   = makeCharset("!$&'()*+,;=-._~:%[]", letters, digits)
	isValue  = makeValueCharset()
)

const (
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
)

// Needles for package bytes.
var (
	comma     = []byte(",")
	space     = []byte(" ")
	schemeEnd = []byte("://")
	rootPath  = []byte("/")
)

func makeCharset(members ...string) (set charset) {
	for _, m := range members {
		for i := range len(m) {
			set[m[i]] = true
		}
	}
	return set
}

// makeValueCharset is what a header's value may hold: all but control characters, tab excepted.
func makeValueCharset() (set charset) {
	for i := range set {
		set[i] = i >= ' ' && i != 0x7F || i == '\t'
	}
	return set
}

func allIn(b []byte, set *charset) bool {
	for _, c := range b {
		if !set[c] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// trim takes spaces and tabs from both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares with s, which has no upper-case letter, without regard to the case of ASCII letters.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != s[i] {
			return false
		}
	}
	return true
}
