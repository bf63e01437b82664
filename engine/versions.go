package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"gamehoster/engine/box"
)

// A place has one definition that new players get, and older ones that are played on:
//
//	apply --> crew.Start --> newest --(a newer one came)--> draining --> ended, forgotten
//	                            |                              ^   no instance left, or
//	                            +--(the game was removed)------+   the roll timeout, or too many
//
// A version that drains takes who resumes a seat in it or names one of its instances.

// mostDraining is how many older definitions of one place are played at once. Each has
// machines of its own; whoever replaces a game faster than that ends the oldest early.
const mostDraining = 8

// version is one definition of a game, from when it is live until nothing runs it.
type version struct {
	*box.Live
	raising sync.Mutex    // held while a shard is added
	gone    chan struct{} // closed when nothing runs it

	// Of one that drains, for whoever holds versions.changing.
	until  int64  // when what is left of it is ended
	code   uint16 // with which close code
	reason string
	ending bool // it is
}

// line is the versions at one place. It does not change.
type line struct {
	newest   *version   // nil if the game was removed
	draining []*version // newest first
}

// versions is all that is played. Reading takes no lock.
type versions struct {
	changing sync.Mutex
	lines    atomic.Pointer[map[string]line] // by place
}

func (vs *versions) init() { vs.lines.Store(&map[string]line{}) }

// at is what is played at a place.
func (vs *versions) at(place string) line { return (*vs.lines.Load())[place] }

// each calls f for every version, those that drain included.
func (vs *versions) each(f func(v *version)) {
	for _, l := range *vs.lines.Load() {
		if l.newest != nil {
			f(l.newest)
		}
		for _, v := range l.draining {
			f(v)
		}
	}
}

// numbered is the version with a game's number; nil if there is none.
func (vs *versions) numbered(n uint64) (found *version) {
	vs.each(func(v *version) {
		if v.Number == n {
			found = v
		}
	})
	return found
}

// replace makes live the newest at a place, or none if it is nil, and returns the one that
// was, which drains from now on; nil if there was none. Its caller holds changing.
func (vs *versions) replace(place string, live *box.Live) (old *version) {
	l := vs.at(place)
	old = l.newest
	next := line{draining: l.draining}
	if old != nil {
		next.draining = slices.Insert(slices.Clone(l.draining), 0, old)
	}
	if live != nil {
		next.newest = &version{Live: live, gone: make(chan struct{})}
	}
	vs.set(place, next)
	return old
}

// forget takes out a version that nothing runs any more.
func (vs *versions) forget(v *version) {
	vs.changing.Lock()
	defer vs.changing.Unlock()
	place := v.Place.String()
	l := vs.at(place)
	if l.newest == v {
		l.newest = nil
	}
	l.draining = slices.DeleteFunc(slices.Clone(l.draining), func(o *version) bool { return o == v })
	vs.set(place, l)
	close(v.gone)
}

func (vs *versions) set(place string, l line) {
	next := map[string]line{}
	for k, v := range *vs.lines.Load() {
		next[k] = v
	}
	if l.newest == nil && len(l.draining) == 0 {
		delete(next, place)
	} else {
		next[place] = l
	}
	vs.lines.Store(&next)
}

// choose is the version that a client belongs in; nil if its library is of none that it
// may play. A client that does not say what its library is of may play any.
func (l line) choose(q *query) *version {
	fits := func(v *version) bool { return v != nil && (!q.hasDef || q.def == v.Hash) }
	if fits(l.newest) && (!q.returns() || l.newest.Table.Knows(q.Request)) {
		return l.newest
	}
	if q.returns() {
		for _, v := range l.draining {
			if fits(v) && v.Table.Knows(q.Request) {
				return v
			}
		}
	}
	if fits(l.newest) {
		return l.newest
	}
	return nil
}
