package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gamehoster/engine/box"
	"gamehoster/engine/files"
	"gamehoster/engine/logs"
	"gamehoster/engine/web"
	"gamehoster/games"
	"gamehoster/games/diag"
)

const testToken = "a-token-of-some-length"

// fakeCatalog knows the domains that it is told, and that games were poked.
type fakeCatalog struct {
	mu      sync.Mutex
	games   map[string]box.Status
	domains []string
	poked   []string
	held    chan struct{} // Settle waits for it, if there is one
}

func (c *fakeCatalog) Status(place string) (box.Status, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.games[place]
	return s, ok
}

func (c *fakeCatalog) Statuses() (all []box.Status) {
	for _, s := range c.games {
		all = append(all, s)
	}
	return all
}

func (c *fakeCatalog) Settle(ctx context.Context, place string) (box.Status, bool) {
	if c.held != nil {
		select {
		case <-ctx.Done():
		case <-c.held:
		}
	}
	return c.Status(place)
}

func (c *fakeCatalog) Poke(domain, game string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := games.Place{Domain: domain, Game: game}
	c.poked = append(c.poked, p.String())
	if game != games.SharedFolder && c.games[p.String()].State == "" {
		c.games[p.String()] = box.Status{Place: p, State: box.StateBuilding}
	}
}

func (c *fakeCatalog) HasDomain(host string) bool { return slices.Contains(c.domains, host) }

// bench is an API on a games root of its own.
type bench struct {
	*httptest.Server
	root    string
	catalog *fakeCatalog
	logs    *logs.Logs
	stop    context.CancelFunc
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{root: t.TempDir(), catalog: &fakeCatalog{games: map[string]box.Status{}, domains: []string{"a.example", "xn--bcher-kva.example"}}}
	store, err := files.Open(b.root)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(testToken), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := OpenToken(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.logs, err = logs.Open(logs.Options{}); err != nil {
		t.Fatal(err)
	}
	var stopping context.Context
	stopping, b.stop = context.WithCancel(t.Context())
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { web.NotFound(w) })
	b.Server = httptest.NewServer(Handler(Config{
		Token: token, Files: store, Catalog: b.catalog, Logs: b.logs, Stopping: stopping, Log: slog.New(slog.DiscardHandler),
		Stats: func() (any, error) { return map[string]int{"games": 1}, nil },
	}, next))
	t.Cleanup(func() { b.stop(); b.Close(); b.logs.Close() })
	return b
}

// answer is what a request got.
type answer struct {
	code int
	head http.Header
	body string
}

// error is the message of an answer that is one; empty else.
func (a answer) error() string {
	var v map[string]string
	if json.Unmarshal([]byte(a.body), &v) != nil || len(v) != 1 {
		return ""
	}
	return v["error"]
}

