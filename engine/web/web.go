// Package web is what the box answers over plain HTTP: each game's client library,
// and in development the games' pages. Everything else is the same bare 404, so
// that a probe learns nothing about what exists; in development it says to the author
// what is missing.
//
//	GET /GAME/gamehoster.js (.map, gamehoster.d.ts)   the library, from memory, with an ETag
//	GET /GAME/, /GAME/FILE                            development: the files of page/, then of _shared/page/
//	GET /                                             development: the games
//	GET /_dev/stats                                   development: what runs, with state hashes
package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gamehoster/games"
	"gamehoster/games/bundle"
)

// PageFolder is the folder of a game's own page, which only development serves: in
// production a game's front end lives on its own website.
const PageFolder = "page"

// PageFolders is where the files of a game's page are looked for: its own folder, then
// those of the shared folders that it may import from.
func PageFolders(dir string) []string {
	domain := filepath.Dir(dir)
	return []string{
		filepath.Join(dir, PageFolder),
		filepath.Join(domain, games.SharedFolder, PageFolder),
		filepath.Join(filepath.Dir(domain), games.SharedFolder, PageFolder),
	}
}

// indexFile is what a game's own address shows.
const indexFile = "index.html"

// Site is one game as its files are served.
type Site struct {
	Name    string
	Dir     string
	Library *bundle.Library
}

// Sites finds games.
type Sites interface {
	Site(host, segment string) (Site, bool)
	List() []Site
}

// Stats answers /_dev/stats with something that becomes JSON.
type Stats func() (any, error)

// Handler serves the sites. With dev it serves their pages, too.
func Handler(sites Sites, dev bool, stats Stats) http.Handler {
	return &handler{sites: sites, dev: dev, stats: stats}
}

type handler struct {
	sites Sites
	dev   bool
	stats Stats
}

// policy lets a page load what its own folder has, run wasm, and open game sockets.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"media-src 'self' data: blob:; font-src 'self'; connect-src 'self' ws: wss:; manifest-src 'self'; base-uri 'none'; form-action 'none'"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		NotFound(w)
		return
	}
	segment, rest, deeper := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if h.dev {
		switch {
		case r.URL.Path == "/":
			h.index(w)
			return
		case segment == "_dev" && rest == "stats":
			h.report(w)
			return
		case r.URL.Path == "/favicon.ico":
			// Browsers ask for it unasked; an error in the console would look like one.
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	site, ok := h.sites.Site(r.Host, segment)
	if !ok {
		h.missing(w, "no game "+segment+" is live; if its folder is there, the terminal says what is wrong with it")
		return
	}
	if !deeper {
		if h.dev {
			to := url.URL{Path: "/" + segment + "/", RawQuery: r.URL.RawQuery}
			http.Redirect(w, r, to.String(), http.StatusFound)
			return
		}
		NotFound(w)
		return
	}
	switch rest {
	case games.ScriptFile:
		library(w, r, site.Library.Script, "text/javascript; charset=utf-8")
	case games.MapFile:
		library(w, r, site.Library.Map, "application/json")
	case games.TypesFile:
		library(w, r, site.Library.Types, "text/plain; charset=utf-8")
	default:
		if !h.dev {
			NotFound(w)
			return
		}
		if !page(w, r, site, rest) {
			if rest == "" {
				rest = indexFile
			}
			h.missing(w, site.Name+" has no "+PageFolder+"/"+rest)
		}
	}
}

// missing is a 404, which in development says what an author can do about it.
func (h *handler) missing(w http.ResponseWriter, what string) {
	if !h.dev {
		NotFound(w)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, what, http.StatusNotFound)
}

// NotFound is the one answer to all that is not there or not allowed.
func NotFound(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }

// library serves a file that is asked for again at each visit and sent only when it
// has changed. Any website may load it.
func library(w http.ResponseWriter, r *http.Request, content []byte, kind string) {
	sum := sha256.Sum256(content)
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Cache-Control", "no-cache")
	head.Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// page serves a file of the game's page, and reports whether there is one.
func page(w http.ResponseWriter, r *http.Request, site Site, name string) bool {
	if name == "" {
		name = indexFile
	}
	// What hides does so with all that is in it, as .git does.
	if !fs.ValidPath(name) || name[0] == '.' || strings.Contains(name, "/.") {
		return false
	}
	for _, dir := range PageFolders(site.Dir) {
		if pageOf(w, r, dir, name) {
			return true
		}
	}
	return false
}

// pageOf serves a file of one folder, and reports whether it is there.
func pageOf(w http.ResponseWriter, r *http.Request, dir, name string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	head := w.Header()
	if kind := mime.TypeByExtension(path.Ext(name)); kind != "" {
		head.Set("Content-Type", kind)
	}
	head.Set("Cache-Control", "no-cache")
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, name, info.ModTime(), f)
	return true
}

func (h *handler) report(w http.ResponseWriter) {
	v, err := h.stats()
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// The client is gone when this fails.
	_ = json.NewEncoder(w).Encode(v)
}

var indexPage = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>gamehoster</title>
<style>
body{margin:0;min-height:100vh;display:grid;place-content:center;gap:1rem;background:#0b0f1a;color:#e8edf7;font:16px/1.5 system-ui,sans-serif;text-align:center}
a{display:block;padding:.9rem 2.5rem;border:1px solid #5ef1ff66;border-radius:.6rem;color:#5ef1ff;text-decoration:none;font-size:1.3rem}
a:hover,a:focus{background:#5ef1ff1f}p{color:#93a0b8;max-width:30rem}
</style>
<h1>gamehoster</h1>
{{range .}}<a href="/{{.Name}}/">{{.Name}}</a>{{else}}<p>No game is live yet. What keeps them from it is on the terminal.</p>{{end}}
<p>Open a game in two windows to play together.</p>
</html>
`))

func (h *handler) index(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	var b bytes.Buffer
	if err := indexPage.Execute(&b, h.sites.List()); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = b.WriteTo(w) // fails when the client is gone
}
