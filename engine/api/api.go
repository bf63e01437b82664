// Package api is what an operator's programs ask a box over HTTP: which games there are and
// how they are, their files, the logs, and what runs. gamehoster sync is one of them.
//
//	request under /api --> token? --no, or none configured--> the bare 404
//	                         | yes
//	                         v
//	GET    /api/games                      all games: hash, state, findings, load
//	GET    /api/games/D/G/status           one; ?wait=30s holds the answer back until it is settled
//	DELETE /api/games/D/G                  removed; its players play on to the roll timeout
//	GET    /api/games/D/G/files            the manifest: path, size, sha256
//	GET    /api/games/D/G/files/PATH       one file, with its sha256 as ETag
//	PUT    /api/games/D/G/files/PATH       written in one step; If-Match: "SHA256" or *
//	DELETE /api/games/D/G/files/PATH       likewise
//	PUT    /api/games/D/G/blobs/SHA256     a content for a commit
//	POST   /api/games/D/G/commit           {"files": [{"path", "sha256"}], "delete": false}
//	                                       -> {"missing": [SHA256]}, or done: {"verdict": status}
//	GET    /api/logs/web, /api/logs/server since, until, level, game, limit, follow=1
//	GET    /api/stats                      what runs
//
// D is a domain, G a game of it or, for files, _shared: what the domain's games import.
//
//	write --> files.Store --> Catalog.Poke --(300 ms of quiet)--> build --> live, or rejected
//	                                                                     and what was live goes on
//
// So a write is answered when it is on the disk, and its verdict is the status after it.
//
// # Answers
//
// JSON, or a file, or log lines as newline-delimited JSON. Who has no right to ask gets the
// bare 404 that everything gets which is not there, before anything of the request but its
// path and its token was looked at; so does who asks, with a token, for what is not there.
// Everything else that is wrong is {"error": "..."}: 400 for a request that makes no sense
// or a name that is not allowed, 412 for a file that is another by now, 413 for too much,
// 422 for a set that contradicts itself, 507 for a full disk. Nothing has changed then.
//
// # Certificates
//
// GET /internal/allow?domain=NAME is not the API's but its neighbour: a proxy on the same
// machine asks it before it gets a certificate for a name that a stranger has sent.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/files"
	"gamehoster/engine/logs"
	"gamehoster/engine/web"
)

// Catalog is what the API wants of the games. A place is domain/game.
type Catalog interface {
	Status(place string) (box.Status, bool)
	Statuses() []box.Status
	Settle(ctx context.Context, place string) (box.Status, bool)
	// Poke says that a game's files, or a domain's shared ones, have been written.
	Poke(domain, game string)
	// HasDomain answers from memory.
	HasDomain(host string) bool
}

// Config is what an API needs.
type Config struct {
	Token   *Token
	Files   *files.Store
	Catalog Catalog
	Stats   func() (any, error) // what runs, for JSON
	Logs    *logs.Logs          // nil: there are none to ask for

	// Rolling reports whether an older definition of the game at a place is still played.
	Rolling func(place string) bool
	// Stopping ends when the box does: nothing is held back or followed any longer.
	Stopping context.Context
	Log      *slog.Logger
}

// How long a request may take, besides the time it asks for.
const (
	bodyTime   = time.Minute      // to bring its body
	answerTime = 30 * time.Second // to take its answer, or one line that is followed
	longest    = time.Minute      // to be held back
)

