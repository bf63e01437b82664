package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// disk has room for so many bytes more.
type disk struct {
	room     int
	noInodes bool
	stuck    bool // what was written half cannot be taken back either
}

type onDisk struct {
	growing
	disk *disk
}

func (d *disk) create(path string) (growing, error) {
	if d.noInodes {
		return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ENOSPC}
	}
	f, err := create(path)
	return onDisk{f, d}, err
}

func (f onDisk) Write(p []byte) (int, error) {
	fits := min(len(p), f.disk.room)
	n, err := f.growing.Write(p[:fits])
	f.disk.room -= n
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

func (f onDisk) Truncate(size int64) error {
	if f.disk.stuck {
		return syscall.EIO
	}
	return f.growing.Truncate(size)
}

// onFullDisk is a log on a disk that its test fills.
func onFullDisk(t *testing.T, o Options) (*Stream, *disk, *bytes.Buffer) {
	t.Helper()
	var told bytes.Buffer
	o.Also = slog.NewTextHandler(&told, nil)
	o.Dir = t.TempDir()
	o = o.filled()
	f, err := openFiles("server", &o)
	if err != nil {
		t.Fatal(err)
	}
	d := &disk{room: 1 << 30}
	f.create = d.create
	if err := f.reopen(); err != nil {
		t.Fatal(err)
	}
	s := startStream(f)
	t.Cleanup(s.close)
	return s, d, &told
}

// lines is what the log has, of which each is whole: texts, and the numbers of lines that
// were lost.
func lines(t *testing.T, s *Stream) (all []string, lost int) {
	t.Helper()
	found, err := s.Query(t.Context(), Filter{Limit: MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		var m struct {
			Msg   string
			Lines int
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if lost += m.Lines; m.Lines == 0 {
			all = append(all, m.Msg)
		}
	}
	return all, lost
}

// TestFullDisk fills the disk at every byte of a few lines, and makes room again.
func TestFullDisk(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		for room := range 250 {
			s, d, told := onFullDisk(t, Options{})
			d.stuck = stuck
			write(s, day, slog.LevelInfo, "before")
			lines(t, s)
			d.room = room
			for i := range 5 {
				write(s, day, slog.LevelInfo, fmt.Sprint("full ", i))
				lines(t, s)
			}
			d.room = 1 << 30
			write(s, day, slog.LevelInfo, "after")
			got, lost := lines(t, s)
			kept := len(got) - 2
			if stuck && kept+lost == 6 {
				lost-- // of that one only the end of the line was lost
			}
			if kept+lost != 5 || got[0] != "before" || got[len(got)-1] != "after" {
				t.Fatalf("room for %d: kept %q, lost %d", room, got, lost)
			}
			if n := strings.Count(told.String(), "no space left"); n != 1 {
				t.Fatalf("room for %d: it was told %d times: %s", room, n, told)
			}
			if !stuck {
				text, err := os.ReadFile(s.store.(*files).path())
				if err != nil || bytes.Count(text, []byte("\n")) != len(got)+1 {
					t.Fatalf("room for %d: %v\n%s", room, err, text)
				}
			}
		}
	}
}

// A disk on which no file can be made, and one from which the folder is gone.
func TestNoFile(t *testing.T) {
	now := day
	s, d, told := onFullDisk(t, Options{MaxBytes: 200, Now: func() time.Time { return now }})
	f := s.store.(*files)
	write(s, day, slog.LevelInfo, strings.Repeat("x", 150))
	lines(t, s)
	d.noInodes = true
	for range 3 { // the first of them rotates
		write(s, day, slog.LevelInfo, "lost")
		lines(t, s)
	}
	d.noInodes = false
	write(s, day, slog.LevelInfo, "after")
	if got, lost := lines(t, s); len(got) != 2 || got[1] != "after" || lost != 3 {
		t.Errorf("kept %q, lost %d", got, lost)
	}
	if err := os.Rename(f.opts.Dir, f.opts.Dir+"-away"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * tellEvery)
	write(s, now, slog.LevelInfo, "nowhere")
	if _, err := s.Query(t.Context(), Filter{}); err == nil {
		t.Error("a folder that is gone can be read")
	}
	if err := os.Rename(f.opts.Dir+"-away", f.opts.Dir); err != nil {
		t.Fatal(err)
	}
	write(s, now, slog.LevelInfo, "back")
	if got, lost := lines(t, s); got[len(got)-1] != "back" || lost != 4 {
		t.Errorf("kept %q, lost %d", got, lost)
	}
	if n := strings.Count(told.String(), "lines are lost"); n != 2 {
		t.Errorf("it was told %d times: %s", n, told)
	}
}

// What cannot be written to is refused at the start.
func TestFolderThatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "server.log"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), dir} {
		if l, err := Open(Options{Dir: dir}); err == nil {
			l.Close()
			t.Errorf("logs in %s", dir)
		}
	}
}

// A device in the place of a file would take lines forever, or answer with what is not in it.
func TestDeviceIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "web.log")); err != nil {
		t.Fatal(err)
	}
	if l, err := Open(Options{Dir: dir}); err == nil {
		l.Close()
		t.Error("a device is a log")
	}
}

// TestLoggingDoesNotWait has a disk that hangs: those who log go on at once, and are told
// later how many lines that has cost.
func TestLoggingDoesNotWait(t *testing.T) {
	hung, goOn := make(chan bool), make(chan bool)
	s := startStream(hanging{newMemory(1 << 30), hung, goOn})
	defer s.close()
	write(s, day, slog.LevelInfo, "first")
	<-hung
	const more = 2 * queueLines
	for i := range more {
		write(s, day, slog.LevelInfo, fmt.Sprint(i))
	}
	if s.Lost() == 0 {
		t.Error("nothing is lost, so somebody waited")
	}
	close(goOn)
	got, lost := lines(t, s)
	if found, _ := s.Query(t.Context(), Filter{Limit: 1}); len(found) != 1 {
		t.Error("the newest line is not there")
	}
	if want := more + 1; len(got) != MaxLimit && len(got)+lost != want || int64(lost) != s.Lost() {
		t.Errorf("%d lines and %d lost, of %d", len(got), lost, want)
	}
}

// hanging is a disk that hangs once.
type hanging struct {
	*memory
	hung, goOn chan bool
}

func (h hanging) write(lines [][]byte, lost int64) {
	select {
	case <-h.goOn:
	default:
		h.hung <- true
		<-h.goOn
	}
	h.memory.write(lines, lost)
}

// TestAllocLog wants a line to cost its caller a copy and nothing else.
func TestAllocLog(t *testing.T) {
	const budget = 1
	q := newQueue()
	line := bytes.Repeat([]byte("x"), 200)
	for range queueLines / 2 {
		_, _ = q.Write(line)
	}
	n := testing.AllocsPerRun(1000, func() { _, _ = q.Write(line) })
	t.Logf("%v allocations for a line, budget %d", n, budget)
	if n > budget {
		t.Error("over budget")
	}
}

func BenchmarkQuery(b *testing.B) {
	l, err := Open(Options{Dir: b.TempDir(), MaxBytes: 4 << 20})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for i := range 4 * queueLines {
		write(l.Web, day.Add(time.Duration(i)*time.Millisecond), slog.LevelInfo, "request", "path", "/game/gamehoster.js", "game", "g.example/game", "n", i)
		if i%queueLines == queueLines-1 {
			if _, err := l.Web.Query(b.Context(), Filter{Limit: 1}); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, f := range map[string]Filter{"newest": {Limit: 100}, "all": {Game: "no/game", Limit: 100}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Web.Query(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
