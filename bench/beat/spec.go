package beat

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"gamehoster/bench/latency"
	"gamehoster/bench/proc"
)

// Form is the work that is asked for.
type Form string

// The forms.
const (
	Beat Form = "beat"
	Echo Form = "echo"
)

// Spec says what the driver does. The zero value of a field means its default where one
// is named. Durations are nanoseconds in JSON.
type Spec struct {
	Addr    string `json:"addr"`           // IPv4:port
	Path    string `json:"path,omitempty"` // of the socket; "/"
	Form    Form   `json:"form"`
	Sockets int    `json:"sockets"`         // 1 to MaxSockets
	Hz      int    `json:"hz"`              // messages a second of each socket
	In      int    `json:"in,omitempty"`    // bytes of a message to the server, 12 to 4096; 12
	Burst   bool   `json:"burst,omitempty"` // all sockets send at once, instead of spread over the period

	Settle  time.Duration `json:"settle,omitempty"` // from the last connection to the measured part; 2 s
	Measure time.Duration `json:"measure"`
	Watch   []int         `json:"watch,omitempty"` // processes to measure
	Calls   time.Duration `json:"calls,omitempty"` // how long their system calls are counted, after the measured part
}

// MaxSockets is the most sockets of a driver.
const MaxSockets = 200_000

// minIn has room for what the driver wants back from an echo.
const minIn = 12

// Report is what the driver saw in the measured part.
type Report struct {
	Spec     Spec    `json:"spec"`
	Seconds  float64 `json:"seconds"`
	Sent     int64   `json:"sent"`     // messages
	Received int64   `json:"received"` // messages
	BytesIn  int64   `json:"bytesIn"`  // from the server, with frames
	BytesOut int64   `json:"bytesOut"`
	Unsent   int64   `json:"unsent"` // messages that a socket did not take
	Missed   int64   `json:"missed"` // beats that a socket did not get, echoes that did not come
	Wrong    int64   `json:"wrong"`  // messages that are not what they should be

	// Latency is from when a beat was due, or an echo was due to be asked for, to when it was read;
	// a driver that looks once a millisecond adds up to one.
	Latency latency.Summary `json:"latency"`

	Watch  []proc.Usage `json:"watch"`
	PairNS []float64    `json:"pairNs"`          // of each watched process: CPU time by pair of a message in and one out
	Calls  []float64    `json:"calls,omitempty"` // of each watched process: system calls a pair; none where they cannot be counted
	Driver proc.Usage   `json:"driver"`          // a driver that took all of its core drove too slowly
}

// String is the spec as JSON.
func (s Spec) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

// ParseSpec reads a Spec as JSON; a field that it does not have is an error.
func ParseSpec(text string) (s Spec, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("reading the driver's spec: %w", err)
	}
	return s, nil
}

func (s Spec) filled() (Spec, error) {
	if a, err := netip.ParseAddrPort(s.Addr); err != nil || !a.Addr().Is4() {
		return s, fmt.Errorf("the driver's server: %q is no IPv4 address with a port", s.Addr)
	}
	if s.In == 0 {
		s.In = minIn
	}
	if s.Settle == 0 {
		s.Settle = 2 * time.Second
	}
	if s.Path == "" {
		s.Path = "/"
	}
	switch {
	case s.Form != Beat && s.Form != Echo:
		return s, fmt.Errorf("the driver's form: %q is neither %q nor %q", s.Form, Beat, Echo)
	case s.Sockets < 1 || s.Sockets > MaxSockets:
		return s, fmt.Errorf("the driver's sockets: %d is not between 1 and %d", s.Sockets, MaxSockets)
	case s.Hz < 1 || s.Hz > 1000:
		return s, fmt.Errorf("the driver's hz: %d is not between 1 and 1000", s.Hz)
	case s.In < minIn || s.In > 4096:
		return s, fmt.Errorf("the driver's in: %d is not between %d and 4096", s.In, minIn)
	case s.Settle < 0 || s.Measure < 0 || s.Calls < 0:
		return s, fmt.Errorf("the driver's times: %v, %v and %v", s.Settle, s.Measure, s.Calls)
	}
	return s, nil
}

// Main is the driver as a process: it plays the spec, given as JSON, and writes the Report
// as JSON.
func Main(ctx context.Context, spec string, out io.Writer) error {
	s, err := ParseSpec(spec)
	if err != nil {
		return err
	}
	r, err := Drive(ctx, s)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return fmt.Errorf("writing the driver's report: %w", err)
	}
	return nil
}

// Read reads what Main writes.
func Read(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("reading the driver's report: %w", err)
	}
	return &report, nil
}
