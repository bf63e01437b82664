package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// readChunk is how many bytes are read at once.
const readChunk = 64 << 10

// backward reads the lines of files from the last to the first. It has a chunk and the
// longest line in memory, however much there is.
type backward struct {
	files []part // newest first; the first is being read
	buf   []byte // what has been read of it and not been taken
	mem   []byte // where buf lies, at its end
	cut   bool   // buf ends within a line that is too long, and is dropped
}

// part is a file up to an offset.
type part struct {
	file *os.File
	end  int64 // what is from here on has been read
}

// add has a file read after those that were added before. Its length is what it has now
// where size is negative. A file that is not there is left out.
func (b *backward) add(path string, size int64) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening a log file: %w", err)
	}
	if size < 0 {
		info, err := file.Stat()
		if err != nil {
			file.Close()
			return fmt.Errorf("looking at %s: %w", path, err)
		}
		size = info.Size()
	}
	b.files = append(b.files, part{file, size})
	return nil
}

// next implements reader.
func (b *backward) next() ([]byte, error) {
	for {
		if i := bytes.LastIndexByte(b.buf, '\n'); i >= 0 {
			line := b.buf[i+1:]
			b.buf = b.buf[:i]
			if cut := b.cut; len(line) > 0 || cut {
				b.cut = false
				if !cut {
					return line, nil
				}
			}
			continue
		}
		if len(b.files) == 0 {
			return nil, io.EOF
		}
		if b.files[0].end == 0 {
			line := b.buf
			b.buf = nil
			cut := b.cut
			b.cut = false
			b.files[0].file.Close()
			b.files = b.files[1:]
			if len(line) > 0 && !cut {
				return line, nil
			}
			continue
		}
		if len(b.buf) > maxLine {
			b.buf, b.cut = b.buf[:0], true
		}
		if err := b.read(); err != nil {
			return nil, err
		}
	}
}

// read puts the next chunk before what is left of the last one.
func (b *backward) read() error {
	at := &b.files[0]
	n := int(min(at.end, readChunk))
	if b.mem == nil {
		b.mem = make([]byte, readChunk+maxLine+1)
	}
	keep := len(b.mem) - len(b.buf)
	copy(b.mem[keep:], b.buf)
	b.buf = b.mem[keep-n:]
	if _, err := at.file.ReadAt(b.buf[:n], at.end-int64(n)); err != nil {
		return fmt.Errorf("reading %s: %w", at.file.Name(), err)
	}
	at.end -= int64(n)
	return nil
}

// close implements reader.
func (b *backward) close() {
	for _, f := range b.files {
		f.file.Close()
	}
	b.files = nil
}
