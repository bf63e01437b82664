package tick

import (
	"fmt"
	"math/bits"

	"gamehoster/wire"
)

// Cause is why a viewer was sent a snapshot.
type Cause uint8

const (
	causeNone     Cause = iota
	CauseFresh          // the seat's or spectator's first connection
	CauseResumed        // a connection that takes a seat over
	CauseResync         // the client asked for it
	CauseBase           // the newest ack is older than the history
	CauseCommands       // commands to relay have waited longer than the timeline is deep
	CauseLate           // a command to relay ran before the last snapshot
	CauseHash           // the client's state hash was another
	CauseMissed         // commands to relay are of a player that the viewer did not hold
	causes
)

var causeNames = [causes]string{"none", "fresh", "resumed", "resync", "base", "commands", "late", "hash", "missed"}

// String is the cause's name, fit for a metric's label.
func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause %d", uint8(c))
}

// Causes are all causes of snapshots.
func Causes() []Cause {
	return []Cause{CauseFresh, CauseResumed, CauseResync, CauseBase, CauseCommands, CauseLate, CauseHash, CauseMissed}
}

// Refusal is why a well-formed command was not filed.
type Refusal uint8

const (
	RefusedBounds Refusal = iota // a field is outside its min and max
	RefusedRate                  // more than maxPerSecond
	RefusedFull                  // the seat has too many commands waiting
	RefusedWatch                 // a spectator's
	refusals
)

var refusalNames = [refusals]string{"bounds", "rate", "full", "watch"}

// String is the refusal's name, fit for a metric's label.
func (r Refusal) String() string {
	if int(r) < len(refusalNames) {
		return refusalNames[r]
	}
	return fmt.Sprintf("refusal %d", uint8(r))
}

// Refusals are all reasons of refused commands.
func Refusals() []Refusal { return []Refusal{RefusedBounds, RefusedRate, RefusedFull, RefusedWatch} }

// Count is messages and their bytes, WebSocket framing not counted.
type Count struct{ Messages, Bytes uint64 }

func (c *Count) add(n int) {
	c.Messages++
	c.Bytes += uint64(n)
}

// Stats is what a shard counts, from its start on.
type Stats struct {
	Ticks     uint64 // run, reruns not counted
	Sends     uint64 // send ticks of instances
	Skipped   uint64 // viewers' sends skipped because their socket did not drain
	Deferred  uint64 // objects left out of a delta because of the budget
	Waiting   uint64 // objects that came into view and had to wait, each send counted
	Near      uint64 // objects whose distance from a viewer was taken
	Judged    uint64 // objects that view bodies were asked about
	Faults    uint64 // body runs that failed
	Reruns    uint64 // ticks run again because of them
	Commands  uint64 // filed
	Late      uint64 // of them, those of ticks that had run
	Queued    uint64 // late ones that a Step left waiting because of the turn's budget, each Step counted
	Rewinds   uint64 // of instances
	Replayed  uint64 // ticks run again by them
	Unstored  uint64 // past states for which there was no memory
	Relayed   uint64 // commands sent to viewers
	Resyncs   uint64 // requests
	Acks      uint64 // ignored: of a tick not sent, or older than the last
	Hashes    uint64 // state hashes compared
	Drifts    uint64 // and found to be another than the server's
	Malformed uint64 // messages that closed a connection
	Crowded   uint64 // spectators turned away, as the instance had MaxSpectators

	Snapshots [causes]uint64   // by Cause
	Refused   [refusals]uint64 // by Refusal
	Depths    [depths]uint64   // rewinds by how many ticks they went back: see DepthBound
	In        [tagSlots]Count  // by slotOf a client's tag
	Out       [tagSlots]Count  // by slotOf a server's tag
}

// depths is one for each power of two up to the deepest timeline there is.
const depths = 9

// DepthBound is how many ticks a rewind that is counted in Stats.Depths[i] went back at
// most, and more than those that are counted before it.
func DepthBound(i int) int { return 1 << i }

func depthSlot(ticks uint32) int { return min(bits.Len32(ticks-1), depths-1) }

// Counters are all counters, in an order that is always the same.
func (s *Stats) Counters() []*uint64 {
	all := []*uint64{
		&s.Ticks, &s.Sends, &s.Skipped, &s.Deferred, &s.Waiting, &s.Near, &s.Judged, &s.Faults, &s.Reruns,
		&s.Commands, &s.Late, &s.Queued, &s.Rewinds, &s.Replayed, &s.Unstored, &s.Relayed, &s.Resyncs, &s.Acks,
		&s.Hashes, &s.Drifts, &s.Malformed, &s.Crowded,
	}
	for _, group := range [...][]uint64{s.Snapshots[:], s.Refused[:], s.Depths[:]} {
		for i := range group {
			all = append(all, &group[i])
		}
	}
	for _, group := range [...][]Count{s.In[:], s.Out[:]} {
		for i := range group {
			all = append(all, &group[i].Messages, &group[i].Bytes)
		}
	}
	return all
}

// Add adds what o has counted.
func (s *Stats) Add(o *Stats) {
	theirs := o.Counters()
	for i, n := range s.Counters() {
		*n += *theirs[i]
	}
}

// Since takes off what had been counted when s was o.
func (s *Stats) Since(o *Stats) {
	theirs := o.Counters()
	for i, n := range s.Counters() {
		*n -= *theirs[i]
	}
}

// tagSlots is room for the tags of one direction, which differ in their low four bits.
const tagSlots = 16

func slotOf(t wire.Tag) int { return int(t % tagSlots) }

// Received is what came in with the tag.
func (s *Stats) Received(t wire.Tag) Count { return s.In[slotOf(t)] }

// Sent is what went out with the tag.
func (s *Stats) Sent(t wire.Tag) Count { return s.Out[slotOf(t)] }
