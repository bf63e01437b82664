package tick

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The ring against a list that forgets nothing, with entries of random sizes and
// random numbers of them a send, so that it grows, wraps and leaves gaps.
func TestUndoAgainstAList(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var u undo
		const objects = 7
		type entry struct {
			send  uint64
			image []byte
		}
		var all [objects][]entry
		var newest [objects]int64
		for i := range newest {
			newest[i] = none
		}
		busy := 1 + rng.IntN(12)
		for send := uint64(1); send < 400; send++ {
			dead := max(send, historySends) - historySends
			if dead > 0 {
				dead++ // of the last 64, counted to the one before this
				u.forget(dead)
			}
			if rng.IntN(40) == 0 {
				busy = 1 + rng.IntN(40)
			}
			for range rng.IntN(busy) {
				o := rng.IntN(objects)
				image := make([]byte, 8*rng.IntN(40))
				for i := range image {
					image[i] = byte(rng.Uint32())
				}
				newest[o] = u.push(bytes.Clone(image), image, uint32(o), send, newest[o])
				all[o] = append(all[o], entry{send, image})
			}
			u.end(send)
			o := rng.IntN(objects)
			at := newest[o]
			for i := len(all[o]) - 1; i >= 0 && all[o][i].send > dead; i-- {
				image, when, prev, ok := u.entry(at)
				if !ok || when != all[o][i].send || !bytes.Equal(image, all[o][i].image) {
					t.Fatalf("seed %d, send %d: an entry of send %d has come to be one of %d (%v)", seed, send, all[o][i].send, when, ok)
				}
				at = prev
			}
		}
		if len(u.ring) > 1<<20 {
			t.Errorf("seed %d: the ring has grown to %d bytes", seed, len(u.ring))
		}
	}
}

// Who goes through all objects finds the image that each had at a send, if the next one
// changed it, whatever objects there are no more; through gaps and growth of the ring.
func TestPastImages(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var u undo
	var sends [200]map[uint32][]byte
	for send := uint64(1); send < uint64(len(sends)); send++ {
		u.forget(max(send, 20) - 20)
		sends[send] = map[uint32][]byte{}
		for id := range uint32(60) {
			if rng.IntN(3) > 0 {
				image := make([]byte, 8*rng.IntN(20))
				for i := range image {
					image[i] = byte(rng.Uint32())
				}
				sends[send][id] = bytes.Clone(image)
				u.push(image, image, id, send, none)
			}
		}
		u.end(send)
		base := send - min(send, uint64(1+rng.IntN(19)))
		past := u.at(base)
		for id := range uint32(60) {
			if rng.IntN(4) == 0 {
				continue // it is no more
			}
			image, ok := past.image(id)
			if want, there := sends[base+1][id]; ok != there || !bytes.Equal(image, want) {
				t.Fatalf("send %d, object %d at %d: %x (%v), not %x (%v)", send, id, base, image, ok, want, there)
			}
		}
	}
}
