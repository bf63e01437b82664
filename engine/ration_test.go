package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestARationOfLines(t *testing.T) {
	var r ration
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	told := 0
	for ms := range int64(2500) {
		now := ms * int64(time.Millisecond)
		if r.take(now) {
			told++
		}
		if ms%150 == 0 {
			r.settle(now, log)
		}
	}
	if told != 3*refusalLines {
		t.Errorf("%d lines in two seconds and a half", told)
	}
	if n := strings.Count(text.String(), "sockets refused"); n != 2 {
		t.Errorf("what was held back was told %d times:\n%s", n, text.String())
	}
	r.settle(int64(4*time.Second), log)
	r.settle(int64(5*time.Second), log)
	if n := strings.Count(text.String(), "sockets refused"); n != 3 || r.held != 0 {
		t.Errorf("after the end it was told %d times, %d are left:\n%s", n, r.held, text.String())
	}
}
