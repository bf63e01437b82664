package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"gamehoster/games"
	"gamehoster/games/diag"
)

// uploads is how many files are on the way at once: on a line of 100 ms it is what
// fills it with files of some kilobytes.
const uploads = 4

// rounds is how often a box may say that it lacks contents. It forgets what was uploaded
// when it is restarted, or when nobody commits for long.
const rounds = 4

// statusWait is how long the box is asked to hold a status back that is not settled.
const statusWait = "wait=30s"

// Target is where on the box the game is put.
type Target struct {
	Domain string
	Game   string
	// Keep leaves files in place that the box has and the folder does not.
	Keep bool
}

// State of a game on a box.
type State string

// The states that settle nothing are Building and Rolling's; a game that rolls is live
// for new players already.
const (
	Live     State = "live"
	Rolling  State = "rolling"
	Building State = "building"
	Rejected State = "rejected"
)

// Verdict is what the box made of the game.
type Verdict struct {
	State    State
	Hash     string    // of the definition that is live
	Findings diag.List // with the lines of source, where the folder has them
	Uploaded int       // files
}

// OK reports whether the folder's game is what new players get.
func (v Verdict) OK() bool { return v.State == Live || v.State == Rolling }

// Progress is told what happens. Its methods may be called from several goroutines.
type Progress interface {
	Begin(files int, bytes int64) // uploads begin; not called where there are none
	Sent(n int)                   // so many more bytes; fewer than 0 where some have to go again
	Uploaded(file string, size int)
	Waiting() // the box has everything and builds
}

type manifest struct {
	Files  []entry `json:"files"`
	Delete bool    `json:"delete"`
}

