package box

import (
	"context"
	"slices"
	"strings"
	"sync"

	"gamehoster/games"
	"gamehoster/games/diag"
)

// State is what a game's folder has come to.
type State string

// The states of a game.
const (
	StateLive     State = "live"     // players get what is in the folder
	StateBuilding State = "building" // the folder has changed, and is not judged yet
	StateRejected State = "rejected" // it holds errors; what was live before goes on, if anything was
	StateRolling  State = "rolling"  // live, and some still play an older definition
)

// Status is what is known of one game's folder.
type Status struct {
	Place    games.Place
	State    State     // not StateRolling, which the catalog does not know of
	Live     *Live     // what new players get; nil for nothing
	Findings diag.List // of the last build
}

// board is what the catalog tells of its games while it builds. Its lock is held for
// moments only.
type board struct {
	mu      sync.Mutex
	posts   map[string]*post  // by place
	writes  map[string]uint64 // places that were written to and not judged since: the number of the last write
	written uint64            // number of the last write anywhere
	news    chan struct{}     // closed, and made anew, when a status may be another
	poked   chan struct{}     // holds one while a write waits for a look
}

// post is one game's.
type post struct {
	place    games.Place
	findings diag.List
	rejected bool
	busy     bool // it differs from what was built last, and is looked at again or built
}

func newBoard() *board {
	return &board{posts: map[string]*post{}, writes: map[string]uint64{}, news: make(chan struct{}), poked: make(chan struct{}, 1)}
}

// tell wakes who waits for news. Its caller holds mu.
func (b *board) tell() {
	close(b.news)
	b.news = make(chan struct{})
}

// at is a place's post. Its caller holds mu.
func (b *board) at(p games.Place) *post {
	key := p.String()
	if b.posts[key] == nil {
		b.posts[key] = &post{place: p}
	}
	return b.posts[key]
}

// begin is called before a look at the root. The number it returns is for end.
func (b *board) begin() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.written
}

// busy notes that a folder is not what was judged last.
func (b *board) busy(p games.Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at(p).busy = true
	b.tell()
}

// same notes that a folder is what was judged last.
func (b *board) same(p games.Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.at(p); at.busy {
		at.busy = false
		b.tell()
	}
}

// judged notes what a build came to.
func (b *board) judged(p games.Place, findings diag.List, rejected bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.at(p) = post{place: p, findings: findings, rejected: rejected}
	b.tell()
}

// keep forgets the places for which there is false.
func (b *board) keep(there func(key string) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key := range b.posts {
		if !there(key) {
			delete(b.posts, key)
		}
	}
}

// end is called after a look that has seen all writes up to begun.
func (b *board) end(begun uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, n := range b.writes {
		if p := b.posts[key]; n <= begun && (p == nil || !p.busy) {
			delete(b.writes, key)
		}
	}
	b.tell()
}

// unsettled reports whether another look is needed soon.
func (b *board) unsettled() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.writes) > 0 {
		return true
	}
	for _, p := range b.posts {
		if p.busy {
			return true
		}
	}
	return false
}

// Poke says that the folder of a game has been written to, or with games.SharedFolder what
// the games of a domain share: until the catalog has looked, they are building. Who writes
// much in a short while is looked at once, when there is quiet.
func (c *Catalog) Poke(domain, game string) {
	b := c.board
	b.mu.Lock()
	b.written++
	if game != games.SharedFolder {
		b.writes[games.Place{Domain: domain, Game: game}.String()] = b.written
	} else {
		for key := range b.posts {
			if strings.HasPrefix(key, domain+"/") {
				b.writes[key] = b.written
			}
		}
	}
	b.tell()
	b.mu.Unlock()
	select {
	case b.poked <- struct{}{}:
	default: // one that waits already looks at this, too
	}
}

// Status is what is known of the game at a place, domain/game; false where there is none.
// It does not wait for a build.
func (c *Catalog) Status(place string) (Status, bool) {
	s, _, ok := c.status(place)
	return s, ok
}

// status is Status, with what is closed when it may be another.
func (c *Catalog) status(place string) (Status, <-chan struct{}, bool) {
	b := c.board
	b.mu.Lock()
	defer b.mu.Unlock()
	p, written := b.posts[place], b.writes[place] > 0
	s := Status{Live: (*c.live.Load())[place], State: StateLive}
	if p == nil && s.Live == nil && !written {
		return Status{}, b.news, false
	}
	s.Place.Domain, s.Place.Game, _ = strings.Cut(place, "/")
	if p != nil {
		s.Place, s.Findings = p.place, slices.Clone(p.findings)
	}
	switch {
	case written || p != nil && p.busy:
		s.State = StateBuilding
	case p != nil && p.rejected || s.Live == nil:
		s.State = StateRejected
	}
	return s, b.news, true
}

// Statuses are those of all games, in the order of domain and name.
func (c *Catalog) Statuses() []Status {
	b := c.board
	b.mu.Lock()
	var places []string
	for key := range b.posts {
		places = append(places, key)
	}
	for key := range b.writes {
		if b.posts[key] == nil {
			places = append(places, key)
		}
	}
	b.mu.Unlock()
	slices.Sort(places)
	all := make([]Status, 0, len(places))
	for _, key := range places {
		if s, ok := c.Status(key); ok {
			all = append(all, s)
		}
	}
	return all
}

// Settle waits until all that was written at a place before has been judged, or the context
// ends, and returns Status then.
func (c *Catalog) Settle(ctx context.Context, place string) (Status, bool) {
	for {
		s, news, ok := c.status(place)
		if !ok || s.State != StateBuilding {
			return s, ok
		}
		select {
		case <-ctx.Done():
			return s, ok
		case <-news:
		}
	}
}

// HasDomain reports whether the games root has a folder for the host, as of the last look;
// a folder of games has none.
func (c *Catalog) HasDomain(host string) bool { return c.hasDomain(host) }
