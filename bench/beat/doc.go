// Package beat is the echo scenario: small messages on many sockets, nothing else. It
// measures what a transport costs, before there is a game.
//
// There are two forms. In the form beat, which is that of a game, the server sends each
// socket a message on every beat, by its own clock, and clients send theirs when they
// like:
//
//	            server                        driver
//	beat k:     100 bytes to each socket ---> counts, checks, times
//	            counts           <---         12 bytes from each socket, once a period,
//	beat k+1:   100 bytes to each socket ---> spread over the period
//
// In the form echo, which every WebSocket library knows, a message is answered with itself
// at once.
//
// # The message of a beat
//
// A binary message of 16 bytes or more, little-endian; the rest is filler.
//
//	+-------------+----------+--------------+---------+
//	| due u64     | beat u32 | received u32 | 0 ...   |
//	| monotonic ns| 1, 2 ... | messages     |         |
//	+-------------+----------+--------------+---------+
//
// due is when the beat was due by CLOCK_MONOTONIC, which all processes of a machine share,
// or 0 where a server cannot know it; received is how many messages of this socket had
// come. Whoever is compared in this form sends it: Serve on the loops of the engine, the
// programs of bench/limit, and peers.
//
// # The driver
//
// Drive is one thread around a bare epoll instance, not netpoll as bench/bots is: it
// must cost its server the same whatever the server is. It never sleeps in epoll: a
// server that finds its client asleep pays for waking it up, at some sends and not at
// others. It reads what is there, and then sleeps by the clock until the next
// slice of a millisecond.
package beat

import "encoding/binary"

// MinPayload is the least size in bytes of a beat's message.
const MinPayload = 16

var le = binary.LittleEndian

// Message is the message of a beat.
type Message struct {
	Due      int64 // CLOCK_MONOTONIC in ns
	Beat     uint32
	Received uint32
}

// Put writes the message to the front of p, of MinPayload bytes or more.
func (m Message) Put(p []byte) {
	le.PutUint64(p, uint64(m.Due))
	le.PutUint32(p[8:], m.Beat)
	le.PutUint32(p[12:], m.Received)
}

// Get reads a message from the front of p, of MinPayload bytes or more.
func Get(p []byte) Message {
	return Message{Due: int64(le.Uint64(p)), Beat: le.Uint32(p[8:]), Received: le.Uint32(p[12:])}
}
