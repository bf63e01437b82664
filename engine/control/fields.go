package control

import (
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"
	"unicode/utf8"

	"gamehoster/engine/worker"
)

// writer appends fields.
type writer struct {
	b   []byte
	err error
}

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }

func (w *writer) bool(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

// text appends at most a number of bytes of s, of whole characters.
func (w *writer) text(s string, most int) {
	if len(s) > most {
		n := most
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	w.u16(uint16(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) bytes(p []byte, most int) {
	if len(p) > most {
		w.err = fmt.Errorf("%d bytes where at most %d may be", len(p), most)
		return
	}
	w.u32(uint32(len(p)))
	w.b = append(w.b, p...)
}

func (w *writer) duration(d time.Duration) { w.u64(uint64(max(d, 0))) }

// Bits of a reservation.
const (
	bitNamed = 1 << iota
	bitThin
	bitWatch
	bitsAll = bitNamed | bitThin | bitWatch
)

func (w *writer) reservation(r *worker.Reservation) {
	var bits uint8
	for bit, set := range [...]bool{r.Named, r.Thin, r.Watch} {
		if set {
			bits |= 1 << bit
		}
	}
	w.u32(uint32(r.Instance))
	w.u8(bits)
	w.b = append(w.b, r.Resume[:]...)
	w.text(r.InstanceName, maxName)
	w.text(r.Player, maxName)
	peer := r.Peer.AsSlice()
	w.u8(uint8(len(peer)))
	w.b = append(w.b, peer...)
	w.text(r.Host, maxName)
}

func (w *writer) times(t *Times) {
	for _, v := range [...]uint64{t.Count, t.P50, t.P99, t.P999, t.Max} {
		w.u64(v)
	}
}

// reader takes fields off the front of p. Past the first that is wrong all are zero.
type reader struct {
	p   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.p) {
		r.bad = true
		return nil
	}
	p := r.p[:n]
	r.p = r.p[n:]
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

func (r *reader) bool() bool {
	v := r.u8()
	r.bad = r.bad || v > 1
	return v == 1
}

func (r *reader) text(most int) string {
	n := int(r.u16())
	if n > most {
		r.bad = true
	}
	return string(r.take(n))
}

func (r *reader) bytes(most int) []byte {
	n := r.u32()
	if n > uint32(most) {
		r.bad = true
	}
	if p := r.take(int(n)); len(p) > 0 {
		return append([]byte(nil), p...)
	}
	return nil
}

func (r *reader) duration() time.Duration {
	v := r.u64()
	if v > math.MaxInt64 {
		r.bad = true
		return 0
	}
	return time.Duration(v)
}

func (r *reader) reservation(v *worker.Reservation) {
	v.Instance = worker.InstanceID(r.u32())
	bits := r.u8()
	r.bad = r.bad || bits&^bitsAll != 0
	v.Named, v.Thin, v.Watch = bits&bitNamed != 0, bits&bitThin != 0, bits&bitWatch != 0
	copy(v.Resume[:], r.take(len(v.Resume)))
	v.InstanceName = r.text(maxName)
	v.Player = r.text(maxName)
	peer := r.take(int(r.u8()))
	if len(peer) > 0 {
		var ok bool
		v.Peer, ok = netip.AddrFromSlice(peer)
		r.bad = r.bad || !ok
	}
	v.Host = r.text(maxName)
}

func (r *reader) times(t *Times) {
	for _, v := range [...]*uint64{&t.Count, &t.P50, &t.P99, &t.P999, &t.Max} {
		*v = r.u64()
	}
}
