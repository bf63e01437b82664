// Serves the form beat of the scenario echo on a WebSocket library for Go: every socket
// is sent a message on every beat, and what it sends is counted. Arguments: the library,
// beats a second, bytes of a message. Its first line on stdout is "listening PORT".
//
// Each is used as its documentation has it for servers with many quiet connections, and
// as its own benchmarks do: one goroutine with the beat's ticker writes to all sockets;
// reading is the library's way.
package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// client is one socket of the library.
type client struct {
	write    func(payload []byte) error
	received atomic.Uint32
}

// hall is all sockets.
type hall struct {
	mu      sync.Mutex
	clients []*client
}

func (h *hall) add(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients = append(h.clients, c)
}

func (h *hall) remove(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := slices.Index(h.clients, c); i >= 0 {
		h.clients = slices.Delete(h.clients, i, i+1)
	}
}

// beat sends to all, hz times a second, for ever. A message is its due time, the beat's
// number and how many of the socket's messages have come, and filler.
func (h *hall) beat(hz, payload int) {
	period := time.Second / time.Duration(hz)
	ticker := time.NewTicker(period)
	next := monotonic() + int64(period)
	p := make([]byte, payload)
	var list []*client
	for n := uint32(1); ; n++ {
		<-ticker.C
		h.mu.Lock()
		list = append(list[:0], h.clients...)
		h.mu.Unlock()
		for _, c := range list {
			binary.LittleEndian.PutUint64(p, uint64(next))
			binary.LittleEndian.PutUint32(p[8:], n)
			binary.LittleEndian.PutUint32(p[12:], c.received.Load())
			if c.write(p) != nil {
				h.remove(c)
			}
		}
		next = max(next+int64(period), monotonic())
	}
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

var libraries = map[string]func(l net.Listener, h *hall, ready func()) error{
	"gorilla": serveGorilla,
	"gws":     serveGWS,
	"nbio":    serveNBIO,
}

func main() {
	if len(os.Args) != 4 || libraries[os.Args[1]] == nil {
		fail(fmt.Errorf("arguments: LIBRARY HZ PAYLOAD"))
	}
	hz, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fail(err)
	}
	payload, err := strconv.Atoi(os.Args[3])
	if err != nil {
		fail(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fail(err)
	}
	h := &hall{}
	go h.beat(hz, payload)
	fail(libraries[os.Args[1]](l, h, func() { fmt.Println("listening", l.Addr().(*net.TCPAddr).Port) }))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
