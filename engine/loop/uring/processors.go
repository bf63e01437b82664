package uring

import (
	"runtime"
	"sync"
)

// processors counts the loops that run in this process. A loop keeps its processor, as the
// runtime calls what it runs goroutines with, while it waits for its next tick, so there
// has to be one more than there are loops.
var processors struct {
	mu    sync.Mutex
	loops int
}

// claimProcessor counts a loop until the function that it returns is called, and sees to it
// that there are enough processors. They do not become fewer again: it would stop all
// goroutines, and the next loop would want them back.
func claimProcessor() (release func()) {
	p := &processors
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loops++
	if runtime.GOMAXPROCS(0) <= p.loops {
		runtime.GOMAXPROCS(p.loops + 1)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.loops--
	}
}
