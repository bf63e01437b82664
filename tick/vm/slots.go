package vm

// Memory is what slots are made of: a Machine, or a stand-in of tests.
type Memory interface {
	Reserve(size int) (uint32, error)
	Bytes(addr uint32, size int) []byte
}

// Slots hands out blocks of one size in a memory. Freed blocks are
// given again before the memory grows.
type Slots struct {
	m     Memory
	size  int
	limit int
	made  int
	free  []uint32
}

// NewSlots prepares for at most limit blocks of size bytes.
func NewSlots(m Memory, size, limit int) *Slots {
	return &Slots{m: m, size: size, limit: limit, free: make([]uint32, 0, min(limit, 1024))}
}

// Get takes a zeroed block and returns its address. It fails with ErrMemory when
// all blocks are taken or the memory cannot grow.
func (s *Slots) Get() (uint32, error) {
	if n := len(s.free); n > 0 {
		at := s.free[n-1]
		s.free = s.free[:n-1]
		clear(s.m.Bytes(at, s.size))
		return at, nil
	}
	if s.made == s.limit {
		return 0, ErrMemory
	}
	at, err := s.m.Reserve(s.size)
	if err != nil {
		return 0, err
	}
	s.made++
	return at, nil
}

// Put gives a block back. The caller must not touch it again.
func (s *Slots) Put(at uint32) { s.free = append(s.free, at) }

// Bytes is the live memory of the block at at.
func (s *Slots) Bytes(at uint32) []byte { return s.m.Bytes(at, s.size) }
