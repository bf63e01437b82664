package door

import (
	"net/netip"
	"sync"

	"github.com/panjf2000/gnet/v2"
)

// pending is a connection that the door still owns.
type pending struct {
	conn     gnet.Conn
	peer     netip.AddrPort
	counted  netip.Addr // what it is counted under, invalid if it is not
	deadline int64

	head []byte // what has come of the head, if it did not come at once
	seen int    // bytes of it that have been looked at

	parting bool // it has been answered; its last bytes are thrown away
	ignored int  // bytes thrown away

	list       *fifo
	prev, next *pending
}

// fifo lists connections in the order of their deadlines, which is the order
// they came in because all wait equally long.
type fifo struct {
	first, last *pending
	n           int
}

func (f *fifo) push(p *pending) {
	p.list, p.prev, p.next = f, f.last, nil
	if f.last != nil {
		f.last.next = p
	} else {
		f.first = p
	}
	f.last = p
	f.n++
}

// unlink takes p out of the list it is in.
func (p *pending) unlink() {
	f := p.list
	if f == nil {
		return
	}
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		f.first = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		f.last = p.prev
	}
	p.list, p.prev, p.next = nil, nil, nil
	f.n--
}

// addrCounts counts the pending connections of each address over all engines.
type addrCounts struct {
	mu  sync.Mutex
	n   map[netip.Addr]int
	max int
}

func (a *addrCounts) init(limit int) { a.n, a.max = make(map[netip.Addr]int), limit }

// take counts a connection from addr unless there are too many, and returns what
// to give back. An IPv6 address stands for its /64: that is what one customer has.
func (a *addrCounts) take(addr netip.Addr) (key netip.Addr, ok bool) {
	key = addr
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			key = p.Addr()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n[key] >= a.max {
		return key, false
	}
	a.n[key]++
	return key, true
}

func (a *addrCounts) give(key netip.Addr) {
	if !key.IsValid() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n[key]--; a.n[key] <= 0 {
		delete(a.n, key)
	}
}
