package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// day is when the lines of the tests are logged, unless they say otherwise.
var day = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, o Options) *Logs {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// write logs a line at a time.
func write(s *Stream, at time.Time, level slog.Level, text string, args ...any) {
	r := slog.NewRecord(at, level, text, 0)
	r.Add(args...)
	_ = s.handler(slog.LevelDebug).Handle(context.Background(), r)
}

// texts is what the lines of an answer say.
func texts(t *testing.T, lines [][]byte) (all []string) {
	t.Helper()
	for _, line := range lines {
		all = append(all, text(t, line))
	}
	return all
}

func text(t *testing.T, line []byte) string {
	t.Helper()
	var m struct{ Msg string }
	if err := json.Unmarshal(line, &m); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return m.Msg
}

func query(t *testing.T, s *Stream, f Filter) []string {
	t.Helper()
	lines, err := s.Query(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return texts(t, lines)
}

// places runs a test with files and with memory.
func places(t *testing.T, f func(t *testing.T, o Options)) {
	t.Run("files", func(t *testing.T) { f(t, Options{Dir: t.TempDir()}) })
	t.Run("memory", func(t *testing.T) { f(t, Options{}) })
}

func TestFilters(t *testing.T) {
	places(t, func(t *testing.T, o Options) {
		s := open(t, o).Server
		write(s, day, slog.LevelInfo, "a", "game", "x.example/one")
		write(s, day.Add(time.Minute), slog.LevelWarn, "b", "note", `"game":"x.example/one"`)
		write(s, day.Add(2*time.Minute), slog.LevelError, "c", "n", 1, "game", "y.example/one")
		write(s, day.Add(3*time.Minute), slog.LevelDebug, "d", "game", "x.example/two")
		for name, c := range map[string]struct {
			Filter
			want string
		}{
			"all":         {Filter{}, "abcd"},
			"newest":      {Filter{Limit: 2}, "cd"},
			"since":       {Filter{Since: day.Add(time.Minute)}, "bcd"},
			"until":       {Filter{Until: day.Add(2 * time.Minute)}, "ab"},
			"level":       {Filter{Level: slog.LevelWarn}, "bc"},
			"info":        {Filter{Level: slog.LevelInfo}, "abc"},
			"game":        {Filter{Game: "x.example/one"}, "a"},
			"any domain":  {Filter{Game: "one"}, "ac"},
			"no game":     {Filter{Game: "ne"}, ""},
			"quoted":      {Filter{Game: `"`}, ""},
			"together":    {Filter{Game: "one", Level: slog.LevelError, Since: day, Limit: 5}, "c"},
			"after all":   {Filter{Since: day.Add(2 * time.Hour)}, ""},
			"before all":  {Filter{Until: day}, ""},
			"limit first": {Filter{Limit: 1, Until: day.Add(time.Minute)}, "a"},
		} {
			if got := strings.Join(query(t, s, c.Filter), ""); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		}
	})
}

// TestClockSetBack wants lines to be found that stand before some which seem to be older.
func TestClockSetBack(t *testing.T) {
	places(t, func(t *testing.T, o Options) {
		s := open(t, o).Server
		write(s, day.Add(-2*time.Hour), slog.LevelInfo, "long ago")
		write(s, day, slog.LevelInfo, "before")
		write(s, day.Add(-clockSlack/2), slog.LevelInfo, "set back")
		write(s, day.Add(time.Minute), slog.LevelInfo, "after")
		if got := query(t, s, Filter{Since: day}); strings.Join(got, ",") != "before,after" {
			t.Errorf("got %v", got)
		}
	})
}

// TestRotation fills many files and reads what is left of them.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	now := day
	o := Options{Dir: dir, MaxBytes: 1000, Files: 3, Now: func() time.Time { return now }}
	l := open(t, o)
	const lines = 200
	for i := range lines {
		write(l.Web, now, slog.LevelInfo, fmt.Sprint(i))
		query(t, l.Web, Filter{Limit: 1}) // so that each is a batch
	}
	names, err := filepath.Glob(filepath.Join(dir, "web*.log"))
	if err != nil || len(names) != 4 {
		t.Fatalf("files %v", names)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Size() > o.MaxBytes {
			t.Errorf("%s has %d bytes, %v", name, info.Size(), err)
		}
	}
	got := query(t, l.Web, Filter{Limit: lines})
	if len(got) < 30 || got[len(got)-1] != fmt.Sprint(lines-1) {
		t.Fatalf("%d lines: %v", len(got), got)
	}
	for i, text := range got {
		if text != fmt.Sprint(lines-len(got)+i) {
			t.Fatalf("line %d of %d is %s", i, len(got), text)
		}
	}
	// A file that is old is set aside, however little is in it, and a box that starts
	// anew goes on where the last one was.
	now = now.Add(DefaultMaxAge)
	write(l.Web, now, slog.LevelInfo, "next day")
	query(t, l.Web, Filter{})
	l.Close()
	l = open(t, o)
	write(l.Web, now, slog.LevelInfo, "restarted")
	if got := query(t, l.Web, Filter{Limit: 3}); strings.Join(got, ",") != "199,next day,restarted" {
		t.Errorf("got %v", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "web.log")); err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("the newest file has %q", text)
	}
}

