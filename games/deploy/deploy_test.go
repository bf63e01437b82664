package deploy

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/games"
)

const token = "a-token-of-the-box"

// fakeBox keeps to the API's contract: contents are staged by hash, a commit takes
// effect when all are there, and the next status but one is the verdict.
type fakeBox struct {
	*httptest.Server
	mu       sync.Mutex
	files    map[string]map[string][]byte // by D/G, then path
	staged   map[string][]byte
	asked    []string // method and path of each request
	verdict  status
	building int                                                      // how many statuses say so
	refuse   func(n int, w http.ResponseWriter, r *http.Request) bool // answers instead of the box where true
}

func newBox(t *testing.T, start func(*httptest.Server)) *fakeBox {
	b := &fakeBox{files: map[string]map[string][]byte{}, staged: map[string][]byte{}, verdict: status{State: Live, Hash: "0123456789abcdef"}}
	b.Server = httptest.NewUnstartedServer(b)
	b.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(b.Server)
	t.Cleanup(b.Close)
	return b
}

func (b *fakeBox) client(t *testing.T, roots *x509.CertPool) *Client {
	t.Helper()
	c, err := NewClient(b.URL+"/", token, roots)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	now := make(chan time.Time)
	close(now)
	c.after = func(time.Duration) <-chan time.Time { return now }
	return c
}

func sum(p []byte) string { h := sha256.Sum256(p); return hex.EncodeToString(h[:]) }

func (b *fakeBox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r.Method+" "+r.URL.Path)
	if b.refuse != nil && b.refuse(len(b.asked), w, r) {
		return
	}
	part := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if r.Header.Get("Authorization") != "Bearer "+token || part[0] != "api" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	answer := func(v any) { _ = json.NewEncoder(w).Encode(v) }
	if len(part) == 2 {
		answer(map[string]any{})
		return
	}
	at := strings.Join(part[2:4], "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	switch what := r.Method + " " + part[4]; {
	case part[2] == "unknown.example":
		w.WriteHeader(http.StatusNotFound)
	case what == "PUT blobs":
		if sum(body) != part[5] {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		b.staged[part[5]] = body
		answer(map[string]any{})
	case what == "POST commit":
		b.commit(at, body, answer)
	case what == "GET status":
		s := b.verdict
		if b.building > 0 {
			b.building--
			s = status{State: Building}
		}
		answer(s)
	case what == "GET files":
		m := manifest{}
		for p, text := range b.files[at] {
			m.Files = append(m.Files, entry{p, sum(text)})
		}
		answer(m)
	case what == "PUT files":
		name := strings.Join(part[5:], "/")
		if old, ok := b.files[at][name]; ok && r.Header.Get("If-Match") != `"`+sum(old)+`"` {
			w.WriteHeader(http.StatusPreconditionFailed)
			answer(map[string]string{"error": "it is another"})
			return
		}
		b.put(at, name, body)
		answer(map[string]any{})
	}
}

func (b *fakeBox) put(at, name string, text []byte) {
	if b.files[at] == nil {
		b.files[at] = map[string][]byte{}
	}
	b.files[at][name] = text
}

func (b *fakeBox) commit(at string, body []byte, answer func(any)) {
	var m manifest
	if err := json.Unmarshal(body, &m); err != nil {
		panic(err)
	}
	has := map[string][]byte{}
	for _, text := range b.files[at] {
		has[sum(text)] = text
	}
	for h, text := range b.staged {
		has[h] = text
	}
	var missing []string
	for _, f := range m.Files {
		if _, ok := has[f.SHA256]; !ok && !slices.Contains(missing, f.SHA256) {
			missing = append(missing, f.SHA256)
		}
	}
	if missing != nil {
		answer(map[string]any{"missing": missing})
		return
	}
	if m.Delete {
		delete(b.files, at)
	}
	for _, f := range m.Files {
		b.put(at, f.Path, has[f.SHA256])
	}
	s := b.verdict
	if b.building > 0 {
		s = status{State: Building}
	}
	answer(map[string]any{"verdict": s})
}

func (b *fakeBox) requests(prefix string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.asked {
		if strings.HasPrefix(r, prefix) {
			n++
		}
	}
	return n
}

