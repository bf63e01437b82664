package logs

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func lostText(n int64) []byte { return fmt.Appendf(nil, "lost %d\n", n) }

func TestSpoolKeepsLinesInOrder(t *testing.T) {
	var b bytes.Buffer
	s := NewSpool(&b, lostText)
	var want strings.Builder
	for i := range 5000 {
		fmt.Fprintf(s, "line %d\n", i)
		fmt.Fprintf(&want, "line %d\n", i)
	}
	s.Close()
	if b.String() != want.String() {
		t.Errorf("%d bytes were written of %d", b.Len(), want.Len())
	}
}

// A reader that has stopped holds nobody up, and is told what it has missed.
func TestSpoolLosesLinesRatherThanWait(t *testing.T) {
	r, w := io.Pipe()
	s := NewSpool(w, lostText)
	const lines = 3 * queueLines
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range lines / 4 {
				fmt.Fprintln(s, "line")
			}
		})
	}
	writers.Wait()
	read := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(r)
		read <- string(all)
	}()
	s.Close()
	w.Close()
	text := <-read
	var lost, told int
	for line := range strings.Lines(text) {
		if n, _ := fmt.Sscanf(line, "lost %d", &lost); n == 1 {
			told += lost
		}
	}
	if kept := strings.Count(text, "line\n"); kept+told != lines || told == 0 {
		t.Errorf("%d lines were kept and %d told lost, of %d", kept, told, lines)
	}
}