// TestTornLine wants a box to live with what a crash has left.
func TestTornLine(t *testing.T) {
	dir := t.TempDir()
	left := `{"time":"2026-05-04T11:00:00Z","level":"INFO","msg":"whole"}` + "\n" +
		strings.Repeat("x", 3*maxLine) + "\n" + `{"time":"2026-05-04T11:00:00Z","level":"INFO","msg":"ha`
	if err := os.WriteFile(filepath.Join(dir, "server.log"), []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Dir: dir, Now: func() time.Time { return day }})
	write(l.Server, day, slog.LevelInfo, "new")
	if got := query(t, l.Server, Filter{}); strings.Join(got, ",") != "whole,new" {
		t.Errorf("got %q", got)
	}
}

func TestFileTakenAway(t *testing.T) {
	dir := t.TempDir()
	now := day
	l := open(t, Options{Dir: dir, Now: func() time.Time { return now }})
	path := filepath.Join(dir, "server.log")
	write(l.Server, day, slog.LevelInfo, "old")
	query(t, l.Server, Filter{})
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * lookEvery)
	write(l.Server, day, slog.LevelInfo, "new")
	if got := query(t, l.Server, Filter{}); strings.Join(got, ",") != "new" {
		t.Errorf("got %q", got)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	l := open(t, Options{Dir: dir})
	if _, err := Open(Options{Dir: dir}); !errors.Is(err, ErrFolderTaken) {
		t.Errorf("got %v", err)
	}
	l.Close()
	open(t, Options{Dir: dir})
}

