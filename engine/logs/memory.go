package logs

import "io"

// memory keeps the newest lines.
type memory struct {
	lines [][]byte
	size  int // of them together
	most  int
}

func newMemory(most int) *memory { return &memory{most: most} }

func (m *memory) write(lines [][]byte, lost int64) {
	if lost > 0 {
		m.add(lostLines(lost))
	}
	for _, line := range lines {
		m.add(line)
	}
	old := 0
	for m.size > m.most {
		m.size -= len(m.lines[old])
		old++
	}
	// append moves what is left once in a while; until then what is old must not stay.
	clear(m.lines[:old])
	m.lines = m.lines[old:]
}

func (m *memory) add(line []byte) {
	m.lines = append(m.lines, line)
	m.size += len(line)
}

func (m *memory) open() (reader, error) {
	// Lines are never changed, and the slice only grows behind what is taken here; what
	// is cleared is.
	return &memoryReader{append([][]byte(nil), m.lines...)}, nil
}

func (m *memory) close() {}

type memoryReader struct{ lines [][]byte }

func (r *memoryReader) next() ([]byte, error) {
	if len(r.lines) == 0 {
		return nil, io.EOF
	}
	line := r.lines[len(r.lines)-1]
	r.lines = r.lines[:len(r.lines)-1]
	return trim(line), nil
}

func (r *memoryReader) close() {}
