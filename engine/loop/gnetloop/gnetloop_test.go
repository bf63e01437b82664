package gnetloop

import (
	"testing"

	"gamehoster/engine/loop"
	"gamehoster/engine/loop/looptest"
)

func mk(h loop.Handler, cfg loop.Config) loop.Loop { return New(h, cfg) }

func TestLoop(t *testing.T) { looptest.Run(t, mk) }

func TestStorm(t *testing.T) { looptest.Storm(t, mk) }

func TestAllocLoop(t *testing.T) { looptest.Alloc(t, mk) }

func BenchmarkLoop(b *testing.B) { looptest.Bench(b, mk) }
