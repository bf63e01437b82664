package gate

import (
	"net/netip"
	"testing"
	"time"
)

type clock struct{ now int64 }

func (c *clock) read() int64 { return c.now }

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func TestSocketsHeld(t *testing.T) {
	var c clock
	g := New(Limits{Sockets: 3, Upgrades: 1000}, nil, c.read)
	a, b := addr("192.0.2.1"), addr("192.0.2.2")
	for range 3 {
		if r := g.Admit(a); r != nil {
			t.Fatalf("refused: %+v", r)
		}
		g.Enter(a)
	}
	if r := g.Admit(a); r == nil || r.Times != 1 {
		t.Fatalf("a fourth socket of three: %+v", r)
	}
	if r := g.Admit(b); r != nil {
		t.Fatalf("another address was refused: %+v", r)
	}
	g.Leave(a)
	if r := g.Admit(a); r != nil {
		t.Fatalf("refused after one was given back: %+v", r)
	}
}

func TestUpgradesASecond(t *testing.T) {
	var c clock
	g := New(Limits{Upgrades: 10}, nil, c.read)
	a := addr("192.0.2.1")
	admitted := func(n int) (ok int) {
		for range n {
			if g.Admit(a) == nil {
				ok++
			}
		}
		return ok
	}
	if n := admitted(1000); n != 40 {
		t.Errorf("%d at once, want four seconds' worth", n)
	}
	for range 20 {
		c.now += int64(time.Second)
		if n := admitted(1000); n != 10 {
			t.Errorf("%d in a second, want 10", n)
		}
	}
	c.now += int64(time.Hour)
	if n := admitted(1000); n != 40 {
		t.Errorf("%d after an hour, want 40", n)
	}
}

func TestAFloodIsTellableOnceInAWhile(t *testing.T) {
	var c clock
	g := New(Limits{Upgrades: 1}, nil, c.read)
	a := addr("192.0.2.1")
	var told []int
	for range 25_000 { // a thousand a second
		c.now += int64(time.Millisecond)
		if r := g.Admit(a); r != nil && r.Times > 0 {
			told = append(told, r.Times)
		}
	}
	if len(told) != 3 || told[0] != 1 || told[1] < 9000 {
		t.Errorf("told %v", told)
	}
	if n := g.Refused(); n < 24_900 {
		t.Errorf("counted %d", n)
	}
}

func TestACustomersNetworkIsOneAddress(t *testing.T) {
	var c clock
	g := New(Limits{Sockets: 1}, nil, c.read)
	g.Enter(addr("2001:db8:1:2::1"))
	if g.Admit(addr("2001:db8:1:2:ffff::9")) == nil {
		t.Error("a neighbour in the /64 was admitted")
	}
	if g.Admit(addr("2001:db8:1:3::1")) != nil {
		t.Error("another /64 was refused")
	}
}

func TestExempt(t *testing.T) {
	var c clock
	g := New(Limits{Sockets: 1, Upgrades: 1}, loopback, c.read)
	for range 1000 {
		for _, a := range []netip.Addr{addr("127.0.0.1"), {}} {
			if r := g.Admit(a); r != nil {
				t.Fatalf("%v refused: %+v", a, r)
			}
			g.Enter(a)
		}
	}
	if len(g.guests) != 0 {
		t.Errorf("%d exempt addresses are counted", len(g.guests))
	}
}

// A million addresses that come once leave nothing behind; those that hold a socket do.
func TestAddressesAreForgotten(t *testing.T) {
	var c clock
	g := New(Limits{}, nil, c.read)
	for i := range 1_000_000 {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		g.Admit(a)
		if i%1000 == 0 {
			g.Enter(a)
		}
		c.now += int64(time.Millisecond)
		if n := len(g.guests); n > 2*fewest+2*i/1000 {
			t.Fatalf("%d addresses are kept after %d", n, i)
		}
	}
	for i := range 1000 {
		n := i * 1000
		g.Leave(netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}))
	}
	c.now += int64(time.Hour)
	g.forget(c.now)
	if len(g.guests) != 0 {
		t.Errorf("%d addresses are kept", len(g.guests))
	}
}

func TestAllocAdmit(t *testing.T) {
	var c clock
	g := New(Limits{}, loopback, c.read)
	a := addr("2001:db8::1")
	g.Enter(a)
	if n := testing.AllocsPerRun(1000, func() { c.now += 1e9; g.Admit(a) }); n != 0 {
		t.Fatalf("%v allocations to admit an address that is known, budget 0", n)
	}
	t.Log("admitting a known address: budget 0 allocations")
}
