package pool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"gamehoster/engine/loop"
)

// Bounds of what a worker's stderr is taken for.
const (
	maxLine = 64 << 10
	maxText = 16 << 10 // of what is no line of a log, as a panic's stacks are
	maxRate = 500      // lines in a second: several times what a worker has to say when all goes wrong
)

// lines reads a worker's stderr: lines of its log go to the backend's, and all else is an
// error of that worker's.
type lines struct {
	to     *slog.Logger
	worker uint32
	from   io.Reader
	done   chan struct{} // closed at the end
	text   []byte        // that is no line of a log, as far as it came
	second int64         // that is running, and
	taken  int           // the lines in it
	lost   int           // lines that were left out since the last that was told
}

func (l *lines) read() {
	defer close(l.done)
	in := bufio.NewReaderSize(l.from, maxLine)
	defer l.tellLost()
	for {
		line, err := in.ReadSlice('\n') // one that is too long comes in pieces, as text
		if len(line) > 0 && l.allow(loop.Now()) && !l.log(line) {
			l.text = append(l.text, line[:min(len(line), maxText-len(l.text))]...)
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // as ReadSlice returns it
			l.tell()
			return
		}
	}
}

// allow takes a line from what the worker may say in a second.
func (l *lines) allow(now int64) bool {
	if second := now / 1e9; second != l.second {
		l.tellLost()
		l.second, l.taken = second, 0
	}
	if l.taken == maxRate {
		l.lost++
		return false
	}
	l.taken++
	return true
}

// tellLost logs that lines were left out.
func (l *lines) tellLost() {
	if l.lost > 0 {
		l.to.Warn("lines of a worker's log were left out: it says too much", "worker", l.worker, "lines", l.lost)
	}
	l.lost = 0
}

// tell logs the text that has come.
func (l *lines) tell() {
	if text := bytes.TrimSpace(l.text); len(text) > 0 {
		l.to.Error("a worker's last words", "worker", l.worker, "text", string(text))
	}
	l.text = nil
}

// log passes a line of the worker's log on; false if it is none.
func (l *lines) log(line []byte) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	var level slog.Level
	var msg string
	attrs := []slog.Attr{slog.Uint64("worker", uint64(l.worker))}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return false
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return false
		}
		text, isText := v.(string)
		name, _ := key.(string)
		switch {
		case name == slog.TimeKey: // the backend's is a moment later
		case name == slog.LevelKey && isText:
			if level.UnmarshalText([]byte(text)) != nil {
				return false
			}
		case name == slog.MessageKey && isText:
			msg = text
		default:
			attrs = append(attrs, slog.Any(name, v))
		}
	}
	l.to.LogAttrs(context.Background(), level, msg, attrs...)
	return true
}