type entry struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type status struct {
	State    State     `json:"state"`
	Hash     string    `json:"hash"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
}

// Sync brings the folder to the box and waits for the verdict. An error means that there
// is none; nothing is half there then, but helpers of the domain may have been written.
func (c *Client) Sync(ctx context.Context, to Target, f *games.Folder, tell Progress) (Verdict, error) {
	shared, err := c.sharedChanges(ctx, to.Domain, f)
	if err != nil {
		return Verdict{}, err
	}
	u := &upload{client: c, to: to, folder: f, tell: tell}
	for _, s := range shared {
		if err := u.shared(ctx, s); err != nil {
			return Verdict{}, err
		}
	}
	m := manifest{Files: entries(f.Files), Delete: !to.Keep}
	body, err := json.Marshal(m)
	if err != nil {
		return Verdict{}, fmt.Errorf("writing the manifest: %w", err)
	}
	for range rounds {
		var answer struct {
			Missing []string `json:"missing"`
			Verdict *status  `json:"verdict"`
		}
		err := c.do(ctx, request{method: http.MethodPost, path: to.path("commit"), body: body, kind: "application/json"}, &answer)
		if err != nil {
			return Verdict{}, c.unknown(ctx, to, err)
		}
		switch {
		case answer.Verdict != nil:
			v, err := c.settle(ctx, to, f, *answer.Verdict, tell)
			v.Uploaded = u.done
			return v, err
		case len(answer.Missing) == 0:
			return Verdict{}, errors.New("the box answered a commit with neither a verdict nor what it lacks")
		}
		if err := u.blobs(ctx, answer.Missing); err != nil {
			return Verdict{}, err
		}
	}
	return Verdict{}, fmt.Errorf("the box has lost what was uploaded %d times; is its disk full, or is it being restarted?", rounds)
}

func (t Target) path(rest ...string) []string {
	return append([]string{"api", "games", t.Domain, t.Game}, rest...)
}

func entries(files []games.File) []entry {
	list := make([]entry, len(files))
	for i, f := range files {
		list[i] = entry{Path: f.Path, SHA256: f.Sum()}
	}
	return list
}

// unknown tells a domain that the box does not host from a wrong token: both are the
// same 404.
func (c *Client) unknown(ctx context.Context, to Target, err error) error {
	var s *StatusError
	if !errors.As(err, &s) || s.Code != http.StatusNotFound {
		return err
	}
	if c.do(ctx, request{method: http.MethodGet, path: []string{"api", "games"}}, nil) != nil {
		return err
	}
	return fmt.Errorf("the box takes the token, but has no place for %s/%s; say with --domain under which host it is served", to.Domain, to.Game)
}

// sharedChange is a helper that the domain's _shared folder lacks or has another of.
type sharedChange struct {
	file games.File
	old  string // hash; empty where there is none
}

func (c *Client) sharedChanges(ctx context.Context, domain string, f *games.Folder) (all []sharedChange, err error) {
	if len(f.Shared) == 0 {
		return nil, nil
	}
	var there manifest
	err = c.do(ctx, request{method: http.MethodGet, path: []string{"api", "games", domain, games.SharedFolder, "files"}}, &there)
	var s *StatusError
	if err != nil && (!errors.As(err, &s) || s.Code != http.StatusNotFound) {
		return nil, err
	} // where there is no folder yet, all are new
	for _, file := range f.Shared {
		name := strings.TrimPrefix(file.Path, games.SharedFolder+"/")
		i := slices.IndexFunc(there.Files, func(e entry) bool { return e.Path == name })
		switch {
		case i < 0:
			all = append(all, sharedChange{file: file})
		case there.Files[i].SHA256 != file.Sum():
			all = append(all, sharedChange{file, there.Files[i].SHA256})
		}
	}
	return all, nil
}

// upload is the files of one sync on their way.
type upload struct {
	client *Client
	to     Target
	folder *games.Folder
	tell   Progress
	mu     sync.Mutex
	done   int // files
}

// shared writes one helper.
func (u *upload) shared(ctx context.Context, s sharedChange) error {
	text, _ := u.folder.Text(s.file.Path)
	r := request{
		method: http.MethodPut, path: []string{"api", "games", u.to.Domain, games.SharedFolder, "files"},
		body: text, kind: "application/octet-stream",
	}
	r.path = append(r.path, strings.Split(strings.TrimPrefix(s.file.Path, games.SharedFolder+"/"), "/")...)
	if s.old != "" {
		r.match = `"` + s.old + `"`
	}
	if err := u.client.do(ctx, r, nil); err != nil {
		return fmt.Errorf("writing the domain's %s: %w", s.file.Path, u.client.unknown(ctx, u.to, err))
	}
	u.finished(s.file)
	return nil
}

func (u *upload) finished(f games.File) {
	u.mu.Lock()
	u.done++
	u.mu.Unlock()
	u.tell.Uploaded(f.Path, f.Size)
}

// blobs uploads the contents of the hashes, a few at a time. The first error ends it.
func (u *upload) blobs(ctx context.Context, missing []string) error {
	var files []games.File
	var bytes int64
	asked := map[string]bool{}
	for _, f := range u.folder.Files { // files with the same content are one blob
		if sum := f.Sum(); slices.Contains(missing, sum) && !asked[sum] {
			asked[sum] = true
			files = append(files, f)
			bytes += int64(f.Size)
		}
	}
	if len(files) == 0 {
		return errors.New("the box lacks contents that no file of the folder has")
	}
	u.tell.Begin(len(files), bytes)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan games.File)
	var running sync.WaitGroup
	for range min(uploads, len(files)) {
		running.Go(func() {
			for f := range queue {
				if err := u.blob(ctx, f); err != nil {
					cancel(err) // the first one is the cause
					return
				}
			}
		})
	}
feed:
	for _, f := range files {
		select {
		case queue <- f:
		case <-ctx.Done():
			break feed
		}
	}
	close(queue)
	running.Wait()
	return context.Cause(ctx)
}

func (u *upload) blob(ctx context.Context, f games.File) error {
	text, _ := u.folder.Text(f.Path)
	if text == nil {
		text = []byte{} // an empty file is a body of no bytes and not none
	}
	err := u.client.do(ctx, request{
		method: http.MethodPut, path: u.to.path("blobs", f.Sum()),
		body: text, kind: "application/octet-stream", sent: u.tell.Sent,
	}, nil)
	if err != nil {
		return fmt.Errorf("uploading %s: %w", f.Path, err)
	}
	u.finished(f)
	return nil
}

// settle waits until the box has built the game.
func (c *Client) settle(ctx context.Context, to Target, f *games.Folder, s status, tell Progress) (Verdict, error) {
	if s.State == Building {
		tell.Waiting()
	}
	for s.State == Building {
		var now status
		if err := c.do(ctx, request{method: http.MethodGet, path: to.path("status"), query: statusWait}, &now); err != nil {
			return Verdict{}, fmt.Errorf("waiting for the box's verdict: %w", err)
		}
		s = now
	}
	switch s.State {
	case Live, Rolling, Rejected:
	default:
		return Verdict{}, fmt.Errorf("the box says that the game is %q, which this program does not know; is it older than the box?", s.State)
	}
	return Verdict{State: s.State, Hash: s.Hash, Findings: findings(f, s.Findings)}, nil
}

// findings turns what the API tells into what a check here would: with the line of
// source, which the folder has.
func findings(f *games.Folder, all []finding) (list diag.List) {
	sources := map[string]*diag.Source{}
	for _, s := range all {
		d := diag.Diagnostic{Pos: diag.Position{File: s.File, Line: s.Line, Column: s.Column}, Message: s.Message}
		if s.Severity == "warning" {
			d.Severity = diag.Warning
		}
		if text, ok := f.Text(path.Clean(s.File)); ok && s.Line > 0 {
			src := sources[s.File]
			if src == nil {
				src = diag.NewSource(s.File, text)
				sources[s.File] = src
			}
			d.Source = src.Line(s.Line)
		}
		list = append(list, d)
	}
	return list
}
