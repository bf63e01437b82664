package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// onTerminal reports whether somebody reads what is written to w as it comes, on a screen
// whose lines can be written anew.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// progress tells how far an upload is: as a bar on a terminal and else as one line for
// each file. It is safe for concurrent use.
type progress struct {
	out io.Writer
	bar bool
	now func() time.Time

	mu          sync.Mutex
	files, done int
	bytes, sent int64
	drawn       time.Time // when the bar was
	shown       bool      // there is a bar on the screen
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, bar: onTerminal(out), now: time.Now}
}

// redraw is how often the bar is drawn at most.
const redraw = 50 * time.Millisecond

// Begin starts an upload of so many files and bytes.
func (p *progress) Begin(files int, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files, p.bytes, p.done, p.sent, p.drawn = files, bytes, 0, 0, time.Time{}
	p.draw()
}

// Sent counts bytes that went out.
func (p *progress) Sent(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent += int64(n)
	if p.bar && p.now().Sub(p.drawn) >= redraw {
		p.draw()
	}
}

// Uploaded tells that the box has a file.
func (p *progress) Uploaded(file string, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if !p.bar {
		fmt.Fprintf(p.out, "  %s  %s\n", file, amount(int64(size)))
		return
	}
	p.draw()
}

// Waiting tells that the box builds.
func (p *progress) Waiting() { p.say("the box has everything and builds it") }

// say writes a line above the bar.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.out, "  %s\n", line)
}

// end takes the bar off the screen.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) draw() {
	if !p.bar || p.files == 0 {
		return
	}
	p.drawn, p.shown = p.now(), true
	const width = 30
	full := width
	if p.bytes > 0 {
		full = int(max(0, min(p.sent, p.bytes)) * width / p.bytes)
	}
	fmt.Fprintf(p.out, "\r  [%s%s]  %s of %s, %d of %d files\x1b[K", strings.Repeat("=", full), strings.Repeat(" ", width-full),
		amount(max(0, min(p.sent, p.bytes))), amount(p.bytes), min(p.done, p.files), p.files)
}

// amount is a number of bytes for people.
func amount(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
