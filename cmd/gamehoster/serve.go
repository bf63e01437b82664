package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"time"

	"gamehoster/engine"
	"gamehoster/engine/gate"
	"gamehoster/engine/logs"
	"gamehoster/engine/sandbox"
	"gamehoster/games"
)

// serverFlags are those that every server has.
type serverFlags struct {
	Port           uint16         `help:"Port to listen on; 0 takes any free one." default:"7350"`
	TrustedProxies []netip.Prefix `help:"Networks whose X-Forwarded-For is believed; the limits for one address are not for them." default:"127.0.0.0/8,::1/128" sep:","`
	AddressSockets int            `help:"Game sockets that one address may hold." default:"256"`
	AddressJoins   int            `help:"New game sockets a second from one address, sustained." default:"32"`
	DrainTimeout   time.Duration  `help:"How long a stop lets games go on that are played, and HTTP requests be answered." default:"5s"`
	Loops          int            `help:"Event loops; 0 for one per core." default:"0"`

	LogDir string `help:"Folder for the logs of requests and sockets, web.log, and of the server, server.log, as lines of JSON. Full or old files are set aside, and the oldest go. Without it they are on stderr, and the newest of them in memory for the API." placeholder:"DIR"`

	LateTickTrace     string        `help:"Folder for traces of what the process did when a tick ran late, at most one a minute; for go tool trace." placeholder:"DIR"`
	LateTickThreshold time.Duration `help:"How late that is." default:"25ms"`
	transportFlag
	logFlags
}

// transportFlag says what the event loops run on.
type transportFlag struct {
	Transport string `help:"What the event loops run on: ${enum}. auto is uring (io_uring) where the kernel allows it." enum:"auto,gnet,uring" default:"auto"`
}

// config is what the flags say, for a server at the address to bind to.
func (f serverFlags) config(env *environment, bind netip.Addr) (engine.Config, error) {
	also := f.logger(env).Handler()
	kept, err := logs.Open(logs.Options{Dir: f.LogDir, Level: f.LogLevel, Also: also})
	if err != nil {
		return engine.Config{}, fmt.Errorf("--log-dir: %w", err)
	}
	env.logs = kept
	return engine.Config{
		Addr: netip.AddrPortFrom(bind, f.Port).String(), Loops: f.Loops,
		TrustedProxies: f.TrustedProxies, DrainTimeout: f.DrainTimeout, Log: kept.ServerLogger(), Logs: kept,
		Transport: engine.Transport(f.Transport), LateTickTrace: f.LateTickTrace, LateTickThreshold: f.LateTickThreshold,
		Limits: gate.Limits{Sockets: f.AddressSockets, Upgrades: f.AddressJoins},
	}, nil
}

type devCommand struct {
	Dir   string     `arg:"" help:"Folder of games, or of one game; the current one by default." default:"."`
	Bind  netip.Addr `help:"Address to listen on." default:"0.0.0.0"`
	Fresh bool       `help:"Begin every world anew when rules are saved. Without it worlds go on under the new rules where their state is the same."`
	Admin string     `help:"Address and port of a listener with /metrics, /healthz and /debug/pprof/; none by default." placeholder:"HOST:PORT"`
	serverFlags
	lineFlags
}

