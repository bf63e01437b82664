package api

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authorised reports whether a request with these Authorization headers is.
func authorised(t *Token, lines ...string) bool {
	return t.Allows(&http.Request{Header: http.Header{"Authorization": lines}})
}

func writeToken(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	writeToken(t, file, " "+testToken+"\r\n")
	tok, err := OpenToken(file)
	if err != nil || !tok.Set() {
		t.Fatalf("a token was read as %v, %v", tok.Set(), err)
	}
	for _, line := range []string{"Bearer " + testToken, "bearer " + testToken, "BEARER " + testToken} {
		if !authorised(tok, line) {
			t.Errorf("%q is not authorised", line)
		}
	}
	for _, lines := range [][]string{
		nil, {""}, {"Bearer"}, {"Bearer "}, {testToken}, {"Basic " + testToken}, {"Bearer  " + testToken}, {"Bearer " + testToken + " "}, {" Bearer " + testToken}, {"Bearer\t" + testToken},
		{"Bearer " + testToken[1:]}, {"Bearer " + testToken[:len(testToken)-1]}, {"Bearer " + testToken + "x"}, {"Bearer " + strings.ToUpper(testToken)}, {"Bearer " + testToken + "\x00"},
		{"Bearer " + testToken, "Bearer " + testToken}, {"Bearer x", "Bearer " + testToken}, {"Bearer " + testToken + ", Bearer " + testToken}, {"Bearer " + strings.Repeat("x", 16<<10)},
	} {
		if authorised(tok, lines...) {
			t.Errorf("%.80q is authorised", lines)
		}
	}
}

func TestATokenIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	tok, err := OpenToken(file)
	if err != nil || tok.Set() {
		t.Fatalf("a file that is not there came to %v, %v", tok.Set(), err)
	}
	if authorised(tok, "Bearer ") || authorised(tok, "Bearer "+testToken) {
		t.Fatal("somebody is authorised without a token")
	}
	for _, c := range []struct {
		text    string
		changed bool
		set     bool
		failed  bool
	}{
		{testToken, true, true, false}, {testToken + "\n", false, true, false}, {"", true, false, false}, {" \n", false, false, false}, {testToken, true, true, false},
		{"short", true, false, true}, {"short", false, false, true}, {"two words of a token", false, false, true}, {"not-ascii-tökens-here", false, false, true}, {strings.Repeat("x", maxToken+1), false, false, true},
		{strings.Repeat("x", maxToken), true, true, false}, {strings.Repeat("y", maxToken) + "\n", true, true, false}, {strings.Repeat(" ", 5000) + testToken, true, false, true},
	} {
		writeToken(t, file, c.text)
		changed, err := tok.Reload()
		if changed != c.changed || tok.Set() != c.set || (err != nil) != c.failed {
			t.Fatalf("%.40q came to changed %v, set %v, %v; want %+v", c.text, changed, tok.Set(), err, c)
		}
	}
	if _, err := OpenToken(filepath.Dir(file)); err == nil {
		t.Fatal("a folder is taken for a token")
	}
	if tok, err := OpenToken(""); err != nil || tok.Set() || authorised(tok, "Bearer ") {
		t.Fatal("without a file somebody is authorised")
	}
}

// How much of a guess is right does not show in the time that it takes, nor does whether
// there is a token at all.
func TestAGuessTakesItsTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	secret := strings.Repeat("s", maxToken)
	writeToken(t, file, secret)
	set, err := OpenToken(file)
	if err != nil {
		t.Fatal(err)
	}
	none, err := OpenToken("")
	if err != nil {
		t.Fatal(err)
	}
	guesses := []struct {
		what  string
		token *Token
		r     *http.Request
		best  time.Duration
	}{
		{what: "nothing right", token: set, r: &http.Request{Header: http.Header{"Authorization": {"Bearer " + strings.Repeat("x", maxToken)}}}},
		{what: "all but the end right", token: set, r: &http.Request{Header: http.Header{"Authorization": {"Bearer " + secret[1:] + "x"}}}},
		{what: "no token at all", token: none, r: &http.Request{Header: http.Header{"Authorization": {"Bearer " + secret}}}},
	}
	// The best of many is what the code takes; the machine takes the rest.
	for range 300 {
		for i := range guesses {
			g := &guesses[i]
			begun := time.Now()
			for range 20 {
				if g.token.Allows(g.r) {
					t.Fatalf("%s is authorised", g.what)
				}
			}
			if took := time.Since(begun); g.best == 0 || took < g.best {
				g.best = took
			}
		}
	}
	for _, g := range guesses[1:] {
		t.Logf("%s takes %.3f of what a guess takes of which nothing is right", g.what, float64(g.best)/float64(guesses[0].best))
		if ratio := float64(g.best) / float64(guesses[0].best); ratio < 0.8 || ratio > 1.25 {
			t.Errorf("%s shows: it takes %.2f of the time", g.what, ratio)
		}
	}
}
