// Package origin decides whether a page may open a game's socket, from the
// Origin header that its browser sends and the patterns of the game's
// definition.
//
//	pattern                 allows
//	*                       any origin
//	https://a.example       that scheme, host and port; :443 is the same
//	a.example               any scheme and port of that host
//	*.example.com           any subdomain at any depth, not example.com itself
//
// No Origin header at all is allowed: only browsers send one, and only browsers
// have pages to protect. Against a list, "null", userinfo, a path or a malformed
// value never match. Hosts are compared without regard to case and in their
// ASCII form, which is the one that browsers send.
//
// A filter in the kernel decides by the same rules, so the matching is kept to
// what a bounded program can do: scan the header once, then compare with each
// rule. testdata/cases.txt is the table of cases that tests both.
package origin

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// MaxRules is the most patterns that a game can have.
const MaxRules = 64

// maxHost is the most bytes of a host name.
const maxHost = 253

// Kind is what a rule compares.
type Kind uint8

const (
	Exact     Kind = iota // scheme, host and port
	Host                  // the host
	Subdomain             // that the host ends with a dot and Rule.Host
)

// Rule is one pattern, parsed. All text is lower-case ASCII.
type Rule struct {
	Kind   Kind
	Scheme string // Exact only
	Host   string
	Port   uint16 // Exact only; 0 where the scheme has no default port and none is given
}

// Rules decide for one game. The zero value allows any origin.
type Rules struct {
	list []Rule // empty: any
}

// Parse reads the patterns of a definition; none means any. The error joins one
// for each bad pattern. The rules stand on their own even then, and never allow
// more than the good patterns say: with no good one they allow no page.
func Parse(patterns []string) (Rules, error) {
	var (
		rules  Rules
		bad    []error
		anyone bool
	)
	if len(patterns) > MaxRules {
		patterns, bad = patterns[:MaxRules], append(bad, fmt.Errorf("%d origins are more than %d", len(patterns), MaxRules))
	}
	for _, p := range patterns {
		if p == "*" {
			anyone = true
			continue
		}
		rule, err := parseRule(p)
		if err != nil {
			bad = append(bad, fmt.Errorf("the origin %.80q %w", p, err))
			continue
		}
		rules.list = append(rules.list, rule)
	}
	switch {
	case anyone:
		rules.list = nil
	case len(rules.list) == 0 && len(bad) > 0:
		rules.list = []Rule{{Kind: Host}} // the empty host, which nothing has
	}
	return rules, errors.Join(bad...)
}

// List is the rules one by one, for a filter elsewhere; empty where any origin is
// allowed. It belongs to r.
func (r Rules) List() []Rule { return r.list }

func parseRule(p string) (Rule, error) {
	scheme, rest, exact := strings.Cut(p, "://")
	if !exact {
		rest = p
	}
	suffix, wild := strings.CutPrefix(rest, "*.")
	switch {
	case p == "":
		return Rule{}, errors.New("is empty")
	case strings.EqualFold(p, "null"):
		return Rule{}, errors.New("is what sandboxed pages and files send; it cannot be listed, only * admits it")
	case strings.ContainsAny(p, " \t"):
		return Rule{}, errors.New("has a space in it")
	case strings.Contains(rest, "@"):
		return Rule{}, errors.New("has userinfo; an origin is scheme, host and port")
	case strings.ContainsAny(rest, "/?#"):
		return Rule{}, errors.New("has a path; an origin is scheme, host and port, with no slash after them")
	case wild && exact:
		return Rule{}, fmt.Errorf("mixes a scheme with a wildcard; %q allows any scheme and port of the subdomains", rest)
	case strings.Contains(suffix, "*"):
		return Rule{}, errors.New("has a * that is not the whole pattern and not a *. at its start")
	}
	if wild {
		host, err := asciiHost(suffix)
		return Rule{Kind: Subdomain, Host: host}, err
	}
	if !exact {
		if i := strings.LastIndexByte(rest, ':'); i >= 0 && !strings.HasSuffix(rest, "]") {
			return Rule{}, fmt.Errorf("has a port but no scheme; write https://%s, or %s for any port", rest, rest[:i])
		}
		host, err := asciiHost(rest)
		return Rule{Kind: Host, Host: host}, err
	}
	scheme = strings.ToLower(scheme)
	if !validScheme([]byte(scheme)) {
		return Rule{}, fmt.Errorf("has the scheme %q, which is none", scheme)
	}
	host, port, hasPort := splitPort([]byte(rest))
	name, err := asciiHost(string(host))
	if err != nil {
		return Rule{}, err
	}
	number := defaultPort([]byte(scheme))
	if hasPort {
		var ok bool
		if number, ok = parsePort(port); !ok {
			return Rule{}, fmt.Errorf("has the port %q; ports are 1 to 65535", port)
		}
	}
	return Rule{Kind: Exact, Scheme: scheme, Host: name, Port: number}, nil
}

