package uring

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pool are the buffers that the kernel receives into, and the ring by which it is told
// which of them are free. Both lie outside the Go heap, where nothing moves or frees
// them while the kernel writes.
//
//	free  | 7 | 2 | 0 | . | . |     the kernel takes at its head,
//	             tail ^             recycle puts at the tail, publish shows it
type pool struct {
	ringMem, mem []byte
	free         []providedBuf
	size         int
	tail, shown  uint16
}

func newPool(s sizes) (p pool, err error) {
	p.size = s.buffer
	if p.ringMem, err = anonymous(s.buffers * int(unsafe.Sizeof(providedBuf{}))); err != nil {
		return p, err
	}
	if p.mem, err = anonymous(s.buffers * s.buffer); err != nil {
		return p, err
	}
	p.free = unsafe.Slice((*providedBuf)(unsafe.Pointer(&p.ringMem[0])), s.buffers)
	return p, nil
}

func anonymous(bytes int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("taking memory to receive into: %w", err)
	}
	return m, nil
}

func (p *pool) address() uint64 { return uint64(uintptr(unsafe.Pointer(&p.free[0]))) }

// fill gives the kernel every buffer.
func (p *pool) fill() {
	for i := range p.free {
		p.recycle(uint16(i))
	}
	p.publish()
}

func (p *pool) buffer(id uint16, n int) []byte {
	off := int(id) * p.size
	return p.mem[off : off+n : off+p.size]
}

// recycle gives a buffer back with the next publish. The fields are set one by one, as
// the tail shares an entry with the first of them.
func (p *pool) recycle(id uint16) {
	e := &p.free[int(p.tail)&(len(p.free)-1)]
	e.addr = uint64(uintptr(unsafe.Pointer(&p.mem[int(id)*p.size])))
	e.len = uint32(p.size)
	e.id = id
	p.tail++
}

// publish shows the kernel what was recycled. There is no atomic store of 16 bits, so the
// field before the tail is written with it.
func (p *pool) publish() {
	if p.tail == p.shown {
		return
	}
	first := &p.free[0]
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&first.id)), uint32(p.tail)<<16|uint32(first.id))
	p.shown = p.tail
}

func (p *pool) release() {
	for _, m := range [][]byte{p.ringMem, p.mem} {
		if m != nil {
			_ = unix.Munmap(m)
		}
	}
	*p = pool{}
}