func (c *devCommand) Run(env *environment) error {
	told := newReporter(env.stdout, func(p games.Place) string { return p.Game })
	told.fresh = c.Fresh
	cfg, err := c.config(env, c.Bind)
	if err != nil {
		return err
	}
	reached := func(b *engine.Box) netip.AddrPort { return b.Addr() }
	if bad := c.conditions(); !bad.Perfect() {
		between, err := condition(c.Bind, c.Port, bad)
		if err != nil {
			return err
		}
		defer between.close()
		cfg.Addr = "127.0.0.1:0"
		reached = func(b *engine.Box) netip.AddrPort { return between.start(b.Addr()) }
	}
	cfg.Admin = c.Admin
	cfg.Dir, cfg.Dev, cfg.Fresh = c.Dir, true, c.Fresh
	cfg.OnChange = told.change
	cfg.FileName = shown
	for _, dir := range gameFolders(c.Dir) {
		// A box passes over folders that cannot be games, for it cannot tell whether
		// they are meant to be.
		full, err := filepath.Abs(dir)
		if err == nil && isGame(full) && !games.ValidGameName(filepath.Base(full)) {
			_, findings := games.Load(full)
			render(env.stdout, dir, findings)
			told.rejected++
		}
	}
	cfg.Ready = func(b *engine.Box) {
		told.address = "http://" + playHost(reached(b)) + "/"
		fmt.Fprintf(env.stdout, "\n  Play at  %s\n\n", told.address)
		for _, l := range b.Games() {
			fmt.Fprintf(env.stdout, "    %-16s %s%s/\n", l.Place.Game, told.address, l.Place.Game)
		}
		switch {
		case len(b.Games()) > 0:
		case told.rejected > 0:
			fmt.Fprintf(env.stdout, "  No game is live yet; what is wrong is said above.\n")
		default:
			fmt.Fprintf(env.stdout, "  There is no game in %s yet. A game is a folder with a %s;\n"+
				"  it is served as soon as it is there.\n", c.Dir, games.DefinitionFile)
			if below := gamesBelow(c.Dir); below != "" {
				fmt.Fprintf(env.stdout, "  There are games in %s.\n", below)
			}
		}
		if bad := c.conditions(); !bad.Perfect() {
			fmt.Fprintf(env.stdout, "\n  The line is bad, as you asked: %v.\n", bad)
		}
		fmt.Fprintf(env.stdout, "\n  Saving a file rebuilds its game. Ctrl-C stops.\n\n")
	}
	b, err := engine.New(cfg)
	if err != nil {
		return err
	}
	return b.Run(env.ctx)
}

// playHost is the host and port that a browser on this machine reaches the address by.
func playHost(a netip.AddrPort) string {
	host := a.Addr().String()
	if a.Addr().IsUnspecified() || a.Addr().IsLoopback() {
		host = "localhost"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(a.Port())))
}

type serveCommand struct {
	Root      string     `help:"Games root: one folder per domain, in it one per game." default:"./games" type:"existingdir"`
	Bind      netip.Addr `help:"Address to listen on." default:"127.0.0.1"`
	TokenFile string     `help:"File with the word that authorises the API's callers, such as gamehoster sync; read again when it changes. Without it, or while it is empty, there is no API." placeholder:"FILE"`

	Admin       string        `help:"Address and port of the operator's listener, which asks nobody who they are: /metrics for Prometheus, /healthz, and profiles under /debug/pprof/. Empty for none." default:"${admin}"`
	RollTimeout time.Duration `help:"How long players of a replaced definition play on before they are told to load the new one." default:"10m"`
	Workers     string        `help:"Who runs the games: auto is a worker process for each game and some of its instances, inline is this process." enum:"auto,inline" default:"auto"`
	MaxWorkers  int           `help:"Most worker processes that new players come to; 0 for four times the cores. As many again may play replaced definitions to their end. Who comes when there are no more is told that the box is full." default:"0"`
	Sandbox     string        `help:"What keeps worker processes from the rest of the machine: a filter of system calls and, for root, namespaces. auto does what the kernel allows, require refuses to run a game without the filter, off is nothing." enum:"auto,off,require" default:"auto"`
	serverFlags
}

func (c *serveCommand) Run(env *environment) error {
	cfg, err := c.config(env, c.Bind)
	if err != nil {
		return err
	}
	cfg.Admin = c.Admin
	cfg.Root, cfg.RollTimeout = c.Root, c.RollTimeout
	cfg.TokenFile = c.TokenFile
	cfg.Workers = engine.Workers{Pool: c.Workers != "inline", Max: c.MaxWorkers, Sandbox: sandbox.Mode(c.Sandbox)}
	if c.Sandbox == string(sandbox.Require) && !cfg.Workers.Pool {
		return errors.New("--sandbox=require: with --workers=inline there are no worker processes that could be in one")
	}
	told := newReporter(env.stdout, games.Place.String)
	told.rolls = true
	cfg.OnChange = told.change
	if err := supervise(env.ctx, &cfg); err != nil {
		return err
	}
	b, err := engine.New(cfg)
	if err != nil {
		return err
	}
	if len(b.Games()) == 0 {
		cfg.Log.Warn("no game is live", "expected", filepath.Join(c.Root, "DOMAIN", "GAME", games.DefinitionFile))
	}
	cfg.Log.Info("listening", "address", b.Addr())
	return b.Run(env.ctx)
}
