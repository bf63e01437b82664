package bots

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Spec says what a fleet of bots does. The zero value of a field means its default
// where one is named. Durations are nanoseconds in JSON.
type Spec struct {
	Addr   string `json:"addr"`             // of the server: IP:port
	Game   string `json:"game"`             // folder of the game, for its definition
	Path   string `json:"path,omitempty"`   // of the socket; "/" and the folder's name
	Query  string `json:"query,omitempty"`  // more parameters of the socket's address
	Host   string `json:"host,omitempty"`   // header; Addr
	Origin string `json:"origin,omitempty"` // header; none

	Bots int    `json:"bots"` // 1 to MaxBots
	Seed uint64 `json:"seed,omitempty"`
	Mix  Mix    `json:"mix,omitempty"` // how many of Bots behave badly

	Connect time.Duration `json:"connect,omitempty"` // over which the connections are spread; 0 for all at once
	Settle  time.Duration `json:"settle,omitempty"`  // from then on to the measured part
	Measure time.Duration `json:"measure"`           // the measured part
	Rounds  int           `json:"rounds,omitempty"`  // how often all come, play and leave; 1

	Commands float64       `json:"commands,omitempty"` // a second and bot; 0 for none
	Command  string        `json:"command,omitempty"`  // the one that is sent; all in turns
	Lead     int           `json:"lead,omitempty"`     // ticks by which commands are stamped ahead of the next tick
	Late     Late          `json:"late,omitempty"`
	Ping     time.Duration `json:"ping,omitempty"` // time between a bot's pings; 1 s, negative for none
	Thin     int           `json:"thin,omitempty"` // one in so many checks every byte; 100, negative for none

	Every time.Duration `json:"every,omitempty"` // time between progress lines; 1 s
	Watch []int         `json:"watch,omitempty"` // processes to measure
	Calls time.Duration `json:"calls,omitempty"` // how long their system calls are counted, after the measured part of the last round
}

// MaxBots is the most bots of a fleet.
const MaxBots = 200_000

// Mix is how many bots do not behave; the others are honest.
type Mix struct {
	Slow     int `json:"slow,omitempty"`     // play and then stop reading, with a small receive buffer
	Trickle  int `json:"trickle,omitempty"`  // likewise, but read some bytes each second
	Silent   int `json:"silent,omitempty"`   // take the stream and never send: no ack, no ping
	Hostile  int `json:"hostile,omitempty"`  // try one trick after another, see Tricks
	Restless int `json:"restless,omitempty"` // drop the connection now and then and resume the seat
}

func (m Mix) sum() int { return m.Slow + m.Trickle + m.Silent + m.Hostile + m.Restless }

// Late stamps some commands with a past tick, as players with bad lines do.
type Late struct {
	Share float64       `json:"share,omitempty"` // of all commands, 0 to 1
	Least time.Duration `json:"least,omitempty"`
	Most  time.Duration `json:"most,omitempty"`
}

// String is the spec as JSON.
func (s Spec) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprint(err) // of NaN only
	}
	return string(b)
}

// ParseSpec reads a Spec as JSON; a field that it does not have is an error.
func ParseSpec(text string) (s Spec, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("reading the bots' spec: %w", err)
	}
	return s, nil
}

// filled checks the spec and fills the defaults in.
func (s Spec) filled() (Spec, error) {
	if _, err := netip.ParseAddrPort(s.Addr); err != nil {
		return s, fmt.Errorf("the bots' server: %w", err)
	}
	for _, c := range []struct {
		name            string
		v, least, great float64
	}{
		{"bots", float64(s.Bots), 1, MaxBots},
		{"rounds", float64(s.Rounds), 0, 1e6},
		{"commands", s.Commands, 0, 1000},
		{"lead", float64(s.Lead), 0, 1 << 20},
		{"late.share", s.Late.Share, 0, 1},
		{"connect", s.Connect.Seconds(), 0, 1e6},
		{"settle", s.Settle.Seconds(), 0, 1e6},
		{"measure", s.Measure.Seconds(), 0, 1e6},
		{"calls", s.Calls.Seconds(), 0, 1e6},
		{"late.least", s.Late.Least.Seconds(), 0, 60},
		{"late.most", s.Late.Most.Seconds(), s.Late.Least.Seconds(), 60},
		{"mix", float64(s.Mix.sum()), 0, float64(s.Bots)},
	} {
		if !(c.v >= c.least && c.v <= c.great) {
			return s, fmt.Errorf("the bots' %s: %v is not between %v and %v", c.name, c.v, c.least, c.great)
		}
	}
	if s.Mix.Slow < 0 || s.Mix.Trickle < 0 || s.Mix.Silent < 0 || s.Mix.Hostile < 0 || s.Mix.Restless < 0 {
		return s, fmt.Errorf("the bots' mix: %+v has negative numbers", s.Mix)
	}
	if s.Host == "" {
		s.Host = s.Addr
	}
	s.Rounds = max(s.Rounds, 1)
	if s.Ping == 0 {
		s.Ping = time.Second
	}
	if s.Thin == 0 {
		s.Thin = 100
	}
	if s.Every <= 0 {
		s.Every = time.Second
	}
	return s, nil
}
