package main

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/box"
)

// serverFlags are those that every server has.
type serverFlags struct {
	Port           int            `help:"Port to listen on; 0 takes any free one." default:"7350"`
	TrustedProxies []netip.Prefix `help:"Networks whose X-Forwarded-For is believed." default:"127.0.0.0/8,::1/128" sep:","`
	DrainTimeout   time.Duration  `help:"How long a stop waits for what is being sent." default:"5s"`
	Loops          int            `help:"Event loops; 0 for one per core." default:"0"`
	logFlags
}

func (f serverFlags) config(env *environment) engine.Config {
	port := f.Port
	if port == 0 {
		port = -1
	}
	return engine.Config{
		Port: port, Loops: f.Loops, Version: version,
		TrustedProxies: f.TrustedProxies, DrainTimeout: f.DrainTimeout, Log: f.logger(env.stderr),
	}
}

type devCommand struct {
	Dir  string `arg:"" help:"Folder of games, or of one game." default:"."`
	Bind string `help:"Address to listen on." default:"0.0.0.0"`
	serverFlags
}

func (c *devCommand) Run(env *environment) error {
	cfg := c.config(env)
	cfg.Dir, cfg.Bind, cfg.Dev = c.Dir, c.Bind, true
	cfg.OnChange = func(ch box.Change) { report(env, ch) }
	cfg.Ready = func(b *engine.Box) {
		port := b.Addr().Port()
		fmt.Fprintf(env.stdout, "\n  Play at  http://localhost:%d/\n\n", port)
		for _, l := range b.Games() {
			fmt.Fprintf(env.stdout, "    %-16s http://localhost:%d/%s/\n", l.Place.Game, port, l.Place.Game)
		}
		fmt.Fprintf(env.stdout, "\n  Saving a file rebuilds its game. Ctrl-C stops.\n\n")
	}
	b, err := engine.New(cfg)
	if err != nil {
		return err
	}
	return b.Run(env.ctx)
}

type serveCommand struct {
	Root string `help:"Games root: one folder per domain, in it one per game." default:"./games" type:"existingdir"`
	Bind string `help:"Address to listen on." default:"127.0.0.1"`
	serverFlags
}

func (c *serveCommand) Run(env *environment) error {
	cfg := c.config(env)
	cfg.Root, cfg.Bind = c.Root, c.Bind
	cfg.OnChange = func(ch box.Change) { report(env, ch) }
	b, err := engine.New(cfg)
	if err != nil {
		return err
	}
	cfg.Log.Info("listening", "address", b.Addr())
	return b.Run(env.ctx)
}

// report tells an author what became of a game.
func report(env *environment, c box.Change) {
	var text strings.Builder
	for _, d := range c.Findings {
		d.Pos.File = c.Place.Game + "/" + d.Pos.File
		text.WriteString(d.Render())
	}
	name := c.Place.Game
	switch {
	case c.New == nil && c.Old == nil:
		fmt.Fprintf(&text, "%s: rejected; what was live goes on\n", name)
	case c.New == nil:
		fmt.Fprintf(&text, "%s: removed\n", name)
	case c.Old == nil:
		fmt.Fprintf(&text, "%s: live, %s\n", name, sizes(c.New))
	default:
		fmt.Fprintf(&text, "%s: reloaded, %s; open pages reload\n", name, sizes(c.New))
	}
	fmt.Fprint(env.stdout, text.String())
}

func sizes(l *box.Live) string {
	return fmt.Sprintf("library %d KB, rules %.1f KB of wasm, state %.1f KB an instance",
		(len(l.Library.Script)+512)/1024, float64(len(l.Program.Server))/1024, float64(l.Program.ServerLayout.Size)/1024)
}