// do sends a request whose target is taken as it is.
func (b *bench) do(t *testing.T, method, target, body string, head ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = target
	if !strings.HasPrefix(target, "/api") {
		req.URL.Opaque = ""
		req.URL.Path, req.URL.RawQuery, _ = strings.Cut(target, "?")
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(head); i += 2 {
		req.Header.Add(head[i], head[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(text)}
}

const one = "/api/games/a.example/dots/files/one.js"

func TestOneFile(t *testing.T) {
	b := newBench(t)
	put := b.do(t, "PUT", one, "text")
	sum := files.Sum([]byte("text"))
	if put.code != 200 || put.body != fmt.Sprintf(`{"path":"one.js","size":4,"sha256":%q}`+"\n", sum) || put.head.Get("ETag") != `"`+sum+`"` {
		t.Fatalf("a file was answered %+v", put)
	}
	if got := b.do(t, "GET", one, ""); got.code != 200 || got.body != "text" || got.head.Get("ETag") != `"`+sum+`"` || got.head.Get("Cache-Control") != "no-store" {
		t.Fatalf("the file is %+v", got)
	}
	if list := b.do(t, "GET", "/api/games/a.example/dots/files", ""); list.code != 200 || list.body != fmt.Sprintf(`{"files":[{"path":"one.js","size":4,"sha256":%q}]}`+"\n", sum) {
		t.Fatalf("the manifest is %+v", list)
	}
	if shared := b.do(t, "PUT", "/api/games/a.example/_shared/files/lib/maths.js", "text"); shared.code != 200 {
		t.Fatalf("a shared file was answered %+v", shared)
	}
	if escaped := b.do(t, "PUT", "/api/games/A.EXAMPLE/dots/files/sub/a%20b.js", "text"); escaped.code != 200 {
		t.Fatalf("a file with a space in its name was answered %+v", escaped)
	}
	if _, err := os.Stat(filepath.Join(b.root, "a.example", "dots", "sub", "a b.js")); err != nil {
		t.Fatal(err)
	}
	if del := b.do(t, "DELETE", one, "", "If-Match", `"`+sum+`"`); del.code != 200 {
		t.Fatalf("deleting a file was answered %+v", del)
	}
	if want := []string{"a.example/dots", "a.example/_shared", "a.example/dots", "a.example/dots"}; !slices.Equal(b.catalog.poked, want) {
		t.Fatalf("poked were %v, want %v", b.catalog.poked, want)
	}
}

// Whatever a name tries, it is refused with a reason and nothing is written.
func TestNamesThatAreRefused(t *testing.T) {
	b := newBench(t)
	const f = "/api/games/a.example/dots/files/"
	for _, c := range []struct {
		what, target string
	}{
		{"traversal", f + "../x.js"}, {"traversal, escaped", f + "%2e%2e/x.js"}, {"traversal with an escaped slash", f + "..%2fx.js"},
		{"traversal with an escaped backslash", f + "..%5cx.js"}, {"traversal of UTF-8 that is too long", f + "%c0%ae%c0%ae/x.js"},
		{"traversal in the middle", f + "a/../../x.js"}, {"traversal, escaped twice", f + "%252e%252e%5cx.js"}, {"traversal of the game", "/api/games/a.example/../files/x.js"}, {"traversal of the domain", "/api/games/../dots/files/x.js"},
		{"an absolute path", f + "/etc/passwd"}, {"an absolute path, escaped", f + "%2fetc%2fpasswd"}, {"nothing", f},
		{"NUL", f + "a%00.js"}, {"NUL in the game", "/api/games/a.example/do%00ts/files/x.js"}, {"NUL in the domain", "/api/games/a%00.example/dots/files/x.js"},
		{"a line end", f + "a%0d%0ab.js"}, {"a hidden file", f + ".env"}, {"a hidden folder", f + ".git/config"}, {"node_modules", f + "node_modules/x.js"},
		{"a generated file", f + games.ScriptFile}, {"another", f + games.RulesFile}, {"the staged contents", "/api/games/.staged/x/files/x.js"},
		{"a reserved game", "/api/games/a.example/api/files/x.js"}, {"another", "/api/games/a.example/internal/files/x.js"},
		{"a private game", "/api/games/a.example/_private/files/x.js"}, {"a private domain", "/api/games/_private/dots/files/x.js"},
		{"a port", "/api/games/a.example:80/dots/files/x.js"}, {"userinfo", "/api/games/me@a.example/dots/files/x.js"}, {"no domain", "/api/games//dots/files/x.js"},
		{"a name that is long", f + strings.Repeat("x", 300)}, {"a path that is long", f + strings.Repeat("xxxxxxxx/", 14) + strings.Repeat("y", 199) + "/" + strings.Repeat("z", 199)},
		{"a path that is deep", f + strings.Repeat("x/", 40) + "x"},
	} {
		for _, method := range []string{"PUT", "GET", "DELETE"} {
			if got := b.do(t, method, c.target, ""); got.code != 400 || got.error() == "" {
				t.Errorf("%s: %s %.80s was answered %d with %s", c.what, method, c.target, got.code, got.body)
			}
		}
	}
	if all, err := os.ReadDir(b.root); err != nil || len(all) != 0 {
		t.Fatalf("names that were refused left %v, %v", all, err)
	}
	if len(b.catalog.poked) > 0 {
		t.Fatalf("names that were refused poked %v", b.catalog.poked)
	}
}

func TestIfMatch(t *testing.T) {
	b := newBench(t)
	b.do(t, "PUT", one, "text")
	sum, other := files.Sum([]byte("text")), files.Sum([]byte("other"))
	for _, c := range []struct {
		match string
		code  int
	}{
		{`"` + sum + `"`, 200}, {sum, 200}, {`"` + strings.ToUpper(sum) + `"`, 200}, {"*", 200},
		{`"` + other + `"`, 412}, {other, 412},
		{``, 400}, {`""`, 400}, {`"*"`, 400}, {`W/"` + sum + `"`, 400}, {`"` + sum + `", "` + other + `"`, 400}, {sum[:63], 400}, {sum + "0", 400},
		{`"../../etc/passwd"`, 400}, {strings.Repeat("a", 5000), 400},
	} {
		got := b.do(t, "PUT", one, "text", "If-Match", c.match)
		if got.code != c.code || (c.code != 200) != (got.error() != "") {
			t.Errorf("If-Match: %.80s was answered %d with %s, want %d", c.match, got.code, got.body, c.code)
		}
		if c.code != 200 {
			if got := b.do(t, "DELETE", one, "", "If-Match", c.match); got.code != c.code {
				t.Errorf("DELETE with If-Match: %.80s was answered %d with %s, want %d", c.match, got.code, got.body, c.code)
			}
		}
	}
	if got := b.do(t, "PUT", one, "text", "If-Match", `"`+sum+`"`, "If-Match", `"`+other+`"`); got.code != 400 {
		t.Errorf("two If-Match were answered %+v", got)
	}
	if got := b.do(t, "PUT", "/api/games/a.example/dots/files/new.js", "text", "If-Match", "*"); got.code != 412 {
		t.Errorf("* for a new file was answered %+v", got)
	}
}

// What is not the JSON that a commit is costs a look at it.
func TestJSONThatIsRefused(t *testing.T) {
	b := newBench(t)
	const target = "/api/games/a.example/dots/commit"
	sum := files.Sum([]byte("x"))
	entry := fmt.Sprintf(`{"path": "x.js", "sha256": %q}`, sum)
	many := make([]string, games.MaxFiles+1)
	for i := range many {
		many[i] = fmt.Sprintf(`{"path": "%d", "sha256": %q}`, i, sum)
	}
	for _, c := range []struct {
		what, body string
		code       int
	}{
		{"nothing", "", 400}, {"no JSON", "x", 400}, {"half of it", `{"files": [`, 400}, {"a list", "[]", 400}, {"null", "null", 400}, {"no files", "{}", 400},
		{"null for files", `{"files": null}`, 400}, {"a number for files", `{"files": 1}`, 400}, {"a number for a path", `{"files": [{"path": 1}]}`, 400},
		{"a word for delete", `{"files": [], "delete": "yes"}`, 400}, {"another field", `{"files": [], "file": []}`, 400}, {"another field of a file", `{"files": [{"path": "x", "mode": 511}]}`, 400},
		{"something behind it", `{"files": []} {}`, 400}, {"a size that is no number", `{"files": [{"path": "x", "size": 1e400}]}`, 400},
		{"a bomb of brackets", strings.Repeat("[", 1<<20-1), 400}, {"a bomb of braces", strings.Repeat(`{"files":`, 100_000), 400},
		{"brackets in a field", `{"files": [], "x": ` + strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000) + `}`, 400},
		{"a long string", `{"files": [{"path": "` + strings.Repeat("x", 900_000) + `", "sha256": "` + sum + `"}]}`, 400},
		{"more than a body may be", `{"files": [` + strings.Repeat(" ", 1<<20) + `]}`, 413},
		{"too many files", `{"files": [` + strings.Join(many, ",") + `]}`, 413},
		{"traversal", fmt.Sprintf(`{"files": [{"path": "../x.js", "sha256": %q}]}`, sum), 400}, {"an absolute path", fmt.Sprintf(`{"files": [{"path": "/x.js", "sha256": %q}]}`, sum), 400},
		{"NUL", fmt.Sprintf(`{"files": [{"path": "x\u0000", "sha256": %q}]}`, sum), 400}, {"half a surrogate", fmt.Sprintf(`{"files": [{"path": "\ud800", "sha256": %q}]}`, sum), 400},
		{"a path twice", `{"files": [` + entry + `,` + entry + `]}`, 422}, {"no hash", `{"files": [{"path": "x.js"}]}`, 422}, {"a bad hash", `{"files": [{"path": "x.js", "sha256": "x"}]}`, 422},
		{"a file that is a folder", `{"files": [` + entry + `,` + strings.Replace(entry, "x.js", "x.js/y", 1) + `]}`, 422},
	} {
		if got := b.do(t, "POST", target, c.body, "Content-Type", "application/json"); got.code != c.code || got.error() == "" {
			t.Errorf("%s was answered %d with %.200s, want %d", c.what, got.code, got.body, c.code)
		}
	}
	sound := `{"files": [` + entry + `], "delete": true}`
	for what, head := range map[string][]string{
		"compression": {"Content-Encoding", "gzip"}, "a form": {"Content-Type", "application/x-www-form-urlencoded"}, "a bad type": {"Content-Type", "/;;"},
	} {
		if got := b.do(t, "POST", target, sound, head...); got.code != 400 || got.error() == "" {
			t.Errorf("%s was answered %+v", what, got)
		}
	}
	if got := b.do(t, "POST", target, sound); got.code != 200 || got.body != fmt.Sprintf(`{"missing":[%q]}`+"\n", sum) {
		t.Fatalf("a sound set was answered %+v", got)
	}
	if all, err := os.ReadDir(b.root); err != nil || len(all) != 0 {
		t.Fatalf("sets that were refused left %v, %v", all, err)
	}
}

func TestLimitsOfBodies(t *testing.T) {
	b := newBench(t)
	whole := strings.Repeat("x", games.MaxFileBytes)
	for _, c := range []struct {
		target, body string
		code         int
	}{
		{one, whole, 200}, {one, whole + "x", 413}, {one, strings.Repeat(whole, 4), 413},
		{"/api/games/a.example/dots/blobs/" + files.Sum([]byte(whole)), whole, 200},
		{"/api/games/a.example/dots/blobs/" + files.Sum([]byte(whole+"x")), whole + "x", 413},
		{"/api/games/a.example/dots/blobs/" + files.Sum([]byte("x")), "y", 422},
		{"/api/games/a.example/dots/blobs/" + strings.ToUpper(files.Sum([]byte("x"))), "x", 400},
		{"/api/games/a.example/dots/blobs/..%2f..%2fx", "x", 400}, {"/api/games/a.example/dots/blobs/x", "x", 400},
	} {
		if got := b.do(t, "PUT", c.target, c.body); got.code != c.code {
			t.Errorf("PUT %.90s of %d bytes was answered %d with %s, want %d", c.target, len(c.body), got.code, got.body, c.code)
		}
	}
	// One whose length is not told is cut where it is too long.
	req, err := http.NewRequestWithContext(t.Context(), "PUT", b.URL+one, io.LimitReader(endless{}, games.MaxFileBytes+1))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "bearer "+testToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 413 {
		t.Errorf("a body without a length was answered %d", res.StatusCode)
	}
	if got := b.do(t, "GET", one, ""); got.body != whole {
		t.Errorf("after refusals the file has %d bytes", len(got.body))
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// Who has a token gets the bare 404 for what is not there, as anybody does.
func TestUnknownIsTheBare404(t *testing.T) {
	b := newBench(t)
	b.do(t, "PUT", one, "text")
	want := b.do(t, "GET", "/nothing", "")
	if want.code != 404 || want.body != "" {
		t.Fatalf("the bare 404 is %+v", want)
	}
	for _, c := range [][2]string{
		{"GET", "/api"}, {"GET", "/api/"}, {"GET", "/api/x"}, {"GET", "/api/games/"}, {"POST", "/api/games"}, {"GET", "/api/games/a.example"}, {"GET", "/api/games/a.example/dots"},
		{"GET", "/api/games/a.example/none/files"}, {"GET", "/api/games/a.example/none/status"}, {"DELETE", "/api/games/a.example/none"}, {"GET", "/api/games/a.example/none/status?wait=1ms"},
		{"GET", "/api/games/a.example/dots/files/none.js"}, {"DELETE", "/api/games/a.example/dots/files/none.js"}, {"POST", one}, {"PATCH", one}, {"OPTIONS", one},
		{"DELETE", "/api/games/a.example/_shared"}, {"GET", "/api/games/a.example/_shared/status"}, {"POST", "/api/games/a.example/_shared/commit"},
		{"GET", "/api/games/a.example/dots/commit"}, {"GET", "/api/games/a.example/dots/blobs/x"}, {"GET", "/api/games/a.example/dots/other"},
		{"GET", "/api/logs"}, {"GET", "/api/logs/other"}, {"POST", "/api/logs/web"}, {"POST", "/api/stats"}, {"GET", "/api/stats/x"}, {"GET", "/internal"}, {"GET", "/internal/other"},
	} {
		got := b.do(t, c[0], c[1], "")
		got.head.Del("Date")
		if want.head.Del("Date"); got.code != 404 || got.body != "" || fmt.Sprint(got.head) != fmt.Sprint(want.head) {
			t.Errorf("%s %s was answered %+v, want %+v", c[0], c[1], got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	b := newBench(t)
	place := games.Place{Domain: "a.example", Game: "dots"}
	b.catalog.games[place.String()] = box.Status{Place: place, State: box.StateRejected, Findings: diag.List{
		{Pos: diag.Position{File: "player.js", Line: 3, Column: 5}, Message: "no such field"}, {Severity: diag.Warning, Pos: diag.Position{File: "x.js"}, Message: "never used"},
	}}
	const want = `{"domain":"a.example","game":"dots","state":"rejected","hash":"","findings":[` +
		`{"severity":"error","file":"player.js","line":3,"column":5,"message":"no such field"},` +
		`{"severity":"warning","file":"x.js","line":0,"column":0,"message":"never used"}],"load":{"instances":0,"players":0}}`
	const target = "/api/games/a.example/dots/status"
	if got := b.do(t, "GET", target, ""); got.code != 200 || got.body != want+"\n" {
		t.Errorf("the status is %+v", got)
	}
	if got := b.do(t, "GET", "/api/games", ""); got.code != 200 || got.body != `{"games":[`+want+"]}\n" {
		t.Errorf("the games are %+v", got)
	}
	for _, bad := range []string{"?wait=", "?wait=x", "?wait=30", "?wait=-1s", "?wait=1s&wait=2s", "?other=1", "?wait=%zz", "?;"} {
		got := b.do(t, "GET", target+bad, "")
		if bad == "?wait=" {
			if got.code != 200 {
				t.Errorf("%s was answered %+v", bad, got)
			}
			continue
		}
		if got.code != 400 || got.error() == "" {
			t.Errorf("%s was answered %+v", bad, got)
		}
	}
	b.catalog.held = make(chan struct{})
	if got := b.do(t, "GET", target+"?wait=1ms", ""); got.code != 200 {
		t.Errorf("one that does not settle in time is %+v", got)
	}
	// What is held back is answered when the box stops.
	answered := make(chan answer)
	go func() { answered <- b.do(t, "GET", target+"?wait=1h", "") }()
	b.stop()
	if got := <-answered; got.code != 200 {
		t.Errorf("when the box stops the status is %+v", got)
	}
}

// Every kind of failure has its status, and the machine's own are not told.
func TestFailures(t *testing.T) {
	a := &api{Config{Log: slog.New(slog.DiscardHandler)}}
	for _, c := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("x: %w", files.ErrName), 400}, {fmt.Errorf("x: %w", files.ErrMatch), 412}, {fmt.Errorf("x: %w", files.ErrTooLarge), 413}, {fmt.Errorf("x: %w", files.ErrSet), 422},
		{fmt.Errorf("writing x: %w: %w", files.ErrFull, &fs.PathError{Op: "write", Path: "/secret/place", Err: syscall.ENOSPC}), 507}, {fmt.Errorf("x: %w", fs.ErrNotExist), 404}, {errors.New("/secret/place"), 500}, {syscall.EIO, 500}, {fs.ErrPermission, 500},
	} {
		w := httptest.NewRecorder()
		a.fail(w, httptest.NewRequest("PUT", one, nil), c.err)
		if w.Code != c.code || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v is told as %d %s, want %d", c.err, w.Code, w.Body, c.code)
		}
	}
}