// tally is a Progress that counts.
type tally struct {
	mu           sync.Mutex
	files, sent  int
	bytes, begun int64
	waited       bool
	names        []string
}

func (p *tally) Begin(files int, bytes int64) { p.begun, p.bytes = int64(files), bytes }
func (p *tally) Sent(n int)                   { p.mu.Lock(); p.sent += n; p.mu.Unlock() }
func (p *tally) Waiting()                     { p.waited = true }
func (p *tally) Uploaded(file string, _ int) {
	p.mu.Lock()
	p.files++
	p.names = append(p.names, file)
	p.mu.Unlock()
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// dots is a folder with a game as small as games get.
func dots(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "dots")
	write(t, dir, map[string]string{
		"gamehoster-game.json": "{}", "player.js": "one\ntwo\n", "empty.js": "", "page/index.html": "<p>\n", "page/copy.html": "<p>\n",
		"gamehoster.js": "generated", ".hidden": "hidden", "node_modules/x/y.js": "theirs",
	})
	return dir
}

func read(t *testing.T, dir string) *games.Folder {
	t.Helper()
	f, findings := games.ReadFolder(dir)
	if f == nil {
		t.Fatal(findings)
	}
	return f
}

var dotsAt = Target{Domain: "play.example", Game: "dots"}

func TestSyncUploadsOnlyWhatChanged(t *testing.T) {
	b := newBox(t, (*httptest.Server).Start)
	c, dir := b.client(t, nil), dots(t)
	b.building = 2
	var told tally
	v, err := c.Sync(t.Context(), dotsAt, read(t, dir), &told)
	if err != nil || !v.OK() || v.Hash != b.verdict.Hash {
		t.Fatal(v, err)
	}
	// Two files have one content.
	if v.Uploaded != 4 || told.files != 4 || told.begun != 4 || told.sent != 2+8+4 || told.bytes != 14 || !told.waited {
		t.Errorf("%+v, %+v", v, &told)
	}
	if got := b.files["play.example/dots"]; len(got) != 5 || string(got["player.js"]) != "one\ntwo\n" || got["empty.js"] == nil {
		t.Errorf("the box has %q", got)
	}
	if v, err = c.Sync(t.Context(), dotsAt, read(t, dir), &tally{}); err != nil || v.Uploaded != 0 {
		t.Error("the same folder again:", v, err)
	}
	write(t, dir, map[string]string{"player.js": "three\n"})
	if err := os.Remove(filepath.Join(dir, "empty.js")); err != nil {
		t.Fatal(err)
	}
	var again tally
	keep := dotsAt
	keep.Keep = true
	if v, err = c.Sync(t.Context(), keep, read(t, dir), &again); err != nil || !slices.Equal(again.names, []string{"player.js"}) {
		t.Error(again.names, v, err)
	}
	if got := b.files["play.example/dots"]; got["empty.js"] == nil {
		t.Error("a file was deleted that was to be kept")
	}
	if _, err = c.Sync(t.Context(), dotsAt, read(t, dir), &tally{}); err != nil {
		t.Error(err)
	}
	if got := b.files["play.example/dots"]; got["empty.js"] != nil || string(got["player.js"]) != "three\n" {
		t.Errorf("the box has %q", got)
	}
}

func TestFindingsAreThoseOfACheck(t *testing.T) {
	b := newBox(t, (*httptest.Server).Start)
	b.verdict = status{State: Rejected, Findings: []finding{
		{"error", "player.js", 2, 1, "wrong"}, {"warning", "gone.js", 7, 3, "odd"}, {"warning", "player.js", 0, 0, "whole"},
	}}
	v, err := b.client(t, nil).Sync(t.Context(), dotsAt, read(t, dots(t)), &tally{})
	if err != nil || v.OK() {
		t.Fatal(v, err)
	}
	var text strings.Builder
	for _, d := range v.Findings {
		text.WriteString(d.Render())
	}
	want := "player.js:2:1: wrong\n    two\n    ^\ngone.js:7:3: warning: odd\nplayer.js: warning: whole\n"
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", &text, want)
	}
}

