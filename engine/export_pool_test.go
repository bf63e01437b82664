package engine

import (
	"net/netip"

	"gamehoster/engine/pool"
)

// Workers lists a box's worker processes.
func (b *Box) Workers() []pool.Worker { return b.crew.(*pooled).Workers() }

// Admits asks the limits of addresses whether one may hold another socket.
func (b *Box) Admits(a netip.Addr) bool { return b.gate.Admit(a) == nil }