func TestAlso(t *testing.T) {
	var b bytes.Buffer
	also := slog.NewTextHandler(&b, nil)
	l := open(t, Options{Dir: t.TempDir(), Also: also, Level: slog.LevelError})
	l.WebLogger().Info("a request")
	l.ServerLogger().Info("a game")
	if got := b.String(); strings.Contains(got, "a request") || !strings.Contains(got, "a game") {
		t.Errorf("with a folder: %s", got)
	}
	if got := query(t, l.Server, Filter{}); len(got) != 0 {
		t.Errorf("below the level: %v", got)
	}
	l = open(t, Options{Also: also})
	l.WebLogger().Info("a request")
	if got := b.String(); !strings.Contains(got, "a request") {
		t.Errorf("without a folder: %s", got)
	}
	if got := query(t, l.Web, Filter{}); len(got) != 1 {
		t.Errorf("in memory: %v", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := open(t, Options{Memory: 4000})
	for i := range 500 {
		write(l.Web, day, slog.LevelInfo, fmt.Sprint(i))
		query(t, l.Web, Filter{Limit: 1})
	}
	got := query(t, l.Web, Filter{Limit: 500})
	if len(got) < 30 || len(got) > 80 || got[len(got)-1] != "499" {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// TestFollow wants what was there and what comes, without a gap and nothing twice, while
// the files are rotated.
func TestFollow(t *testing.T) {
	places(t, func(t *testing.T, o Options) {
		o.MaxBytes = 2000
		s := open(t, o).Server
		const before, after = 50, 500
		for i := range before {
			write(s, day, slog.LevelInfo, fmt.Sprint(i), "game", "d/g")
		}
		ctx, cancel := context.WithCancel(t.Context())
		next := 0
		err := s.Follow(ctx, Filter{Limit: before, Game: "d/g"}, func(line []byte) error {
			if got := text(t, line); got != fmt.Sprint(next) {
				t.Fatalf("got %s, want %d", got, next)
			}
			if next++; next >= before && next < before+after {
				write(s, day, slog.LevelInfo, "another's", "game", "d/h")
				write(s, day, slog.LevelInfo, fmt.Sprint(next), "game", "d/g")
			}
			if next == before+after {
				cancel()
			}
			return nil
		})
		if err != nil || next != before+after {
			t.Errorf("%d lines, %v", next, err)
		}
	})
}

// A follower that takes its time is told what it has missed, and holds nobody up.
func TestSlowFollower(t *testing.T) {
	s := open(t, Options{}).Server
	const lines = 3 * followerLines
	ctx, cancel := context.WithCancel(t.Context())
	got, missed := 0, 0
	write(s, day, slog.LevelInfo, "first")
	err := s.Follow(ctx, Filter{}, func(line []byte) error {
		var m struct {
			Msg   string
			Lines int
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		switch m.Msg {
		case "first":
			for range lines {
				write(s, day, slog.LevelInfo, "line")
			}
			query(t, s, Filter{Limit: 1}) // until they are all through
			write(s, day, slog.LevelInfo, "last")
		case "line":
			got++
		default:
			missed += m.Lines
		}
		if got+missed >= lines {
			cancel()
		}
		return nil
	})
	if err != nil || got < followerLines || missed == 0 || got+missed > lines+1 {
		t.Errorf("got %d, missed %d, %v", got, missed, err)
	}
}

func TestFollowersAreBounded(t *testing.T) {
	s := open(t, Options{}).Web
	write(s, day, slog.LevelInfo, "first")
	ctx, cancel := context.WithCancel(t.Context())
	there, gone := make(chan bool, maxFollowers), make(chan error, maxFollowers)
	for range maxFollowers {
		go func() {
			gone <- s.Follow(ctx, Filter{}, func([]byte) error { there <- true; return nil })
		}()
	}
	for range maxFollowers {
		<-there
	}
	if err := s.Follow(ctx, Filter{}, nil); !errors.Is(err, ErrFollowers) {
		t.Errorf("one too many: %v", err)
	}
	cancel()
	for range maxFollowers {
		if err := <-gone; err != nil {
			t.Error(err)
		}
	}
	if err := s.Follow(t.Context(), Filter{}, func([]byte) error { return ErrClosed }); !errors.Is(err, ErrClosed) {
		t.Errorf("when they are gone: %v", err)
	}
}

func TestClosed(t *testing.T) {
	l, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	there := make(chan bool, 1)
	gone := make(chan error)
	write(l.Web, day, slog.LevelInfo, "first")
	go func() {
		gone <- l.Web.Follow(context.Background(), Filter{}, func([]byte) error { there <- true; return nil })
	}()
	<-there
	l.Close()
	if err := <-gone; !errors.Is(err, ErrClosed) {
		t.Errorf("a follower: %v", err)
	}
	l.WebLogger().Info("late")
	if _, err := l.Web.Query(context.Background(), Filter{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a question: %v", err)
	}
}
