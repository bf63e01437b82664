package vm

import (
	"fmt"
	"os"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// mapped is a linear memory in an address range of its own. It implements
// experimental.LinearMemory.
type mapped struct {
	all  []byte // the whole range; only [0, open) may be touched
	open int
}

// reserve is the experimental.MemoryAllocator of every machine. wazero has no way
// to report a failure here: a nil slice from Reallocate is how it learns of it.
func reserve(_, limit uint64) experimental.LinearMemory {
	size := roundUp(int(limit), os.Getpagesize())
	if size == 0 {
		return &mapped{}
	}
	all, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return &mapped{}
	}
	return &mapped{all: all}
}

// Reallocate opens the range up to size. It never moves and never shrinks.
func (m *mapped) Reallocate(size uint64) []byte {
	n := int(size)
	if n > len(m.all) {
		return nil
	}
	if open := roundUp(n, os.Getpagesize()); open > m.open {
		if err := unix.Mprotect(m.all[m.open:open], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return nil
		}
		m.open = open
	}
	return m.all[:n:n]
}

// Free unmaps the range: every slice of it is dead.
func (m *mapped) Free() {
	if m.all == nil {
		return
	}
	if err := unix.Munmap(m.all); err != nil {
		panic(fmt.Sprintf("vm: unmapping a memory that is ours: %v", err))
	}
	m.all, m.open = nil, 0
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
