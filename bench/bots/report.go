package bots

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gamehoster/bench/latency"
	"gamehoster/bench/proc"
)

// Phase is where a run stands.
type Phase string

// The phases of a round, in order.
const (
	Connecting Phase = "connecting"
	Settling   Phase = "settling"
	Measuring  Phase = "measuring" // its first line comes as the measured part begins
	Counting   Phase = "counting"  // the next one's as it ends; this one only where it is asked for
	Leaving    Phase = "leaving"
)

// Progress is one line of a run's progress.
type Progress struct {
	Phase   Phase   `json:"phase"`
	Round   int     `json:"round"` // from 0
	Part    float64 `json:"part"`  // of the whole run, 0 to 1
	Seated  int     `json:"seated"`
	Bots    int     `json:"bots"`
	Command float64 `json:"command"` // p99 of the last stretch, ms; 0 outside of the measured part
	Text    string  `json:"text"`    // the same for a person
}

// Report is what a fleet saw. All but Connection is about the measured part of all rounds
// together.
type Report struct {
	Spec    Spec    `json:"spec"`
	Seconds float64 `json:"seconds"` // measured

	Connection Connection `json:"connection"`

	Command   latency.Summary `json:"command"`   // of honest bots, as the next two
	Late      latency.Summary `json:"late"`      // send ticks
	RoundTrip latency.Summary `json:"roundTrip"` // pings
	Seat      latency.Summary `json:"seat"`      // connections, at any time
	Reseat    latency.Summary `json:"reseat"`    // from the loss of a seat's connection to its next snapshot, at any time
	Lag       latency.Summary `json:"lag"`       // how late the bots themselves were with what they had to do

	Received map[string]Traffic `json:"received"` // by the message's name, without frame headers; of all that read
	Sent     map[string]Traffic `json:"sent"`     // of honest bots
	BytesIn  int64              `json:"bytesIn"`  // of honest bots, with frames
	BytesOut int64              `json:"bytesOut"` // likewise
	Players  float64            `json:"players"`  // honest bots, on average over time

	Closes   map[string]int            `json:"closes"`   // by how the server ended an honest bot's connection: a code, "cut"
	Hostile  map[string]map[string]int `json:"hostile"`  // by trick, how it ended: a code, "cut", "open"
	Missed   map[string]int            `json:"missed"`   // tricks that ended another way than they should
	Ends     map[string]map[string]int `json:"ends"`     // of slow, trickle, silent and restless bots
	Thin     Thin                      `json:"thin"`     //
	Unacked  int64                     `json:"unacked"`  // commands never confirmed, of bots that were still there
	Backlogs int64                     `json:"backlogs"` // writes that a socket did not take at once

	Rounds []Round      `json:"rounds"`
	Bots   proc.Usage   `json:"bots"` // what this process took
	Watch  []proc.Usage `json:"watch"`
	Calls  []float64    `json:"calls,omitempty"` // of each watched process: system calls a second; none where they cannot be counted
}

// Connection counts what became of connections, at any time.
type Connection struct {
	Opened  int            `json:"opened"`
	Resumed int            `json:"resumed"` // of those, with the seat they had
	Refused map[string]int `json:"refused"` // by why
}

// Traffic is a number of messages and their bytes.
type Traffic struct {
	Messages int64 `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// Thin is what the bots that check every byte have seen.
type Thin struct {
	Bots      int      `json:"bots"`
	Snapshots int64    `json:"snapshots"`
	Sends     int64    `json:"sends"`   // send ticks applied
	Objects   int64    `json:"objects"` // listed in them
	Faults    int64    `json:"faults"`
	Examples  []string `json:"examples,omitempty"` // of faults, the first ones
}

// Round is one time that all came and left.
type Round struct {
	Seconds float64      `json:"seconds"` // until all were seated or refused
	Seated  int          `json:"seated"`
	Watch   []proc.Usage `json:"watch"` // absolute, before the first connection of the round
	After   []proc.Usage `json:"after"` // absolute, when all had left
}

// outputLine is a line of Main's output: one of the two.
type outputLine struct {
	Progress *Progress `json:"progress,omitempty"`
	Report   *Report   `json:"report,omitempty"`
}

// maxLine bounds what Read takes for a line.
const maxLine = 64 << 20

// Read reads what Main writes, to the end. progress, which may be nil, gets the lines
// as they come.
func Read(r io.Reader, progress func(Progress)) (*Report, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var report *Report
	for in.Scan() {
		var l outputLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("reading the bots' output: %w", err)
		}
		if l.Progress != nil && progress != nil {
			progress(*l.Progress)
		}
		if l.Report != nil {
			report = l.Report
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("reading the bots' output: %w", err)
	}
	if report == nil {
		return nil, errors.New("the bots ended without a report")
	}
	return report, nil
}
