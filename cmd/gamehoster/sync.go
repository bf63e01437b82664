package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"gamehoster/games"
	"gamehoster/games/deploy"
)

type syncCommand struct {
	Dir     string        `arg:"" help:"Folder of a game, or of games."`
	URL     string        `arg:"" name:"url" help:"Address of the box, as in https://play.example/."`
	Domain  string        `help:"Domain under which the box serves the game; the address's host where it is not given." placeholder:"HOST"`
	Keep    bool          `help:"Keep files on the box that the folder does not have."`
	Watch   bool          `help:"Go on and sync again whenever a file is saved."`
	Retry   time.Duration `help:"How long to try again when the connection breaks." default:"1m"`
	Timeout time.Duration `help:"How long one sync may take, with the wait for the verdict." default:"5m"`

	accessFlags
}

func (c *syncCommand) Run(env *environment) error {
	dirs := gameFolders(c.Dir)
	if dirs == nil {
		return noGame(c.Dir)
	}
	client, err := c.client(env, c.URL)
	if err != nil {
		return err
	}
	defer client.Close()
	client.Patience = c.Retry
	if c.Domain == "" {
		c.Domain = client.Host()
	}
	syncs := make([]*syncing, len(dirs))
	failed := false
	for i, dir := range dirs {
		syncs[i] = &syncing{command: c, client: client, dir: dir}
		if !syncs[i].run(env) {
			failed = true
		}
	}
	if c.Watch && env.ctx.Err() == nil {
		fmt.Fprintf(env.stdout, "Saving a file syncs its game again. Ctrl-C stops.\n")
		every := time.NewTicker(watchPeriod)
		defer every.Stop()
		watch(env.ctx, every.C, syncs, func(s *syncing) { s.run(env) })
		return nil
	}
	if failed {
		return errReported
	}
	return nil
}

// syncing is one game that is brought to the box, once or again and again.
type syncing struct {
	command *syncCommand
	client  *deploy.Client
	dir     string
	tried   string // the folder's state that was synced last
	seen    string // and as the watch found it last
}

// watchPeriod is how often the files are looked at.
const watchPeriod = 200 * time.Millisecond

// watch calls again for each game whose files have changed, once two looks in a row have
// found them the same: a burst of writes is one change.
func watch(ctx context.Context, every <-chan time.Time, all []*syncing, again func(*syncing)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-every:
		}
		for _, s := range all {
			now := games.Fingerprint(s.dir)
			if now != s.tried && now == s.seen {
				again(s)
			}
			s.seen = now
		}
	}
}

// run syncs once, tells what came of it and reports whether the game is live.
func (s *syncing) run(env *environment) (ok bool) {
	ctx, cancel := context.WithTimeoutCause(env.ctx, s.command.Timeout, fmt.Errorf("it took longer than %v (--timeout)", s.command.Timeout))
	defer cancel()
	began := time.Now()
	s.tried = games.Fingerprint(s.dir)
	folder, findings := games.ReadFolder(s.dir)
	if folder == nil {
		render(env.stderr, s.dir, findings)
		return false
	}
	told := newProgress(env.stderr)
	s.client.OnRetry = func(err error, pause time.Duration) {
		told.say(fmt.Sprintf("%v; trying again in %v", err, pause))
	}
	v, err := s.client.Sync(ctx, deploy.Target{Domain: s.command.Domain, Game: folder.Name, Keep: s.command.Keep}, folder, told)
	told.end()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && env.ctx.Err() == nil {
			err = cause
		}
		fmt.Fprintf(env.stderr, "gamehoster: syncing %s: %v\n", folder.Name, err)
		return false
	}
	render(env.stderr, s.dir, v.Findings)
	name := s.command.Domain + "/" + folder.Name
	if !v.OK() {
		after := "it is not served"
		if v.Hash != "" {
			after = "what was live goes on"
		}
		fmt.Fprintf(env.stderr, "%s: rejected by the box; %s\n", name, after)
		return false
	}
	fmt.Fprintf(env.stdout, "%s: live (%s; %d ms)\n", name, uploaded(v.Uploaded), time.Since(began).Milliseconds())
	fmt.Fprintf(env.stdout, "  definition %s\n", v.Hash)
	if script, err := url.JoinPath(s.command.URL, folder.Name, games.ScriptFile); err == nil {
		fmt.Fprintf(env.stdout, "  library    %s\n", script)
	}
	return true
}

func uploaded(files int) string {
	switch files {
	case 0:
		return "nothing had changed"
	case 1:
		return "1 file uploaded"
	}
	return fmt.Sprintf("%d files uploaded", files)
}
