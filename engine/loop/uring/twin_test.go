package uring

import (
	"math/rand/v2"
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/gnetloop"
	"gamehoster/engine/loop/looptest"
)

// TestSameBytesAsGnet plays the same traffic on both implementations, on a ring that runs
// out of everything and on one of a kernel without minimal waits, and by a model.
func TestSameBytesAsGnet(t *testing.T) {
	makers := map[string]looptest.Make{
		"gnet":   func(h loop.Handler, c loop.Config) loop.Loop { return gnetloop.New(h, c) },
		"uring":  mk,
		"tight":  tight,
		"coarse": coarse,
	}
	for range 3 {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		want := looptest.Expected(seed)
		for name, mk := range makers {
			looptest.Same(t, name, looptest.Scripted(t, mk, seed), want)
		}
	}
}