// asciiHost brings a host to the form in which browsers send it.
func asciiHost(host string) (string, error) {
	if !validHost([]byte(host)) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil || !validHost([]byte(ascii)) {
			return "", fmt.Errorf("has the host %s, which is no host name", strconv.Quote(host))
		}
		host = ascii
	}
	return strings.ToLower(host), nil
}

// Allows decides on the value of an Origin header; present tells whether there is
// one. It allocates nothing and keeps nothing of origin.
func (r Rules) Allows(origin []byte, present bool) bool {
	if !present || len(r.list) == 0 {
		return true
	}
	scheme, host, port, ok := split(origin)
	if !ok {
		return false
	}
	for i := range r.list {
		rule := &r.list[i]
		switch rule.Kind {
		case Exact:
			if port == rule.Port && equal(scheme, rule.Scheme) && equal(host, rule.Host) {
				return true
			}
		case Host:
			if equal(host, rule.Host) {
				return true
			}
		case Subdomain:
			cut := len(host) - len(rule.Host)
			if cut > 1 && host[cut-1] == '.' && equal(host[cut:], rule.Host) {
				return true
			}
		}
	}
	return false
}

// split takes an origin apart: scheme "://" host [":" port].
func split(origin []byte) (scheme, host []byte, port uint16, ok bool) {
	i := bytes.Index(origin, []byte("://"))
	if i < 0 {
		return nil, nil, 0, false
	}
	scheme = origin[:i]
	host, number, hasPort := splitPort(origin[i+3:])
	if !validScheme(scheme) || !validHost(host) {
		return nil, nil, 0, false
	}
	port = defaultPort(scheme)
	if hasPort {
		if port, ok = parsePort(number); !ok {
			return nil, nil, 0, false
		}
	}
	return scheme, host, port, true
}

// splitPort cuts at the colon of the port, which is none of an IPv6 address's.
func splitPort(s []byte) (host, port []byte, has bool) {
	i := bytes.LastIndexByte(s, ':')
	if i < 0 || len(s) > 0 && s[len(s)-1] == ']' {
		return s, nil, false
	}
	return s[:i], s[i+1:], true
}

func parsePort(s []byte) (uint16, bool) {
	if len(s) == 0 || len(s) > 5 || s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, b := range s {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int(b-'0')
	}
	return uint16(n), n <= 65535
}

func defaultPort(scheme []byte) uint16 {
	switch {
	case equal(scheme, "https"), equal(scheme, "wss"):
		return 443
	case equal(scheme, "http"), equal(scheme, "ws"):
		return 80
	}
	return 0
}

func validScheme(s []byte) bool {
	for i, b := range s {
		b = lower(b)
		letter := 'a' <= b && b <= 'z'
		if !letter && (i == 0 || !('0' <= b && b <= '9' || b == '+' || b == '-' || b == '.')) {
			return false
		}
	}
	return len(s) > 0
}

// validHost accepts names of letters, digits, - and _ in labels that are not
// empty, and addresses of IPv6 in brackets.
func validHost(s []byte) bool {
	if len(s) == 0 || len(s) > maxHost {
		return false
	}
	if s[0] == '[' {
		if len(s) < 4 || s[len(s)-1] != ']' {
			return false
		}
		for _, b := range s[1 : len(s)-1] {
			b = lower(b)
			if !('0' <= b && b <= '9' || 'a' <= b && b <= 'f' || b == ':' || b == '.') {
				return false
			}
		}
		return true
	}
	last := byte('.')
	for _, b := range s {
		b = lower(b)
		switch {
		case 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_':
		case b == '.' && last != '.':
		default:
			return false
		}
		last = b
	}
	return last != '.'
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// equal compares with a lower-case text without regard to case.
func equal(s []byte, low string) bool {
	if len(s) != len(low) {
		return false
	}
	for i, b := range s {
		if lower(b) != low[i] {
			return false
		}
	}
	return true
}
