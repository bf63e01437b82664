// Serves Asteroids by hand: the rooms of bench/home on gws, whose goroutines read and
// whose sockets one loop writes to. Its first line on stdout is "listening PORT".
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/lxzan/gws"

	"gamehoster/bench/home"
)

type events struct {
	gws.BuiltinEventHandler
	hall *home.Hall
}

const seatKey = "seat"

func (e events) OnOpen(s *gws.Conn) {
	seat := e.hall.Join(func(m []byte) { _ = s.WriteMessage(gws.OpcodeBinary, m) }) // OnClose tells when it is gone
	s.Session().Store(seatKey, seat)
}

func (e events) OnMessage(s *gws.Conn, m *gws.Message) {
	defer m.Close()
	if seat, ok := s.Session().Load(seatKey); ok {
		if reply := seat.(*home.Seat).Receive(m.Bytes()); reply != nil {
			_ = s.WriteMessage(gws.OpcodeBinary, reply)
		}
	}
}

func (e events) OnClose(s *gws.Conn, _ error) {
	if seat, ok := s.Session().Load(seatKey); ok {
		seat.(*home.Seat).Leave()
	}
}

func main() {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	hall := &home.Hall{}
	go tick(hall)
	up := gws.NewUpgrader(events{hall: hall}, &gws.ServerOption{})
	fmt.Println("listening", l.Addr().(*net.TCPAddr).Port)
	fail(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s, err := up.Upgrade(w, r); err == nil {
			go s.ReadLoop()
		}
	})))
}

// tick runs the hall's ticks by the clock, for ever.
func tick(hall *home.Hall) {
	const period = time.Second / home.TickRate
	next := time.Now().Add(period)
	for {
		time.Sleep(time.Until(next))
		hall.Tick()
		if next = next.Add(period); time.Until(next) < 0 {
			next = time.Now() // ticks that are lost are not made up for
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
