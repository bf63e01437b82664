package vm

import (
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Pool hands out buffers that lie outside the Go heap, so that the states of
// thousands of instances are nothing that the collector counts. What is given back
// is given again; the system has it back with Close.
type Pool struct {
	chunks [][]byte     // as mapped
	rest   []byte       // of the newest chunk, not cut yet
	free   [64][][]byte // by log2 of the size
}

const (
	minBuffer = 256
	poolChunk = 1 << 20
)

// Get gives a buffer of n bytes whose content is undefined. It may be longer than
// n; cap tells. It fails with ErrMemory.
func (p *Pool) Get(n int) ([]byte, error) {
	class := bits.Len(uint(max(n, minBuffer) - 1))
	if list := p.free[class]; len(list) > 0 {
		b := list[len(list)-1]
		p.free[class] = list[:len(list)-1]
		return b[:n], nil
	}
	size := 1 << class
	if size > len(p.rest) {
		p.shed()
		c, err := unix.Mmap(-1, 0, max(size, poolChunk), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return nil, fmt.Errorf("mapping a buffer of %d bytes: %w: %w", n, ErrMemory, err)
		}
		p.chunks = append(p.chunks, c)
		p.rest = c
	}
	b := p.rest[:size:size]
	p.rest = p.rest[size:]
	return b[:n], nil
}

// shed cuts what is left of a chunk, a multiple of minBuffer, into buffers.
func (p *Pool) shed() {
	for len(p.rest) > 0 {
		size := 1 << (bits.Len(uint(len(p.rest))) - 1)
		p.Put(p.rest[:size:size])
		p.rest = p.rest[size:]
	}
}

// Put takes a buffer of Get back. The caller must not touch it again.
func (p *Pool) Put(b []byte) {
	if cap(b) > 0 {
		class := bits.Len(uint(cap(b) - 1))
		p.free[class] = append(p.free[class], b[:cap(b)])
	}
}

// Close unmaps all buffers: every slice of them is dead.
func (p *Pool) Close() error {
	var err error
	for _, c := range p.chunks {
		err = errors.Join(err, unix.Munmap(c))
	}
	*p = Pool{}
	return err
}
