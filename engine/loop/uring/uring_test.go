package uring

import (
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/looptest"
)

func mk(h loop.Handler, cfg loop.Config) loop.Loop { return New(h, cfg) }

// tight makes loops that run out of everything: of room for operations and completions
// and of buffers, with far more connections than the ring has entries.
func tight(h loop.Handler, cfg loop.Config) loop.Loop {
	return newLoop(h, cfg, sizes{sq: 4, cq: 8, buffers: 4, buffer: 64})
}

func TestAvailable(t *testing.T) {
	if err := Available(); err != nil {
		t.Errorf("this machine cannot do io_uring: %v", err)
	}
}

func TestLoop(t *testing.T) {
	t.Log("binding:", binding)
	looptest.Run(t, mk)
}

func TestLoopOnATightRing(t *testing.T) { looptest.Run(t, tight) }

func TestAllocLoop(t *testing.T) { looptest.Alloc(t, mk) }

func BenchmarkLoop(b *testing.B) { looptest.Bench(b, mk) }
