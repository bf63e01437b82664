package worker

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
)

// Reservation is what a worker is told about a socket that it gets. It is made by
// whoever places players; the seat in it is counted from then on until the worker
// gives it back.
type Reservation struct {
	Instance     InstanceID // where the client goes
	InstanceName string
	Named        bool  // the client asked for it by name: no other one will do
	Resume       Token // of the seat to take over; zero for none
	Client
}

// Client is who is at a socket's other end, as far as its address and the front door
// tell.
type Client struct {
	Player string     // the player's name, at most schema.MaxPlayerName bytes
	Thin   bool       // it runs no bodies
	Watch  bool       // a spectator: takes no seat
	Peer   netip.Addr // the zero value where it is not known
	Host   string     // the site's, as it asked for it; for the log, and of a stranger's choice
}

// InstanceID is an instance's number in its box, never given twice. It goes out in
// resume tokens.
type InstanceID uint32

// Token lets a player take its seat over from a new socket. The first two numbers
// route it without a table of connections; the rest is the secret.
type Token [16]byte

// NewToken makes a token of its parts.
func NewToken(worker uint32, instance InstanceID, secret uint64) (t Token) {
	binary.LittleEndian.PutUint32(t[0:], worker)
	binary.LittleEndian.PutUint32(t[4:], uint32(instance))
	binary.LittleEndian.PutUint64(t[8:], secret)
	return t
}

// ParseToken reads a token as it stands in a socket's address, 32 hexadecimal
// digits. It gives the zero token for anything else: such a client is seated
// afresh.
func ParseToken(s string) (t Token) {
	if len(s) != 2*len(t) {
		return Token{}
	}
	if _, err := hex.Decode(t[:], []byte(s)); err != nil {
		return Token{}
	}
	return t
}

// Worker is the number of the worker that gave the token out.
func (t Token) Worker() uint32 { return binary.LittleEndian.Uint32(t[0:]) }

// Instance is the instance it gave it out for.
func (t Token) Instance() InstanceID { return InstanceID(binary.LittleEndian.Uint32(t[4:])) }

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t == Token{} }
