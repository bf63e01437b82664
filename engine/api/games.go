package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/files"
	"gamehoster/games"
	"gamehoster/games/diag"
)

// maxManifest is the bytes of a commit's body: games.MaxFiles paths as long as they may be.
const maxManifest = 1 << 20

// game is the status of one as it is told.
type game struct {
	Domain   string    `json:"domain"`
	Game     string    `json:"game"`
	State    box.State `json:"state"`
	Hash     string    `json:"hash"` // of the definition that new players get; empty where there is none
	Findings []finding `json:"findings"`
	Load     load      `json:"load"`
}

type load struct {
	Instances int `json:"instances"`
	Players   int `json:"players"` // seats taken
}

type finding struct {
	Severity string `json:"severity"` // error or warning
	File     string `json:"file"`
	Line     int    `json:"line"`   // from 1; 0 where it is about the file as a whole
	Column   int    `json:"column"` // likewise, in code points
	Message  string `json:"message"`
}

func (a *api) tell(s box.Status) game {
	g := game{Domain: s.Place.Domain, Game: s.Place.Game, State: s.State, Findings: []finding{}}
	if s.Live != nil {
		g.Hash = fmt.Sprintf("%016x", s.Live.Hash)
		l := s.Live.Table.Load()
		g.Load = load{Instances: l.Instances, Players: l.Seats}
	}
	if s.State == box.StateLive && a.Rolling != nil && a.Rolling(s.Place.String()) {
		g.State = box.StateRolling
	}
	for _, d := range s.Findings {
		severity := "error"
		if d.Severity == diag.Warning {
			severity = "warning"
		}
		g.Findings = append(g.Findings, finding{severity, d.Pos.File, d.Pos.Line, d.Pos.Column, d.Message})
	}
	return g
}

// games answers with all of them.
func (a *api) games(w http.ResponseWriter) error {
	all := []game{}
	for _, s := range a.Catalog.Statuses() {
		all = append(all, a.tell(s))
	}
	reply(w, http.StatusOK, map[string]any{"games": all})
	return nil
}

// folder answers requests about one folder. rest is the path's elements after its name.
func (a *api) folder(w http.ResponseWriter, r *http.Request, f files.Folder, method string, rest []string) error {
	what := ""
	if len(rest) > 0 {
		what = rest[0]
	}
	switch {
	case what == "files" && len(rest) == 1 && method == http.MethodGet:
		return a.manifest(w, f)
	case what == "files" && len(rest) > 1:
		return a.file(w, r, f, method, strings.Join(rest[1:], "/"))
	case f.Shared():
		return errUnknown
	case len(rest) == 0 && method == http.MethodDelete:
		return a.remove(w, r, f)
	case what == "status" && len(rest) == 1 && method == http.MethodGet:
		return a.status(w, r, f)
	case what == "commit" && len(rest) == 1 && method == http.MethodPost:
		return a.commit(w, r, f)
	case what == "blobs" && len(rest) == 2 && method == http.MethodPut:
		return a.stage(w, r, rest[1])
	}
	return errUnknown
}

func (a *api) manifest(w http.ResponseWriter, f files.Folder) error {
	all, err := a.Files.Manifest(f)
	if err != nil {
		return err
	}
	reply(w, http.StatusOK, map[string]any{"files": all})
	return nil
}

// file answers requests about one file.
func (a *api) file(w http.ResponseWriter, r *http.Request, f files.Folder, method, p string) error {
	if method == http.MethodGet {
		content, file, err := a.Files.Get(f, p)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		w.Header().Set("ETag", `"`+file.SHA256+`"`)
		_, _ = w.Write(content) // fails when the client is gone
		return nil
	}
	match, err := ifMatch(r)
	if err != nil {
		return err
	}
	switch method {
	case http.MethodPut:
		content, err := body(w, r, games.MaxFileBytes)
		if err != nil {
			return err
		}
		file, err := a.Files.Put(f, p, content, match)
		if err != nil {
			return err
		}
		a.written(r, f, "a file was written", "file", p, "bytes", file.Size)
		w.Header().Set("ETag", `"`+file.SHA256+`"`)
		reply(w, http.StatusOK, file)
		return nil
	case http.MethodDelete:
		if err := a.Files.Delete(f, p, match); err != nil {
			return err
		}
		a.written(r, f, "a file was removed", "file", p)
		reply(w, http.StatusOK, map[string]string{"removed": p})
		return nil
	}
	return errUnknown
}

