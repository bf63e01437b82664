// Package gate keeps one address from taking a box for itself: it bounds the game
// sockets that an address holds and the upgrades that it asks for in a second.
//
//	upgrade --> Admit --- too many held, too many lately ---> refused with 429
//	              v
//	           seated --> Enter ...... socket ends --> Leave
//
// Between Admit and Enter a socket is on its way and not counted; as many as the burst
// of upgrades may be over the bound therefore, and no way that a socket gets lost
// leaves anything behind.
//
// An IPv6 address stands for its /64, which is what one customer has. Addresses that
// are exempt, as proxies are and the machine itself, are admitted without a look: who
// a proxy speaks for is the address to ask about. An address is forgotten once it holds
// nothing and its allowance is whole, so what is kept is bounded by the sockets held
// and by the addresses of the last seconds.
package gate

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Limits of one address. The zero value of a field means its default.
type Limits struct {
	Sockets  int // held at once; 256: a school behind one address plays, too
	Upgrades int // a second, sustained; 32. Four seconds' worth may come at once
}

// The defaults of Limits, and what is fixed.
const (
	DefaultSockets  = 256
	DefaultUpgrades = 32

	burst    = int64(4 * time.Second)  // of upgrades: all pages of a room reload at once
	logEvery = int64(10 * time.Second) // an address' refusals are told that often
	fewest   = 1024                    // addresses below which none is looked for to be forgotten
)

// Gate counts. Its methods may be called from any goroutine.
type Gate struct {
	limits Limits
	exempt []netip.Prefix
	now    func() int64

	mu      sync.Mutex
	guests  map[netip.Addr]*guest
	tidy    int // number of addresses at which the next tidying is due
	refused int64
}

// guest is an address.
type guest struct {
	held    int
	credit  int64 // nanoseconds of the sustained rate
	at      int64 // when credit was right
	refused int   // since it was last told
	told    int64 // when its refusals may be told again
}

// New makes a Gate. now is monotonic nanoseconds.
func New(l Limits, exempt []netip.Prefix, now func() int64) *Gate {
	if l.Sockets <= 0 {
		l.Sockets = DefaultSockets
	}
	if l.Upgrades <= 0 {
		l.Upgrades = DefaultUpgrades
	}
	return &Gate{limits: l, exempt: exempt, now: now, guests: map[netip.Addr]*guest{}, tidy: fewest}
}

// Refusal is an upgrade that was not admitted.
type Refusal struct {
	Reason string
	// Times is how often the address was refused since that was last told; 0 when it is
	// too early to tell again. A flood is to be a line in the log and not a flood there.
	Times int
}

// Admit takes an upgrade from the address' allowance. It returns nil where there is
// room.
func (g *Gate) Admit(a netip.Addr) *Refusal {
	if g.isExempt(a) {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	u := g.guest(a, now)
	u.earn(now)
	price := int64(time.Second) / int64(g.limits.Upgrades)
	var reason string
	switch {
	case u.held >= g.limits.Sockets:
		reason = "too many connections from this address"
	case u.credit < price:
		reason = "too many new connections from this address"
	default:
		u.credit -= price
		return nil
	}
	g.refused++
	u.refused++
	r := &Refusal{Reason: reason}
	if now >= u.told {
		u.told = now + logEvery
		r.Times, u.refused = u.refused, 0
	}
	return r
}

// Enter counts a socket that the address holds from now on.
func (g *Gate) Enter(a netip.Addr) {
	if g.isExempt(a) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.guest(a, g.now()).held++
}

// Leave is the end of a socket that has entered.
func (g *Gate) Leave(a netip.Addr) {
	if g.isExempt(a) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if u := g.guests[key(a)]; u != nil {
		u.held--
	}
}

// Refused counts the upgrades that were not admitted.
func (g *Gate) Refused() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}

func (g *Gate) isExempt(a netip.Addr) bool {
	return !a.IsValid() || slices.ContainsFunc(g.exempt, func(p netip.Prefix) bool { return p.Contains(a) })
}

// key is what an address is counted under.
func key(a netip.Addr) netip.Addr {
	if a.Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

func (g *Gate) guest(a netip.Addr, now int64) *guest {
	a = key(a)
	u := g.guests[a]
	if u == nil {
		if len(g.guests) >= g.tidy {
			g.forget(now)
		}
		u = &guest{credit: burst, at: now}
		g.guests[a] = u
	}
	return u
}

// forget lets go of the addresses that are as if they had never come. It is due again
// when there are twice as many as are left, so that it costs little for each.
func (g *Gate) forget(now int64) {
	for a, u := range g.guests {
		if u.earn(now); u.held == 0 && u.credit == burst && now >= u.told {
			delete(g.guests, a)
		}
	}
	g.tidy = max(fewest, 2*len(g.guests))
}

func (u *guest) earn(now int64) {
	u.credit = min(burst, u.credit+now-u.at)
	u.at = now
}