// Handler answers the API's requests and the certificate gate's, and leaves the others to
// next.
func Handler(c Config, next http.Handler) http.Handler {
	a := &api{c}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p := r.URL.Path; {
		case p == "/api" || strings.HasPrefix(p, "/api/"):
			if !c.Token.Allows(r) {
				web.NotFound(w)
				return
			}
			a.serve(w, r)
		case p == "/internal/allow":
			a.allow(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

type api struct{ Config }

// serve answers who may ask.
func (a *api) serve(w http.ResponseWriter, r *http.Request) {
	// The server's own deadlines are for strangers.
	control := http.NewResponseController(w)
	now := time.Now()
	err := errors.Join(control.SetReadDeadline(now.Add(bodyTime)), control.SetWriteDeadline(now.Add(bodyTime+answerTime)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return // it is gone
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if err := a.route(w, r); err != nil {
		a.fail(w, r, err)
	}
}

// errUnknown is a request for what is not there.
var errUnknown = errors.New("unknown")

// refusal is an error with the HTTP status it is told by.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// route finds what a request means by its method and the elements of its path.
func (a *api) route(w http.ResponseWriter, r *http.Request) error {
	elements, err := split(r.URL)
	if err != nil {
		return err
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	n := len(elements)
	switch {
	case n == 1 && elements[0] == "games" && method == http.MethodGet:
		return a.games(w)
	case n == 1 && elements[0] == "stats" && method == http.MethodGet:
		return a.stats(w)
	case n == 2 && elements[0] == "logs" && method == http.MethodGet:
		return a.logs(w, r, elements[1])
	case n >= 3 && elements[0] == "games":
		f, err := files.At(elements[1], elements[2])
		if err != nil {
			return err
		}
		return a.folder(w, r, f, method, elements[3:])
	}
	return errUnknown
}

// split takes the elements of a path below /api apart. An escaped slash divides nothing,
// and no name has one.
func split(u *url.URL) (elements []string, err error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(u.EscapedPath(), "/api"), "/")
	for raw := range strings.SplitSeq(rest, "/") {
		e, err := url.PathUnescape(raw)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "the address is not well escaped")
		}
		if strings.Contains(e, "/") {
			return nil, refuse(http.StatusBadRequest, "a name in the address has an escaped slash")
		}
		elements = append(elements, e)
	}
	return elements, nil
}

// fail answers with an error.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var told *refusal
	var tooLong *http.MaxBytesError
	switch {
	case errors.Is(err, errUnknown) || errors.Is(err, fs.ErrNotExist):
		for name := range w.Header() {
			w.Header().Del(name)
		}
		web.NotFound(w)
		return
	case errors.As(err, &told):
		status = told.status
	case errors.As(err, &tooLong):
		status = http.StatusRequestEntityTooLarge
		err = fmt.Errorf("the body: %w: at most %d bytes are taken here", files.ErrTooLarge, tooLong.Limit)
	case errors.Is(err, files.ErrName):
		status = http.StatusBadRequest
	case errors.Is(err, files.ErrMatch):
		status = http.StatusPreconditionFailed
	case errors.Is(err, files.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, files.ErrSet):
		status = http.StatusUnprocessableEntity
	case errors.Is(err, files.ErrFull):
		status = http.StatusInsufficientStorage
	}
	if status >= http.StatusInternalServerError {
		a.Log.Error("a request of the API failed", "method", r.Method, "path", r.URL.Path, "status", status, "error", err)
	}
	switch status { // what the machine says is in the log
	case http.StatusInternalServerError:
		err = errors.New("the box failed at this; its server log says how")
	case http.StatusInsufficientStorage:
		err = errors.New("the box's disk is full; nothing was changed")
	}
	reply(w, status, map[string]string{"error": err.Error()})
}

// reply answers with JSON.
func reply(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil { // it is made of strings and numbers
		text, status = []byte(`{"error":"the answer could not be written as JSON"}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client is gone when this fails
}

// body reads a request's body of at most limit bytes.
func body(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "" {
		return nil, refuse(http.StatusBadRequest, "a body is taken as it is, without Content-Encoding")
	}
	if r.ContentLength > limit {
		return nil, &http.MaxBytesError{Limit: limit}
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLong *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLong) {
		return nil, refuse(http.StatusBadRequest, "the body did not come whole: %v", err)
	}
	return text, err
}

// maxDepth is how deep JSON may be nested that the API is sent.
const maxDepth = 8

// parse reads a body of JSON into v.
func parse(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if kind, _, err := mime.ParseMediaType(kind); err != nil || kind != "application/json" {
			return refuse(http.StatusBadRequest, "the body has to be application/json")
		}
	}
	text, err := body(w, r, limit)
	if err != nil {
		return err
	}
	if deeper(text, maxDepth) {
		return refuse(http.StatusBadRequest, "the JSON is nested more than %d deep", maxDepth)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return refuse(http.StatusBadRequest, "the body is not the JSON that is wanted here: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, "there is something behind the JSON")
	}
	return nil
}

// deeper reports whether brackets outside strings are nested deeper than most.
func deeper(text []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			if depth++; depth > most {
				return true
			}
		case b == '}' || b == ']':
			depth--
		}
	}
	return false
}

// parameters reads a query, of which only these names are known.
func parameters(r *http.Request, known ...string) (map[string]string, error) {
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the query is not well formed")
	}
	v := map[string]string{}
	for name, values := range all {
		if len(values) != 1 {
			return nil, refuse(http.StatusBadRequest, "the query has the parameter %.40q more than once", name)
		}
		v[name] = values[0]
	}
	for _, name := range known {
		delete(all, name)
	}
	for name := range all {
		return nil, refuse(http.StatusBadRequest, "there is no parameter %.40q; there are %s", name, strings.Join(known, ", "))
	}
	return v, nil
}

// stats answers what runs.
func (a *api) stats(w http.ResponseWriter) error {
	v, err := a.Stats()
	if err != nil {
		return refuse(http.StatusServiceUnavailable, "%v", err)
	}
	reply(w, http.StatusOK, v)
	return nil
}
