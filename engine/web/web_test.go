package web

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"gamehoster/games/bundle"
)

type oneSite Site

func (s oneSite) Site(_, segment string) (Site, bool) { return Site(s), segment == s.Name }
func (s oneSite) List() []Site                        { return []Site{Site(s)} }

func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// An author who opens an address that shows nothing is told what to create; a probe of
// a production server learns nothing.
func TestWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	site := oneSite{Name: "dots", Dir: dir, Library: &bundle.Library{Script: []byte("s")}}
	dev, production := Handler(site, true, nil), Handler(site, false, nil)
	for _, c := range []struct{ path, want string }{
		{"/dots/", "dots has no page/index.html\n"},
		{"/dots/art/a.png", "dots has no page/art/a.png\n"},
		{"/dots/../x", "dots has no page/../x\n"},
		{"/dotz/", "no game dotz is live; if its folder is there, the terminal says what is wrong with it\n"},
	} {
		if w := get(dev, c.path); w.Code != http.StatusNotFound || w.Body.String() != c.want {
			t.Errorf("dev %s: %d %q, want %q", c.path, w.Code, w.Body, c.want)
		}
		if w := get(production, c.path); w.Code != http.StatusNotFound || w.Body.Len() > 0 || len(w.Header()) > 0 {
			t.Errorf("production %s: %d %q %v, want the bare 404", c.path, w.Code, w.Body, w.Header())
		}
	}
	if w := get(dev, "/favicon.ico"); w.Code != http.StatusNoContent {
		t.Errorf("a game's console begins with an error: %d", w.Code)
	}
	if err := os.Mkdir(filepath.Join(dir, PageFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, PageFolder, indexFile), []byte("page"), 0o644); err != nil {
		t.Fatal(err)
	}
	if w := get(dev, "/dots/"); w.Code != http.StatusOK || w.Body.String() != "page" {
		t.Errorf("%d %q", w.Code, w.Body)
	}
}

// The address without its last slash is one that people type.
func TestRedirectKeepsTheQuery(t *testing.T) {
	w := get(Handler(oneSite{Name: "dots"}, true, nil), "/dots?name=Ann&watch")
	if w.Code != http.StatusFound || w.Header().Get("Location") != "/dots/?name=Ann&watch" {
		t.Errorf("%d to %q", w.Code, w.Header().Get("Location"))
	}
}

// A game's page may lie in part beside the games that share it; what is its own goes
// first, and nothing else of the shared folder is served.
func TestSharedPageFiles(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"domain/dots/page/index.html":     "dots",
		"domain/dots/page/own.css":        "own",
		"domain/_shared/page/own.css":     "shared",
		"domain/_shared/page/frame.css":   "frame",
		"_shared/page/root.css":           "root",
		"domain/_shared/rules.js":         "rules",
		"domain/_shared/page/.secret.css": "secret",
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := oneSite{Name: "dots", Dir: filepath.Join(root, "domain", "dots"), Library: &bundle.Library{}}
	for file, want := range map[string]string{
		"": "dots", "own.css": "own", "frame.css": "frame", "root.css": "root",
		"rules.js": "", "../rules.js": "", "_shared/rules.js": "", ".secret.css": "",
	} {
		w := get(Handler(site, true, nil), "/dots/"+file)
		if want == "" && w.Code != http.StatusNotFound || want != "" && (w.Code != http.StatusOK || w.Body.String() != want) {
			t.Errorf("%q: %d %q, want %q", file, w.Code, w.Body, want)
		}
		if w := get(Handler(site, false, nil), "/dots/"+file); w.Code != http.StatusNotFound {
			t.Errorf("production, %q: %d", file, w.Code)
		}
	}
}
