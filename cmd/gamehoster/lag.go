package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gamehoster/engine/conditioner"
	"gamehoster/wire/line"
)

// lineFlags make the network bad between a development server and everyone who plays on
// it.
type lineFlags struct {
	Lag        time.Duration `help:"Try the games on a bad line: delay everything by this, each way."`
	Jitter     time.Duration `help:"Delay each thing by up to so much more."`
	Stall      time.Duration `help:"Let nothing through for so long, again and again, as lost packets do."`
	StallEvery time.Duration `help:"Time between two stalls, give or take a half." default:"10s"`
	Bandwidth  bandwidth     `help:"What goes through in a second, each way: 500kbit, 2Mbit." placeholder:"BITS"`
	LagSeed    uint64        `help:"Which of all bad lines it is." default:"1"`
}

// conditions are what the flags say, bad or not.
func (f lineFlags) conditions() line.Conditions {
	return line.Conditions{
		Delay: f.Lag, Jitter: f.Jitter, Stall: f.Stall, StallEvery: f.StallEvery,
		Bandwidth: int64(f.Bandwidth), Seed: f.LagSeed,
	}
}

// Validate is called by the parser.
func (c *devCommand) Validate() error {
	if err := c.conditions().Validate(); err != nil {
		return fmt.Errorf("--lag, --jitter, --stall, --bandwidth: %w", err)
	}
	return nil
}

// bandwidth is bytes a second, written in bits as networks are.
type bandwidth int64

// UnmarshalText reads 500kbit, 2Mbit or 1.5Mbit.
func (b *bandwidth) UnmarshalText(text []byte) error {
	for unit, bits := range map[string]float64{"kbit": 1e3, "Mbit": 1e6} {
		if n, ok := strings.CutSuffix(string(text), unit); ok {
			v, err := strconv.ParseFloat(n, 64)
			if err == nil && v > 0 && v*bits/8 < 1e12 {
				*b = bandwidth(v * bits / 8)
				return nil
			}
		}
	}
	return errors.New("want a number of kbit or Mbit, as in 500kbit or 2Mbit")
}

// conditioned is a port whose connections a bad line will carry to a server that is yet
// to start.
type conditioned struct {
	listener   *net.TCPListener
	proxy      *conditioner.Proxy
	conditions line.Conditions
}

// condition opens the port.
func condition(bind netip.Addr, port uint16, c line.Conditions) (*conditioned, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(bind, port)))
	if err != nil {
		return nil, fmt.Errorf("opening the port: %w", err)
	}
	return &conditioned{listener: l, conditions: c}, nil
}

// start carries what comes to the port to the server, and returns where the port is.
func (c *conditioned) start(server netip.AddrPort) netip.AddrPort {
	c.proxy = conditioner.Start(c.listener, server.String(), c.conditions)
	return c.proxy.Addr()
}

func (c *conditioned) close() {
	if c.proxy != nil {
		c.proxy.Close()
	} else {
		_ = c.listener.Close() // nothing came through it
	}
}