func TestHelpersGoToTheDomain(t *testing.T) {
	b := newBox(t, (*httptest.Server).Start)
	dir := dots(t)
	shared := filepath.Join(filepath.Dir(dir), games.SharedFolder)
	write(t, shared, map[string]string{"maths/half.js": "half", "other.js": "not imported"})
	write(t, dir, map[string]string{"player.js": `import { half } from "./_shared/maths/half.js";`})
	c := b.client(t, nil)
	if _, err := c.Sync(t.Context(), dotsAt, read(t, dir), &tally{}); err != nil {
		t.Fatal(err)
	}
	got := b.files["play.example/_shared"]
	if len(got) != 1 || string(got["maths/half.js"]) != "half" {
		t.Errorf("the box has %q", got)
	}
	write(t, shared, map[string]string{"maths/half.js": "quarter"})
	before := b.requests("PUT /api/games/play.example/_shared")
	v, err := c.Sync(t.Context(), dotsAt, read(t, dir), &tally{})
	if err != nil || v.Uploaded != 1 || string(got["maths/half.js"]) != "quarter" {
		t.Errorf("%+v %v, the box has %q", v, err, got)
	}
	if n := b.requests("PUT /api/games/play.example/_shared") - before; n != 1 {
		t.Errorf("%d writes", n)
	}
	// Somebody else was faster between our look and our write.
	write(t, shared, map[string]string{"maths/half.js": "third"})
	b.refuse = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			b.put("play.example/_shared", "maths/half.js", []byte("theirs"))
		}
		return false
	}
	_, err = c.Sync(t.Context(), dotsAt, read(t, dir), &tally{})
	if s := (&StatusError{}); !errors.As(err, &s) || s.Code != http.StatusPreconditionFailed || !strings.Contains(err.Error(), "_shared/maths/half.js") {
		t.Error(err)
	}
	if string(got["maths/half.js"]) != "theirs" {
		t.Error("their change was written over")
	}
}

// broken ends a request's connection without an answer.
func broken(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	conn.Close()
}

// TestEveryRequestMayBreak loses the connection at each request of a sync in turn, and has
// a proxy answer in the box's place.
func TestEveryRequestMayBreak(t *testing.T) {
	for _, how := range []struct {
		name   string
		lose   func(w http.ResponseWriter)
		status bool // an answer at all: net/http itself asks again where there was none
	}{
		{"connection lost", broken, false},
		{"box away behind its proxy", func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, true},
		{"answer cut short", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, true},
	} {
		t.Run(how.name, func(t *testing.T) {
			for at := 2; at < 9; at++ { // the first is an error at once where nobody has answered yet
				b := newBox(t, (*httptest.Server).Start)
				b.building = 1
				b.refuse = func(n int, w http.ResponseWriter, _ *http.Request) bool {
					if n == at || n == at+1 {
						how.lose(w)
						return true
					}
					return false
				}
				c := b.client(t, nil)
				var mu sync.Mutex
				retries := 0
				c.OnRetry = func(err error, pause time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					retries++
					if pause != firstPause && pause != 2*firstPause {
						t.Errorf("pause %v", pause)
					}
				}
				var told tally
				v, err := c.Sync(t.Context(), dotsAt, read(t, dots(t)), &told)
				if err != nil || !v.OK() || len(b.files["play.example/dots"]) != 5 {
					t.Errorf("broken at request %d: %+v, %v", at, v, err)
				}
				if told.sent != 14 {
					t.Errorf("broken at request %d: %d bytes of 14 are told", at, told.sent)
				}
				if how.status && b.requests("") > at && retries == 0 {
					t.Errorf("broken at request %d: nothing was told of it", at)
				}
			}
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	b := newBox(t, (*httptest.Server).Start)
	b.refuse = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n > 1 {
			broken(w)
		}
		return n > 1
	}
	c := b.client(t, nil)
	c.Patience = time.Second
	_, err := c.Sync(t.Context(), dotsAt, read(t, dots(t)), &tally{})
	if err == nil || !strings.Contains(err.Error(), "broke") {
		t.Error(err)
	}
	// 0.25 s, 0.5 s, 1 s, for each of the files under way.
	if n := b.requests("") - 1; n < 4 || n > 4*uploads {
		t.Errorf("%d requests", n)
	}
}

func TestErrorsTellWhatToDo(t *testing.T) {
	answer := func(code int, text string) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			if code/100 == 3 {
				w.Header().Set("Location", "https://other.example/")
			}
			w.WriteHeader(code)
			fmt.Fprint(w, text)
			return true
		}
	}
	for _, c := range []struct {
		name   string
		refuse func(int, http.ResponseWriter, *http.Request) bool
		domain string
		want   []string
	}{
		{"wrong token", answer(404, ""), "", []string{"404", "token", "API is off"}},
		{"unknown domain", nil, "unknown.example", []string{"takes the token", "--domain", "unknown.example/dots"}},
		{"too large", answer(413, `{"error":"the game has more than 16 MiB"}`), "", []string{"413", "the game has more than 16 MiB"}},
		{"refused", answer(422, `{"error":"page/../x is no path"}`), "", []string{"422", "page/../x is no path"}},
		{"full disk", answer(507, `{}`), "", []string{"507", "no room"}},
		{"redirect", answer(308, ""), "", []string{"redirect", "https://other.example/"}},
		{"no box", answer(200, "<html>hello"), "", []string{"does not speak the API"}},
		{"neither", answer(200, "{}"), "", []string{"neither a verdict"}},
		{"unknown hashes", answer(200, `{"missing":["00"]}`), "", []string{"no file of the folder"}},
		{"from the future", answer(200, `{"verdict":{"state":"pondering"}}`), "", []string{"pondering"}},
	} {
		b := newBox(t, (*httptest.Server).Start)
		b.refuse = c.refuse
		at := dotsAt
		if c.domain != "" {
			at.Domain = c.domain
		}
		_, err := b.client(t, nil).Sync(t.Context(), at, read(t, dots(t)), &tally{})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q is not in %q", c.name, want, err)
			}
		}
	}
}

