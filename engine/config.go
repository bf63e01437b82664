package engine

import (
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"time"

	"gamehoster/engine/box"
	"gamehoster/engine/door"
	"gamehoster/engine/gate"
	"gamehoster/engine/logs"
)

// Config says how a box runs. The zero value of a field means its default, where one is
// named.
type Config struct {
	Addr  string // host:port to listen on; port 0 takes any free one; not looked at with Sockets
	Root  string // the games root; exactly one of Root and Dir is set
	Dir   string // one domain's folder, or one game's, for `dev`
	Dev   bool   // watch the files, rebuild on save, serve the games' pages
	Fresh bool   // with Dev: worlds begin anew when their game's rules are saved
	Loops int    // event loops; one per core

	Workers Workers // who runs the games: this process

	// Sockets are what the process was started with, to accept on in place of Addr. They
	// are the box's from New on; who else has them open keeps who waits in their backlogs.
	Sockets []*net.TCPListener

	Transport         Transport     // what the loops run on; auto
	LateTickTrace     string        // folder for traces of what the process did when a tick ran late; none
	LateTickThreshold time.Duration // what is late; 25 ms

	TokenFile string     // with Root: holds what the API's callers have to know; empty or not there: no API
	Logs      *logs.Logs // with Root: what the API answers from about the logs; nil for nothing

	TrustedProxies []netip.Prefix // whose X-Forwarded-For counts, and who are not limited; loopback
	Limits         gate.Limits    // of one address
	DrainTimeout   time.Duration  // how long a stop lets games go on, unless Dev, and HTTP requests be answered; 5 s
	RollTimeout    time.Duration  // how long players of a replaced definition play on, unless Dev; 10 min
	Log            *slog.Logger   // discards where nil
	Admin          string         // host:port of the operator's listener; none where empty

	Ready    func(*Box)       // called once, when the port is open and the games are built; may be nil
	OnChange func(box.Change) // called when a game was built, rejected or removed; may be nil

	// FileName is what the log calls a file of the game in dir where one of its bodies
	// fails or logs; the file's path in the game where nil. It is called by loops.
	FileName func(dir, file string) string
}

// The defaults of Config.
const (
	defaultDrainTimeout = 5 * time.Second
	defaultRollTimeout  = 10 * time.Minute
	// Most of the period of a game of 30 Hz.
	defaultLateTick = 25 * time.Millisecond
)

// withDefaults fills the zero fields in and checks the rest.
func (c Config) withDefaults() (Config, error) {
	if (c.Root == "") == (c.Dir == "") {
		return c, errors.New("one folder with games is needed, and no more than one")
	}
	if c.Loops <= 0 {
		c.Loops = runtime.NumCPU()
	}
	if c.TrustedProxies == nil {
		c.TrustedProxies = door.Loopback()
	}
	if c.DrainTimeout <= 0 {
		c.DrainTimeout = defaultDrainTimeout
	}
	if c.RollTimeout <= 0 {
		c.RollTimeout = defaultRollTimeout
	}
	if c.LateTickThreshold <= 0 {
		c.LateTickThreshold = defaultLateTick
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// hashes is how many state hashes of an instance are kept.
func (c *Config) hashes() int {
	if c.Dev {
		return devHashes
	}
	return 0
}
