package engine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"gamehoster/engine/api"
	"gamehoster/engine/files"
	"gamehoster/engine/web"
)

// How often a box looks at its files: an author waits for what was saved, and who writes
// into a root that is served comes by the API, which says so.
const (
	devPeriod  = 150 * time.Millisecond
	rootPeriod = 2 * time.Second
)

func (b *Box) watchPeriod() time.Duration {
	if b.cfg.Dev {
		return devPeriod
	}
	return rootPeriod
}

// surfaces are what a box answers over plain HTTP:
//
//	GET /GAME/gamehoster.js, ...   web    everybody
//	/api/...                       api    who has the token; only of a games root
//	GET /internal/allow            api    the proxy on this machine; only of a games root
type surfaces struct {
	handler http.Handler
	stop    func()     // ends requests that are held back
	token   *api.Token // nil where there is no API
	box     *Box
}

func (b *Box) openSurfaces() (*surfaces, error) {
	s := &surfaces{box: b, stop: func() {}, handler: web.Handler(sites{b.catalog}, b.cfg.Dev, b.stats)}
	if b.cfg.Root == "" {
		return s, nil
	}
	store, err := files.Open(b.cfg.Root)
	if err != nil {
		return nil, err
	}
	if s.token, err = api.OpenToken(b.cfg.TokenFile); err != nil {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	if err := store.Sweep(); err != nil {
		b.log.Warn("what an interrupted write has left in the games root could not be removed", "error", err)
	}
	if b.cfg.TokenFile != "" && !s.token.Set() {
		b.log.Warn("there is no API: the token file is empty or not there", "file", b.cfg.TokenFile)
	}
	var stopping context.Context
	stopping, s.stop = context.WithCancel(context.Background())
	s.handler = api.Handler(api.Config{
		Token: s.token, Files: store, Catalog: b.catalog, Stats: b.placement, Logs: b.cfg.Logs,
		Rolling: b.rolling, Stopping: stopping, Log: b.log,
	}, s.handler)
	return s, nil
}

// rolling reports whether an older definition of a game is still played.
func (b *Box) rolling(place string) bool { return len(b.versions.at(place).draining) > 0 }

// watch has the token read again until the context ends.
func (s *surfaces) watch(ctx context.Context) {
	if s.token == nil {
		return
	}
	every := time.NewTicker(rootPeriod)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			switch changed, err := s.token.Reload(); {
			case err != nil && changed:
				s.box.log.Error("nobody may use the API until its token is mended", "error", err)
			case changed:
				s.box.log.Info("the token of the API is another one", "api", s.token.Set())
			}
		}
	}
}