func TestConnectionErrorsTellWhatToDo(t *testing.T) {
	trusted := newBox(t, (*httptest.Server).StartTLS)
	roots := x509.NewCertPool()
	roots.AddCert(trusted.Certificate())
	if v, err := trusted.client(t, roots).Sync(t.Context(), dotsAt, read(t, dots(t)), &tally{}); err != nil || !v.OK() {
		t.Error("over TLS:", v, err)
	}
	plain := newBox(t, (*httptest.Server).Start)
	gone := newBox(t, (*httptest.Server).Start)
	gone.Close()
	address := func(b *fakeBox) string { _, a, _ := strings.Cut(b.URL, "://"); return a }
	_, port, _ := strings.Cut(address(trusted), ":")
	for _, c := range []struct {
		name, url string
		roots     *x509.CertPool
		want      string
	}{
		{"not trusted", trusted.URL, nil, "--ca-file"},
		{"another host", "https://localhost:" + port, roots, "another host's"},
		{"no TLS there", "https://" + address(plain), nil, "speaks no TLS"},
		{"TLS there", "http://" + address(trusted), nil, "begins with https://"},
		{"nobody", gone.URL, nil, "nothing listens"},
	} {
		client, err := NewClient(c.url, token, c.roots)
		if err != nil {
			t.Fatal(err)
		}
		client.after = func(time.Duration) <-chan time.Time { t.Errorf("%s: tried again", c.name); return nil }
		if _, err = client.Sync(t.Context(), dotsAt, read(t, dots(t)), &tally{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		client.Close()
	}
	for _, bad := range []string{"play.example", "ftp://play.example", "https://", "https://me:secret@play.example/", "https://play.example/?a=b", "https://%zz"} {
		if _, err := NewClient(bad, token, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestSyncEndsWithItsContext(t *testing.T) {
	b := newBox(t, (*httptest.Server).Start)
	ctx, cancel := context.WithCancel(t.Context())
	b.refuse = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 3 {
			cancel()
		}
		return false
	}
	if _, err := b.client(t, nil).Sync(ctx, dotsAt, read(t, dots(t)), &tally{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