// written has the catalog look at a folder, and logs who did what.
func (a *api) written(r *http.Request, f files.Folder, what string, more ...any) {
	name := games.SharedFolder
	if !f.Shared() {
		name = f.Game()
	}
	a.Catalog.Poke(f.Domain(), name)
	a.Log.Info(what, append([]any{"game", f.String(), "peer", r.RemoteAddr}, more...)...)
}

// ifMatch reads what a writer takes the file to be.
func ifMatch(r *http.Request) (files.Match, error) {
	lines := r.Header.Values("If-Match")
	switch {
	case len(lines) == 0:
		return "", nil
	case len(lines) == 1 && lines[0] == "*":
		return "*", nil
	case len(lines) == 1:
		sum := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(lines[0], `"`), `"`))
		if hexSum(sum) {
			return files.Match(sum), nil
		}
	}
	return "", refuse(http.StatusBadRequest, `If-Match has to be one sha256 in hexadecimal and quotation marks, or *`)
}

// hexSum reports whether s is a sha256 as the API writes it.
func hexSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

func (a *api) remove(w http.ResponseWriter, r *http.Request, f files.Folder) error {
	if err := a.Files.Remove(f); err != nil {
		return err
	}
	a.written(r, f, "a game was removed")
	reply(w, http.StatusOK, map[string]string{"removed": f.String()})
	return nil
}

func (a *api) stage(w http.ResponseWriter, r *http.Request, sum string) error {
	if !hexSum(sum) {
		return refuse(http.StatusBadRequest, "a content goes to its sha256, in 64 digits of 0-9 and a-f")
	}
	content, err := body(w, r, games.MaxFileBytes)
	if err != nil {
		return err
	}
	if err := a.Files.Stage(sum, content); err != nil {
		return err
	}
	reply(w, http.StatusOK, map[string]any{"sha256": sum, "size": len(content)})
	return nil
}

func (a *api) commit(w http.ResponseWriter, r *http.Request, f files.Folder) error {
	var set struct {
		Files  []files.File `json:"files"`
		Delete bool         `json:"delete"`
	}
	if err := parse(w, r, maxManifest, &set); err != nil {
		return err
	}
	if set.Files == nil {
		return refuse(http.StatusBadRequest, "the body has no files; an empty list is a set, too")
	}
	missing, changed, err := a.Files.Commit(f, set.Files, set.Delete)
	switch {
	case err != nil:
		return err
	case len(missing) > 0:
		reply(w, http.StatusOK, map[string]any{"missing": missing})
		return nil
	case changed:
		a.written(r, f, "a set of files was committed", "files", len(set.Files))
	}
	s, ok := a.Catalog.Status(f.String())
	if !ok {
		// It is as it was, and the catalog has not looked since the box has the folder.
		a.Catalog.Poke(f.Domain(), f.Game())
		s, _ = a.Catalog.Status(f.String())
	}
	reply(w, http.StatusOK, map[string]any{"verdict": a.tell(s)})
	return nil
}

func (a *api) status(w http.ResponseWriter, r *http.Request, f files.Folder) error {
	v, err := parameters(r, "wait")
	if err != nil {
		return err
	}
	s, ok := a.Catalog.Status(f.String())
	if wait := v["wait"]; wait != "" {
		d, err := time.ParseDuration(wait)
		if err != nil || d < 0 {
			return refuse(http.StatusBadRequest, "wait=%.20q is no time with its unit, as in 30s", wait)
		}
		ctx, done, err := a.hold(w, r, min(d, longest))
		if err != nil {
			return err
		}
		defer done()
		s, ok = a.Catalog.Settle(ctx, f.String())
	}
	if !ok {
		return errUnknown
	}
	reply(w, http.StatusOK, a.tell(s))
	return nil
}

// hold is the context of a request that is held back for a while, which ends with its
// client's patience, and with the box.
func (a *api) hold(w http.ResponseWriter, r *http.Request, d time.Duration) (context.Context, func(), error) {
	control := http.NewResponseController(w)
	// Without a read deadline: one that passes would look like the end of the client.
	err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Now().Add(d+answerTime)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, fmt.Errorf("holding an answer back: %w", err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), d)
	stop := context.AfterFunc(a.Stopping, cancel)
	return ctx, func() { stop(); cancel() }, nil
}
