package origin

import (
	"os"
	"strings"
	"testing"
)

type testCase struct {
	line     string
	patterns []string
	origin   string
	present  bool
	allow    bool
}

func readCases(t testing.TB) []testCase {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, " | ")
		if len(parts) != 3 || parts[2] != "allow" && parts[2] != "deny" {
			t.Fatalf("a case has three parts and a verdict: %s", line)
		}
		c := testCase{line: line, origin: parts[1], present: parts[1] != "-", allow: parts[2] == "allow"}
		if parts[0] != "-" {
			c.patterns = strings.Split(parts[0], ",")
		}
		if parts[1] == `""` {
			c.origin = ""
		}
		cases = append(cases, c)
	}
	return cases
}

func TestCases(t *testing.T) {
	cases := readCases(t)
	if len(cases) < 60 {
		t.Errorf("%d cases, want at least 60", len(cases))
	}
	for _, c := range cases {
		rules, err := Parse(c.patterns)
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
		}
		if got := rules.Allows([]byte(c.origin), c.present); got != c.allow {
			t.Errorf("%s: got %t", c.line, got)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                         `the origin "" is empty`,
		"null":                     `the origin "null" is what sandboxed pages and files send; it cannot be listed, only * admits it`,
		"a example":                `the origin "a example" has a space in it`,
		"https://a.example/":       `the origin "https://a.example/" has a path; an origin is scheme, host and port, with no slash after them`,
		"a.example/game":           `the origin "a.example/game" has a path; an origin is scheme, host and port, with no slash after them`,
		"https://me@a.example":     `the origin "https://me@a.example" has userinfo; an origin is scheme, host and port`,
		"https://*.example.com":    `the origin "https://*.example.com" mixes a scheme with a wildcard; "*.example.com" allows any scheme and port of the subdomains`,
		"a.*.example.com":          `the origin "a.*.example.com" has a * that is not the whole pattern and not a *. at its start`,
		"*example.com":             `the origin "*example.com" has a * that is not the whole pattern and not a *. at its start`,
		"*.":                       `the origin "*." has the host "", which is no host name`,
		"a.example:8080":           `the origin "a.example:8080" has a port but no scheme; write https://a.example:8080, or a.example for any port`,
		"https://a.example:0":      `the origin "https://a.example:0" has the port "0"; ports are 1 to 65535`,
		"https://a.example:":       `the origin "https://a.example:" has the port ""; ports are 1 to 65535`,
		"https://":                 `the origin "https://" has the host "", which is no host name`,
		"https://a..example":       `the origin "https://a..example" has the host "a..example", which is no host name`,
		"9p://a.example":           `the origin "9p://a.example" has the scheme "9p", which is none`,
		"https://a.example:123456": `the origin "https://a.example:123456" has the port "123456"; ports are 1 to 65535`,
	} {
		rules, err := Parse([]string{pattern})
		if err == nil || err.Error() != want {
			t.Errorf("Parse(%q)\n got %v\nwant %s", pattern, err, want)
		}
		if rules.Allows([]byte("https://a.example"), true) {
			t.Errorf("the bad pattern %q allows a page", pattern)
		}
	}
	if _, err := Parse(make([]string, MaxRules+1)); err == nil {
		t.Error("too many patterns are accepted")
	}
}

func TestAllocAllows(t *testing.T) {
	rules, err := Parse([]string{"https://a.example", "b.example", "*.c.example"})
	if err != nil {
		t.Fatal(err)
	}
	header := []byte("https://www.c.example:8443")
	n := testing.AllocsPerRun(100, func() {
		if !rules.Allows(header, true) {
			t.Fatal("denied")
		}
	})
	t.Logf("budget 0, measured %v", n)
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAllows(b *testing.B) {
	rules, err := Parse([]string{"https://a.example", "b.example", "*.c.example"})
	if err != nil {
		b.Fatal(err)
	}
	header := []byte("https://www.c.example:8443")
	b.ReportAllocs()
	for b.Loop() {
		rules.Allows(header, true)
	}
}

// No header may make a list allow what it does not name.
func FuzzAllows(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(c.origin)
	}
	rules, err := Parse([]string{"https://a.example", "b.example", "*.c.example"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		if !rules.Allows([]byte(origin), true) {
			return
		}
		low := strings.ToLower(origin)
		_, rest, _ := strings.Cut(low, "://")
		host, _, _ := strings.Cut(rest, ":")
		if low != "https://a.example" && low != "https://a.example:443" && host != "b.example" && !strings.HasSuffix(host, ".c.example") {
			t.Errorf("%q is allowed", origin)
		}
		if strings.ContainsAny(origin, "/@?# ") && strings.Count(origin, "/") != 2 {
			t.Errorf("%q is allowed", origin)
		}
	})
}
