package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"gamehoster/engine/box"
)

// Config says how a box runs. The zero value of a field means its default.
type Config struct {
	Bind    string // address to listen on; 127.0.0.1
	Port    int    // 7350; a negative number takes any free port
	Admin   string // host:port of the operator's surface; empty for none
	Root    string // the games root; exactly one of Root and Dir is set
	Dir     string // one domain's folder, or one game's, for `dev`
	Dev     bool   // watch the files, rebuild on save, serve the games' pages
	Loops   int    // event loops; one per core
	Version string // shown to operators

	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts; loopback
	DrainTimeout   time.Duration  // how long a stop waits for players; 5 s
	Log            *slog.Logger   // discards where nil

	Ready    func(*Box)       // called once, when the port is open and the games are built
	OnChange func(box.Change) // called when a game was built, rejected or removed
}

// withDefaults fills the zero fields in and checks the rest. Errors name the field's
// flag.
func (c Config) withDefaults() (Config, error) {
	if c.Bind == "" {
		c.Bind = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(c.Bind); err != nil {
		return c, fmt.Errorf("--bind: %q is not an address", c.Bind)
	}
	switch {
	case c.Port == 0:
		c.Port = 7350
	case c.Port < 0:
		c.Port = 0
	case c.Port > 65535:
		return c, fmt.Errorf("--port: %d is over 65535", c.Port)
	}
	if (c.Root == "") == (c.Dir == "") {
		return c, errors.New("--root: name the folder with the games")
	}
	if c.Loops <= 0 {
		c.Loops = runtime.NumCPU()
	}
	if c.TrustedProxies == nil {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
