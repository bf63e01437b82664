package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gamehoster/bench/bots"
	"gamehoster/games"
)

// hosted is a folder of games for a server, with what a benchmark wants otherwise.
type hosted struct {
	root string // of the server, to be removed
	game string // the game's folder in it
	name string
}

// domain is the folder of a domain in the root; clients name it as their host.
const domain = "localhost"

// host copies a game into a root of its own. Each key of settings, such as
// "playersPerInstance", replaces what the definition has of it.
func host(dir string, settings map[string]string) (h hosted, err error) {
	h.name = filepath.Base(dir)
	if h.root, err = os.MkdirTemp("", "gamehoster-bench-"); err != nil {
		return h, fmt.Errorf("making a games root: %w", err)
	}
	at := filepath.Join(h.root, domain)
	h.game = filepath.Join(at, h.name)
	err = os.CopyFS(h.game, os.DirFS(dir))
	if shared := filepath.Join(filepath.Dir(dir), games.SharedFolder); err == nil {
		if _, missing := os.Stat(shared); missing == nil {
			err = os.CopyFS(filepath.Join(at, games.SharedFolder), os.DirFS(shared))
		}
	}
	if err == nil {
		err = set(filepath.Join(h.game, games.DefinitionFile), settings)
	}
	if err != nil {
		return h, errors.Join(fmt.Errorf("hosting %s: %w", h.name, err), h.remove())
	}
	return h, nil
}

func (h hosted) remove() error { return os.RemoveAll(h.root) }

// set puts keys of the top level of a definition in front, and takes them out where
// they were, a line each.
func set(file string, settings map[string]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var kept, added []string
	for line := range strings.Lines(string(text)) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if _, known := settings[strings.Trim(key, `"`)]; !known {
			kept = append(kept, line)
		}
	}
	for key, value := range settings {
		added = append(added, fmt.Sprintf("  %q: %s,\n", key, value))
	}
	out := strings.Replace(strings.Join(kept, ""), "{\n", "{\n"+strings.Join(added, ""), 1)
	return os.WriteFile(file, []byte(out), 0o644)
}

// serve starts our own server on the hosted games, with one loop on the transport.
func (h hosted) serve(ctx context.Context, transport string, split cores) (*server, error) {
	cmd, err := part(ctx, roleServe, serveSpec{Root: h.root, Transport: transport})
	if err != nil {
		return nil, err
	}
	// A loop waits in the kernel past the Go runtime's knowledge: it needs one more. Each
	// garbage collection is told on stderr.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "GODEBUG=gctrace=1")
	return start(ctx, cmd, split.server...)
}

// play has bots play on a server, in a process of their own.
func (h hosted) play(ctx context.Context, s *server, split cores, spec bots.Spec, progress func(bots.Progress)) (*bots.Report, error) {
	spec.Addr, spec.Game, spec.Path, spec.Host = s.Addr.String(), h.game, "/"+h.name, domain
	spec.Watch = []int{s.PID}
	return runClients(ctx, roleBots, spec, split, func(out io.Reader) (*bots.Report, error) { return bots.Read(out, progress) })
}

// faults is what the bots found wrong; nil if nothing.
func faults(r *bots.Report) error {
	switch {
	case r.Thin.Faults > 0:
		return fmt.Errorf("bots that check every byte found %d faults: %s", r.Thin.Faults, strings.Join(r.Thin.Examples, "; "))
	case len(r.Connection.Refused) > 0:
		return fmt.Errorf("bots were refused: %v", r.Connection.Refused)
	case len(r.Closes) > 0:
		return fmt.Errorf("bots lost their connection: %v", r.Closes)
	}
	return nil
}
