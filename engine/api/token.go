package api

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

// Bounds of a token, in bytes.
const (
	minToken = 16
	maxToken = 1024
)

// Token is what authorises a request, as `Authorization: Bearer TOKEN`. It is kept as its
// sha256, which is what is compared, in constant time: neither the length nor how much of a
// guess is right shows. Its methods may be called from any goroutine.
type Token struct {
	file  string
	sum   atomic.Pointer[[sha256.Size]byte] // nil: nobody is authorised
	decoy [sha256.Size]byte                 // of no token, to compare with where there is none
}

// OpenToken reads the token from a file, without the white space around it. Nobody is
// authorised where file is "", or the file is empty or not there.
func OpenToken(file string) (*Token, error) {
	t := &Token{file: file}
	rand.Read(t.decoy[:])
	_, err := t.Reload()
	return t, err
}

// Set reports whether anybody is authorised.
func (t *Token) Set() bool { return t.sum.Load() != nil }

// Reload reads the file again and tells whether the token is another one now. After an
// error nobody is authorised: the old token may have been taken back for a reason.
func (t *Token) Reload() (changed bool, err error) {
	next, err := t.read()
	old := t.sum.Swap(next)
	if old == nil || next == nil {
		return old != next, err
	}
	return *old != *next, nil
}

func (t *Token) read() (*[sha256.Size]byte, error) {
	if t.file == "" {
		return nil, nil
	}
	f, err := os.Open(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading the token: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxToken+3)) // and a line end, and whether there is more
	if err != nil {
		return nil, fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	switch {
	case token == "" && len(text) <= maxToken:
		return nil, nil
	case len(token) < minToken || len(token) > maxToken || len(text) == maxToken+3:
		return nil, fmt.Errorf("the token in %s has to have %d to %d characters", t.file, minToken, maxToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("the token in %s has to be one word of letters, digits and signs of ASCII", t.file)
	}
	sum := sha256.Sum256([]byte(token))
	return &sum, nil
}

// Allows reports whether a request is authorised.
func (t *Token) Allows(r *http.Request) bool {
	given := ""
	lines := r.Header["Authorization"]
	if len(lines) == 1 {
		given = lines[0]
	}
	scheme, token, _ := strings.Cut(given, " ")
	sum, want := sha256.Sum256([]byte(token)), t.sum.Load()
	set := want != nil
	if !set {
		want = &t.decoy
	}
	same := subtle.ConstantTimeCompare(sum[:], want[:]) == 1
	return same && set && strings.EqualFold(scheme, "Bearer")
}
